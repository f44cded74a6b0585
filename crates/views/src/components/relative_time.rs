//! Times in relative form, with the exact time.

use askama::filters::Safe;
use kernel::Time;

use crate::locale;

/// A time, relative to now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativeTime {
    /// The relative time: "3 min ago", "in 27 min".
    pub words: String,
    /// The machine-readable time: RFC 3339 in UTC.
    pub iso: String,
    /// The exact time for people, in the reader's time zone.
    pub exact: String,
    /// Whether it is in the past.
    pub past: bool,
    /// Whether it is less than 15 minutes away.
    pub soon: bool,
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl RelativeTime {
    /// Describes `at` relative to `now`.
    pub fn new(at: Time, now: Time) -> Self {
        let seconds = (at.millis() - now.millis()) / 1000;
        Self {
            words: words(seconds, at),
            iso: at.to_string(),
            exact: locale::date_time(at),
            past: at <= now,
            soon: (0..15 * MINUTE).contains(&seconds),
        }
    }

    /// The `time` element, for a sentence from the catalog.
    pub fn html(&self) -> Safe<String> {
        let Self { words, iso, exact, .. } = self;
        // The server writes all three, and none of them contains markup.
        Safe(format!("<time datetime=\"{iso}\" title=\"{exact}\">{words}</time>"))
    }
}

fn words(seconds: i64, at: Time) -> String {
    let distance = seconds.abs();
    match (seconds > 0, distance) {
        (false, ..MINUTE) => t!("time-just-now"),
        (true, ..MINUTE) => t!("time-within-a-minute"),
        (false, MINUTE..HOUR) => t!("time-minutes-ago", n = distance / MINUTE),
        (true, MINUTE..HOUR) => t!("time-in-minutes", n = distance / MINUTE),
        (false, HOUR..DAY) => t!("time-hours-ago", n = distance / HOUR),
        (true, HOUR..DAY) => t!("time-in-hours", n = distance / HOUR),
        (_, _) if distance >= 60 * DAY => t!("time-on-day", day = locale::date(at)),
        (false, _) => t!("time-days-ago", n = distance / DAY),
        (true, _) => t!("time-in-days", n = distance / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_in_words() {
        let now = Time::from_millis(1_770_372_000_000);
        for (seconds, expected) in [
            (0, "just now"),
            (-59, "just now"),
            (30, "in less than a minute"),
            (-180, "3 min ago"),
            (27 * 60 + 5, "in 27 min"),
            (-7_200, "2 h ago"),
            (90_000, "in 1 day"),
            (-3 * 86_400, "3 days ago"),
            (400 * 86_400, "on 13 Mar 2027"),
        ] {
            let at = Time::from_millis(now.millis() + seconds * 1000);
            assert_eq!(RelativeTime::new(at, now).words, expected, "{seconds}");
        }
    }

    #[test]
    fn the_exact_moment_is_there() {
        let now = Time::from_millis(1_770_372_000_000);
        let when = RelativeTime::new(now, now);
        assert_eq!(when.exact, "6 Feb 2026, 10:00 UTC");
        assert_eq!(when.iso, "2026-02-06T10:00:00.000Z");
        assert!(when.past && RelativeTime::new(now.plus_seconds(60), now).soon);
    }
}

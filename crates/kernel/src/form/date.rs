//! Dates in forms: an ISO 8601 calendar date, or an RFC 3339 timestamp.

use jiff::{Span, Timestamp, civil::Date};
use serde_json::Number;
use std::{cmp::Ordering, fmt};

/// A calendar day, or an instant together with the day its author wrote.
///
/// Two instants compare as instants. As soon as one side is only a day, both compare by day, so
/// 15:00 on the last allowed day is still allowed, whatever the offset it was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    day: Date,
    instant: Option<Timestamp>,
}

impl Moment {
    /// Reads `2026-01-31` or `2026-01-31T09:30:00Z` (any offset, any fraction of a second).
    pub fn parse(text: &str) -> Option<Self> {
        let day = text.get(..10).filter(|day| has_shape(day, "dddd-dd-dd"))?.parse().ok()?;
        if text.len() == 10 {
            return Some(Self { day, instant: None });
        }
        is_rfc3339_time(text.get(10..)?)
            .then(|| text.parse().ok())
            .flatten()
            .map(|instant| Self { day, instant: Some(instant) })
    }

    /// The day this many days after 1970-01-01, if the calendar has it.
    pub(super) fn from_epoch_days(days: &Number) -> Option<Self> {
        let span = Span::new().try_days(super::number::normal(days).as_i64()?).ok()?;
        let day = jiff::civil::date(1970, 1, 1).checked_add(span).ok()?;
        Some(Self { day, instant: None })
    }

    /// The day, as its author wrote it.
    pub fn day(&self) -> Date {
        self.day
    }

    /// The order of two moments; see the type for days against instants.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self.instant, other.instant) {
            (Some(a), Some(b)) => a.cmp(&b),
            (None, _) | (_, None) => self.day.cmp(&other.day),
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.instant {
            Some(instant) => instant.fmt(f),
            None => self.day.fmt(f),
        }
    }
}

/// jiff reads more than RFC 3339 (no seconds, zone names, a space for the `T`); forms accept RFC
/// 3339 only.
fn is_rfc3339_time(text: &str) -> bool {
    let Some(time) = text.get(..9).filter(|time| has_shape(time, "Tdd:dd:dd")) else {
        return false;
    };
    let rest = text.get(time.len()..).unwrap_or_default();
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let offset = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if offset.len() == fraction.len() {
                return false;
            }
            offset
        }
        None => rest,
    };
    matches!(offset, "Z" | "z") || has_shape(offset, "+dd:dd") || has_shape(offset, "-dd:dd")
}

fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, expected)| match expected {
            b'd' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't'),
            other => byte == other,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// HITL-133: a date is an ISO 8601 string.
    #[test]
    fn reads_days_and_timestamps_and_nothing_else() {
        for good in [
            "2026-01-31",
            "2024-02-29",
            "2026-01-31T09:30:00Z",
            "2026-01-31t09:30:00z",
            "2026-01-31T09:30:00.123456+05:30",
        ] {
            assert!(Moment::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "2026-02-30",
            "2025-02-29",
            "20260131",
            "31.01.2026",
            "2026-1-31",
            "2026-01-31 ",
            "2026-01-31T09:30Z",
            "2026-01-31T09:30:00",
            "2026-01-31 09:30:00Z",
            "2026-01-31T09:30:00.Z",
            "2026-01-31T09:30:00Z[UTC]",
            "2026-01-31T25:00:00Z",
            "2026-01-3é",
            "tomorrow",
        ] {
            assert!(Moment::parse(bad).is_none(), "{bad}");
        }
    }

    /// C-09: a number is days since 1970-01-01; seconds and milliseconds are not dates.
    #[test]
    fn numbers_are_days() {
        let days = |n: serde_json::Value| {
            Moment::from_epoch_days(n.as_number().unwrap()).map(|m| m.to_string())
        };
        assert_eq!(days(json!(0)).as_deref(), Some("1970-01-01"));
        assert_eq!(days(json!(20_484.0)).as_deref(), Some("2026-01-31"));
        assert_eq!(days(json!(0.5)), None);
        assert_eq!(days(json!(1_769_817_600)), None);
        assert_eq!(days(json!(1_769_817_600_000_i64)), None);
    }

    #[test]
    fn a_day_contains_its_instants() {
        let at = |text| Moment::parse(text).unwrap();
        let late = at("2026-01-31T23:00:00-05:00");
        assert_eq!(late.compare(&at("2026-01-31")), Ordering::Equal);
        assert_eq!(late.compare(&at("2026-02-01T04:00:00Z")), Ordering::Equal);
        assert_eq!(late.compare(&at("2026-02-01")), Ordering::Less);
        assert_eq!(at("2026-02-01").compare(&late), Ordering::Greater);
    }
}

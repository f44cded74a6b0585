//! When a failed call is repeated: soon at first, then with growing delays, for most of a day.

use kernel::Time;
use kernel::audit::Digest;

/// Seconds after each failed attempt; the call is given up after the last.
const RETRY_SECONDS: [u64; 7] = [5, 60, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600];
/// No endpoint can postpone a call for longer.
const MAX_POSTPONE_SECONDS: u64 = 24 * 3600;

/// When to repeat a call after this attempt, counted from 1; `None` when it is given up.
/// `not_before` is what the endpoint asked for.
///
/// Each delay varies by up to a tenth, so that calls that failed together are not repeated
/// together. The variation is derived from the id, so it is the same on every node.
pub fn next(id: &str, attempt: u32, now: Time, not_before: Option<Time>) -> Option<Time> {
    let place = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
    let seconds = *RETRY_SECONDS.get(place)?;
    let drawn = Digest::of(format!("{id}/{attempt}").as_bytes()).0;
    let [high, low, ..] = drawn;
    // From -1000 to 1000.
    let share = i64::from(u16::from_be_bytes([high, low]) % 2001) - 1000;
    let millis = i64::try_from(seconds * 1000).unwrap_or(i64::MAX);
    let at = Time::from_millis(now.millis().saturating_add(millis + millis / 10 * share / 1000));
    let latest = now.plus_seconds(MAX_POSTPONE_SECONDS);
    Some(not_before.map_or(at, |wanted| wanted.min(latest).max(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_each_time_and_given_up_in_the_end() {
        let now = Time::from_millis(1_770_000_000_000);
        for (attempt, seconds) in (1..).zip(RETRY_SECONDS) {
            for id in ["msg_1", "msg_2", "msg_3"] {
                let at = next(id, attempt, now, None).unwrap();
                let waited = (at.millis() - now.millis()).unsigned_abs();
                let tenth = seconds * 100;
                assert!((seconds * 1000).abs_diff(waited) <= tenth, "{attempt}: {waited}");
                assert_eq!(next(id, attempt, now, None), Some(at), "the same whoever asks");
            }
        }
        assert_eq!(next("msg_1", 8, now, None), None);
        let all: u64 = RETRY_SECONDS.iter().sum();
        assert!((12 * 3600..24 * 3600).contains(&all), "{all} seconds in all");
    }

    #[test]
    fn those_that_failed_together_come_back_apart() {
        let now = Time::from_millis(0);
        let moments: std::collections::BTreeSet<Time> =
            (0..100).filter_map(|n| next(&format!("msg_{n}"), 3, now, None)).collect();
        assert!(moments.len() > 80, "{} moments", moments.len());
    }

    #[test]
    fn an_endpoint_may_ask_for_later_but_not_for_ever() {
        let now = Time::from_millis(1_770_000_000_000);
        let wanted = |seconds| next("msg_1", 1, now, Some(now.plus_seconds(seconds)));
        assert_eq!(wanted(600), Some(now.plus_seconds(600)));
        assert_eq!(wanted(1), next("msg_1", 1, now, None), "sooner than we would anyway");
        assert_eq!(wanted(1_000_000), Some(now.plus_seconds(MAX_POSTPONE_SECONDS)));
    }
}

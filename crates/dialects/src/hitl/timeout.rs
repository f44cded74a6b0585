//! `timeout`: an ISO 8601 duration of fixed length (`PT24H`, `P7D`, `P1DT12H`) or a shorthand
//! (`24h`, `7d`, `30m`). Section 6; HITL-019, HITL-035.

use crate::duration::{self, DAY};

/// The timeout if the service names none.
pub const DEFAULT: &str = "24h";
/// The maximum, in seconds: seven days (HITL-035).
pub const LONGEST: u64 = 7 * DAY;
/// The maximum as a duration.
pub const LONGEST_WORDS: &str = "P7D";
/// The accepted format, for error messages.
pub const EXPECTED: &str =
    "a duration such as 24h, 30m, 7d, PT24H or P7D, of at least one second and at most seven days";

/// The length in seconds; `None` if it is invalid or too long.
pub fn seconds(text: &str) -> Option<u64> {
    duration::seconds(text).filter(|seconds| *seconds <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duration::HOUR;

    /// HITL-019, HITL-035.
    #[test]
    fn durations() {
        for (text, expected) in [
            ("24h", Some(DAY)),
            ("PT24H", Some(DAY)),
            ("P7D", Some(7 * DAY)),
            ("7d", Some(7 * DAY)),
            ("P1W", Some(7 * DAY)),
            ("30m", Some(1800)),
            ("20m", Some(1200)),
            ("72h", Some(3 * DAY)),
            ("45s", Some(45)),
            ("PT1H30M", Some(5400)),
            ("P1DT12H", Some(36 * HOUR)),
            ("PT1S", Some(1)),
            ("P0D", None),
            ("0h", None),
            ("8d", None),
            ("P7DT1S", None),
            ("PT169H", None),
            ("P1M", None),
            ("P1Y", None),
            ("P", None),
            ("PT", None),
            ("P1DT", None),
            ("PT1H1H", None),
            ("PT1M1H", None),
            ("1.5h", None),
            ("-1h", None),
            ("+1h", None),
            ("24", None),
            ("h", None),
            ("24 h", None),
            ("24H", None),
            ("pt24h", None),
            ("1h30m", None),
            ("99999999999999999999h", None),
            ("", None),
            ("é", None),
            ("Pé", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        assert_eq!(seconds(DEFAULT), Some(DAY));
        assert_eq!(seconds(LONGEST_WORDS), Some(LONGEST));
    }
}

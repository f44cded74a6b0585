//! `timeout`: an ISO 8601 duration of fixed length (`PT24H`, `P7D`, `P1DT12H`) or a shorthand (`24h`,
//! `7d`, `30m`). Section 6; HITL-019, HITL-035.

/// When the service names none.
pub const DEFAULT: &str = "24h";
/// The longest, in seconds: seven days (HITL-035).
pub const LONGEST: u64 = 7 * DAY;
/// The longest as it is written.
pub const LONGEST_WORDS: &str = "P7D";
/// What is accepted.
pub const EXPECTED: &str =
    "a duration such as 24h, 30m, 7d, PT24H or P7D, of at least one second and at most seven days";

const DAY: u64 = 24 * HOUR;
const HOUR: u64 = 60 * 60;

/// Its length in seconds. Months and years have none.
pub fn seconds(text: &str) -> Option<u64> {
    let seconds = match text.strip_prefix('P') {
        Some(iso) => iso8601(iso),
        None => part(text, &[('d', DAY), ('h', HOUR), ('m', 60), ('s', 1)]),
    };
    seconds.filter(|seconds| (1..=LONGEST).contains(seconds))
}

fn iso8601(text: &str) -> Option<u64> {
    let (date, time) = match text.split_once('T') {
        // A `T` with nothing behind it separates nothing.
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let date = parts(date, &[('W', 7 * DAY), ('D', DAY)])?;
    date.checked_add(parts(time, &[('H', HOUR), ('M', 60), ('S', 1)])?)
}

/// Several numbers, each with its unit, largest first and none twice.
fn parts(mut text: &str, mut units: &[(char, u64)]) -> Option<u64> {
    let mut sum = 0_u64;
    while !text.is_empty() {
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        let unit = text.get(end..)?.chars().next()?;
        let place = units.iter().position(|(name, _)| *name == unit)?;
        let (one, rest) = text.split_at_checked(end + 1)?;
        sum = sum.checked_add(part(one, units.get(place..=place)?)?)?;
        (text, units) = (rest, units.get(place + 1..)?);
    }
    Some(sum)
}

/// One number with its unit.
fn part(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let (unit, length) = units.iter().find(|(unit, _)| text.ends_with(*unit))?;
    let digits = text.strip_suffix(*unit)?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| plain)?.checked_mul(*length)
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! Lengths of time as protocols write them: an ISO 8601 duration of fixed length (`PT24H`, `P7D`,
//! `P1DT12H`) or a shorthand (`24h`, `7d`, `30m`). Months and years have no length.

/// The seconds of a day.
pub(crate) const DAY: u64 = 24 * HOUR;
/// The seconds of an hour.
pub(crate) const HOUR: u64 = 60 * 60;

/// The length in seconds. `None` if the text is not a duration or the duration is zero.
pub fn seconds(text: &str) -> Option<u64> {
    let seconds = match text.strip_prefix('P') {
        Some(iso) => iso8601(iso),
        None => part(text, &[('d', DAY), ('h', HOUR), ('m', 60), ('s', 1)]),
    };
    seconds.filter(|seconds| *seconds > 0)
}

fn iso8601(text: &str) -> Option<u64> {
    let (date, time) = match text.split_once('T') {
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

/// Sums several numbers with units. Units come in descending order and each occurs at most once.
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

/// Reads one number with its unit.
fn part(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let (unit, length) = units.iter().find(|(unit, _)| text.ends_with(*unit))?;
    let digits = text.strip_suffix(*unit)?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| plain)?.checked_mul(*length)
}

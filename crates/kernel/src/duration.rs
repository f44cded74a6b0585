//! Spans of time as people write and read them: `30 min`, `1h 30m`, `2 days`.

use std::fmt::Write;

const UNITS: [(u64, &[&str]); 5] = [
    (1, &["s", "sec", "secs", "second", "seconds"]),
    (60, &["m", "min", "mins", "minute", "minutes"]),
    (3600, &["h", "hour", "hours"]),
    (86_400, &["d", "day", "days"]),
    (604_800, &["w", "week", "weeks"]),
];

/// The accepted formats, for error messages.
pub const EXPECTED: &str = "a duration such as 30 min, 2 h or 1 day";

/// The number of seconds a text says; a number alone is seconds.
pub fn parse(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    if let Ok(seconds) = rest.parse::<u64>() {
        return (!rest.starts_with('+')).then_some(seconds);
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, after) = rest.split_at_checked(digits)?;
        let after = after.trim_start();
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, later) = after.split_at_checked(letters)?;
        let (seconds, _) = UNITS.iter().find(|(_, names)| names.contains(&unit))?;
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(*seconds)?)?;
        rest = later.trim_start();
    }
    (!text.trim().is_empty()).then_some(total)
}

/// The number of seconds as a text that [`parse`] reads.
pub fn to_text(seconds: u64) -> String {
    let (mut left, mut words) = (seconds, String::new());
    for (size, name) in [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")] {
        let n = left / size;
        left %= size;
        if n > 0 {
            let gap = if words.is_empty() { "" } else { " " };
            // Writing to a String cannot fail.
            let _ = write!(words, "{gap}{n} {name}");
        }
    }
    if words.is_empty() { "0 s".to_owned() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        for (text, seconds) in [
            ("90", Some(90)),
            ("90s", Some(90)),
            (" 30 min ", Some(1800)),
            ("1h 30m", Some(5400)),
            ("1h30m", Some(5400)),
            ("2 days", Some(172_800)),
            ("1 week 1 day", Some(691_200)),
            ("", None),
            ("soon", None),
            ("30 parsecs", None),
            ("-5 min", None),
            ("+5", None),
            ("1.5 h", None),
            ("min 5", None),
            ("99999999999999999999 h", None),
            ("18446744073709551615 w", None),
        ] {
            assert_eq!(parse(text), seconds, "{text:?}");
        }
    }

    #[test]
    fn words_read_back() {
        for (seconds, shown) in
            [(0, "0 s"), (59, "59 s"), (3600, "1 h"), (93_784, "1 d 2 h 3 min 4 s")]
        {
            assert_eq!(to_text(seconds), shown);
            assert_eq!(parse(shown), Some(seconds));
        }
    }
}

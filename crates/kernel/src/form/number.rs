//! Numbers as people type them: one spelling per value, compared by value.

use serde_json::Number;
use std::cmp::Ordering;

/// Reads a number from a text box; `NaN`, infinities and anything out of range are `None`.
pub(super) fn parse(text: &str) -> Option<Number> {
    let text = text.trim();
    if !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(whole.into());
    }
    Number::from_f64(text.parse().ok()?).map(|number| normal(&number))
}

/// The same number, written as an integer when it is a whole one an `f64` holds exactly.
pub(super) fn normal(number: &Number) -> Number {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(float) = number.as_f64()
        && number.is_f64()
        && float.fract() == 0.0
        && float.abs() <= EXACT
        && let Ok(whole) = format!("{float:.0}").parse::<i64>()
    {
        return whole.into();
    }
    number.clone()
}

/// Compares by value: `3.0` equals `3`, and integers beyond 2^53 are not rounded.
pub(super) fn compare(a: &Number, b: &Number) -> Option<Ordering> {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn reads_what_people_type() {
        for (text, expected) in [
            ("5", json!(5)),
            (" 5 ", json!(5)),
            ("+5", json!(5)),
            ("-0", json!(0)),
            ("-0.0", json!(0)),
            ("1e9", json!(1_000_000_000)),
            ("3.0", json!(3)),
            (".5", json!(0.5)),
            ("18446744073709551615", json!(u64::MAX)),
        ] {
            assert_eq!(parse(text).map(Value::Number), Some(expected), "{text:?}");
        }
        for text in ["", " ", "NaN", "inf", "-infinity", "1e999", "0x10", "1,5", "5 6", "e", "٣"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn compares_by_value() {
        let number = |value: Value| value.as_number().unwrap().clone();
        for (a, b, expected) in [
            (json!(3), json!(3.0), Ordering::Equal),
            (json!(3), json!(3.5), Ordering::Less),
            (json!(-1), json!(u64::MAX), Ordering::Less),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), Ordering::Greater),
        ] {
            assert_eq!(compare(&number(a), &number(b)), Some(expected));
        }
    }
}

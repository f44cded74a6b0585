//! The limits of each type, applied to a value that already has that type.

use super::{
    date::Moment,
    error::{FieldErrorCode, ValueError},
    kind::{FieldKind, TextRules},
    number,
    pattern::PatternMatch,
};
use crate::text::is_email;
use serde_json::{Number, Value};
use std::cmp::Ordering;
use url::Url;

impl FieldKind {
    /// Whether a value from [`FieldKind::coerce`] is within the limits of this type.
    pub(super) fn check(&self, value: &Value) -> Result<(), ValueError> {
        match self {
            Self::Text(rules) | Self::Textarea(rules) | Self::Custom(_, rules) => {
                check_text(rules, value.as_str().unwrap_or_default())
            }
            Self::Email(rules) => {
                let address = value.as_str().unwrap_or_default();
                if !is_email(address) {
                    let message = "Enter an email address, like name@example.com";
                    return Err(ValueError::new(FieldErrorCode::InvalidEmail, message));
                }
                check_text(rules, address)
            }
            Self::Url(rules) => {
                let address = value.as_str().unwrap_or_default();
                if !is_url(address) {
                    let message = "Enter a web address, like https://example.com";
                    return Err(ValueError::new(FieldErrorCode::InvalidUrl, message));
                }
                check_text(rules, address)
            }
            Self::Number(bounds) => check_number(bounds.min(), bounds.max(), value),
            Self::Range { min, max } => check_number(Some(min), Some(max), value),
            Self::Date(bounds) => check_date(bounds.min(), bounds.max(), value),
            Self::Boolean | Self::Select(_) | Self::Multiselect(_) | Self::File => Ok(()),
        }
    }

    /// Whether two values from [`FieldKind::coerce`] are equal as values of this type.
    pub(super) fn same(&self, a: &Value, b: &Value) -> bool {
        if self.is_ordered() { self.order(a, b) == Some(Ordering::Equal) } else { a == b }
    }

    /// The order of two values from [`FieldKind::coerce`], for types that have one.
    pub(super) fn order(&self, a: &Value, b: &Value) -> Option<Ordering> {
        match self {
            Self::Number(_) | Self::Range { .. } => number::compare(a.as_number()?, b.as_number()?),
            Self::Date(_) => {
                Some(Moment::parse(a.as_str()?)?.compare(&Moment::parse(b.as_str()?)?))
            }
            Self::Text(_)
            | Self::Textarea(_)
            | Self::Email(_)
            | Self::Url(_)
            | Self::Custom(..)
            | Self::Boolean
            | Self::Select(_)
            | Self::Multiselect(_)
            | Self::File => None,
        }
    }
}

fn check_text(rules: &TextRules, text: &str) -> Result<(), ValueError> {
    let characters =
        |n: u64| if n == 1 { "1 character".to_owned() } else { format!("{n} characters") };
    if rules.min_length().is_some() || rules.max_length().is_some() {
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        if let Some(min) = rules.min_length().filter(|min| length < *min) {
            return Err(ValueError::new(
                FieldErrorCode::TooShort,
                format!("Enter at least {}", characters(min)),
            ));
        }
        if let Some(max) = rules.max_length().filter(|max| length > *max) {
            return Err(ValueError::new(
                FieldErrorCode::TooLong,
                format!("Enter at most {}", characters(max)),
            ));
        }
    }
    match rules.pattern().map(|pattern| pattern.matches(text)) {
        Some(PatternMatch::No) => {
            Err(ValueError::new(FieldErrorCode::Pattern, "Enter this in the expected format"))
        }
        Some(PatternMatch::TooLong) => {
            let message = "Enter a shorter text: this one is too long to check its format";
            Err(ValueError::new(FieldErrorCode::TooLong, message))
        }
        Some(PatternMatch::Yes) | None => Ok(()),
    }
}

fn check_number(
    min: Option<&Number>,
    max: Option<&Number>,
    value: &Value,
) -> Result<(), ValueError> {
    let relation = |bound: &Number| value.as_number().and_then(|n| number::compare(n, bound));
    if let Some(min) = min.filter(|min| relation(min) == Some(Ordering::Less)) {
        return Err(ValueError::new(
            FieldErrorCode::TooSmall,
            format!("Enter a number of at least {min}"),
        ));
    }
    if let Some(max) = max.filter(|max| relation(max) == Some(Ordering::Greater)) {
        return Err(ValueError::new(
            FieldErrorCode::TooLarge,
            format!("Enter a number of at most {max}"),
        ));
    }
    Ok(())
}

fn check_date(min: Option<&Moment>, max: Option<&Moment>, value: &Value) -> Result<(), ValueError> {
    let moment = value.as_str().and_then(Moment::parse);
    let relation = |bound: &Moment| moment.map(|moment| moment.compare(bound));
    if let Some(min) = min.filter(|min| relation(min) == Some(Ordering::Less)) {
        return Err(ValueError::new(
            FieldErrorCode::TooSmall,
            format!("Enter a date of {min} or later"),
        ));
    }
    if let Some(max) = max.filter(|max| relation(max) == Some(Ordering::Greater)) {
        return Err(ValueError::new(
            FieldErrorCode::TooLarge,
            format!("Enter a date of {max} or earlier"),
        ));
    }
    Ok(())
}

/// Accepts any scheme with a host, except those a browser would run. The parser silently drops tabs
/// and line breaks, so they are refused first.
fn is_url(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || c.is_whitespace())
        && Url::parse(text).is_ok_and(|url| {
            !matches!(url.scheme(), "javascript" | "data" | "vbscript")
                && url.host_str().is_some_and(|host| !host.is_empty())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(wire: &Value, value: &Value) -> Result<(), ValueError> {
        let mut field = json!({"key": "k", "label": "K"});
        field.as_object_mut().unwrap().extend(wire.as_object().unwrap().clone());
        let kind = FieldKind::parse(&serde_json::from_value(field).unwrap()).unwrap();
        kind.check(&kind.coerce(value).unwrap())
    }

    /// HITL-134, HITL-136, HXPX-033: each limit, on both sides.
    #[test]
    fn limits_are_inclusive_and_explained() {
        let text = |v: Value| json!({"type": "text", "validation": v});
        let number = |v: Value| json!({"type": "number", "validation": v});
        let date = |v: Value| json!({"type": "date", "validation": v});
        for (wire, good, bad, code, message) in [
            (
                text(json!({"minLength": 2})),
                json!("éé"),
                json!("é"),
                "too_short",
                "Enter at least 2 characters",
            ),
            (
                text(json!({"maxLength": 1})),
                json!("é"),
                json!("éé"),
                "too_long",
                "Enter at most 1 character",
            ),
            (
                text(json!({"pattern": "[A-Z]+"})),
                json!("AB"),
                json!("AB1"),
                "pattern",
                "Enter this in the expected format",
            ),
            (
                number(json!({"min": 0.5})),
                json!(0.5),
                json!(0),
                "too_small",
                "Enter a number of at least 0.5",
            ),
            (
                number(json!({"max": 10})),
                json!("10.0"),
                json!(99_999),
                "too_large",
                "Enter a number of at most 10",
            ),
            (
                json!({"type": "range", "validation": {"min": 1, "max": 5}}),
                json!(5),
                json!(6),
                "too_large",
                "Enter a number of at most 5",
            ),
            (
                date(json!({"min": "2026-01-31"})),
                json!("2026-01-31"),
                json!("2026-01-30"),
                "too_small",
                "Enter a date of 2026-01-31 or later",
            ),
            (
                date(json!({"max": 20_484})),
                json!("2026-01-31T23:59:59Z"),
                json!("2026-02-01"),
                "too_large",
                "Enter a date of 2026-01-31 or earlier",
            ),
            (
                json!({"type": "email", "validation": {"pattern": ".*@example\\.com"}}),
                json!("a@example.com"),
                json!("a@example.org"),
                "pattern",
                "Enter this in the expected format",
            ),
        ] {
            assert_eq!(check(&wire, &good), Ok(()), "{wire}");
            let fault = check(&wire, &bad).unwrap_err();
            assert_eq!((fault.code.as_str(), fault.message.as_str()), (code, message), "{wire}");
        }
    }

    /// HXPX-032: url and email syntax.
    #[test]
    fn addresses_are_checked() {
        for (kind, good) in [
            ("email", "a@example.com"),
            ("email", "first.last+tag@sub.example.co"),
            ("email", "jörg@münchen.example"),
            ("url", "https://example.com"),
            ("url", "http://localhost:8080/a?b#c"),
            ("url", "ftp://host/file"),
            ("url", "postgres://user@db/name"),
        ] {
            assert_eq!(check(&json!({"type": kind}), &json!(good)), Ok(()), "{good}");
        }
        for (kind, bad) in [
            ("email", "a"),
            ("email", "a@"),
            ("email", "a b@example.com"),
            ("email", "Ann <a@example.com>"),
            ("email", "a@[127.0.0.1]"),
            ("email", "a@example.com\r\nBcc: b@example.com"),
            ("url", "example.com"),
            ("url", "/a"),
            ("url", "https://"),
            ("url", "mailto:a@example.com"),
            ("url", "file:///etc/passwd"),
            ("url", "javascript:alert(1)"),
            ("url", "JavaScript://example.com/%0aalert(1)"),
            ("url", "java\nscript://example.com/"),
            ("url", "data:text/html,<script>"),
            ("url", "data://example.com/"),
        ] {
            let fault = check(&json!({"type": kind}), &json!(bad)).unwrap_err();
            assert_eq!(fault.code.as_str(), format!("invalid_{kind}"), "{bad}");
        }
    }

    #[test]
    fn a_megabyte_is_only_long() {
        let long = json!("é".repeat(1 << 20));
        assert_eq!(check(&json!({"type": "text"}), &long), Ok(()));
        let limited = json!({"type": "text", "validation": {"maxLength": 10}});
        assert_eq!(check(&limited, &long).unwrap_err().code, FieldErrorCode::TooLong);
        for kind in ["email", "url"] {
            assert!(check(&json!({"type": kind}), &long).is_err());
        }
    }
}

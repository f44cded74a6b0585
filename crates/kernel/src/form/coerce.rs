//! Converts submitted values to the type of their field.
//!
//! HTML forms and HXP's web client only send strings, so strings are read as the type they
//! represent. The result has one spelling per value: coercing it again changes nothing.

use super::{
    date::Moment,
    error::{FieldErrorCode, ValueError},
    file::{FileRef, is_reference},
    kind::{FieldKind, FormChoices},
    number,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;

/// Whether a submitted value counts as no answer: `null`, the empty string, the empty list.
pub(super) fn is_missing(raw: &Value) -> bool {
    match raw {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

impl FieldKind {
    /// Reads `raw` as a value of this type; limits are checked by [`FieldKind::check`].
    pub(super) fn coerce(&self, raw: &Value) -> Result<Value, ValueError> {
        match self {
            Self::Text(_) | Self::Custom(..) => Ok(Value::String(text(raw)?.to_owned())),
            // Browsers submit CRLF for a line break that counts as one character.
            Self::Textarea(_) => {
                Ok(Value::String(text(raw)?.replace("\r\n", "\n").replace('\r', "\n")))
            }
            Self::Email(_) | Self::Url(_) => Ok(Value::String(text(raw)?.trim().to_owned())),
            Self::Number(_) | Self::Range { .. } => match raw {
                Value::Number(number) => Some(number::normal(number)),
                Value::String(text) => number::parse(text),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
            }
            .map(Value::Number)
            .ok_or_else(|| ValueError::new(FieldErrorCode::WrongType, "Enter a number")),
            Self::Date(_) => {
                const MESSAGE: &str = "Enter a date, like 2026-01-31";
                let text = raw
                    .as_str()
                    .ok_or_else(|| ValueError::new(FieldErrorCode::WrongType, MESSAGE))?
                    .trim();
                match Moment::parse(text) {
                    Some(_) => Ok(Value::String(text.to_owned())),
                    None => Err(ValueError::new(FieldErrorCode::InvalidDate, MESSAGE)),
                }
            }
            Self::Boolean => match raw {
                Value::Bool(flag) => Some(*flag),
                Value::String(text) if matches!(text.as_str(), "true" | "on") => Some(true),
                Value::String(text) if text == "false" => Some(false),
                Value::Null
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_) => None,
            }
            .map(Value::Bool)
            .ok_or_else(|| ValueError::new(FieldErrorCode::WrongType, "Answer yes or no")),
            Self::Select(choices) => choice(choices, raw).map(Value::from),
            Self::Multiselect(choices) => match raw {
                Value::Array(items) => {
                    // Sets, because both lists can be long: the work must not grow with their
                    // product.
                    let known: HashSet<&str> =
                        choices.iter().map(|choice| choice.value.as_str()).collect();
                    let mut seen = HashSet::new();
                    let mut chosen: Vec<&str> = Vec::new();
                    for item in items {
                        let value = match item.as_str().and_then(|text| known.get(text)) {
                            Some(value) => value,
                            None => choice(choices, item)?,
                        };
                        if seen.insert(value) {
                            chosen.push(value);
                        }
                    }
                    Ok(Value::from(chosen))
                }
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Object(_) => Ok(Value::from(vec![choice(choices, raw)?])),
            },
            Self::File => file(raw),
        }
    }

    /// The message for a person who left a required field of this type empty.
    pub(super) fn missing(&self) -> ValueError {
        let message = match self {
            Self::Text(_)
            | Self::Textarea(_)
            | Self::Email(_)
            | Self::Url(_)
            | Self::Custom(..) => "Fill in this field",
            Self::Number(_) | Self::Range { .. } => "Enter a number",
            Self::Date(_) => "Enter a date",
            Self::Boolean => "Answer yes or no",
            Self::Select(_) => "Choose an option",
            Self::Multiselect(_) => "Choose at least one option",
            Self::File => "Add a file",
        };
        ValueError::new(FieldErrorCode::Required, message)
    }
}

/// Accepts any text except one with NUL, which no keyboard types and not every database stores.
fn text(raw: &Value) -> Result<&str, ValueError> {
    let text =
        raw.as_str().ok_or_else(|| ValueError::new(FieldErrorCode::WrongType, "Enter text"))?;
    if text.contains('\0') {
        return Err(ValueError::new(
            FieldErrorCode::WrongType,
            "Remove the invisible NUL character",
        ));
    }
    Ok(text)
}

fn choice<'v>(choices: &FormChoices, raw: &'v Value) -> Result<&'v str, ValueError> {
    const MESSAGE: &str = "Choose from the options shown";
    let value = raw.as_str().ok_or_else(|| ValueError::new(FieldErrorCode::WrongType, MESSAGE))?;
    if choices.contains(value) {
        Ok(value)
    } else {
        Err(ValueError::new(FieldErrorCode::NotAnOption, MESSAGE))
    }
}

fn file(raw: &Value) -> Result<Value, ValueError> {
    const MESSAGE: &str = "Add a file, or a web address where it can be fetched";
    match raw {
        Value::Object(_) => FileRef::deserialize(raw).and_then(serde_json::to_value).ok(),
        Value::String(text) => is_reference(text.trim()).then(|| Value::from(text.trim())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(ValueError::new(FieldErrorCode::WrongType, MESSAGE));
        }
    }
    .ok_or_else(|| ValueError::new(FieldErrorCode::InvalidFile, MESSAGE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kind(name: &str) -> FieldKind {
        let options = if name.ends_with("select") {
            json!([{"value": "a", "label": "A"}, {"value": "b", "label": "B"}])
        } else {
            json!([])
        };
        let validation = if name == "range" { json!({"min": 0, "max": 9}) } else { json!({}) };
        let wire = json!({
            "key": "k", "label": "K", "type": name, "options": options, "validation": validation,
        });
        FieldKind::parse(&serde_json::from_value(wire).unwrap()).unwrap()
    }

    /// HITL-133, HXPX-032: the type table, with the strings that web clients send.
    #[test]
    fn values_are_read_as_their_type() {
        let sha = "ab".repeat(32);
        let file = json!({"sha256": sha, "name": "a", "size": 1, "media_type": "a/b"});
        for (name, raw, expected) in [
            ("text", json!(" a "), json!(" a ")),
            ("text", json!("\u{202e}abc\u{2066}"), json!("\u{202e}abc\u{2066}")),
            ("textarea", json!("a\r\nb\rc\r\r\n"), json!("a\nb\nc\n\n")),
            ("x-colour", json!("red"), json!("red")),
            ("email", json!(" a@example.com "), json!("a@example.com")),
            ("url", json!("https://example.com\n"), json!("https://example.com")),
            ("number", json!("1e9"), json!(1_000_000_000)),
            ("number", json!(" 5 "), json!(5)),
            ("number", json!(3.0), json!(3)),
            ("number", json!(2.5), json!(2.5)),
            ("range", json!("4"), json!(4)),
            ("date", json!(" 2026-01-31 "), json!("2026-01-31")),
            ("boolean", json!(false), json!(false)),
            ("boolean", json!("true"), json!(true)),
            ("boolean", json!("on"), json!(true)),
            ("boolean", json!("false"), json!(false)),
            ("select", json!("a"), json!("a")),
            ("multiselect", json!("a"), json!(["a"])),
            ("multiselect", json!(["b", "a", "b"]), json!(["b", "a"])),
            ("file", file.clone(), file.clone()),
            ("file", json!("https://example.com/a"), json!("https://example.com/a")),
            ("file", json!("data:,a"), json!("data:,a")),
        ] {
            let value = kind(name).coerce(&raw).unwrap();
            assert_eq!(value, expected, "{name} {raw}");
            assert_eq!(kind(name).coerce(&value).unwrap(), value, "{name} {raw} twice");
        }
    }

    /// HITL-136, HXPX-032.
    #[test]
    fn values_of_another_type_are_refused() {
        // The deepest nesting the JSON parser accepts.
        let deep = format!("{}1{}", "[".repeat(127), "]".repeat(127));
        let deep: Value = serde_json::from_str(&deep).unwrap();
        for (name, raw, code) in [
            ("text", json!(5), FieldErrorCode::WrongType),
            ("text", json!(["a"]), FieldErrorCode::WrongType),
            ("text", json!("a\0b"), FieldErrorCode::WrongType),
            ("text", deep.clone(), FieldErrorCode::WrongType),
            ("number", json!("five"), FieldErrorCode::WrongType),
            ("number", json!("NaN"), FieldErrorCode::WrongType),
            ("number", json!("inf"), FieldErrorCode::WrongType),
            ("number", json!(true), FieldErrorCode::WrongType),
            ("range", json!({}), FieldErrorCode::WrongType),
            ("date", json!(20_484), FieldErrorCode::WrongType),
            ("date", json!("2026-02-30"), FieldErrorCode::InvalidDate),
            ("boolean", json!("yes"), FieldErrorCode::WrongType),
            ("boolean", json!(1), FieldErrorCode::WrongType),
            ("select", json!("c"), FieldErrorCode::NotAnOption),
            ("select", json!(["a"]), FieldErrorCode::WrongType),
            ("multiselect", json!(["a", "c"]), FieldErrorCode::NotAnOption),
            ("multiselect", json!([["a"]]), FieldErrorCode::WrongType),
            ("multiselect", deep.clone(), FieldErrorCode::WrongType),
            ("multiselect", json!({"a": true}), FieldErrorCode::WrongType),
            ("file", json!({"sha256": "x"}), FieldErrorCode::InvalidFile),
            (
                "file",
                Value::Object([("a".to_owned(), deep)].into_iter().collect()),
                FieldErrorCode::InvalidFile,
            ),
            ("file", json!("notes.txt"), FieldErrorCode::InvalidFile),
            ("file", json!(5), FieldErrorCode::WrongType),
        ] {
            assert_eq!(kind(name).coerce(&raw).unwrap_err().code, code, "{name}");
        }
    }

    #[test]
    fn emptiness_is_no_answer() {
        for raw in [json!(null), json!(""), json!([])] {
            assert!(is_missing(&raw));
        }
        for raw in [json!(false), json!(0), json!(" "), json!([""]), json!({})] {
            assert!(!is_missing(&raw));
        }
    }
}

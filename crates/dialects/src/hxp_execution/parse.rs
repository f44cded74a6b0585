//! Reports invalid bodies in this dialect's format, with a code for every kind of error.

use serde_json::{Map, Value, json};

use super::errors::{HxpWireError, code};
use crate::members::InvalidBody;

pub(super) use crate::members::{allowed, object, present};

pub(super) type Members<'m> = crate::members::Members<'m, HxpWireError>;

impl InvalidBody for HxpWireError {
    fn not_json(message: String) -> Self {
        Self::new(400, code::INVALID_JSON, message)
    }

    fn not_object() -> Self {
        Self::field(400, code::INVALID_BODY, "body", "a JSON object")
    }

    fn member(path: &str, expected: &str) -> Self {
        Self::field(400, code::INVALID_PAYLOAD, path, expected)
    }

    fn unknown(path: &str, known: &str, problem: &str) -> Self {
        let message = format!("{path}: {problem}");
        let details = Some(json!({ "field": path, "expected": format!("one of {known}") }));
        Self { details, ..Self::new(400, code::INVALID_PAYLOAD, message) }
    }
}

/// One of a closed set of names, or the default if it is absent.
pub(super) fn named<T>(
    map: &Map<String, Value>,
    key: &'static str,
    default: T,
    read: impl Fn(&str) -> Option<T>,
    (code, names): (&'static str, &[&str]),
) -> Result<T, HxpWireError> {
    match present(map, key) {
        None => Ok(default),
        Some(value) => value
            .as_str()
            .and_then(read)
            .ok_or_else(|| HxpWireError::field(400, code, key, &allowed(names, Some(value)))),
    }
}

//! What is wrong with a body, in this dialect's words: every mistake gets its own code.

use serde_json::{Map, Value, json};

use super::errors::{WireError, code};
use crate::members::Mistake;

pub(super) use crate::members::{given, object};

/// The members of a payload.
pub(super) type Members<'m> = crate::members::Members<'m, WireError>;

impl Mistake for WireError {
    fn not_json(message: String) -> Self {
        Self::new(400, code::INVALID_JSON, message)
    }

    fn not_object() -> Self {
        Self::field(400, code::INVALID_BODY, "body", "a JSON object")
    }

    fn member(path: &str, expected: &str) -> Self {
        Self::field(400, code::INVALID_PAYLOAD, path, expected)
    }

    fn unknown(path: &str, known: &str) -> Self {
        let message = format!("{path}: unknown field; known fields are {known}");
        let details = Some(json!({ "field": path, "expected": format!("one of {known}") }));
        Self { details, ..Self::new(400, code::INVALID_PAYLOAD, message) }
    }
}

/// One of a closed set of names, or its default when absent.
pub(super) fn named<T>(
    map: &Map<String, Value>,
    key: &'static str,
    default: T,
    read: impl Fn(&str) -> Option<T>,
    refuse: impl FnOnce() -> WireError,
) -> Result<T, WireError> {
    match given(map, key) {
        None => Ok(default),
        Some(value) => value.as_str().and_then(read).ok_or_else(refuse),
    }
}

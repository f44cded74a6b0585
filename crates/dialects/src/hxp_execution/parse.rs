//! Reading JSON by hand, so that every mistake gets its own code and names its field.

use serde_json::{Map, Value};

use super::errors::{WireError, code};
use crate::nesting::{DEEPEST, too_deep};

/// A body that must be a JSON object.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, WireError> {
    if too_deep(bytes) {
        let message = format!("the body is nested more than {DEEPEST} levels deep");
        return Err(WireError::new(400, code::INVALID_JSON, message));
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        ) => Err(WireError::field(400, code::INVALID_BODY, "body", "a JSON object")),
        Err(error) => {
            let message = format!("the body is not JSON: {error}");
            Err(WireError::new(400, code::INVALID_JSON, message))
        }
    }
}

/// A member that is there; `null` counts as absent.
pub(super) fn given<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    map.get(key).filter(|value| !value.is_null())
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

/// The payload of a request, with errors that name the member.
#[derive(Clone, Copy)]
pub(super) struct Members<'m> {
    map: &'m Map<String, Value>,
    path: &'static str,
}

impl<'m> Members<'m> {
    pub(super) fn new(map: &'m Map<String, Value>, path: &'static str) -> Self {
        Self { map, path }
    }

    pub(super) fn given(self, key: &str) -> Option<&'m Value> {
        given(self.map, key)
    }

    pub(super) fn keys(self) -> impl Iterator<Item = &'m str> {
        self.map.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str())
    }

    pub(super) fn bad(self, key: &str, expected: &str) -> WireError {
        let field = format!("{}.{key}", self.path);
        WireError::field(400, code::INVALID_PAYLOAD, &field, expected)
    }

    /// A text that must be there and not be blank.
    pub(super) fn text(self, key: &str) -> Result<&'m str, WireError> {
        self.given(key)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| self.bad(key, "a non-empty string"))
    }

    pub(super) fn optional_text(self, key: &str) -> Result<Option<&'m str>, WireError> {
        self.given(key)
            .map(|value| value.as_str().ok_or_else(|| self.bad(key, "a string")))
            .transpose()
    }

    pub(super) fn flag(self, key: &str) -> Result<bool, WireError> {
        self.given(key).map_or(Ok(false), |value| {
            value.as_bool().ok_or_else(|| self.bad(key, "true or false"))
        })
    }

    pub(super) fn object(self, key: &str) -> Result<Option<&'m Map<String, Value>>, WireError> {
        self.given(key)
            .map(|value| value.as_object().ok_or_else(|| self.bad(key, "an object")))
            .transpose()
    }
}

//! Reading JSON by hand, so that every mistake names its field.

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
        ) => Err(WireError::field("body", "a JSON object")),
        Err(error) => {
            let message = format!("the body is not JSON: {error}");
            Err(WireError::new(400, code::INVALID_JSON, message))
        }
    }
}

/// An object whose members are read one by one; `null` counts as absent.
#[derive(Clone, Copy)]
pub(super) struct Members<'m> {
    map: &'m Map<String, Value>,
    path: &'m str,
}

impl<'m> Members<'m> {
    /// The members of the body itself have no path.
    pub(super) fn new(map: &'m Map<String, Value>, path: &'m str) -> Self {
        Self { map, path }
    }

    pub(super) fn map(self) -> &'m Map<String, Value> {
        self.map
    }

    pub(super) fn given(self, key: &str) -> Option<&'m Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn path(self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn bad(self, key: &str, expected: &str) -> WireError {
        WireError::field(&self.path(key), expected)
    }

    /// Members nobody knows are mistakes: what is not understood must not look accepted.
    pub(super) fn only(self, known: &[&str]) -> Result<(), WireError> {
        let unknown = self.map.keys().find(|key| !known.contains(&key.as_str()));
        unknown.map_or(Ok(()), |key| {
            Err(self.bad(key, &format!("no such field; there are {}", known.join(", "))))
        })
    }

    pub(super) fn text(self, key: &str) -> Result<Option<&'m str>, WireError> {
        self.given(key)
            .map(|value| value.as_str().ok_or_else(|| self.bad(key, "a string")))
            .transpose()
    }

    /// A text that must be there and not be blank.
    pub(super) fn required(self, key: &str) -> Result<&'m str, WireError> {
        self.text(key)?
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| self.bad(key, "a non-empty string"))
    }

    pub(super) fn flag(self, key: &str) -> Result<Option<bool>, WireError> {
        self.given(key)
            .map(|value| value.as_bool().ok_or_else(|| self.bad(key, "true or false")))
            .transpose()
    }

    pub(super) fn object(self, key: &str) -> Result<Option<&'m Map<String, Value>>, WireError> {
        self.given(key)
            .map(|value| value.as_object().ok_or_else(|| self.bad(key, "an object")))
            .transpose()
    }

    pub(super) fn list(self, key: &str) -> Result<Option<&'m [Value]>, WireError> {
        let list = |value: &'m Value| value.as_array().map(Vec::as_slice);
        self.given(key).map(|value| list(value).ok_or_else(|| self.bad(key, "a list"))).transpose()
    }

    /// A list of texts.
    pub(super) fn texts(self, key: &str) -> Result<Option<Vec<String>>, WireError> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let texts = list.iter().map(|one| one.as_str().map(ToOwned::to_owned));
        let texts: Option<Vec<String>> = texts.collect();
        texts.map(Some).ok_or_else(|| self.bad(key, "a list of strings"))
    }
}

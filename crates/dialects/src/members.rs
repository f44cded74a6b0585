//! Reads JSON by hand, so that every error names its field in the dialect's own terms.

use std::marker::PhantomData;

use kernel::spelling::{listed, unknown_field};
use serde_json::{Map, Value};

use crate::nesting::{DEEPEST, too_deep};
use crate::strict_json;

/// The names of priorities, which every protocol shares.
pub(crate) const PRIORITIES: [&str; 4] = ["low", "normal", "high", "critical"];

/// How a dialect reports an invalid body.
pub(crate) trait InvalidBody: Sized {
    /// The body is not JSON, or exceeds a limit of this reader.
    fn not_json(message: String) -> Self;
    /// The body is JSON but not an object.
    fn not_object() -> Self;
    /// A member has the wrong type or value.
    fn member(path: &str, expected: &str) -> Self;
    /// No member has this name. `known` lists the allowed names, and `problem` says so in words.
    fn unknown(path: &str, known: &str, problem: &str) -> Self;
}

/// Reads a body that must be a JSON object.
pub(crate) fn object<E: InvalidBody>(bytes: &[u8]) -> Result<Map<String, Value>, E> {
    if too_deep(bytes) {
        return Err(E::not_json(format!("the body exceeds the limit of {DEEPEST} nesting levels")));
    }
    match strict_json::read(bytes) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        ) => Err(E::not_object()),
        Err(error) => Err(E::not_json(format!("the body is not valid JSON: {error}"))),
    }
}

/// A member that is present; `null` counts as absent.
pub(crate) fn present<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    map.get(key).filter(|value| !value.is_null())
}

/// The allowed names as a sentence. If the value is a string that resembles one of them, the
/// sentence suggests it.
pub(crate) fn allowed(names: &[&str], value: Option<&Value>) -> String {
    listed(names, value.and_then(Value::as_str).unwrap_or_default())
}

/// An object whose members are read one by one; `null` counts as absent.
pub(crate) struct Members<'m, E> {
    map: &'m Map<String, Value>,
    path: &'m str,
    words: PhantomData<fn() -> E>,
}

// `derive(Clone)` would also require `E: Clone`.
impl<E> Clone for Members<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Members<'_, E> {}

impl<'m, E: InvalidBody> Members<'m, E> {
    /// The members of the body itself have an empty path.
    pub(crate) fn new(map: &'m Map<String, Value>, path: &'m str) -> Self {
        Self { map, path, words: PhantomData }
    }

    pub(crate) fn map(self) -> &'m Map<String, Value> {
        self.map
    }

    pub(crate) fn present(self, key: &str) -> Option<&'m Value> {
        present(self.map, key)
    }

    /// The names of the members that are present.
    pub(crate) fn keys(self) -> impl Iterator<Item = &'m str> {
        self.map.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str())
    }

    pub(crate) fn path(self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(crate) fn bad(self, key: &str, expected: &str) -> E {
        E::member(&self.path(key), expected)
    }

    /// Rejects unknown members: the server must not appear to accept a field that it ignores.
    pub(crate) fn only(self, known: &[&str]) -> Result<(), E> {
        let unknown = self.map.keys().find(|key| !known.contains(&key.as_str()));
        unknown.map_or(Ok(()), |key| {
            let problem = unknown_field(key, known);
            Err(E::unknown(&self.path(key), &known.join(", "), &problem))
        })
    }

    /// The member is none of these names. The error suggests the one that was probably meant.
    pub(crate) fn not_among(self, key: &str, names: &[&str]) -> E {
        self.bad(key, &allowed(names, self.present(key)))
    }

    pub(crate) fn text(self, key: &str) -> Result<Option<&'m str>, E> {
        self.present(key)
            .map(|value| value.as_str().ok_or_else(|| self.bad(key, "a string")))
            .transpose()
    }

    /// A text that must be present and not blank.
    pub(crate) fn required(self, key: &str) -> Result<&'m str, E> {
        self.present(key)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| self.bad(key, "a non-empty string"))
    }

    pub(crate) fn flag(self, key: &str) -> Result<Option<bool>, E> {
        self.present(key)
            .map(|value| value.as_bool().ok_or_else(|| self.bad(key, "true or false")))
            .transpose()
    }

    pub(crate) fn object(self, key: &str) -> Result<Option<&'m Map<String, Value>>, E> {
        self.present(key)
            .map(|value| value.as_object().ok_or_else(|| self.bad(key, "an object")))
            .transpose()
    }

    pub(crate) fn list(self, key: &str) -> Result<Option<&'m [Value]>, E> {
        let list = |value: &'m Value| value.as_array().map(Vec::as_slice);
        self.present(key)
            .map(|value| list(value).ok_or_else(|| self.bad(key, "a list")))
            .transpose()
    }

    /// A list of texts.
    pub(crate) fn texts(self, key: &str) -> Result<Option<Vec<String>>, E> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let texts = list.iter().map(|one| one.as_str().map(ToOwned::to_owned));
        let texts: Option<Vec<String>> = texts.collect();
        texts.map(Some).ok_or_else(|| self.bad(key, "a list of strings"))
    }
}

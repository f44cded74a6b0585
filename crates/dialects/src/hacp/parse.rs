//! Reports invalid bodies in this dialect's format, and holds the readers that parameters share.

use std::str::FromStr;

use kernel::Time;
use kernel::spelling::other_separator;
use kernel::text::is_storable_json;
use kernel::time::LONGEST_TIMEOUT;
use serde_json::{Map, Value, json};

use super::errors::{HacpError, code};
use crate::duration;
use crate::members::InvalidBody;
use crate::nesting::{DEEPEST, too_deep};
use crate::strict_json;

pub(super) type Members<'m> = crate::members::Members<'m, HacpError>;

impl InvalidBody for HacpError {
    fn not_json(message: String) -> Self {
        Self::new(code::INVALID_SPEC, message)
    }

    fn not_object() -> Self {
        Self::field("body", "a JSON object")
    }

    fn member(path: &str, expected: &str) -> Self {
        Self::field(path, expected)
    }

    fn unknown(path: &str, known: &str, problem: &str) -> Self {
        let message = format!("{path}: {problem}");
        let expected = format!("one of {known}");
        Self::new(code::INVALID_SPEC, message)
            .with("field", json!(path))
            .with("expected", json!(expected))
    }
}

/// Reads a body that must be a JSON object.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, HacpError> {
    match json(bytes)? {
        Value::Object(map) => Ok(map),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(HacpError::not_object())
        }
    }
}

/// Reads a body that may be any JSON.
pub(super) fn json(bytes: &[u8]) -> Result<Value, HacpError> {
    if too_deep(bytes) {
        let message = format!("the body exceeds the limit of {DEEPEST} nesting levels");
        return Err(HacpError::not_json(message));
    }
    let value = strict_json::read(bytes)
        .map_err(|error| HacpError::not_json(format!("the body is not valid JSON: {error}")))?;
    if is_storable_json(&value) {
        Ok(value)
    } else {
        Err(HacpError::field("body", "strings without NUL characters"))
    }
}

impl<'m> Members<'m> {
    /// Parses a text; `expected` describes the accepted format.
    pub(super) fn read<T: FromStr>(
        self,
        key: &str,
        expected: &str,
    ) -> Result<Option<T>, HacpError> {
        let read = |text: &str| text.parse().map_err(|_| self.bad(key, expected));
        self.text(key)?.map(read).transpose()
    }

    /// The id of an object. A malformed id is reported as a missing object.
    pub(super) fn id<T: FromStr>(self, key: &str, what: &str) -> Result<Option<T>, HacpError> {
        let read = |text: &str| text.parse().map_err(|_| HacpError::missing(&self.path(key), what));
        self.text(key)?.map(read).transpose()
    }

    /// A required id.
    pub(super) fn required_id<T: FromStr>(self, key: &str, what: &str) -> Result<T, HacpError> {
        self.required(key)?;
        self.id(key, what)?.ok_or_else(|| self.bad(key, "a non-empty string"))
    }

    pub(super) fn time(self, key: &str) -> Result<Option<Time>, HacpError> {
        self.read(key, "a time in RFC 3339 format, such as 2026-11-15T09:00:00Z")
    }

    /// A non-negative integer.
    pub(super) fn count(self, key: &str) -> Result<Option<u64>, HacpError> {
        let count = |value: &Value| value.as_u64().ok_or_else(|| self.bad(key, "a whole number"));
        self.present(key).map(count).transpose()
    }

    /// The page size.
    pub(super) fn limit(self, most: u64) -> Result<Option<u64>, HacpError> {
        let limit = self.count("limit")?;
        if limit.is_none_or(|limit| (1..=most).contains(&limit)) {
            return Ok(limit);
        }
        Err(self.bad("limit", &format!("a whole number from 1 to {most}")))
    }

    /// A length of time, in seconds.
    pub(super) fn duration(self, key: &str) -> Result<Option<u64>, HacpError> {
        let expected = "a duration such as PT2H, P1D, 2h or 30m, of at least one second and at most \
                        a hundred years";
        let read = |text: &str| {
            let seconds = duration::seconds(text).filter(|seconds| *seconds <= LONGEST_TIMEOUT);
            seconds.ok_or_else(|| self.bad(key, expected))
        };
        self.text(key)?.map(read).transpose()
    }

    /// One of several words; `-` may replace `_`.
    pub(super) fn word<T: Copy>(
        self,
        key: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, HacpError> {
        let Some(value) = self.present(key) else { return Ok(None) };
        let given = value.as_str().unwrap_or_default();
        let known = words.iter().find(|(word, _)| *word == given || other_separator(word) == given);
        let names = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>();
        known.map(|(_, meant)| Some(*meant)).ok_or_else(|| self.not_among(key, &names()))
    }

    /// A required word.
    pub(super) fn required_word<T: Copy>(
        self,
        key: &str,
        words: &[(&str, T)],
    ) -> Result<T, HacpError> {
        let names = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>();
        self.word(key, words)?.ok_or_else(|| self.not_among(key, &names()))
    }

    /// A list of objects, each read with its path.
    pub(super) fn each<T>(
        self,
        key: &str,
        read: impl Fn(Members<'_>) -> Result<T, HacpError>,
    ) -> Result<Vec<T>, HacpError> {
        let list = self.list(key)?.unwrap_or_default();
        let one = |(n, value): (usize, &'m Value)| {
            let path = format!("{}[{n}]", self.path(key));
            let map = value.as_object().ok_or_else(|| HacpError::field(&path, "an object"))?;
            read(Members::new(map, &path))
        };
        list.iter().enumerate().map(one).collect()
    }

    /// The one of two names that is present. Both together are an error, unless their values are
    /// equal.
    pub(super) fn either(
        self,
        name: &'static str,
        other: &'static str,
    ) -> Result<&'static str, HacpError> {
        match (self.present(name), self.present(other)) {
            (Some(one), Some(two)) if one != two => {
                Err(self.bad(other, &format!("no value, because `{name}` is also present")))
            }
            (None, Some(_)) => Ok(other),
            (_, _) => Ok(name),
        }
    }
}

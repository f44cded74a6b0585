//! Reports invalid bodies in this dialect's format.

use serde_json::json;

use super::errors::{HitlWireError, code};
use crate::members::InvalidBody;

pub(super) use crate::members::object;

pub(super) type Members<'m> = crate::members::Members<'m, HitlWireError>;

impl InvalidBody for HitlWireError {
    fn not_json(message: String) -> Self {
        Self::new(400, code::INVALID_JSON, message)
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
        Self::new(400, code::INVALID_REQUEST, message)
            .with("field", json!(path))
            .with("expected", json!(expected))
    }
}

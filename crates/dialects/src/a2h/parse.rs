//! Reports invalid bodies in this dialect's format.

use kernel::ask::irreversible::any_marks_irreversible;

use super::errors::{A2hWireError, code};
use crate::members::InvalidBody;

pub(super) use crate::members::object;

pub(super) type Members<'m> = crate::members::Members<'m, A2hWireError>;

impl InvalidBody for A2hWireError {
    fn not_json(message: String) -> Self {
        Self::at("", code::INVALID_JSON, message)
    }

    fn not_object() -> Self {
        Self::field("", "a JSON object")
    }

    fn member(path: &str, expected: &str) -> Self {
        Self::field(path, expected)
    }

    fn unknown(path: &str, _known: &str, problem: &str) -> Self {
        let message = format!("{path}: {problem}");
        Self::at(path, code::INVALID_FIELD, message)
    }
}

impl Members<'_> {
    /// Whether a member other than these marks the request as irreversible.
    pub(super) fn marks_irreversible(self, except: &[&str]) -> bool {
        any_marks_irreversible(
            self.map().iter().filter(|(name, _)| !except.contains(&name.as_str())),
        )
    }

    /// A text under the first of its names that is present; the others are older spellings.
    pub(super) fn either(self, names: &[&str]) -> Result<Option<String>, A2hWireError> {
        for name in names {
            if let Some(text) = self.text(name)? {
                return Ok(Some(text.to_owned()));
            }
        }
        Ok(None)
    }
}

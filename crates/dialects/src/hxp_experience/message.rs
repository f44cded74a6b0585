//! A message that is validated on input and written back unchanged, with unknown fields. Section 5.

use serde_json::{Map, Value};
use thiserror::Error;

use super::check::{Checker, ValidationOptions};
use super::finding::ExperienceReport;
use super::registry::NamespaceRegistry;
use super::token_stream::Unreadable;
use super::view::EnvelopeView;

/// A valid message.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperienceMessage {
    whole: Map<String, Value>,
}

/// Why bytes are not a valid message.
#[derive(Debug, Error)]
pub enum InvalidMessage {
    /// The bytes could not be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A number is too large to be written back.
    #[error("it has a number that cannot be stored exactly")]
    Unkeepable,
    /// The message is not valid.
    #[error("it is not valid")]
    Invalid(ExperienceReport),
}

impl ExperienceMessage {
    /// Reads and validates a message.
    pub fn parse(bytes: &[u8], rules: ValidationOptions) -> Result<Self, InvalidMessage> {
        let mut checker = Checker::new(rules, NamespaceRegistry::default());
        if checker.level(bytes)?.is_none() {
            return Err(InvalidMessage::Invalid(checker.check(bytes)?));
        }
        let whole = serde_json::from_slice(bytes).map_err(|_| InvalidMessage::Unkeepable)?;
        Ok(Self { whole })
    }

    /// The message as JSON: all fields, known or not, in their original order.
    pub fn write(&self) -> String {
        Value::Object(self.whole.clone()).to_string()
    }

    /// The whole message.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.whole
    }

    /// The envelope, without the content.
    pub fn envelope(&self) -> Option<&Map<String, Value>> {
        self.whole.get("hxp").and_then(Value::as_object)
    }

    /// The envelope's claims by name.
    pub fn view(&self) -> EnvelopeView {
        EnvelopeView::of(&self.whole)
    }
}

/// Whether a value has the shape of a message: the required fields are present and of the right
/// type. This matches the protocol's TypeScript type guard; it is not a validation.
pub fn core_shape(value: &Value) -> bool {
    let Some(hxp) = value.get("hxp").filter(|hxp| hxp.is_object()) else { return false };
    let of = |group: &str, name: &str| hxp.get(group).and_then(|group| group.get(name));
    hxp.get("version").is_some_and(Value::is_string)
        && hxp.get("intent").is_some_and(Value::is_string)
        && of("delivery", "verbosity").is_some_and(Value::is_string)
        && of("transparency", "confidence").is_some_and(Value::is_number)
        && hxp.get("actions").is_some_and(Value::is_array)
        && value.get("content").is_some()
}

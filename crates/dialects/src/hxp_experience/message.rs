//! A message to keep: judged when it comes in, and given on as it came, unknown fields included.
//! Section 5.

use serde_json::{Map, Value};
use thiserror::Error;

use super::check::{Checker, Rules};
use super::finding::Report;
use super::registry::Registry;
use super::tape::Unreadable;
use super::view::View;

/// A valid message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    whole: Map<String, Value>,
}

/// Why there is no message.
#[derive(Debug, Error)]
pub enum NoMessage {
    /// It could not be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Some number in it is larger than any that could be given on.
    #[error("it holds a number that cannot be kept")]
    Unkeepable,
    /// It is not valid.
    #[error("it is not valid")]
    Invalid(Report),
}

impl Message {
    /// Reads and judges a message.
    pub fn parse(bytes: &[u8], rules: Rules) -> Result<Self, NoMessage> {
        let mut checker = Checker::new(rules, Registry::default());
        if checker.level(bytes)?.is_none() {
            return Err(NoMessage::Invalid(checker.check(bytes)?));
        }
        let whole = serde_json::from_slice(bytes).map_err(|_| NoMessage::Unkeepable)?;
        Ok(Self { whole })
    }

    /// The message as it is sent: fields in the order they came in, known or not.
    pub fn write(&self) -> String {
        Value::Object(self.whole.clone()).to_string()
    }

    /// All of it.
    pub fn whole(&self) -> &Map<String, Value> {
        &self.whole
    }

    /// The envelope alone, without what it is around.
    pub fn envelope(&self) -> Option<&Map<String, Value>> {
        self.whole.get("hxp").and_then(Value::as_object)
    }

    /// What it says, by name.
    pub fn view(&self) -> View {
        View::of(&self.whole)
    }
}

/// Whether a value looks like a message from afar: the fields every message has are there and of
/// their types. This is what the protocol's TypeScript guard asks; it is no validation.
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

//! Validated answers of a form.

use super::{Field, Form};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fmt;

/// Replaces a sensitive value in [`Values::redacted`].
pub const REDACTED: &str = "[redacted]";

/// The validated answers of a form, in form order, each of its field's type.
///
/// Only [`Form::validate`](super::Form::validate) makes them; reading them back from JSON trusts
/// the storage. `Debug` shows keys only, because answers are never logged.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(Map<String, Value>);

impl Values {
    pub(super) fn new(values: Map<String, Value>) -> Self {
        Self(values)
    }

    /// The answer to the field `key`, if it was visible and answered.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Keys and answers in form order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Replaces the values for which `with` returns another.
    pub(crate) fn replace(&mut self, mut with: impl FnMut(&str, &Value) -> Option<Value>) {
        for (key, value) in &mut self.0 {
            if let Some(other) = with(key, value) {
                *value = other;
            }
        }
    }

    /// The number of answered fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no field was answered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The answers as a JSON object.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The answers as a JSON object, by value.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// The answers with [`REDACTED`] in place of every sensitive one, and of every key the form
    /// does not know. The result is a plain map because it is no longer an answer to the form.
    pub fn redacted(&self, form: &Form) -> Map<String, Value> {
        let shown: HashSet<&str> =
            form.fields().filter(|field| !field.is_sensitive()).map(Field::key).collect();
        self.iter()
            .map(|(key, value)| {
                let value = if shown.contains(key) { value.clone() } else { REDACTED.into() };
                (key.to_owned(), value)
            })
            .collect()
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Values")?;
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// HITL-132, HXPX-036: sensitive values stay out of logs, audit and lists.
    #[test]
    fn sensitive_and_unknown_values_are_redacted() {
        let form: Form = serde_json::from_value(json!({"fields": [
            {"key": "name", "label": "Name", "type": "text"},
            {"key": "pin", "label": "PIN", "type": "text", "sensitive": true},
        ]}))
        .unwrap();
        let values: Values =
            serde_json::from_value(json!({"name": "Ann", "pin": "1234", "other": "5678"})).unwrap();
        let redacted = Value::Object(values.redacted(&form));
        assert_eq!(redacted, json!({"name": "Ann", "pin": REDACTED, "other": REDACTED}));
        assert_eq!(format!("{values:?}"), r#"Values{"name", "pin", "other"}"#);
    }
}

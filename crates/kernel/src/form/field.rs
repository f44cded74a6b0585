//! One question of a form.

use super::{
    coerce::is_missing,
    condition::Condition,
    error::{FieldErrorCode, FormError, ValueError, shorten},
    kind::FieldKind,
    spec::{FieldSpec, FormChoice},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

/// The maximum number of characters of a label (HITL-132).
const MAX_LABEL: usize = 200;

/// A field whose rules are consistent.
///
/// It is made from a [`FieldSpec`], or from JSON with the same checks, and serializes to the JSON
/// it came from. Only its condition is left to [`Form`](super::Form), which knows the fields before
/// it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FieldSpec", into = "FieldSpec")]
pub struct Field {
    spec: FieldSpec,
    kind: FieldKind,
    allowed: Vec<Value>,
    condition: Option<Condition>,
}

#[cfg(feature = "openapi")]
crate::openapi::same_as!(Field, FieldSpec);

impl Field {
    /// Name of the value in the answer: a letter, then letters, digits and `_`.
    pub fn key(&self) -> &str {
        &self.spec.key
    }

    /// What the person reads next to the field, at most 200 characters.
    pub fn label(&self) -> &str {
        &self.spec.label
    }

    /// The type and the limits that belong to it.
    pub fn kind(&self) -> &FieldKind {
        &self.kind
    }

    /// Whether an answer is needed while the field is visible.
    pub fn is_required(&self) -> bool {
        self.spec.required
    }

    /// Whether the value must be masked and kept out of logs.
    pub fn is_sensitive(&self) -> bool {
        self.spec.sensitive
    }

    /// Text to show while the field is empty.
    pub fn placeholder(&self) -> Option<&str> {
        self.spec.placeholder.as_deref()
    }

    /// Help to show with the field.
    pub fn hint(&self) -> Option<&str> {
        self.spec.hint.as_deref()
    }

    /// Value to start from, of the field's type; never on a sensitive field.
    pub fn default_value(&self) -> Option<&Value> {
        self.spec.default.as_ref()
    }

    /// http(s) address to fetch a value to start from.
    pub fn default_ref(&self) -> Option<&str> {
        self.spec.default_ref.as_deref()
    }

    /// The options to choose from; not empty for select and multiselect.
    pub fn options(&self) -> &[FormChoice] {
        &self.spec.options
    }

    /// The only values accepted, of the field's type; empty when there is no such limit.
    pub fn allowed_values(&self) -> &[Value] {
        &self.allowed
    }

    /// When the field is shown; `None` for always. Resolved once the field is part of a form.
    pub fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    /// The field as written on the wire.
    pub fn spec(&self) -> &FieldSpec {
        &self.spec
    }

    pub(super) fn set_condition(&mut self, condition: Option<Condition>) {
        self.condition = condition;
    }

    /// Whether a value from [`FieldKind::coerce`] is within all limits of the field.
    pub(super) fn check(&self, value: &Value) -> Result<(), ValueError> {
        self.kind.check(value)?;
        let allowed = |value: &Value| self.allowed.iter().any(|other| self.kind.same(value, other));
        let within = match value {
            _ if self.allowed.is_empty() => true,
            Value::Array(items) => items.iter().all(allowed),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => allowed(value),
        };
        if within {
            Ok(())
        } else {
            Err(ValueError::new(FieldErrorCode::NotAnOption, "Choose one of the allowed values"))
        }
    }
}

impl TryFrom<FieldSpec> for Field {
    type Error = FormError;

    fn try_from(spec: FieldSpec) -> Result<Self, FormError> {
        if !is_key(&spec.key) {
            return Err(FormError::Key { key: shorten(&spec.key) });
        }
        let key = || spec.key.clone();
        let length = spec.label.chars().count();
        if length > MAX_LABEL {
            return Err(FormError::LabelTooLong { key: key(), length, max: MAX_LABEL });
        }
        let kind = FieldKind::parse(&spec)?;
        let allowed = allowed_values(&spec, &kind)?;
        if let Some(default) = spec.default.as_ref().filter(|default| !is_missing(default)) {
            if spec.sensitive {
                return Err(FormError::SensitiveDefault { key: key() });
            }
            if kind.coerce(default).is_err() {
                return Err(FormError::Default { key: key(), kind: kind.name().to_owned() });
            }
        }
        let is_web =
            |text: &str| Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if spec.default_ref.as_deref().is_some_and(|reference| !is_web(reference)) {
            return Err(FormError::DefaultRef { key: key() });
        }
        Ok(Self { spec, kind, allowed, condition: None })
    }
}

impl From<Field> for FieldSpec {
    fn from(field: Field) -> Self {
        field.spec
    }
}

/// The allowed scalars of the field's type; for multiselect, of each chosen item.
fn allowed_values(spec: &FieldSpec, kind: &FieldKind) -> Result<Vec<Value>, FormError> {
    let Some(values) = spec.validation.as_ref().and_then(|rules| rules.allowed_values.as_ref())
    else {
        return Ok(Vec::new());
    };
    let scalar = |raw: &Value| {
        if is_missing(raw) || raw.is_array() || raw.is_object() {
            return None;
        }
        let value = kind.coerce(raw).ok()?;
        Some(if value.is_array() { raw.clone() } else { value })
    };
    values
        .iter()
        .map(scalar)
        .collect::<Option<Vec<_>>>()
        .filter(|allowed| !allowed.is_empty())
        .ok_or_else(|| FormError::AllowedValues {
            key: spec.key.clone(),
            kind: kind.name().to_owned(),
        })
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn field(rest: &Value) -> Result<Field, String> {
        let mut wire = json!({"key": "k", "label": "K", "type": "text"});
        wire.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        serde_json::from_value(wire).map_err(|error| error.to_string())
    }

    /// HITL-132.
    #[test]
    fn a_field_that_exists_is_valid() {
        for (rest, reason) in [
            (json!({"key": ""}), "a key must start with a letter"),
            (json!({"key": "1a"}), "a key must start with a letter"),
            (json!({"key": "a-b"}), "a key must start with a letter"),
            (json!({"key": "é"}), "a key must start with a letter"),
            (json!({"key": "a\n"}), "a key must start with a letter"),
            (json!({"label": "é".repeat(201)}), "at most 200 characters, but this one has 201"),
            (json!({"default": 5}), "`default` must be a value of type text"),
            (json!({"type": "number", "default": "x"}), "`default` must be a value of type number"),
            (json!({"default": "x", "sensitive": true}), "use `default_ref`"),
            (json!({"default_ref": "javascript:1"}), "`default_ref` must be an http or https URL"),
            (json!({"default_ref": "/relative"}), "`default_ref` must be an http or https URL"),
            (json!({"validation": {"allowed_values": []}}), "a non-empty list"),
            (json!({"validation": {"allowed_values": [1]}}), "values of type text"),
            (json!({"validation": {"allowed_values": [["a"]]}}), "values of type text"),
            (json!({"validation": {"pattern": "("}}), "unclosed group"),
            (json!({"colour": "red"}), "unknown field `colour`"),
        ] {
            let error = field(&rest).unwrap_err();
            assert!(error.contains(reason), "{rest}: {error}");
        }
        for rest in [
            json!({"key": "aZ_9", "label": "é".repeat(200)}),
            json!({"type": "number", "default": "5"}),
            json!({"type": "url", "default": "https://"}),
            json!({"sensitive": true, "default_ref": "https://example.com/v"}),
        ] {
            assert!(field(&rest).is_ok(), "{rest}");
        }
    }

    #[test]
    fn errors_never_quote_a_sensitive_default() {
        let error = field(&json!({"default": "hunter2", "sensitive": true})).unwrap_err();
        assert!(!error.contains("hunter2"));
    }

    /// HXPX-031, HXPX-032.
    #[test]
    fn allowed_values_limit_any_type() {
        for (rest, good, bad) in [
            (json!({"validation": {"allowed_values": ["a", "b"]}}), json!("b"), json!("c")),
            (
                json!({"type": "number", "validation": {"allowed_values": [1, "2", 3.0]}}),
                json!("3"),
                json!(4),
            ),
            (
                json!({"type": "boolean", "validation": {"allowed_values": [true]}}),
                json!("on"),
                json!(false),
            ),
            (
                json!({"type": "multiselect", "validation": {"allowed_values": ["a"]},
                    "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]}),
                json!(["a"]),
                json!(["a", "b"]),
            ),
        ] {
            let field = field(&rest).unwrap();
            let check = |raw: &Value| field.check(&field.kind().coerce(raw).unwrap());
            assert_eq!(check(&good), Ok(()), "{rest}");
            assert_eq!(check(&bad).unwrap_err().code, FieldErrorCode::NotAnOption, "{rest}");
        }
    }
}

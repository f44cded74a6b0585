//! The JSON of a field, as HITL publishes it (§10.3.1), before it is checked.
//!
//! These are plain data with public members: a dialect fills one in and turns it into a
//! [`Field`](super::Field) with `try_from`, which applies the rules.

use super::condition::Operator;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// The members of a field as written on the wire. Unknown members are refused.
///
/// `file` as a type and `allowed_values` inside `validation` are ours; the rest is HITL's schema.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FormField))]
#[serde(deny_unknown_fields)]
pub struct FieldSpec {
    /// The key of the value in the answer; unique in the form.
    pub key: String,
    /// The label of the field.
    pub label: String,
    /// The type, for example `text` or `x-colour`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether the field must be filled in when visible.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// Shown while the field is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Help below the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The default value; not allowed on a sensitive field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// A URL from which to fetch the default value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_ref: Option<String>,
    /// Whether the value is masked and kept out of logs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sensitive: bool,
    /// The options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<FormChoice>,
    /// Limits on the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// When the field is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditional: Option<Conditional>,
}

impl FieldSpec {
    /// An optional field without limits; set the other members as needed.
    pub fn new(key: impl Into<String>, label: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { key: key.into(), label: label.into(), kind: kind.into(), ..Self::default() }
    }
}

/// One option of a select or multiselect field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FormChoice))]
#[serde(deny_unknown_fields)]
pub struct FormChoice {
    /// The value in the answer.
    pub value: String,
    /// The label that the person sees.
    pub label: String,
}

/// Limits on a value, as written on the wire.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FormValidation))]
#[serde(deny_unknown_fields)]
pub struct Validation {
    /// The minimum number of characters.
    #[serde(rename = "minLength", default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// The maximum number of characters.
    #[serde(rename = "maxLength", default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// A regular expression that the whole value must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The smallest number or earliest date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bound>,
    /// The largest number or latest date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bound>,
    /// The only values accepted, as JSON scalars (HXP).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_values: Option<Vec<Value>>,
}

/// One end of an interval.
///
/// HITL speaks of an "earliest date" but its schema only admits numbers (C-09). We accept both on
/// date fields: a string is an ISO date or RFC 3339 timestamp, a number is whole days since
/// 1970-01-01. Unix seconds or milliseconds are far outside the calendar when read as days, so they
/// are refused with an explanation instead of being misread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FormBound))]
#[serde(untagged)]
pub enum Bound {
    /// A number; on date fields, days since 1970-01-01.
    #[cfg_attr(feature = "openapi", schema(value_type = f64))]
    Number(Number),
    /// A date; only on date fields.
    Date(String),
}

impl From<i64> for Bound {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for Bound {
    fn from(date: &str) -> Self {
        Self::Date(date.to_owned())
    }
}

/// When a field is shown, as written on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FormCondition))]
#[serde(deny_unknown_fields)]
pub struct Conditional {
    /// The key of an earlier field.
    pub field: String,
    /// The comparison.
    pub operator: Operator,
    /// The value to compare with; a list for `in`.
    pub value: Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// HITL-132: the field object round-trips member for member.
    #[test]
    fn every_member_survives_a_round_trip() {
        let wire = json!({
            "key": "a", "label": "A", "type": "select", "required": true, "placeholder": "p",
            "hint": "h", "default": "x", "default_ref": "https://example.com/a", "sensitive": true,
            "options": [{"value": "x", "label": "X"}],
            "validation": {"minLength": 1, "maxLength": 2, "pattern": "x", "min": 1.5,
                "max": "2026-01-31", "allowed_values": ["x", 1, true, null]},
            "conditional": {"field": "b", "operator": "in", "value": [1]},
        });
        let spec: FieldSpec = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::to_value(spec).unwrap(), wire);
    }

    /// HITL-132: the objects are closed.
    #[test]
    fn unknown_members_and_wrong_shapes_are_refused() {
        for extra in [
            json!({"colour": "red"}),
            json!({"options": [{"value": "x", "label": "X", "icon": "i"}]}),
            json!({"options": [{"value": 1, "label": "X"}]}),
            json!({"validation": {"minlength": 1}}),
            json!({"validation": {"minLength": -1}}),
            json!({"validation": {"min": true}}),
            json!({"conditional": {"field": "b", "operator": "eq"}}),
            json!({"conditional": {"field": "b", "operator": "like", "value": 1}}),
            json!({"conditional": {"field": "b", "operator": "eq", "value": 1, "or": 2}}),
        ] {
            let mut wire = json!({"key": "a", "label": "A", "type": "text"});
            wire.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            assert!(serde_json::from_value::<FieldSpec>(wire.clone()).is_err(), "{wire}");
        }
    }
}

//! When a field is shown, depending on an earlier one (HITL-135).

use super::{
    coerce::is_missing,
    error::{FormError, shorten},
    field::Field,
    kind::FieldKind,
    spec::Conditional,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cmp::Ordering;

/// How a condition compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = FormOperator))]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// Equal; for multiselect, "is among the chosen" or, given a list, "the same choices".
    Eq,
    /// Not equal; also met by a field without an answer.
    Neq,
    /// One of a list; for multiselect, any of the chosen is.
    In,
    /// Greater, or later.
    Gt,
    /// Less, or earlier.
    Lt,
}

/// A condition on an earlier field, with operands already of that field's type.
///
/// `null`, `""` and `[]` as operands of `eq`, `neq` and `in` mean "has no answer".
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    field: String,
    operator: Operator,
    operands: Vec<Value>,
}

impl Condition {
    /// Key of the field this depends on.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// How the values are compared.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values the answer is compared with: one value, or several for `in`.
    pub fn operands(&self) -> &[Value] {
        &self.operands
    }

    /// Resolves the condition of the field `key` against the field it names, if that one is
    /// `earlier` in the form.
    pub(super) fn resolve(
        key: &str,
        wire: &Conditional,
        earlier: Option<&Field>,
    ) -> Result<Self, FormError> {
        let key = || key.to_owned();
        let Some(earlier) = earlier else {
            return Err(FormError::ConditionField { key: key(), field: shorten(&wire.field) });
        };
        let (field, kind) = (wire.field.clone(), earlier.kind());
        let (ordering, list) = match wire.operator {
            Operator::Eq | Operator::Neq => (false, false),
            Operator::In => (false, true),
            Operator::Gt | Operator::Lt => (true, false),
        };
        if ordering && !kind.is_ordered() {
            let kind = kind.name().to_owned();
            return Err(FormError::ConditionOperator { key: key(), field, kind });
        }
        let operands: Option<Vec<Value>> = match (&wire.value, list) {
            (Value::Array(items), true) => items.iter().map(|item| operand(kind, item)).collect(),
            (_, true) => None,
            (value, false) => operand(kind, value)
                .filter(|operand| !(ordering && operand.is_null()))
                .map(|operand| vec![operand]),
        };
        match operands {
            Some(operands) => Ok(Self { field, operator: wire.operator, operands }),
            None => Err(FormError::ConditionValue {
                key: key(),
                field,
                kind: kind.name().to_owned(),
                expected: if list { "a list of values" } else { "a value" },
            }),
        }
    }

    /// Whether the condition holds for the earlier field's answer.
    pub(super) fn is_met(&self, kind: &FieldKind, answer: Option<&Value>) -> bool {
        let same = || self.operands.iter().any(|operand| matches(kind, answer, operand));
        let order = || answer.zip(self.operands.first()).and_then(|(a, b)| kind.order(a, b));
        match self.operator {
            Operator::Eq | Operator::In => same(),
            Operator::Neq => !same(),
            Operator::Gt => order() == Some(Ordering::Greater),
            Operator::Lt => order() == Some(Ordering::Less),
        }
    }
}

/// `raw` as a value the earlier field can have; a bare string stays one for multiselect.
fn operand(kind: &FieldKind, raw: &Value) -> Option<Value> {
    if is_missing(raw) {
        return Some(Value::Null);
    }
    let value = kind.coerce(raw).ok()?;
    Some(if raw.is_string() && value.is_array() { raw.clone() } else { value })
}

fn matches(kind: &FieldKind, answer: Option<&Value>, operand: &Value) -> bool {
    match (answer, operand) {
        (None, Value::Null) => true,
        (None, _) | (Some(_), Value::Null) => false,
        (Some(Value::Array(chosen)), Value::Array(expected)) => {
            chosen.len() == expected.len() && chosen.iter().all(|value| expected.contains(value))
        }
        (Some(Value::Array(chosen)), operand) => chosen.contains(operand),
        (Some(answer), operand) => kind.same(answer, operand),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn earlier(kind: &str) -> Field {
        let options = if kind.ends_with("select") {
            json!([{"value": "a", "label": "A"}, {"value": "b", "label": "B"}])
        } else {
            json!([])
        };
        let wire = json!({"key": "e", "label": "E", "type": kind, "options": options});
        serde_json::from_value(wire).unwrap()
    }

    fn resolve(kind: &str, operator: &str, value: &Value) -> Result<Condition, FormError> {
        let wire = json!({"field": "e", "operator": operator, "value": value});
        Condition::resolve("k", &serde_json::from_value(wire).unwrap(), Some(&earlier(kind)))
    }

    /// HITL-135: every operator; numbers and dates compare by value.
    #[test]
    fn operators_compare_by_type() {
        for (kind, operator, operand, answer, expected) in [
            ("text", "eq", json!("a"), json!("a"), true),
            ("text", "eq", json!("a"), json!("A"), false),
            ("text", "eq", json!("a"), json!(null), false),
            ("text", "eq", json!(""), json!(null), true),
            ("text", "neq", json!("a"), json!("b"), true),
            ("text", "neq", json!("a"), json!("a"), false),
            ("text", "neq", json!("a"), json!(null), true),
            ("text", "neq", json!(null), json!("a"), true),
            ("text", "in", json!(["a", "b"]), json!("b"), true),
            ("text", "in", json!(["a", "b"]), json!("c"), false),
            ("text", "in", json!([]), json!("c"), false),
            ("number", "eq", json!("3"), json!(3.0), true),
            ("number", "gt", json!(9), json!("10"), true),
            ("number", "gt", json!(9), json!(9), false),
            ("number", "lt", json!(9.5), json!(9), true),
            ("number", "gt", json!(9), json!(null), false),
            ("number", "lt", json!(9), json!(null), false),
            ("date", "gt", json!("2026-01-31"), json!("2026-02-01"), true),
            ("date", "lt", json!("2026-01-31"), json!("2025-12-31"), true),
            ("date", "gt", json!("2026-01-31"), json!("2026-01-31T23:00:00Z"), false),
            ("date", "eq", json!("2026-01-31T00:00:00Z"), json!("2026-01-31T01:00:00+01:00"), true),
            ("boolean", "eq", json!("true"), json!(true), true),
            ("boolean", "neq", json!(true), json!(false), true),
            ("select", "in", json!(["a"]), json!("a"), true),
            ("multiselect", "eq", json!("a"), json!(["a", "b"]), true),
            ("multiselect", "eq", json!(["a"]), json!(["a", "b"]), false),
            ("multiselect", "eq", json!(["b", "a"]), json!(["a", "b"]), true),
            ("multiselect", "neq", json!("a"), json!(["b"]), true),
            ("multiselect", "in", json!(["a"]), json!(["b", "a"]), true),
            ("multiselect", "in", json!(["a"]), json!(["b"]), false),
            ("file", "neq", json!(null), json!("data:,a"), true),
        ] {
            let target = earlier(kind);
            let answer = (!answer.is_null()).then(|| target.kind().coerce(&answer).unwrap());
            let condition = resolve(kind, operator, &operand).unwrap();
            let met = condition.is_met(target.kind(), answer.as_ref());
            assert_eq!(met, expected, "{kind} {answer:?} {operator} {operand}");
        }
    }

    /// HITL-135: a condition that could never be evaluated is refused with the form.
    #[test]
    fn senseless_conditions_are_refused() {
        for (kind, operator, operand, reason) in [
            ("text", "gt", json!("a"), "compare numbers and dates"),
            ("boolean", "lt", json!(true), "compare numbers and dates"),
            ("number", "eq", json!("five"), "a value of type number"),
            ("number", "gt", json!(null), "a value of type number"),
            ("number", "in", json!(5), "a list of values of type number"),
            ("number", "in", json!([5, "x"]), "a list of values of type number"),
            ("date", "gt", json!("soon"), "a value of type date"),
            ("select", "eq", json!("c"), "a value of type select"),
        ] {
            let error = resolve(kind, operator, &operand).unwrap_err().to_string();
            assert!(error.starts_with("field `k`: ") && error.contains(reason), "{error}");
        }
    }
}

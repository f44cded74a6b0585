//! When a form field applies: in words for people, and as data for the script that shows and hides
//! it. The server evaluates the condition again and does not rely on the script.

use kernel::form::{Condition, Field, Form, Kind, Operator};
use serde_json::Value;

use crate::answer_form::fields::plain;
use crate::components::words::Words;

/// A condition that the script can evaluate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    /// The name of the control it depends on.
    pub name: String,
    /// The operator: `eq`, `neq`, `in`, `gt` or `lt`.
    pub operator: &'static str,
    /// The operands, as a JSON list of strings; `null` means no answer.
    pub values: String,
    /// The type of the operands: `number`, `date` or `text`.
    pub kind: &'static str,
}

impl When {
    /// The condition as data.
    pub fn new(condition: &Condition, form: &Form) -> Self {
        let operator = match condition.operator() {
            Operator::Eq => "eq",
            Operator::Neq => "neq",
            Operator::In => "in",
            Operator::Gt => "gt",
            Operator::Lt => "lt",
        };
        let text = |value: &Value| match value {
            Value::Null => Value::Null,
            Value::Array(items) => items.iter().map(plain).collect(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Value::from(plain(value))
            }
        };
        let values: Vec<Value> = condition.operands().iter().map(text).collect();
        let kind = match form.field(condition.field()).map(Field::kind) {
            Some(Kind::Number(_) | Kind::Range { .. }) => "number",
            Some(Kind::Date(_)) => "date",
            Some(
                Kind::Text(_)
                | Kind::Textarea(_)
                | Kind::Email(_)
                | Kind::Url(_)
                | Kind::Boolean
                | Kind::Select(_)
                | Kind::Multiselect(_)
                | Kind::File
                | Kind::Custom(..),
            )
            | None => "text",
        };
        Self {
            name: format!("field.{}", condition.field()),
            operator,
            values: Value::Array(values).to_string(),
            kind,
        }
    }
}

/// The condition as a sentence.
pub fn in_words(condition: &Condition, form: &Form) -> Words {
    let earlier = form.field(condition.field());
    let label = earlier.map_or_else(|| condition.field(), Field::label);
    let shown = |value: &Value| match value {
        Value::Null => "empty".to_owned(),
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        other => {
            let value = plain(other);
            let options = earlier.map(Field::options).unwrap_or_default();
            let option = options.iter().find(|option| option.value == value);
            option.map_or(value, |option| option.label.clone())
        }
    };
    let values = condition.operands().iter().map(shown).collect::<Vec<_>>().join(" or ");
    let relation = match condition.operator() {
        Operator::Eq | Operator::In => "is",
        Operator::Neq => "is not",
        Operator::Gt => "is more than",
        Operator::Lt => "is less than",
    };
    Words::of(&format!("Only if “{label}” {relation} {values}."))
}

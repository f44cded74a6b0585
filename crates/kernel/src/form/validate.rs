//! Answering a form: the visible fields, the progress, and the errors.
//!
//! All three come from one walk over the fields in form order, so a page that shows
//! [`Form::visible`] asks for exactly the fields that [`Form::validate`] accepts.

use super::{
    Field, Form,
    coerce::is_missing,
    error::{FieldError, FieldErrorCode, ValueError, shorten},
    kind::FieldKind,
    values::Values,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The progress of a person in a form (HITL-138).
///
/// Fields count while they are visible, required or not (C-10). A field is completed when its
/// answer would be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormProgress {
    /// The step to continue with, from 1.
    pub current_step: u32,
    /// The number of steps of the form; 1 for a form without steps.
    pub total_steps: u32,
    /// The number of visible fields with an acceptable answer.
    pub completed_fields: u32,
    /// The number of visible fields.
    pub total_fields: u32,
}

impl Form {
    /// Checks an answer and returns it with every value in its field's type.
    ///
    /// Hidden fields are neither required nor returned, whatever was submitted for them. Unknown
    /// keys are refused. All errors are reported at once, in form order, unknown keys last.
    pub fn validate(&self, submitted: &Map<String, Value>) -> Result<Values, Vec<FieldError>> {
        let mut values = Map::new();
        let mut errors = Vec::new();
        for VisitedField { field, state, .. } in self.walk(submitted) {
            match state {
                FieldState::Good(value) => {
                    values.insert(field.key().to_owned(), value);
                }
                FieldState::Wrong(fault) => errors.push(fault.on(field.key())),
                FieldState::Empty if field.is_required() => {
                    errors.push(field.kind().missing().on(field.key()));
                }
                FieldState::Empty | FieldState::Hidden => {}
            }
        }
        let known: HashSet<&str> = self.fields().map(Field::key).collect();
        for key in submitted.keys().filter(|key| !known.contains(key.as_str())) {
            let message = format!("This form has no field `{}`", shorten(key));
            errors.push(ValueError::new(FieldErrorCode::UnknownField, message).on(key));
        }
        if errors.is_empty() { Ok(Values::new(values)) } else { Err(errors) }
    }

    /// The fields to show, given the answers so far, in form order.
    pub fn visible(&self, so_far: &Map<String, Value>) -> impl Iterator<Item = &Field> {
        self.walk(so_far).into_iter().filter(VisitedField::is_visible).map(|seen| seen.field)
    }

    /// The progress of the answers so far.
    ///
    /// The current step is the first with something left to do: a required field without an
    /// acceptable answer, or fields without any answer there and in later steps. With nothing left
    /// it is the last step.
    pub fn progress(&self, so_far: &Map<String, Value>) -> FormProgress {
        let seen: Vec<VisitedField<'_>> =
            self.walk(so_far).into_iter().filter(VisitedField::is_visible).collect();
        let furthest = seen.iter().filter(|seen| seen.is_answered()).map(|seen| seen.step).max();
        let left = |seen: &&VisitedField<'_>| {
            let untouched = furthest.is_none_or(|furthest| furthest < seen.step);
            !seen.is_good() && (untouched || seen.must_change())
        };
        let total_steps = self.step_count();
        let current = seen.iter().find(left).map_or(total_steps, |seen| seen.step + 1);
        FormProgress {
            current_step: count(current),
            total_steps: count(total_steps),
            completed_fields: count(seen.iter().filter(|seen| seen.is_good()).count()),
            total_fields: count(seen.len()),
        }
    }

    fn walk(&self, submitted: &Map<String, Value>) -> Vec<VisitedField<'_>> {
        let mut answers: HashMap<&str, (&FieldKind, Option<Value>)> = HashMap::new();
        let mut walked = Vec::new();
        for (step, field) in self.fields_by_step() {
            let is_met = field.condition().is_none_or(|condition| {
                answers
                    .get(condition.field())
                    .is_some_and(|(kind, answer)| condition.is_met(kind, answer.as_ref()))
            });
            let raw = submitted.get(field.key()).filter(|raw| !is_missing(raw));
            let (state, answer) = match raw {
                _ if !is_met => (FieldState::Hidden, None),
                None => (FieldState::Empty, None),
                Some(raw) => match field.kind().coerce(raw) {
                    Err(fault) => (FieldState::Wrong(fault), None),
                    Ok(value) => match field.check(&value) {
                        Err(fault) => (FieldState::Wrong(fault), Some(value)),
                        Ok(()) => (FieldState::Good(value.clone()), Some(value)),
                    },
                },
            };
            answers.insert(field.key(), (field.kind(), answer));
            walked.push(VisitedField { step, field, state });
        }
        walked
    }
}

struct VisitedField<'f> {
    step: usize,
    field: &'f Field,
    state: FieldState,
}

enum FieldState {
    Hidden,
    Empty,
    Wrong(ValueError),
    Good(Value),
}

impl VisitedField<'_> {
    fn is_visible(&self) -> bool {
        !matches!(self.state, FieldState::Hidden)
    }

    fn is_good(&self) -> bool {
        matches!(self.state, FieldState::Good(_))
    }

    fn is_answered(&self) -> bool {
        matches!(self.state, FieldState::Good(_) | FieldState::Wrong(_))
    }

    fn must_change(&self) -> bool {
        match self.state {
            FieldState::Wrong(_) => true,
            FieldState::Empty => self.field.is_required(),
            FieldState::Hidden | FieldState::Good(_) => false,
        }
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    fn form(value: Value) -> Form {
        serde_json::from_value(value).unwrap()
    }

    fn codes(form: &Form, submitted: Value) -> Vec<(String, &'static str)> {
        form.validate(&map(submitted))
            .unwrap_err()
            .into_iter()
            .map(|error| (error.key, error.code.as_str()))
            .collect()
    }

    fn travel() -> Form {
        form(json!({"steps": [
            {"title": "Trip", "fields": [
                {"key": "abroad", "label": "Abroad?", "type": "boolean", "required": true},
                {"key": "country", "label": "Country", "type": "text", "required": true,
                    "conditional": {"field": "abroad", "operator": "eq", "value": true}},
            ]},
            {"title": "Visa", "fields": [
                {"key": "visa", "label": "Visa", "type": "text", "required": true, "sensitive": true,
                    "conditional": {"field": "country", "operator": "neq", "value": "France"},
                    "validation": {"pattern": "[A-Z]{2}[0-9]{4}"}},
                {"key": "notes", "label": "Notes", "type": "textarea"},
            ]},
            {"title": "Summary", "fields": []},
        ]}))
    }

    /// HITL-136: all errors at once, in form order, unknown keys last.
    #[test]
    fn all_errors_are_reported_in_form_order() {
        let form = form(json!({"fields": [
            {"key": "name", "label": "Name", "type": "text", "required": true},
            {"key": "age", "label": "Age", "type": "number", "validation": {"max": 10}},
            {"key": "tags", "label": "Tags", "type": "multiselect", "required": true,
                "options": [{"value": "a", "label": "A"}]},
        ]}));
        let submitted = json!({"zzz": 1, "tags": [], "age": 99_999, "name": ""});
        assert_eq!(
            codes(&form, submitted.clone()),
            [
                ("name".to_owned(), "required"),
                ("age".to_owned(), "too_large"),
                ("tags".to_owned(), "required"),
                ("zzz".to_owned(), "unknown_field"),
            ]
        );
        let errors = form.validate(&map(submitted)).unwrap_err();
        assert_eq!(errors[1].message, "Enter a number of at most 10");
    }

    #[test]
    fn values_come_back_typed_and_in_form_order() {
        let form = form(json!({"fields": [
            {"key": "b", "label": "B", "type": "number"},
            {"key": "a", "label": "A", "type": "boolean"},
            {"key": "c", "label": "C", "type": "text"},
        ]}));
        let values = form.validate(&map(json!({"c": null, "a": "on", "b": "3.0"}))).unwrap();
        assert_eq!(serde_json::to_string(&values).unwrap(), r#"{"b":3,"a":true}"#);
    }

    /// HITL-135: hidden fields are not required and their values are dropped, through a chain of
    /// conditions and across steps.
    #[test]
    fn hidden_fields_are_neither_required_nor_returned() {
        let form = travel();
        let submitted = json!({"abroad": false, "country": "Chad", "visa": "AB1234"});
        let values = form.validate(&map(submitted)).unwrap();
        // `visa` stays: a field without an answer differs from "France".
        assert_eq!(Value::Object(values.into_map()), json!({"abroad": false, "visa": "AB1234"}));

        let submitted = json!({"abroad": true, "country": "France", "visa": {"any": "thing"}});
        let values = form.validate(&map(submitted)).unwrap();
        assert_eq!(Value::Object(values.into_map()), json!({"abroad": true, "country": "France"}));

        let keys = |so_far| form.visible(&map(so_far)).map(Field::key).collect::<Vec<_>>();
        assert_eq!(keys(json!({})), ["abroad", "visa", "notes"]);
        assert_eq!(
            keys(json!({"abroad": "on", "country": "France"})),
            ["abroad", "country", "notes"]
        );
    }

    /// HITL-132: a sensitive value appears in no message.
    #[test]
    fn messages_never_quote_the_answer() {
        let submitted = map(json!({"abroad": "hunter2", "visa": "hunter2", "notes": ["hunter2"]}));
        let errors = travel().validate(&submitted).unwrap_err();
        assert_eq!(errors.len(), 3);
        assert!(errors.iter().all(|error| !error.to_string().contains("hunter2")), "{errors:?}");
    }

    /// HITL-138, HITL-102, C-10.
    #[test]
    fn progress_counts_visible_fields() {
        let form = travel();
        for (so_far, expected) in [
            (json!({}), (1, 0, 3)),
            (json!({"abroad": true}), (1, 1, 4)),
            (json!({"abroad": true, "country": "Chad"}), (2, 2, 4)),
            (json!({"abroad": true, "country": "France"}), (2, 2, 3)),
            (json!({"abroad": true, "country": "Chad", "visa": "no"}), (2, 2, 4)),
            (json!({"abroad": true, "country": "Chad", "visa": "AB1234"}), (3, 3, 4)),
            (json!({"notes": "later first"}), (1, 1, 3)),
        ] {
            let progress = form.progress(&map(so_far.clone()));
            let FormProgress { current_step, total_steps, completed_fields, total_fields } =
                progress;
            assert_eq!((current_step, completed_fields, total_fields), expected, "{so_far}");
            assert_eq!(total_steps, 3);
        }
    }

    #[test]
    fn hostile_answers_are_only_wrong() {
        let form = travel();
        let deep = format!("{}1{}", r#"{"a":"#.repeat(127), "}".repeat(127));
        let deep: Value = serde_json::from_str(&deep).unwrap();
        let long = "k".repeat(1 << 20);
        let mut submitted = map(json!({"abroad": true, "visa": "A".repeat(1 << 20)}));
        submitted.insert("country".to_owned(), deep);
        submitted.insert(long.clone(), json!(1));
        let errors = form.validate(&submitted).unwrap_err();
        let codes: Vec<_> = errors.iter().map(|error| error.code.as_str()).collect();
        assert_eq!(codes, ["wrong_type", "pattern", "unknown_field"]);
        assert!(errors[2].message.len() < 200 && errors[2].key == long);
    }
}

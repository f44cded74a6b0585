//! Converts an agent's JSON to form controls, one per value, and back. Text stays text and numbers
//! stay numbers, so people correct an amount without writing JSON.

use std::fmt::Write;

use dialects::nesting::{DEEPEST, too_deep};
use kernel::form::{Field, FieldKind, Form, FormChoice};
use kernel::text::is_hidden;
use serde_json::{Map, Number, Value};

use crate::answer_form::fields::{
    Control, ControlOption, FieldView, InputControl, RequirementMark,
};
use crate::answer_form::problem::{AnswerDraft, FormProblems, ProblemLocation};
use crate::answer_form::submitted::{SubmittedForm, same_value, unix_line_breaks};
use crate::components::facts::{Leaf, leaves};
use crate::components::wording::VisibleText;

/// A text with this many characters or more gets a text area.
const LONG: usize = 60;

/// Values that the person can change before pressing a button.
#[derive(Debug, Clone)]
pub struct Edits {
    /// The id of the block, and the prefix of its control names.
    pub name: &'static str,
    /// The label that opens the block.
    pub summary: String,
    /// The effect of a change.
    pub hint: String,
    /// One control per value.
    pub fields: Vec<FieldView>,
    /// The problem with the changes as a whole.
    pub error: Option<String>,
    /// Whether the block is open: a value was changed or is invalid, or it has checkboxes.
    pub open: bool,
    /// Whether the agent proceeds with the edited values.
    pub taken: bool,
    /// Whether the person has already changed a value.
    pub touched: bool,
}

impl Edits {
    /// The controls for an object, with the person's earlier changes. A value that the agent
    /// declared as a multiple choice gets checkboxes.
    pub fn new(
        map: &Map<String, Value>,
        form: Option<&Form>,
        (name, summary, hint): (&'static str, &str, &str),
        draft: Option<&AnswerDraft>,
    ) -> Self {
        let field = |(n, leaf): (usize, &Leaf<'_>)| match leaf.ticked(form) {
            Some(declared) => leaf.ticks(declared, name, n, draft),
            None => leaf.field(name, n, draft),
        };
        let fields: Vec<FieldView> = leaves(map).iter().enumerate().map(field).collect();
        let error =
            draft.and_then(|draft| draft.problem_at(&ProblemLocation::Edits)).map(str::to_owned);
        let entered =
            |field: &FieldView| draft.is_some_and(|draft| draft.value(&field.name).is_some());
        let touched = |field: &FieldView| field.error.is_some() || entered(field);
        // Checkboxes are open from the start, so that the person sees which values can be left out.
        let open =
            error.is_some() || fields.iter().any(|field| touched(field) || field.is_ticked());
        // Checkboxes are sent whether they were changed or not.
        let touched = fields.iter().any(|field| !field.is_ticked() && entered(field));
        Self {
            name,
            summary: summary.to_owned(),
            hint: hint.to_owned(),
            fields,
            error,
            open,
            taken: false,
            touched,
        }
    }
}

/// The object with the person's changes; `None` if there are none. `name` is the prefix
/// of the controls.
pub fn changed(
    map: &Map<String, Value>,
    form: Option<&Form>,
    name: &'static str,
    submitted: &SubmittedForm,
) -> Result<Option<Map<String, Value>>, FormProblems> {
    let mut problem = FormProblems::default();
    let mut edited = map.clone();
    let mut any = false;
    for (n, leaf) in leaves(map).iter().enumerate() {
        let control = format!("{name}.{n}");
        let Some(sent) = submitted.value(&control) else { continue };
        let read = if leaf.ticked(form).is_some() {
            // An empty selection is sent as one empty value.
            let ids = submitted.values(&control).filter(|id| !id.is_empty());
            let ids: Value = ids.collect();
            Ok((ids != *leaf.value).then_some(ids))
        } else {
            leaf.read(sent)
        };
        match read {
            Ok(None) => {}
            Ok(Some(value)) => {
                any = true;
                set_value_at(&mut edited, &leaf.path, value);
            }
            Err(message) => {
                let place = ProblemLocation::Edit(name, n);
                problem.add(place, Some(leaf.label()), message);
            }
        }
    }
    if problem.problems.is_empty() { Ok(any.then_some(edited)) } else { Err(problem) }
}

/// The control values that produce this edited object; only those that differ.
pub(crate) fn entered(
    map: &Map<String, Value>,
    form: Option<&Form>,
    name: &'static str,
    edited: &Map<String, Value>,
) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for (n, leaf) in leaves(map).iter().enumerate() {
        let now = value_at(edited, &leaf.path).filter(|now| *now != leaf.value);
        let Some(now) = now else { continue };
        let control = format!("{name}.{n}");
        if leaf.ticked(form).is_some() {
            pairs.push((control.clone(), String::new()));
            let ids = now.as_array().into_iter().flatten().filter_map(Value::as_str);
            pairs.extend(ids.map(|id| (control.clone(), id.to_owned())));
            continue;
        }
        let shown = match (leaf.value, now) {
            (Value::String(was), Value::String(text)) if !was.contains(is_hidden) => text.clone(),
            (Value::Number(_) | Value::Bool(_), now) => now.to_string(),
            (_, now) => visible_json(now),
        };
        pairs.push((control, shown));
    }
    pairs
}

fn value_at<'m>(map: &'m Map<String, Value>, path: &[&str]) -> Option<&'m Value> {
    let (first, rest) = path.split_first()?;
    let value = map.get(*first)?;
    if rest.is_empty() { Some(value) } else { value_at(value.as_object()?, rest) }
}

/// The members that differ from the original.
pub fn changed_members(
    mut edited: Map<String, Value>,
    original: &Map<String, Value>,
) -> Map<String, Value> {
    edited.retain(|key, value| original.get(key) != Some(value));
    edited
}

fn multiple_choice_field<'f>(form: Option<&'f Form>, key: &str) -> Option<&'f Field> {
    form?.field(key).filter(|field| matches!(field.kind(), FieldKind::Multiselect(_)))
}

/// Whether a member is edited with checkboxes.
pub(crate) fn is_ticked(form: Option<&Form>, key: &str) -> bool {
    multiple_choice_field(form, key).is_some()
}

/// Whether a control still has its initial value.
pub(crate) fn is_untouched(map: &Map<String, Value>, prefix: &str, name: &str, sent: &str) -> bool {
    let number = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.'));
    let n = number.and_then(|n| n.parse::<usize>().ok());
    n.and_then(|n| leaves(map).into_iter().nth(n)).is_some_and(|leaf| leaf.read(sent) == Ok(None))
}

fn set_value_at(map: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [last] => {
            map.insert((*last).to_owned(), value);
        }
        [first, rest @ ..] => {
            if let Some(Value::Object(inner)) = map.get_mut(*first) {
                set_value_at(inner, rest, value);
            }
        }
        [] => {}
    }
}

impl Leaf<'_> {
    /// Reads a value of the same type; `Ok(None)` if it is unchanged.
    fn read(&self, sent: &str) -> Result<Option<Value>, String> {
        match self.value {
            Value::String(text) if !text.contains(is_hidden) => {
                Ok((!same_value(text, sent)).then(|| Value::from(unix_line_breaks(sent))))
            }
            Value::Number(number) => {
                let sent = sent.trim();
                if sent == number.to_string() {
                    return Ok(None);
                }
                let read = serde_json::from_str::<Number>(sent);
                read.map(|number| Some(Value::Number(number)))
                    .map_err(|_| t!("problem-number-example"))
            }
            Value::Bool(was) => match sent {
                "true" => Ok((!was).then_some(Value::Bool(true))),
                "false" => Ok(was.then_some(Value::Bool(false))),
                _ => Err(t!("problem-boolean")),
            },
            Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                let read = json(sent)?;
                Ok((read != *self.value).then_some(read))
            }
        }
    }

    /// The field with which the agent declared this value as a multiple choice.
    fn ticked<'f>(&self, form: Option<&'f Form>) -> Option<&'f Field> {
        let [key] = self.path[..] else { return None };
        multiple_choice_field(form, key)
    }

    fn ticks(
        &self,
        declared: &Field,
        prefix: &'static str,
        n: usize,
        draft: Option<&AnswerDraft>,
    ) -> FieldView {
        let plain = self.field(prefix, n, draft);
        let kept = draft.filter(|draft| draft.value(&plain.name).is_some());
        let pick = |choice: &FormChoice| ControlOption {
            value: choice.value.clone(),
            label: VisibleText::of(&choice.label),
            note: None,
            checked: match kept {
                Some(draft) => draft.is_selected(&plain.name, &choice.value),
                None => self.value.as_array().is_some_and(|ids| {
                    ids.iter().any(|id| id.as_str() == Some(choice.value.as_str()))
                }),
            },
        };
        let control = Control::Checks(declared.options().iter().map(pick).collect());
        FieldView { label: VisibleText::of(declared.label()), hint: None, control, ..plain }
    }

    fn field(&self, prefix: &'static str, n: usize, draft: Option<&AnswerDraft>) -> FieldView {
        let name = format!("{prefix}.{n}");
        let kept = draft.and_then(|draft| draft.value(&name)).map(str::to_owned);
        let place = ProblemLocation::Edit(prefix, n);
        let error = draft.and_then(|draft| draft.problem_at(&place)).map(str::to_owned);
        let mut hint = None;
        let control = match self.value {
            Value::String(text) if !text.contains(is_hidden) => {
                let long = text.contains('\n') || text.chars().count() > LONG;
                let value = kept.unwrap_or_else(|| text.clone());
                if long { area(value, false) } else { line("text", value, Vec::new()) }
            }
            Value::Number(number) => {
                let attributes =
                    vec![("step", "any".to_owned()), ("inputmode", "decimal".to_owned())];
                line("number", kept.unwrap_or_else(|| number.to_string()), attributes)
            }
            Value::Bool(was) => {
                let now = kept.map_or(*was, |kept| kept == "true");
                let pick = |value: bool, label: &str| ControlOption {
                    value: value.to_string(),
                    label: VisibleText::of(label),
                    note: None,
                    checked: now == value,
                };
                Control::Radios(vec![pick(true, &t!("field-yes")), pick(false, &t!("field-no"))])
            }
            // A text with hidden characters is edited as JSON, where they are visible.
            Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                hint = Some(VisibleText::of(&t!("field-as-json")));
                area(kept.unwrap_or_else(|| visible_json(self.value)), true)
            }
        };
        FieldView {
            id: format!("{prefix}-{n}"),
            name,
            label: self.label(),
            hint,
            rules: None,
            condition: None,
            when: None,
            mark: RequirementMark::None,
            insist: false,
            secret: false,
            held: None,
            error,
            control,
        }
    }
}

fn line(kind: &'static str, value: String, attributes: Vec<(&'static str, String)>) -> Control {
    let placeholder = String::new();
    Control::Input(InputControl { kind, value, placeholder, attributes, suggestions: Vec::new() })
}

fn area(value: String, mono: bool) -> Control {
    let rows = (value.lines().count().max(value.chars().count() / 45) + 1).clamp(2, 14);
    Control::Area { value, placeholder: String::new(), rows, mono }
}

/// JSON with every hidden character escaped.
fn visible_json(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

fn json(text: &str) -> Result<Value, String> {
    if too_deep(text.as_bytes()) {
        return Err(t!("problem-json-depth", levels = DEEPEST));
    }
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line().max(1), error.column());
        t!("problem-json", line = line, column = column)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    fn sent(pairs: &[(&str, &str)]) -> SubmittedForm {
        SubmittedForm::new(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    /// HITL-140: edited values keep their type.
    #[test]
    fn values_keep_their_types_and_their_place() {
        let was = map(json!({
            "amount": 1250.50, "note": "a\nb", "urgent": false, "to": {"name": "Ann", "tags": ["x"]},
        }));
        let edit = |pairs: &[(&str, &str)]| changed(&was, None, "edits", &sent(pairs));
        assert_eq!(edit(&[]), Ok(None));
        assert_eq!(edit(&[("edits.0", " 1250.5 "), ("edits.1", "a\r\nb")]), Ok(None));
        let edited = edit(&[
            ("edits.0", "99"),
            ("edits.2", "true"),
            ("edits.3", "Bob"),
            ("edits.4", "[\"x\", 1]"),
        ]);
        let expected = json!({
            "amount": 99, "note": "a\nb", "urgent": true, "to": {"name": "Bob", "tags": ["x", 1]},
        });
        assert_eq!(edited, Ok(Some(map(expected))));
        let wrong = edit(&[("edits.0", "a lot"), ("edits.2", "maybe"), ("edits.4", "[")]);
        let places: Vec<Option<String>> =
            wrong.unwrap_err().problems.iter().map(|problem| problem.place.id()).collect();
        assert_eq!(places, ["edits-0", "edits-2", "edits-4"].map(|id| Some(id.to_owned())));
    }

    #[test]
    fn hidden_characters_are_edited_in_sight() {
        let was = map(json!({"to": "a\u{202e}b\u{e0001}"}));
        let edits = Edits::new(&was, None, ("edits", "", ""), None);
        let Control::Area { value, .. } = &edits.fields[0].control else { panic!() };
        assert_eq!(value, "\"a\\u202eb\\udb40\\udc01\"");
        assert_eq!(changed(&was, None, "edits", &sent(&[("edits.0", value)])), Ok(None));
        let clean = changed(&was, None, "edits", &sent(&[("edits.0", "\"ab\"")]));
        assert_eq!(clean, Ok(Some(map(json!({"to": "ab"})))));
    }

    #[test]
    fn labels_say_where_a_value_stands() {
        let was = map(json!({"artifact": {"title": "T", "meta": {"a": {"b": {"c": 1}}}}}));
        let edits = Edits::new(&was, None, ("edits", "", ""), None);
        let labels: Vec<String> = edits.fields.iter().map(|f| f.label.to_string()).collect();
        assert_eq!(labels, ["Artifact › Title", "Artifact › Meta › A › B"]);
        assert!(!edits.open);
    }

    /// A value declared as a multiple choice gets checkboxes, all ticked at first. The ticked ones
    /// are returned, even if there are none.
    #[test]
    fn some_of_several_are_ticked() {
        let was = map(json!({ "allow": ["a", "b"], "tags": ["a"] }));
        let options = json!([{ "value": "a", "label": "Do a" }, { "value": "b", "label": "Do b" }]);
        let field =
            json!({ "key": "allow", "label": "It may", "type": "multiselect", "options": options });
        let form: Form = serde_json::from_value(json!({ "fields": [field] })).unwrap();
        let edits = Edits::new(&was, Some(&form), ("edits", "", ""), None);
        assert!(edits.open);
        let Control::Checks(ticks) = &edits.fields[0].control else { panic!("{edits:?}") };
        let ticked: Vec<_> = ticks.iter().map(|tick| (tick.value.as_str(), tick.checked)).collect();
        assert_eq!(ticked, [("a", true), ("b", true)]);
        assert!(!edits.fields[1].is_ticked(), "another list is edited as it is");
        let edit =
            |pairs: &[(&str, &str)]| changed(&was, Some(&form), "edits", &sent(pairs)).unwrap();
        assert_eq!(edit(&[("edits.0", ""), ("edits.0", "a"), ("edits.0", "b")]), None);
        assert_eq!(edit(&[]), None, "where nothing was to be ticked, nothing was changed");
        let some = edit(&[("edits.0", ""), ("edits.0", "b")]).unwrap();
        assert_eq!(some["allow"], json!(["b"]));
        assert_eq!(edit(&[("edits.0", "")]).unwrap()["allow"], json!([]));
    }
}

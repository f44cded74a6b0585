//! `type` and `context` of a case: turns JSON into a [`Question`]. Section 10; HITL-121, HITL-130.
//!
//! The person sees the whole context. Members with a place in the question go there (items, form,
//! error, params, and everything for an approval); the rest goes into its text.

use kernel::form::{Field, FieldSpec, Form};
use kernel::question::{Choice, Options, PickMode, Question, QuestionBody, QuestionError};
use serde_json::{Map, Value};

use super::errors::HitlWireError;
use super::parse::Members;
use super::types::CaseType;

/// The member of the context that holds a form.
const FORM: &str = "form";
/// The key of the only field if a case declares no form, and of a free message.
pub(super) const RESPONSE: &str = "response";
/// The label that confirms.
const CONFIRM: &str = "Confirm";
/// The label that cancels.
const CANCEL: &str = "Cancel";

type Object = Map<String, Value>;

/// The question of a type with this context.
pub(super) fn question(
    kind: &CaseType,
    prompt: &str,
    context: &Object,
) -> Result<Question, HitlWireError> {
    let members = Members::new(context, "context");
    let (body, words) = match kind {
        CaseType::Approval => {
            let details = context.clone();
            let body = QuestionBody::Approve {
                details,
                editable: false.into(),
                reject_requires_reason: false,
                reject_options: Vec::new(),
            };
            (body, None)
        }
        CaseType::Selection => {
            let (key, items) = items(members, &["items", "options", "options_preview"])?
                .ok_or_else(|| {
                    members.bad("items", "a list of at least two objects with `id` and `title`")
                })?;
            let options = Options::new(items)
                .map_err(|error| members.bad(key, &format!("{} here", error.expected)))?;
            let pick = if members.flag("multiple")? == Some(false) {
                PickMode::One
            } else {
                PickMode::Many
            };
            (
                QuestionBody::Choose { options, pick, suggested: None },
                words(context, &[key, "multiple"]),
            )
        }
        CaseType::Input | CaseType::Custom(_) => {
            let form = match members.present(FORM) {
                Some(form) => read_form(form)?,
                None => free_text_form()?,
            };
            (QuestionBody::Provide { form }, words(context, &[FORM]))
        }
        CaseType::Confirmation => {
            let found = items(members, &["items", "items_to_confirm"])?;
            let (key, items) = found.unwrap_or(("items", Vec::new()));
            let body =
                QuestionBody::Confirm { items, yes: CONFIRM.to_owned(), no: CANCEL.to_owned() };
            (body, words(context, &[key]))
        }
        CaseType::Escalation => {
            let error = match members.present("error") {
                None => Map::new(),
                Some(Value::Object(error)) => error.clone(),
                Some(other) => Map::from_iter([("message".to_owned(), other.clone())]),
            };
            let params = members.object("params")?.cloned().unwrap_or_default();
            (QuestionBody::Escalate { error, params }, words(context, &["error", "params"]))
        }
    };
    Question::new(prompt, words, body).map_err(|error| refused(&error))
}

fn refused(error: &QuestionError) -> HitlWireError {
    match error.field {
        "prompt" | "context" => HitlWireError::field(error.field, error.expected),
        other => HitlWireError::field(&format!("context.{other}"), error.expected),
    }
}

/// The first of these lists that is present.
fn items<'k>(
    members: Members<'_>,
    keys: &[&'k str],
) -> Result<Option<(&'k str, Vec<Choice>)>, HitlWireError> {
    let Some(key) = keys.iter().copied().find(|key| members.present(key).is_some()) else {
        return Ok(None);
    };
    let list = members.list(key)?.unwrap_or_default();
    let expected = "objects with the strings `id` and `title` (or `label`)";
    let choices: Option<Vec<Choice>> = list.iter().map(choice).collect();
    choices.map(|choices| Some((key, choices))).ok_or_else(|| members.bad(key, expected))
}

/// An item: its title, and all its other members as a description.
fn choice(item: &Value) -> Option<Choice> {
    let item = item.as_object()?;
    let id = item.get("id")?.as_str()?.to_owned();
    let titles = ["title", "label", "name"];
    let title = titles.into_iter().find(|key| item.get(*key).is_some_and(Value::is_string))?;
    let label = item.get(title)?.as_str()?.to_owned();
    Some(Choice { id, label, description: words(item, &["id", title]) })
}

/// The members of a context that have no place of their own, as text: a description first, then one
/// line per member.
fn words(context: &Object, placed: &[&str]) -> Option<String> {
    let mut lines = Vec::new();
    let said = |key: &str| context.get(key).filter(|value| !value.is_null());
    let plain = said("description").and_then(Value::as_str);
    lines.extend(plain.map(ToOwned::to_owned));
    for (key, value) in context {
        let is_placed = placed.contains(&key.as_str()) || value.is_null();
        if is_placed || (key == "description" && plain.is_some()) {
            continue;
        }
        lines.push(line(key, value));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn line(key: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{key}: {text}"),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            format!("{key}: {}", texts.join(", "))
        }
        Value::Object(_) | Value::Array(_) => {
            // Serializing a JSON value cannot fail; the compact form is only a fallback.
            let shown = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
            format!("{key}: {shown}")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => format!("{key}: {value}"),
    }
}

/// `context.form`. It must also match the published schema, which has neither our `allowed_values`
/// nor dates as bounds.
fn read_form(value: &Value) -> Result<Form, HitlWireError> {
    let form: Form = serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let at = if path == "." { String::new() } else { format!(".{path}") };
        HitlWireError::field(&format!("context.form{at}"), &error.inner().to_string())
    })?;
    form.prepare().map_err(|error| {
        let at = error.key().map(|key| format!(".{key}")).unwrap_or_default();
        HitlWireError::field(&format!("context.form{at}"), &error.to_string())
    })?;
    for field in form.fields() {
        let Some(rules) = &field.spec().validation else { continue };
        let at = |rule: &str| format!("context.form.{}.validation.{rule}", field.key());
        if rules.allowed_values.is_some() {
            return Err(HitlWireError::field(
                &at("allowed_values"),
                "no value; use a select field with `options`",
            ));
        }
        for (rule, bound) in [("min", &rules.min), ("max", &rules.max)] {
            if matches!(bound, Some(kernel::form::Bound::Date(_))) {
                let expected = "a number; for a date, the number of days since 1970-01-01";
                return Err(HitlWireError::field(&at(rule), expected));
            }
        }
    }
    Ok(form)
}

/// The form of a case that declares none: one text field.
fn free_text_form() -> Result<Form, HitlWireError> {
    let mut spec = FieldSpec::new(RESPONSE, "Your answer", "textarea");
    spec.required = true;
    let form = Field::try_from(spec).and_then(Form::single);
    form.map_err(|error| HitlWireError::field("context.form", &error.to_string()))
}

/// The context as the service sent it. The context of an approval is stored in the question.
pub(super) fn context(question: &Question, kept: Option<Value>) -> Option<Value> {
    match question.body() {
        QuestionBody::Approve { details, .. } => {
            (!details.is_empty()).then(|| Value::Object(details.clone()))
        }
        QuestionBody::Choose { .. }
        | QuestionBody::Provide { .. }
        | QuestionBody::Confirm { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => kept,
    }
}

//! Shows every kind of question, of any dialect, as one of the three actions. Section 2.

use kernel::form::{Bounds, Field, FieldKind, Form, TextRules};
use kernel::question::{Choice, PickMode, Question, QuestionBody};
use serde_json::{Map, Number, Value, json};

use super::wire::{Action, Approve, Decide, InputType, Payload, Provide, Validation};

/// The maximum number of options of a DECIDE; with more it is shown as a selection.
pub(super) const MOST_OPTIONS: usize = 6;

/// The key of the only field of a PROVIDE.
pub(super) const KEY: &str = "result";

/// The label of that field; the prompt holds the question.
pub(super) const LABEL: &str = "Answer";

/// The type of a selection without `allowed_values`: a text field that keeps the original type.
pub(super) const FREE_SELECTION: &str = "x-selection";

/// The option that retries a failed step.
pub(super) const RETRY: &str = "retry";
/// The option that skips a failed step.
pub(super) const SKIP: &str = "skip";
/// The option that aborts after a failed step.
pub(super) const ABORT: &str = "abort";

pub(super) fn action(question: &Question) -> Action {
    match question.body() {
        QuestionBody::Choose { options, pick: PickMode::One, .. }
            if options.choices().len() <= MOST_OPTIONS =>
        {
            Action::Decide
        }
        QuestionBody::Approve { .. } => Action::Approve,
        QuestionBody::Confirm { .. } | QuestionBody::Escalate { .. } => Action::Decide,
        QuestionBody::Choose { .. } | QuestionBody::Provide { .. } | QuestionBody::Converse => {
            Action::Provide
        }
    }
}

/// The texts by which choices are offered and answered: their labels, or their ids if labels
/// repeat.
pub(super) fn offered(choices: &[Choice]) -> impl Iterator<Item = (&str, &Choice)> {
    let clear = choices
        .iter()
        .enumerate()
        .all(|(n, choice)| choices.iter().take(n).all(|earlier| earlier.label != choice.label));
    choices
        .iter()
        .map(move |choice| (if clear { &choice.label } else { &choice.id }.as_str(), choice))
}

/// The field of a form that has exactly one.
pub(super) fn only_field(form: &Form) -> Option<&Field> {
    let mut fields = form.fields();
    let first = fields.next()?;
    fields.next().is_none().then_some(first)
}

pub(super) fn payload(question: &Question) -> Payload {
    let prompt = question.prompt().to_owned();
    let context = question.context().map(ToOwned::to_owned);
    let decide = |options, details, default_option| {
        let (question, context) = (prompt.clone(), context.clone());
        Payload::Decide(Decide { question, options, context, default_option, details })
    };
    let provide = |input_type| Provide {
        prompt: prompt.clone(),
        input_type,
        context: context.clone(),
        validation: None,
        placeholder: None,
        sensitive: false,
        multiple: false,
        form: None,
    };
    match question.body() {
        QuestionBody::Approve { details, editable, reject_requires_reason, .. } => {
            Payload::Approve(Approve {
                item: prompt.clone(),
                details: details.clone(),
                context: context.clone(),
                reject_requires_reason: *reject_requires_reason,
                editable: editable.clone(),
            })
        }
        QuestionBody::Choose { options, pick, suggested } => {
            let options = options.choices();
            let texts: Vec<String> = offered(options).map(|(text, _)| text.to_owned()).collect();
            if action(question) == Action::Decide {
                let default =
                    suggested.as_ref().and_then(|id| offered(options).find(|(_, c)| c.id == *id));
                return decide(texts, Map::new(), default.map(|(text, _)| text.to_owned()));
            }
            let allowed = texts.into_iter().map(Value::from).collect();
            Payload::Provide(Box::new(Provide {
                validation: Some(Validation {
                    allowed_values: Some(allowed),
                    ..Validation::default()
                }),
                multiple: *pick == PickMode::Many,
                ..provide(InputType::Selection)
            }))
        }
        QuestionBody::Provide { form } => Payload::Provide(Box::new(match only_field(form) {
            Some(field) => Provide {
                validation: validation(field),
                placeholder: field.placeholder().map(ToOwned::to_owned),
                sensitive: field.is_sensitive(),
                multiple: matches!(field.kind(), FieldKind::Multiselect(_)),
                ..provide(input_type(field.kind()))
            },
            None => Provide { form: serde_json::to_value(form).ok(), ..provide(InputType::Text) },
        })),
        QuestionBody::Confirm { items, yes, no } => {
            let labels: Vec<&str> = items.iter().map(|item| item.label.as_str()).collect();
            let details = if labels.is_empty() {
                Map::new()
            } else {
                Map::from_iter([("items".to_owned(), json!(labels))])
            };
            decide(vec![yes.clone(), no.clone()], details, None)
        }
        QuestionBody::Escalate { error, params } => {
            let parts = [("error", error), ("params", params)];
            let details = parts.into_iter().filter(|(_, map)| !map.is_empty());
            let details = details.map(|(key, map)| (key.to_owned(), json!(map))).collect();
            decide([RETRY, SKIP, ABORT].map(ToOwned::to_owned).to_vec(), details, None)
        }
        QuestionBody::Converse => Payload::Provide(Box::new(provide(InputType::Text))),
    }
}

fn input_type(kind: &FieldKind) -> InputType {
    match kind {
        FieldKind::Custom(name, _) if name == FREE_SELECTION => InputType::Selection,
        FieldKind::Text(_)
        | FieldKind::Textarea(_)
        | FieldKind::Custom(..)
        | FieldKind::Date(_) => InputType::Text,
        FieldKind::Email(_) => InputType::Email,
        FieldKind::Url(_) => InputType::Url,
        FieldKind::Number(_) | FieldKind::Range { .. } => InputType::Number,
        FieldKind::Boolean | FieldKind::Select(_) | FieldKind::Multiselect(_) => {
            InputType::Selection
        }
        FieldKind::File => InputType::File,
    }
}

/// The limits of a field; `None` if it has none.
fn validation(field: &Field) -> Option<Validation> {
    let mut limits = match field.kind() {
        FieldKind::Text(rules)
        | FieldKind::Textarea(rules)
        | FieldKind::Email(rules)
        | FieldKind::Url(rules)
        | FieldKind::Custom(_, rules) => of_text(rules),
        FieldKind::Number(bounds) => of_bounds(bounds),
        FieldKind::Range { min, max } => Validation {
            min: Some(Value::Number(min.clone())),
            max: Some(Value::Number(max.clone())),
            ..Validation::default()
        },
        FieldKind::Date(bounds) => Validation {
            min: bounds.min().map(|at| Value::String(at.to_string())),
            max: bounds.max().map(|at| Value::String(at.to_string())),
            ..Validation::default()
        },
        FieldKind::Boolean => Validation {
            allowed_values: Some(vec![true.into(), false.into()]),
            ..Validation::default()
        },
        FieldKind::Select(choices) | FieldKind::Multiselect(choices) => {
            let values = choices.iter().map(|choice| Value::from(choice.value.as_str()));
            Validation { allowed_values: Some(values.collect()), ..Validation::default() }
        }
        FieldKind::File => Validation::default(),
    };
    if !field.allowed_values().is_empty() {
        limits.allowed_values = Some(field.allowed_values().to_vec());
    }
    Some(limits).filter(|limits| *limits != Validation::default())
}

fn of_text(rules: &TextRules) -> Validation {
    Validation {
        pattern: rules.pattern().map(|pattern| pattern.as_str().to_owned()),
        min: rules.min_length().map(Value::from),
        max: rules.max_length().map(Value::from),
        allowed_values: None,
    }
}

fn of_bounds(bounds: &Bounds<Number>) -> Validation {
    Validation {
        min: bounds.min().cloned().map(Value::Number),
        max: bounds.max().cloned().map(Value::Number),
        ..Validation::default()
    }
}

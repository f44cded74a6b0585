//! A form one step at a time: the steps and fields that apply, and the values so far.

use kernel::form::{Field, FieldKind, Form, Layout, REDACTED};
use serde_json::{Map, Value};

use crate::answer::outcome::display_value;
use crate::answer_form::fields::{FieldView, StepView};
use crate::answer_form::problem::AnswerDraft;
use crate::components::facts::{Fact, fact};
use crate::components::wording::VisibleText;

/// A partly completed form: the fields that apply, and their values.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialForm {
    applies: Vec<String>,
    answers: Map<String, Value>,
}

impl PartialForm {
    /// A form with these values.
    pub fn new(form: &Form, values: &Map<String, Value>) -> Self {
        let applies: Vec<&Field> = form.visible(values).collect();
        let answers = applies.iter().filter_map(|field| {
            let value = values.get(field.key()).filter(|value| !is_empty(value))?;
            let shown = match (field.kind(), value.as_str()) {
                _ if field.is_sensitive() => Value::from(REDACTED),
                // A form submits booleans as text.
                (FieldKind::Boolean, Some("true")) => Value::Bool(true),
                (FieldKind::Boolean, Some("false")) => Value::Bool(false),
                _ => value.clone(),
            };
            Some((field.key().to_owned(), shown))
        });
        let answers = answers.collect();
        Self { applies: applies.iter().map(|field| field.key().to_owned()).collect(), answers }
    }

    fn applies(&self, key: &str) -> bool {
        self.applies.iter().any(|applies| applies == key)
    }

    /// Every answer under its label. Secret values are redacted.
    fn summary(&self, form: &Form) -> Vec<Fact> {
        let one = |(key, value): (&String, &Value)| {
            let field = form.field(key);
            let label = field.map_or(key.as_str(), Field::label);
            fact(label, &display_value(value, field), &format!("filled-{key}"))
        };
        self.answers.iter().map(one).collect()
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// The position of a step in the form.
#[derive(Debug, Clone)]
pub struct Stepper {
    /// The step's number, from 1.
    pub n: usize,
    /// The number of steps.
    pub total: usize,
    /// The title of the previous step, if there is one.
    pub back: Option<VisibleText>,
    /// Whether it is the last step, as far as is known before it is completed.
    pub is_last: bool,
    /// The answers so far, on a step without fields.
    pub summary: Vec<Fact>,
}

/// The fields of each step.
fn pages(form: &Form) -> Vec<(Option<&kernel::form::FormStep>, &[Field])> {
    match form.layout() {
        Layout::Single(fields) => vec![(None, fields.as_slice())],
        Layout::Steps(steps) => steps.iter().map(|step| (Some(step), step.fields())).collect(),
    }
}

/// The fields of a step, from 0.
pub fn fields(form: &Form, step: usize) -> &[Field] {
    pages(form).get(step).map_or(&[], |(_, fields)| fields)
}

/// The steps that apply: a summary always does, others if one of their fields does.
fn applicable_steps(form: &Form, filled: &PartialForm) -> Vec<usize> {
    let applies = |(_, fields): &(Option<&kernel::form::FormStep>, &[Field])| {
        fields.is_empty() || !fields_on_page(fields, filled).is_empty()
    };
    let pages = pages(form);
    (0..pages.len()).filter(|n| pages.get(*n).is_some_and(applies)).collect()
}

/// The next step that applies.
pub fn next_step(form: &Form, filled: &PartialForm, step: usize) -> Option<usize> {
    applicable_steps(form, filled).into_iter().find(|n| *n > step)
}

/// The previous step that applies.
pub fn previous_step(form: &Form, filled: &PartialForm, step: usize) -> Option<usize> {
    applicable_steps(form, filled).into_iter().rfind(|n| *n < step)
}

/// The first step at or after this one that applies, or else the last one that does.
pub fn nearest_step(form: &Form, filled: &PartialForm, step: usize) -> usize {
    let applying = applicable_steps(form, filled);
    applying.iter().find(|n| **n >= step).or_else(|| applying.last()).copied().unwrap_or(0)
}

/// The step that contains a field.
pub fn step_of(form: &Form, key: &str) -> Option<usize> {
    pages(form).iter().position(|(_, fields)| fields.iter().any(|field| field.key() == key))
}

/// The fields of a step that its page contains: those that apply, and those that may apply once
/// another field of the page is answered.
fn fields_on_page<'f>(fields: &'f [Field], filled: &PartialForm) -> Vec<&'f Field> {
    let mut shown: Vec<&Field> = Vec::new();
    for field in fields {
        let near = |key: &str| shown.iter().any(|earlier| earlier.key() == key);
        let may = field.condition().is_none_or(|condition| near(condition.field()));
        if may || filled.applies(field.key()) {
            shown.push(field);
        }
    }
    shown
}

/// A step as controls, with its position.
pub fn view(form: &Form, step: usize, draft: Option<&AnswerDraft>) -> (StepView, Stepper) {
    let filled = draft.and_then(AnswerDraft::filled).cloned();
    let filled = filled.unwrap_or_else(|| PartialForm::new(form, &form.defaults()));
    let pages = pages(form);
    let (page, fields) = pages.get(step).copied().unwrap_or((None, &[]));
    let shown = fields_on_page(fields, &filled);
    let near = |key: &str| shown.iter().any(|field| field.key() == key);
    let title = |n: usize| {
        let page = pages.get(n).and_then(|(page, _)| *page);
        page.map_or_else(
            || VisibleText::of(&t!("answer-back-to-form")),
            |page| VisibleText::of(page.title()),
        )
    };
    let view = StepView {
        title: page.map(|page| VisibleText::of(page.title())),
        description: page.and_then(kernel::form::FormStep::description).map(VisibleText::of),
        fields: shown.iter().map(|field| FieldView::new(field, form, draft, near)).collect(),
    };
    let stepper = Stepper {
        n: step + 1,
        total: pages.len(),
        back: previous_step(form, &filled, step).map(title),
        is_last: next_step(form, &filled, step).is_none(),
        summary: if fields.is_empty() { filled.summary(form) } else { Vec::new() },
    };
    (view, stepper)
}

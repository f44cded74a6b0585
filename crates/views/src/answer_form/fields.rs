//! The fields of a form as controls: labels, hints, limits in words, values.

use kernel::form::{Bounds, Condition, Field, FieldKind, Form, Layout, Operator, TextRules};
use kernel::text::is_hidden;
use serde_json::{Number, Value};

use crate::answer_form::one_of;
use crate::answer_form::problem::{AnswerDraft, ProblemLocation};
use crate::components::wording::VisibleText;
use crate::locale;

/// Up to this many options are shown as radio buttons; more become a list.
const FEW: usize = 6;

/// One step of a form.
#[derive(Debug, Clone)]
pub struct StepView {
    /// The heading, if the form has steps.
    pub title: Option<VisibleText>,
    /// The text below the heading.
    pub description: Option<VisibleText>,
    pub fields: Vec<FieldView>,
}

/// One field with its label, help and problem.
#[derive(Debug, Clone)]
pub struct FieldView {
    /// The id of the control, and the target of the error summary's link.
    pub id: String,
    /// The name of the control.
    pub name: String,
    /// The agent's label.
    pub label: VisibleText,
    /// The agent's help text.
    pub hint: Option<VisibleText>,
    /// The limits in the server's words.
    pub rules: Option<String>,
    /// When it applies, if that depends on an earlier field.
    pub condition: Option<VisibleText>,
    /// The same for the script, if that field is on the same page.
    pub when: Option<FieldCondition>,
    /// Whether an answer is required.
    pub mark: RequirementMark,
    /// Whether the browser enforces it. It does not for fields that may not apply.
    pub insist: bool,
    /// Whether the value is never shown again.
    pub secret: bool,
    /// A note about a kept value that cannot be shown: a secret or an upload.
    pub held: Option<String>,
    /// The problem with the value.
    pub error: Option<String>,
    pub control: Control,
}

/// The mark next to the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequirementMark {
    Required,
    Optional,
    /// No mark, because the field always has a value.
    None,
}

/// The kind of control.
#[derive(Debug, Clone)]
pub enum Control {
    /// A one-line control.
    Input(InputControl),
    /// A text area.
    Area {
        /// The current value.
        value: String,
        /// Shown while the field is empty.
        placeholder: String,
        /// The number of visible lines.
        rows: usize,
        /// Whether it uses a monospace font.
        mono: bool,
    },
    /// One of a few options.
    Radios(Vec<ControlOption>),
    /// Several of some options.
    Checks(Vec<ControlOption>),
    /// One of many options.
    List(Vec<ControlOption>),
    /// One of many options, with one already selected.
    Select(Vec<ControlOption>),
    /// One of very many options, in groups.
    Grouped(GroupedSelect),
    /// A file upload.
    File,
}

/// A list whose options are in groups.
#[derive(Debug, Clone)]
pub struct GroupedSelect {
    /// The options before the groups.
    pub options: Vec<ControlOption>,
    /// The groups: their label and their options.
    pub groups: Vec<(String, Vec<ControlOption>)>,
    /// Further HTML attributes: name and value.
    pub attributes: Vec<(&'static str, String)>,
}

#[derive(Debug, Clone)]
pub struct InputControl {
    /// The HTML input type.
    pub kind: &'static str,
    /// The current value.
    pub value: String,
    /// Shown while the field is empty.
    pub placeholder: String,
    /// Further HTML attributes: name and value.
    pub attributes: Vec<(&'static str, String)>,
    pub suggestions: Vec<String>,
}

/// An option of a control.
#[derive(Debug, Clone)]
pub struct ControlOption {
    /// The submitted value.
    pub value: String,
    pub label: VisibleText,
    /// An explanation of the option.
    pub note: Option<VisibleText>,
    /// Whether it is selected.
    pub checked: bool,
}

impl FieldView {
    /// The value of `aria-describedby`; empty if there is no description.
    pub fn described_by(&self) -> String {
        let parts = [
            ("hint", self.hint.is_some() || self.condition.is_some()),
            ("rules", self.rules.is_some()),
            ("held", self.held.is_some()),
            ("error", self.error.is_some()),
        ];
        let ids = parts.iter().filter(|(_, there)| *there);
        ids.map(|(part, _)| format!("{}-{part}", self.id)).collect::<Vec<_>>().join(" ")
    }

    /// Whether it consists of checkboxes.
    pub fn is_ticked(&self) -> bool {
        matches!(self.control, Control::Checks(_))
    }

    /// Whether the control has a description.
    pub fn is_described(&self) -> bool {
        !self.described_by().is_empty()
    }

    pub fn required(&self) -> bool {
        self.mark == RequirementMark::Required
    }

    /// The control of a field. `near` says which earlier fields are on the same page; the script
    /// shows and hides the fields that depend on them.
    pub fn new(
        field: &Field,
        form: &Form,
        draft: Option<&AnswerDraft>,
        near: impl Fn(&str) -> bool,
    ) -> Self {
        let name = format!("field.{}", field.key());
        let place = ProblemLocation::Field(field.key().to_owned());
        let held = draft.and_then(|draft| draft.kept_note(&name)).map(str::to_owned);
        let condition = field.condition();
        let live = condition.filter(|condition| near(condition.field()));
        Self {
            id: format!("field-{}", field.key()),
            label: VisibleText::of(field.label()),
            hint: hint(field),
            rules: rules(field),
            condition: live.map(|condition| in_words(condition, form)),
            when: live.map(|condition| FieldCondition::new(condition, form)),
            mark: if field.is_required() {
                RequirementMark::Required
            } else {
                RequirementMark::Optional
            },
            insist: field.is_required() && condition.is_none() && held.is_none(),
            secret: field.is_sensitive(),
            held,
            error: draft.and_then(|draft| draft.problem_at(&place)).map(str::to_owned),
            control: control(field, &name, draft),
            name,
        }
    }
}

/// All steps of the form below each other, so that the page works without a script. The controls
/// have the draft's values or the agent's defaults.
pub fn steps(form: &Form, draft: Option<&AnswerDraft>) -> Vec<StepView> {
    let views = |fields: &[Field]| -> Vec<FieldView> {
        fields.iter().map(|field| FieldView::new(field, form, draft, |_| true)).collect()
    };
    match form.layout() {
        Layout::Single(fields) => {
            vec![StepView { title: None, description: None, fields: views(fields) }]
        }
        Layout::Steps(steps) => steps
            .iter()
            .map(|step| StepView {
                title: Some(VisibleText::of(step.title())),
                description: step.description().map(VisibleText::of),
                fields: views(step.fields()),
            })
            .collect(),
    }
}

fn control(field: &Field, name: &str, draft: Option<&AnswerDraft>) -> Control {
    let draft = draft.filter(|draft| draft.has_field(name));
    let held = |value: &str| match draft {
        Some(draft) => draft.is_selected(name, value),
        None => match visible_default(field) {
            Some(Value::Array(items)) => items.iter().any(|item| plain(item) == value),
            Some(default) => plain(default) == value,
            None => false,
        },
    };
    let value = || match draft {
        Some(draft) => draft.value(name).unwrap_or_default().to_owned(),
        None => visible_default(field).map(plain).unwrap_or_default(),
    };
    let pick = |value: String, label: &str| {
        let checked = held(&value);
        ControlOption { value, label: VisibleText::of(label), note: None, checked }
    };
    let allowed: Vec<String> = field.allowed_values().iter().map(plain).collect();
    let options = || -> Vec<ControlOption> {
        let open = |value: &String| allowed.is_empty() || allowed.contains(value);
        let options = field.options().iter().filter(|option| open(&option.value));
        options.map(|option| pick(option.value.clone(), &option.label)).collect()
    };
    let of = |options: Vec<ControlOption>| {
        // A selected radio button cannot be cleared, so optional fields get a list with
        // an empty entry.
        let few = options.len() <= FEW && field.is_required();
        if few { Control::Radios(options) } else { Control::List(options) }
    };
    let input = |kind: &'static str, attributes: Vec<(&'static str, String)>| {
        let (kind, value) =
            if field.is_sensitive() { ("password", String::new()) } else { (kind, value()) };
        let placeholder = field.placeholder().map(kernel::text::reveal).unwrap_or_default();
        Control::Input(InputControl {
            kind,
            value,
            placeholder,
            attributes,
            suggestions: Vec::new(),
        })
    };
    match field.kind() {
        FieldKind::Boolean => {
            let both = vec![
                pick("true".to_owned(), &t!("field-yes")),
                pick("false".to_owned(), &t!("field-no")),
            ];
            of(both)
        }
        FieldKind::Select(_) => of(options()),
        FieldKind::Multiselect(_) => Control::Checks(options()),
        FieldKind::File => Control::File,
        _ if !allowed.is_empty() && !field.is_sensitive() => {
            of(allowed.iter().map(|value| pick(value.clone(), value)).collect())
        }
        FieldKind::Textarea(_) => Control::Area {
            value: if field.is_sensitive() { String::new() } else { value() },
            placeholder: field.placeholder().map(kernel::text::reveal).unwrap_or_default(),
            rows: 5,
            mono: false,
        },
        FieldKind::Number(bounds) => input("number", limits(bounds.min(), bounds.max())),
        FieldKind::Range { min, max } => match scale(min, max) {
            Some(marks) if field.is_required() => {
                Control::Radios(marks.map(|n| pick(n.to_string(), &n.to_string())).collect())
            }
            Some(_) | None => input("number", limits(Some(min), Some(max))),
        },
        FieldKind::Date(_) if value().len() <= 10 => input("date", Vec::new()),
        FieldKind::Email(_) => input("email", vec![("autocomplete", "email".to_owned())]),
        FieldKind::Url(_) => input("url", vec![("inputmode", "url".to_owned())]),
        FieldKind::Custom(..) => {
            let mut control = input("text", Vec::new());
            if let Control::Input(input) = &mut control {
                input.suggestions = options().into_iter().map(|option| option.value).collect();
            }
            control
        }
        FieldKind::Text(_) | FieldKind::Date(_) => input("text", Vec::new()),
    }
}

/// The agent's default. A default with hidden characters is mentioned and not filled in.
fn visible_default(field: &Field) -> Option<&Value> {
    field.default_value().filter(|value| !plain(value).contains(is_hidden))
}

fn hint(field: &Field) -> Option<VisibleText> {
    let hint = field.hint().filter(|hint| !hint.trim().is_empty());
    let hides = field.default_value().filter(|_| visible_default(field).is_none());
    let suggested = hides.map(|value| t!("field-suggested", value = plain(value)));
    // The server does not fetch the URL, but shows it, because the person may know its content.
    let kept = field.default_ref();
    let kept = kept.map(|url| t!("field-elsewhere", url = url));
    let said = suggested.iter().chain(&kept).map(String::as_str);
    let parts: Vec<&str> = hint.into_iter().chain(said).collect();
    (!parts.is_empty()).then(|| VisibleText::of(&parts.join(" ")))
}

/// A short range of integers becomes radio buttons, which are easier to tap than to type.
fn scale(min: &Number, max: &Number) -> Option<std::ops::RangeInclusive<i64>> {
    let (min, max) = (min.as_i64()?, max.as_i64()?);
    (0..=10).contains(&max.checked_sub(min)?).then_some(min..=max)
}

fn limits(min: Option<&Number>, max: Option<&Number>) -> Vec<(&'static str, String)> {
    let mut attributes = vec![("step", "any".to_owned()), ("inputmode", "decimal".to_owned())];
    attributes.extend(min.map(|min| ("min", min.to_string())));
    attributes.extend(max.map(|max| ("max", max.to_string())));
    attributes
}

pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// A limit for a number, as the reader's language writes it.
pub(crate) fn limit(number: &Number) -> String {
    let digits = number.to_string();
    locale::decimal(&digits).unwrap_or(digits)
}

fn rules(field: &Field) -> Option<String> {
    match field.kind() {
        FieldKind::Text(rules)
        | FieldKind::Textarea(rules)
        | FieldKind::Email(rules)
        | FieldKind::Url(rules)
        | FieldKind::Custom(_, rules) => lengths(rules),
        FieldKind::Number(bounds) => numbers(bounds.min(), bounds.max()),
        FieldKind::Range { min, max } => numbers(Some(min), Some(max)),
        FieldKind::Date(bounds) => dates(bounds),
        FieldKind::Multiselect(_) => Some(t!("field-choose-all")),
        FieldKind::Boolean | FieldKind::Select(_) | FieldKind::File => None,
    }
}

fn numbers(min: Option<&Number>, max: Option<&Number>) -> Option<String> {
    match (min.map(limit), max.map(limit)) {
        (Some(min), Some(max)) => Some(t!("field-range", min = min, max = max)),
        (Some(min), None) => Some(t!("field-min", min = min)),
        (None, Some(max)) => Some(t!("field-max", max = max)),
        (None, None) => None,
    }
}

/// Limits of a date. They are written as the agent wrote them, because the field takes the same
/// form.
fn dates<T: ToString>(bounds: &Bounds<T>) -> Option<String> {
    match (bounds.min().map(T::to_string), bounds.max().map(T::to_string)) {
        (Some(min), Some(max)) => Some(t!("field-range", min = min, max = max)),
        (Some(min), None) => Some(t!("field-min-date", min = min)),
        (None, Some(max)) => Some(t!("field-max-date", max = max)),
        (None, None) => None,
    }
}

fn lengths(rules: &TextRules) -> Option<String> {
    let length = match (rules.min_length(), rules.max_length()) {
        (Some(min), Some(max)) => Some(t!("field-length", min = min, max = max)),
        (Some(min), None) => Some(t!("field-min-length", min = min)),
        (None, Some(max)) => Some(t!("field-max-length", max = max)),
        (None, None) => None,
    };
    let pattern = rules
        .pattern()
        .map(|pattern| t!("field-pattern", pattern = kernel::text::reveal(pattern.as_str())));
    match (length, pattern) {
        (Some(length), Some(pattern)) => Some(format!("{length} {pattern}")),
        (length, pattern) => length.or(pattern),
    }
}

// When a form field applies: in words for people, and as data for the script that shows and hides
// it. The server evaluates the condition again and does not rely on the script.

/// A condition that the script can evaluate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldCondition {
    /// The name of the control it depends on.
    pub name: String,
    /// The operator: `eq`, `neq`, `in`, `gt` or `lt`.
    pub operator: &'static str,
    /// The operands, as a JSON list of strings; `null` means no answer.
    pub values: String,
    /// The type of the operands: `number`, `date` or `text`.
    pub kind: &'static str,
}

impl FieldCondition {
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
            Some(FieldKind::Number(_) | FieldKind::Range { .. }) => "number",
            Some(FieldKind::Date(_)) => "date",
            Some(
                FieldKind::Text(_)
                | FieldKind::Textarea(_)
                | FieldKind::Email(_)
                | FieldKind::Url(_)
                | FieldKind::Boolean
                | FieldKind::Select(_)
                | FieldKind::Multiselect(_)
                | FieldKind::File
                | FieldKind::Custom(..),
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
pub fn in_words(condition: &Condition, form: &Form) -> VisibleText {
    let earlier = form.field(condition.field());
    let label = earlier.map_or_else(|| condition.field(), Field::label);
    let shown = |value: &Value| match value {
        Value::Null => t!("field-empty"),
        Value::Bool(true) => t!("field-yes"),
        Value::Bool(false) => t!("field-no"),
        other => {
            let value = plain(other);
            let options = earlier.map(Field::options).unwrap_or_default();
            let option = options.iter().find(|option| option.value == value);
            option.map_or(value, |option| option.label.clone())
        }
    };
    let values = one_of(condition.operands().iter().map(shown));
    let sentence = match condition.operator() {
        Operator::Eq | Operator::In => t!("field-if-is", label = label, values = values),
        Operator::Neq => t!("field-if-is-not", label = label, values = values),
        Operator::Gt => t!("field-if-more", label = label, values = values),
        Operator::Lt => t!("field-if-less", label = label, values = values),
    };
    VisibleText::of(&sentence)
}

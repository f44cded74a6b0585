//! The kinds of question, each with the answers it can get.

use kernel::question::Answer;
use serde_json::{Map, Value, json};

use super::Asking;

pub trait Kind {
    /// The answers that a person can give.
    type Answer;

    /// The answer in this kind's type; `None` if it belongs to another kind.
    fn typed_answer(answer: Answer) -> Option<Self::Answer>;
}

/// See [`Draft::approve`](super::Draft::approve).
pub struct Approve;
/// See [`Draft::choose`](super::Draft::choose).
pub struct Choose;
/// See [`Draft::provide`](super::Draft::provide).
pub struct Provide;
/// See [`Draft::confirm`](super::Draft::confirm).
pub struct Confirm;
/// See [`Draft::escalate`](super::Draft::escalate).
pub struct Escalate;
/// See [`Draft::converse`](super::Draft::converse).
pub struct Converse;

/// A person's answer to an action.
#[derive(Debug, Clone, PartialEq)]
pub enum Approval {
    /// The person approved.
    Approved {
        /// The details as the person changed them. Use these in place of the proposed ones. Only if
        /// the question is [editable](Asking::editable).
        edits: Option<Map<String, Value>>,
    },
    /// The person rejected.
    Rejected,
    /// The person wants a change; the comment describes it. Ask again afterwards.
    ChangesRequested,
}

/// A person's answer to "go ahead with exactly these".
#[derive(Debug, Clone, PartialEq)]
pub enum Confirmation {
    /// Go ahead with these items, by id.
    Confirmed(Vec<String>),
    /// Do not go ahead.
    Declined,
    /// The person wants a change; the comment describes it. Ask again afterwards.
    ChangesRequested,
}

/// A person's answer to a failure.
#[derive(Debug, Clone, PartialEq)]
pub enum Escalation {
    /// Try again, perhaps with other parameters.
    Retry(Map<String, Value>),
    /// Skip this step.
    Skip,
    Abort,
    /// The person wants a change; the comment describes it. Ask again afterwards.
    ChangesRequested,
}

impl Kind for Approve {
    type Answer = Approval;

    fn typed_answer(answer: Answer) -> Option<Approval> {
        match answer {
            Answer::Approved { edits } => Some(Approval::Approved { edits }),
            Answer::Rejected { .. } => Some(Approval::Rejected),
            Answer::ChangesRequested { .. } => Some(Approval::ChangesRequested),
            _ => None,
        }
    }
}

/// `None` if the person requested changes.
impl Kind for Choose {
    type Answer = Option<Vec<String>>;

    fn typed_answer(answer: Answer) -> Option<Self::Answer> {
        match answer {
            Answer::Chosen { options } => Some(Some(options)),
            Answer::ChangesRequested { .. } => Some(None),
            _ => None,
        }
    }
}

/// `None` if the person requested changes.
impl Kind for Provide {
    type Answer = Option<Map<String, Value>>;

    fn typed_answer(answer: Answer) -> Option<Self::Answer> {
        match answer {
            Answer::Provided { values } => Some(Some(values.as_map().clone())),
            Answer::ChangesRequested { .. } => Some(None),
            _ => None,
        }
    }
}

impl Kind for Confirm {
    type Answer = Confirmation;

    fn typed_answer(answer: Answer) -> Option<Confirmation> {
        match answer {
            Answer::Confirmed { items } => Some(Confirmation::Confirmed(items)),
            Answer::Declined => Some(Confirmation::Declined),
            Answer::ChangesRequested { .. } => Some(Confirmation::ChangesRequested),
            _ => None,
        }
    }
}

impl Kind for Escalate {
    type Answer = Escalation;

    fn typed_answer(answer: Answer) -> Option<Escalation> {
        match answer {
            Answer::Retry { params } => Some(Escalation::Retry(params)),
            Answer::Skip => Some(Escalation::Skip),
            Answer::Abort => Some(Escalation::Abort),
            Answer::ChangesRequested { .. } => Some(Escalation::ChangesRequested),
            _ => None,
        }
    }
}

/// `None` if the person requested changes.
impl Kind for Converse {
    type Answer = Option<String>;

    fn typed_answer(answer: Answer) -> Option<Self::Answer> {
        match answer {
            Answer::Replied { text } => Some(Some(text)),
            Answer::ChangesRequested { .. } => Some(None),
            _ => None,
        }
    }
}

impl Asking<Approve> {
    /// Adds a detail of the action, which the person sees.
    pub fn detail(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let details = self.question.entry("details").or_insert_with(|| json!({}));
        if let Value::Object(details) = details {
            details.insert(name.into(), value.into());
        }
        self
    }

    /// Lets the person change the details. The agent must then use the returned details.
    pub fn editable(self) -> Self {
        self.set_question_member("editable", true)
    }

    /// Requires a reason for a rejection.
    pub fn reject_requires_reason(self) -> Self {
        self.set_question_member("reject_requires_reason", true)
    }
}

impl Asking<Choose> {
    /// The option that the agent recommends.
    pub fn suggest(self, id: &str) -> Self {
        self.set_question_member("suggested", id)
    }
}

impl Asking<Provide> {
    /// Adds a field in the API's format, such as
    /// `{"key": "size", "label": "Size", "type": "number"}`.
    pub fn field(mut self, field: Value) -> Self {
        let fields = self.question.get_mut("form").and_then(|form| form.get_mut("fields"));
        if let Some(Value::Array(fields)) = fields {
            fields.push(field);
        }
        self
    }

    /// Adds a required text field.
    pub fn text(self, key: &str, label: &str) -> Self {
        self.field(json!({ "key": key, "label": label, "type": "text", "required": true }))
    }

    /// Adds a required text field whose value is never shown again.
    pub fn secret(self, key: &str, label: &str) -> Self {
        let field = json!({ "key": key, "label": label, "type": "text", "required": true,
            "sensitive": true });
        self.field(field)
    }
}

impl Asking<Confirm> {
    /// Sets the labels of the two buttons.
    pub fn labels(self, yes: &str, no: &str) -> Self {
        self.set_question_member("yes", yes).set_question_member("no", no)
    }
}

impl Asking<Escalate> {
    /// Adds a parameter that a retry may change.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let params = self.question.entry("params").or_insert_with(|| json!({}));
        if let Value::Object(params) = params {
            params.insert(name.into(), value.into());
        }
        self
    }
}

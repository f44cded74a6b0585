//! The kinds of question, each with the answers it can get.

use kernel::question::Answer;
use serde_json::{Map, Value, json};

use super::Asking;

/// A kind of question.
pub trait Kind {
    /// What a person can say to it.
    type Said;

    /// The answer as this kind has it; `None` if it belongs to another kind.
    fn said(answer: Answer) -> Option<Self::Said>;
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

/// What a person says to an action.
#[derive(Debug, Clone, PartialEq)]
pub enum Approval {
    /// Yes.
    Approved {
        /// The details as the person changed them: carry out these and not the ones proposed. Only
        /// where the question was made [editable](Asking::editable).
        edits: Option<Map<String, Value>>,
    },
    /// No.
    Rejected,
    /// Change it and ask again; the comment says how.
    ChangesRequested,
}

/// What a person says to "go ahead with exactly these".
#[derive(Debug, Clone, PartialEq)]
pub enum Confirmation {
    /// Go ahead with these, by id.
    Confirmed(Vec<String>),
    /// Do not.
    Declined,
    /// Change it and ask again; the comment says how.
    ChangesRequested,
}

/// What a person says when something failed.
#[derive(Debug, Clone, PartialEq)]
pub enum Escalation {
    /// Try again, perhaps with other parameters.
    Retry(Map<String, Value>),
    /// Leave this step out.
    Skip,
    /// Stop.
    Abort,
    /// Change it and ask again; the comment says how.
    ChangesRequested,
}

impl Kind for Approve {
    type Said = Approval;

    fn said(answer: Answer) -> Option<Approval> {
        match answer {
            Answer::Approved { edits } => Some(Approval::Approved { edits }),
            Answer::Rejected { .. } => Some(Approval::Rejected),
            Answer::ChangesRequested { .. } => Some(Approval::ChangesRequested),
            _ => None,
        }
    }
}

/// `None` where the person asked for changes instead.
impl Kind for Choose {
    type Said = Option<Vec<String>>;

    fn said(answer: Answer) -> Option<Self::Said> {
        match answer {
            Answer::Chosen { options } => Some(Some(options)),
            Answer::ChangesRequested { .. } => Some(None),
            _ => None,
        }
    }
}

/// `None` where the person asked for changes instead.
impl Kind for Provide {
    type Said = Option<Map<String, Value>>;

    fn said(answer: Answer) -> Option<Self::Said> {
        match answer {
            Answer::Provided { values } => Some(Some(values.as_map().clone())),
            Answer::ChangesRequested { .. } => Some(None),
            _ => None,
        }
    }
}

impl Kind for Confirm {
    type Said = Confirmation;

    fn said(answer: Answer) -> Option<Confirmation> {
        match answer {
            Answer::Confirmed { items } => Some(Confirmation::Confirmed(items)),
            Answer::Declined => Some(Confirmation::Declined),
            Answer::ChangesRequested { .. } => Some(Confirmation::ChangesRequested),
            _ => None,
        }
    }
}

impl Kind for Escalate {
    type Said = Escalation;

    fn said(answer: Answer) -> Option<Escalation> {
        match answer {
            Answer::Retry { params } => Some(Escalation::Retry(params)),
            Answer::Skip => Some(Escalation::Skip),
            Answer::Abort => Some(Escalation::Abort),
            Answer::ChangesRequested { .. } => Some(Escalation::ChangesRequested),
            _ => None,
        }
    }
}

/// `None` where the person asked for changes instead.
impl Kind for Converse {
    type Said = Option<String>;

    fn said(answer: Answer) -> Option<Self::Said> {
        match answer {
            Answer::Replied { text } => Some(Some(text)),
            Answer::ChangesRequested { .. } => Some(None),
            _ => None,
        }
    }
}

impl Asking<Approve> {
    /// A detail of the action, shown to the person.
    pub fn detail(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let details = self.question.entry("details").or_insert_with(|| json!({}));
        if let Value::Object(details) = details {
            details.insert(name.into(), value.into());
        }
        self
    }

    /// The person may change the details; whoever says this must carry out what comes back.
    pub fn editable(self) -> Self {
        self.say("editable", true)
    }

    /// A no needs a reason.
    pub fn reject_requires_reason(self) -> Self {
        self.say("reject_requires_reason", true)
    }
}

impl Asking<Choose> {
    /// The option the agent would take by itself.
    pub fn suggest(self, id: &str) -> Self {
        self.say("suggested", id)
    }
}

impl Asking<Provide> {
    /// A field as the API takes it, such as `{"key": "size", "label": "Size", "type": "number"}`.
    pub fn field(mut self, field: Value) -> Self {
        let fields = self.question.get_mut("form").and_then(|form| form.get_mut("fields"));
        if let Some(Value::Array(fields)) = fields {
            fields.push(field);
        }
        self
    }

    /// A required text.
    pub fn text(self, key: &str, label: &str) -> Self {
        self.field(json!({ "key": key, "label": label, "type": "text", "required": true }))
    }

    /// A required text that is shown to nobody again.
    pub fn secret(self, key: &str, label: &str) -> Self {
        let field = json!({ "key": key, "label": label, "type": "text", "required": true,
            "sensitive": true });
        self.field(field)
    }
}

impl Asking<Confirm> {
    /// What the two buttons say.
    pub fn labels(self, yes: &str, no: &str) -> Self {
        self.say("yes", yes).say("no", no)
    }
}

impl Asking<Escalate> {
    /// A parameter a retry may change.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let params = self.question.entry("params").or_insert_with(|| json!({}));
        if let Value::Object(params) = params {
            params.insert(name.into(), value.into());
        }
        self
    }
}

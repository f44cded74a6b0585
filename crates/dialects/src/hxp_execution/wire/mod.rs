//! The JSON of HXP Execution 0.1, field for field and in the order the specification lists them.
//!
//! Where the specification lacks a member, a Countersign extension adds it and is marked as such.

use kernel::ask::{Phase, Priority};
use kernel::question::{Editable, QuestionKind};
use kernel::{HumanId, RuleId, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::hxp_experience::claims::{EnvelopeVerdict, PickedActionView};

// The bodies around the objects of HXP Execution 0.1: lists, responses, rules, frames, errors.
// Sections 5 and 6.

/// The response to a create, sent with 201 (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Created {
    pub request_id: String,
    /// Always `pending`.
    pub status: Status,
    pub created_at: Time,
    pub expires_at: Option<Time>,
    /// The status URL, relative to the server.
    pub poll_url: String,
    /// The WebSocket URL, absolute.
    pub ws_url: String,
    /// A Countersign extension: the findings about the envelope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<EnvelopeVerdict>,
}

/// A list for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct List {
    /// Newest first.
    pub requests: Vec<Request>,
    /// The number of matching requests.
    pub total: u64,
    /// The cursor of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A list for a person (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inbox {
    /// Most urgent first, then newest.
    pub requests: Vec<InboxItem>,
    /// The number of matching requests.
    pub total: u64,
    /// The number of pending or assigned requests.
    pub unresolved: u64,
    /// The cursor of the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// A request in an inbox, with a sentence that says who asks (section 7, transparency).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxItem {
    #[serde(flatten)]
    pub request: Request,
    /// A plain sentence for the person.
    pub notice: String,
}

/// The body of a resolve (section 5.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolve {
    pub result: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The response to a resolve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolved {
    pub receipt: Receipt,
}

/// The response to a cancel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancelled {
    pub request_id: String,
    /// Always `cancelled`.
    pub status: Status,
}

/// A delegation rule in a response (section 6.2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    pub rule_id: RuleId,
    /// The action; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// The kinds of question, if they do not correspond to one action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<QuestionKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// A Countersign extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The person who gets matching requests.
    pub delegate_to: HumanId,
}

/// A list of delegation rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// The rules, in the order in which the server applies them.
    pub rules: Vec<Rule>,
}

/// The body of `GET /hxp`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Always `hxp`.
    pub protocol: &'static str,
    pub name: &'static str,
    pub version: &'static str,
    pub description: &'static str,
    /// The supported actions.
    pub actions: [Action; 3],
    /// The entry points.
    pub endpoints: Endpoints,
}

/// The entry point of each kind of caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Endpoints {
    pub agent: &'static str,
    pub human: &'static str,
    pub admin: &'static str,
}

/// The body of `GET /hxp/v1/stats`. `pending` counts every open request, assigned or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    pub total: u64,
    pub pending: u64,
    pub completed: u64,
    /// Requests that expired without a failure receipt.
    pub expired: u64,
    /// Requests that expired with a failure receipt.
    pub failed: u64,
    /// The mean duration of completed requests, rounded.
    pub avg_duration_seconds: u64,
}

/// The response to `POST /hxp/v1/receipts/verify`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Whether this server issued the receipt, unchanged.
    pub valid: bool,
}

/// A frame of the WebSocket (section 5.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "event")]
pub enum Frame {
    /// A person took the request.
    Assigned {
        /// The person; a pseudonym for pools.
        assigned_to: String,
    },
    /// The request was answered.
    Completed {
        /// The receipt of the answer.
        receipt: Receipt,
    },
    /// The request expired.
    Expired,
    /// The request expired with a failure receipt.
    Failed {
        /// The failure receipt.
        receipt: Receipt,
    },
    /// The request was withdrawn.
    Cancelled {
        /// The receipt of the cancellation.
        receipt: Receipt,
    },
}

/// The body of every error (section 5.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub error: String,
    pub message: String,
    /// The field, and the expected value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

// The closed sets of names in HXP Execution 0.1. Sections 2, 3, 6.1.

/// The action of a person (section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Action {
    /// Choose one of 2 to 6 options.
    Decide,
    /// Approve or reject.
    Approve,
    /// Provide a value.
    Provide,
}

impl Action {
    pub const ALL: [Self; 3] = [Self::Decide, Self::Approve, Self::Provide];

    /// The action of this name; names are case-sensitive.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "DECIDE" => Some(Self::Decide),
            "APPROVE" => Some(Self::Approve),
            "PROVIDE" => Some(Self::Provide),
            _ => None,
        }
    }

    /// The kinds of question that filters and rules for this action match.
    pub fn kinds(self) -> &'static [QuestionKind] {
        match self {
            Self::Decide => &[QuestionKind::Choose, QuestionKind::Confirm, QuestionKind::Escalate],
            Self::Approve => &[QuestionKind::Approve],
            Self::Provide => &[QuestionKind::Provide, QuestionKind::Converse],
        }
    }

    /// The action whose filters and rules match this kind of question.
    pub fn of_kind(kind: QuestionKind) -> Self {
        match kind {
            QuestionKind::Approve => Self::Approve,
            QuestionKind::Choose | QuestionKind::Confirm | QuestionKind::Escalate => Self::Decide,
            QuestionKind::Provide | QuestionKind::Converse => Self::Provide,
        }
    }
}

/// Who should handle a request (section 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The agent's registered owner.
    Owner,
    /// The person that the delegation rules name.
    Delegate,
    /// The first qualified person who takes it.
    Pool,
}

/// What happens on timeout (section 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fallback {
    /// The request stays open.
    Pause,
    /// The agent receives a failure receipt.
    Fail,
    /// The agent receives a receipt with `default_option`.
    Default,
}

/// The status of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No person has taken it.
    Pending,
    /// A person has taken it.
    Assigned,
    /// Answered, or closed with the default.
    Completed,
    /// Expired without an answer.
    Expired,
    /// Expired with a failure receipt.
    Failed,
    /// Closed without an answer, usually because the agent withdrew it.
    Cancelled,
}

impl Status {
    /// The status as written in JSON, in a query and in the `HXP-Status` header.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Assigned => "assigned",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Phase::ALL.map(Self::from).into_iter().find(|status| status.as_str() == name)
    }

    /// The kernel's phase.
    pub fn phase(self) -> Phase {
        match self {
            Self::Pending => Phase::Waiting,
            Self::Assigned => Phase::Engaged,
            Self::Completed => Phase::Completed,
            Self::Expired => Phase::Expired,
            Self::Failed => Phase::Failed,
            Self::Cancelled => Phase::Cancelled,
        }
    }
}

impl From<Phase> for Status {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Waiting => Self::Pending,
            Phase::Engaged => Self::Assigned,
            Phase::Completed => Self::Completed,
            Phase::Expired => Self::Expired,
            Phase::Failed => Self::Failed,
            Phase::Cancelled => Self::Cancelled,
        }
    }
}

/// The type of a provided value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputType {
    Text,
    Number,
    Url,
    Email,
    /// A reference to a file: a URL or a `data:` URI.
    File,
    /// One of `validation.allowed_values`.
    Selection,
}

impl InputType {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "text" => Some(Self::Text),
            "number" => Some(Self::Number),
            "url" => Some(Self::Url),
            "email" => Some(Self::Email),
            "file" => Some(Self::File),
            "selection" => Some(Self::Selection),
            _ => None,
        }
    }
}

// Request, payload and receipt objects of HXP Execution 0.1. Sections 2 to 4.

/// A request in a response (section 3.1), with its status and receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// `hxp_` and a ULID.
    pub request_id: String,
    pub action: Action,
    pub role: Role,
    pub priority: Priority,
    /// 0 for no timeout.
    pub timeout_seconds: u64,
    /// What happens on timeout.
    pub fallback: Fallback,
    /// The name that the agent gives itself.
    pub agent_id: String,
    /// The name that the agent gives its project.
    pub project_id: Option<String>,
    /// The agent's own data.
    pub metadata: Map<String, Value>,
    pub created_at: Time,
    pub expires_at: Option<Time>,
    pub payload: Payload,
    pub status: Status,
    /// `null` while the request is open, and if it expired.
    pub receipt: Option<Receipt>,
    /// A Countersign extension: the request that this one continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_request_id: Option<String>,
    /// A Countersign extension: the request that continues this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_request_id: Option<String>,
    /// A Countersign extension: the agent's envelope, as in HXP eXperience.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp: Option<Map<String, Value>>,
    /// A Countersign extension: the findings about the envelope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<EnvelopeVerdict>,
    /// A Countersign extension: the envelope's actions that people chose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hxp_picked: Vec<PickedActionView>,
}

/// The fields of an action (section 2). The action determines the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Payload {
    /// The payload of `DECIDE`.
    Decide(Decide),
    /// The payload of `APPROVE`.
    Approve(Approve),
    /// The payload of `PROVIDE`.
    Provide(Box<Provide>),
    /// The question was erased; shown as `{}`.
    Erased {},
}

/// The payload of `DECIDE` (section 2.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    /// The decision to be made.
    pub question: String,
    /// The available choices.
    pub options: Vec<String>,
    /// Background information for the person who decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The option that is taken on timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_option: Option<String>,
    /// What is to be confirmed or what failed, if the ask came from another dialect.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// The payload of `APPROVE` (section 2.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approve {
    /// The item that needs approval.
    pub item: String,
    /// Structured data about the item.
    pub details: Map<String, Value>,
    /// Why approval is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether a rejection needs a reason.
    #[serde(default)]
    pub reject_requires_reason: bool,
    /// A Countersign extension: the details that the reviewer may change.
    #[serde(default, skip_serializing_if = "is_closed")]
    pub editable: Editable,
}

/// The payload of `PROVIDE` (section 2.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provide {
    /// The requested information.
    pub prompt: String,
    /// The type of the value.
    pub input_type: InputType,
    /// Why it is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Constraints on the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// A Countersign extension: mask the value and never show it again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sensitive: bool,
    /// A Countersign extension: the result is a list of values.
    #[serde(default, skip_serializing_if = "is_false")]
    pub multiple: bool,
    /// A Countersign extension: a whole form, whose result is an object by its keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Value>,
}

/// Constraints on a provided value. For text types `min` and `max` are lengths.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// A regular expression that the whole value must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Value>,
    /// The only accepted values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_values: Option<Vec<Value>>,
}

/// The receipt (section 4.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub request_id: String,
    pub status: Status,
    pub result: Value,
    pub reason: Option<String>,
    /// The person, a pseudonym for pools, or `system`.
    pub completed_by: String,
    pub completed_at: Time,
    /// The time from when a person took the request until its end.
    pub duration_seconds: u64,
    /// The hash that [`evidence`](crate::hxp_execution::evidence) computes and verifies.
    pub evidence_hash: String,
    /// A Countersign extension: the details as the reviewer changed them. The agent uses them in
    /// place of those it sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Map<String, Value>>,
}

fn is_closed(editable: &Editable) -> bool {
    !editable.is_any()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

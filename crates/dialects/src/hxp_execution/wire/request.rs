//! Request, payload and receipt objects of HXP Execution 0.1. Sections 2 to 4.

use kernel::Time;
use kernel::ask::Priority;
use kernel::question::Editable;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::names::{Action, Fallback, InputType, Role, Status};
use crate::hxp_experience::claims::{Picked, Verdict};

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
    pub hxp_verdict: Option<Verdict>,
    /// A Countersign extension: the envelope's actions that people chose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hxp_picked: Vec<Picked>,
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
    /// Background information.
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
    /// The answer.
    pub result: Value,
    pub reason: Option<String>,
    /// The person, a pseudonym for pools, or `system`.
    pub completed_by: String,
    pub completed_at: Time,
    /// The time from when a person took the request until its end.
    pub duration_seconds: u64,
    /// See [`evidence`](crate::hxp_execution::evidence).
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

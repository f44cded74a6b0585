//! Request, payload and receipt objects of HXP Execution 0.1. Sections 2 to 4.

use kernel::Time;
use kernel::ask::Priority;
use kernel::question::Editable;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::names::{Action, Fallback, InputType, Role, Status};
use crate::hxp_experience::claims::{Picked, Verdict};

/// A request as it is shown (section 3.1), with its status and receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// `hxp_` and a ULID.
    pub request_id: String,
    /// What is asked.
    pub action: Action,
    /// Of whom.
    pub role: Role,
    /// How urgent.
    pub priority: Priority,
    /// 0 for no timeout.
    pub timeout_seconds: u64,
    /// What happens on timeout.
    pub fallback: Fallback,
    /// What the agent calls itself.
    pub agent_id: String,
    /// What the agent calls its project.
    pub project_id: Option<String>,
    /// Free data of the agent.
    pub metadata: Map<String, Value>,
    /// When it was asked.
    pub created_at: Time,
    /// When it runs out.
    pub expires_at: Option<Time>,
    /// The fields of the action.
    pub payload: Payload,
    /// Where it stands.
    pub status: Status,
    /// `null` while it is open, and when it expired.
    pub receipt: Option<Receipt>,
    /// Our extension: the request this one continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_request_id: Option<String>,
    /// Our extension: the request that continues this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_request_id: Option<String>,
    /// Our extension: what the agent says of its request, as HXP eXperience has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp: Option<Map<String, Value>>,
    /// Our extension: what was found about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hxp_verdict: Option<Verdict>,
    /// Our extension: which of its actions people picked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hxp_picked: Vec<Picked>,
}

/// The fields of an action (section 2). Which one it is follows from the action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Payload {
    /// Of `DECIDE`.
    Decide(Decide),
    /// Of `APPROVE`.
    Approve(Approve),
    /// Of `PROVIDE`.
    Provide(Box<Provide>),
    /// The question was erased; shown as `{}`.
    Erased {},
}

/// Section 2.1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    /// The decision to be made.
    pub question: String,
    /// The available choices.
    pub options: Vec<String>,
    /// Background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What is taken on silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_option: Option<String>,
    /// What is about to be confirmed or what failed, where the ask came from another dialect.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// Section 2.2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approve {
    /// What needs approval.
    pub item: String,
    /// Structured data about it.
    pub details: Map<String, Value>,
    /// Why approval is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Whether a rejection needs a reason.
    #[serde(default)]
    pub reject_requires_reason: bool,
    /// Our extension: which details may be changed by whoever approves.
    #[serde(default, skip_serializing_if = "is_closed")]
    pub editable: Editable,
}

/// Section 2.3.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provide {
    /// What is needed.
    pub prompt: String,
    /// The type of the value.
    pub input_type: InputType,
    /// Why it is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Constraints on the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// An example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Our extension: mask the value, never show it again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sensitive: bool,
    /// Our extension: the result is a list of values.
    #[serde(default, skip_serializing_if = "is_false")]
    pub multiple: bool,
    /// Our extension: a whole form is asked for, and the result is an object by its keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Value>,
}

/// Constraints on a provided value. On texts `min` and `max` are lengths.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// A regular expression the whole value matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Value>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Value>,
    /// The only values accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_values: Option<Vec<Value>>,
}

/// The proof that comes back (section 4.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// Which request.
    pub request_id: String,
    /// How it ended.
    pub status: Status,
    /// What was answered.
    pub result: Value,
    /// Why.
    pub reason: Option<String>,
    /// Who, a pseudonym for pools, or `system`.
    pub completed_by: String,
    /// When.
    pub completed_at: Time,
    /// From being taken up to the end.
    pub duration_seconds: u64,
    /// See [`evidence`](crate::hxp_execution::evidence).
    pub evidence_hash: String,
    /// Our extension: the details as whoever approved changed them, to go ahead with in place of
    /// those that were sent.
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

//! Checkpoints: asks at which a person decides about a task.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::artifact::VersionRef;
use crate::actor::ActorRef;
use crate::audit::Erasable;
use crate::ids::{AgentId, AskId, TaskId};
use crate::time::Time;

/// The part of an ask that makes it a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The task it blocks.
    pub task: TaskId,
    /// The kind of decision.
    pub kind: CheckpointKind,
    /// Who raised it.
    pub raised_by: RaisedBy,
    /// The data of the protocol beside the question.
    #[serde(rename = "beside")]
    pub details: Erasable<CheckpointDetails>,
}

/// The detail of an approval that lists the allowed actions. Wherever an approval can be given with
/// edits, some actions can be left out.
pub(super) const ALLOW: &str = "allow";

/// The data of a checkpoint beside its question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckpointDetails {
    /// The options with their risks. The question also contains them, for all other dialects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<CheckpointOption>,
    /// The evidence the agent shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Evidence>,
    /// The actions the agent proposes, each approved separately.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposed_actions: Vec<ProposedAction>,
}

/// The kind of decision of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// A decision for or against.
    Approval,
    /// A choice among several options.
    Choice,
    /// A text from the person.
    Input,
    /// The agent cannot continue alone.
    Escalation,
    /// The principal stopped the agent.
    Interrupt,
}

impl CheckpointKind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 5] =
        [Self::Approval, Self::Choice, Self::Input, Self::Escalation, Self::Interrupt];

    /// The kind as it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Choice => "choice",
            Self::Input => "input",
            Self::Escalation => "escalation",
            Self::Interrupt => "interrupt",
        }
    }
}

/// Who raised a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RaisedBy {
    /// The agent that works on the task.
    Agent,
    /// The principal of the task.
    Human,
    /// Countersign itself raised it.
    System,
}

/// An option of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointOption {
    /// The id that is returned to the agent.
    pub id: String,
    /// What the person reads.
    pub label: String,
    /// How dangerous it is, according to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
}

/// How dangerous an action or option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Little or no danger.
    Low,
    /// A moderate danger.
    Medium,
    /// A serious danger.
    High,
}

impl Risk {
    /// The text that people read.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Low => "risk: low",
            Self::Medium => "risk: medium",
            Self::High => "risk: high",
        }
    }
}

/// Evidence that an agent shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// `text`, `artifact`, or a word of the agent's own.
    pub kind: String,
    /// The id of the artifact, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The version of the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The content, if it is not an artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
}

/// An action that an agent proposes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedAction {
    /// The id by which it is approved.
    pub id: String,
    /// The type of action, such as `shell` or `plan_step`.
    pub kind: String,
    /// What the person reads.
    pub summary: String,
    /// All details of the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Map<String, Value>>,
    /// How dangerous it is, according to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// The scope of the permission that would allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_scope: Option<String>,
}

/// A checkpoint as its task stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RaisedCheckpoint {
    /// The ask of the checkpoint.
    pub ask: AskId,
    /// The kind of decision.
    pub kind: CheckpointKind,
    /// Who raised it.
    pub raised_by: RaisedBy,
    /// Who continues when it is resolved.
    pub worker: super::Party,
    /// When it was raised.
    pub at: Time,
    /// The outcome so far.
    pub outcome: CheckpointOutcome,
}

/// The outcome of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum CheckpointOutcome {
    /// It is not decided yet.
    Pending,
    /// A person decided.
    Resolved(Box<Resolution>),
    /// It ended without a decision, or no longer mattered.
    Expired {
        /// When it ended.
        at: Time,
        /// The reason; absent if its deadline passed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<LapseReason>,
    },
}

/// Why a checkpoint ended without a resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LapseReason {
    /// Its deadline passed.
    TimedOut,
    /// A command expired it.
    Expired,
    /// The ask was withdrawn.
    Withdrawn,
    /// The task was cancelled.
    Cancelled,
}

/// How a checkpoint was resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// The person who decided.
    pub by: ActorRef,
    /// The action they took.
    pub action: ResolutionAction,
    /// The agent that continues instead, if it was reassigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reassign_to: Option<AgentId>,
    /// The data of the decision.
    #[serde(rename = "said")]
    pub details: Erasable<ResolutionDetails>,
    /// When they decided.
    pub at: Time,
}

/// The actions a person can take on a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionAction {
    /// The agent continues.
    Approve,
    /// The agent stops, and the task is closed.
    Reject,
    /// The agent continues with the chosen option.
    Choose,
    /// The agent continues with the provided text.
    Provide,
    /// Another agent continues.
    Reassign,
}

impl ResolutionAction {
    /// The action as it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Choose => "choose",
            Self::Provide => "provide",
            Self::Reassign => "reassign",
        }
    }
}

/// The data of a resolution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ResolutionDetails {
    /// The id of the chosen option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The text the person provided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The reason of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The ids of the proposed actions that are allowed; all others are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_actions: Vec<String>,
    /// The ids of the proposed actions that are denied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied_actions: Vec<String>,
    /// The state from which the agent continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_patch: Option<Map<String, Value>>,
    /// The artifact the person edited, with which the agent continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_artifact_ref: Option<VersionRef>,
}

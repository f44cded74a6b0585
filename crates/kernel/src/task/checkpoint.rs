//! A point at which a person decides: an ask with a task behind it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::artifact::VersionRef;
use crate::actor::By;
use crate::audit::Erasable;
use crate::ids::{AgentId, AskId, TaskId};
use crate::time::Time;

/// What makes an ask a checkpoint; stands on the ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The task it holds up.
    pub task: TaskId,
    /// What sort of decision it is.
    pub kind: CheckpointKind,
    /// Who wanted it.
    pub raised_by: RaisedBy,
    /// What the protocol says beside the question.
    pub beside: Erasable<Beside>,
}

/// The detail of an approval that says which of the proposed actions are allowed. Everywhere an
/// approval can be given with changes, some of them can be left out.
pub(super) const ALLOW: &str = "allow";

/// What a checkpoint says beside its question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// What can be chosen, with its risks; the question has it too, for everybody else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<CheckpointOption>,
    /// What the agent shows for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Evidence>,
    /// What the agent wants to do, each to be approved by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposed_actions: Vec<ProposedAction>,
}

/// What sort of decision a checkpoint wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointKind {
    /// Yes or no.
    Approval,
    /// One of several.
    Choice,
    /// Words.
    Input,
    /// The agent cannot go on alone.
    Escalation,
    /// The principal stopped the agent.
    Interrupt,
}

impl CheckpointKind {
    /// Every kind.
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

/// Who wanted a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RaisedBy {
    /// The agent.
    Agent,
    /// The principal.
    Human,
    /// Countersign itself.
    System,
}

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointOption {
    /// What goes back to the agent.
    pub id: String,
    /// What the person reads.
    pub label: String,
    /// How dangerous it is, as the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
}

/// How dangerous something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Hardly.
    Low,
    /// Somewhat.
    Medium,
    /// Very.
    High,
}

impl Risk {
    /// How people read it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Low => "risk: low",
            Self::Medium => "risk: medium",
            Self::High => "risk: high",
        }
    }
}

/// What an agent shows for what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// `text`, `artifact`, or a word of the agent's.
    pub kind: String,
    /// Which artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// In which version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
}

/// Something an agent wants to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedAction {
    /// What it is approved by.
    pub id: String,
    /// What sort of thing, such as `shell` or `plan_step`.
    pub kind: String,
    /// What the person reads.
    pub summary: String,
    /// The whole of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Map<String, Value>>,
    /// How dangerous it is, as the agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// The grant that would allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_scope: Option<String>,
}

/// A checkpoint as its task remembers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Raised {
    /// The ask it is.
    pub ask: AskId,
    /// What sort of decision.
    pub kind: CheckpointKind,
    /// Who wanted it.
    pub raised_by: RaisedBy,
    /// Who goes on when it is resolved.
    pub worker: super::Party,
    /// When.
    pub at: Time,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Outcome {
    /// Nothing yet.
    Pending,
    /// Somebody decided.
    Resolved(Box<Resolution>),
    /// Nobody did, or it no longer mattered.
    Expired {
        /// When.
        at: Time,
        /// Why, if not because its time was up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Ended>,
    },
}

/// Why a checkpoint is over that nobody resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Its time was up.
    TimedOut,
    /// Somebody said so.
    Expired,
    /// The ask was withdrawn.
    Withdrawn,
    /// The task was called off.
    Cancelled,
}

/// How a checkpoint was resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// Who decided.
    pub by: By,
    /// What they did.
    pub action: Action,
    /// Who goes on instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reassign_to: Option<AgentId>,
    /// What they said.
    pub said: Erasable<Said>,
    /// When.
    pub at: Time,
}

/// What a person can do about a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Go on.
    Approve,
    /// Stop: the task is over.
    Reject,
    /// Go on with this one.
    Choose,
    /// Go on with these words.
    Provide,
    /// Somebody else goes on.
    Reassign,
}

impl Action {
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

/// What a person said with a resolution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The id of the chosen option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// What was provided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Which of the proposed actions may be done; whatever is not here may not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_actions: Vec<String>,
    /// Which may not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied_actions: Vec<String>,
    /// What the agent goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_patch: Option<Map<String, Value>>,
    /// The artifact the person edited, which the agent goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_artifact_ref: Option<VersionRef>,
}

//! The commands of a task, one variant per operation.

use serde_json::Value;

use super::artifact::{Payload, Role, VersionRef};
use super::checkpoint::{
    CheckpointKind, CheckpointOption, Evidence, ProposedAction, ResolutionAction, ResolutionDetails,
};
use super::event::AgentInput;
use super::grants::{GrantDecision, GrantDuration};
use super::ledger::LedgerScope;
use super::review::{AnchoredComment, ReviewKind, ReviewText, Verdict};
use super::spec::{Autonomy, OnSilence, ReviewPolicy, Spec};
use super::{Handover, Intent, Party};
use crate::ask::{NewExperienceEnvelope, Priority};
use crate::ids::{AgentId, ArtifactId, AskId, HumanId, ProjectId, ReviewId, TaskId};
use crate::time::Time;

/// A command about a task.
#[derive(Debug, Clone)]
pub enum TaskCommand {
    /// Create a task under the fresh id.
    Create(Box<NewTask>),
    /// Assign it to an agent.
    Assign(TaskId, AgentId, AgentInput),
    /// The agent starts to work.
    Start(TaskId),
    /// Cancel the task.
    Cancel(TaskId, Option<String>),
    /// Stop the agent; the checkpoint has the fresh id.
    Interrupt(TaskId, String),
    /// Send the agent an amendment.
    Amend(TaskId, String, Intent),
    /// Allow or forbid something.
    Grant(TaskId, NewGrant),
    /// Ask a person to decide; the checkpoint has the fresh id.
    Raise(TaskId, Box<NewCheckpoint>),
    /// Resolve a checkpoint.
    Resolve(AskId, Box<NewResolution>),
    /// Close a checkpoint without a decision.
    Lapse(AskId),
    /// Transfer it to another person or agent.
    Transfer(TaskId, Party, Handover),
    /// Delegate it to another agent.
    Delegate(TaskId, AgentId, AgentInput),
    /// Review a delivery; the review has the fresh id.
    Review(TaskId, Box<NewReview>),
    /// Add a remark to a review.
    Remark(TaskId, ReviewId, AnchoredComment),
    /// Deliver a version; a new artifact has the fresh id.
    Commit(TaskId, Box<NewVersion>),
    /// Record that the task uses an artifact.
    Reference(TaskId, VersionRef, Role),
    /// Let tasks of another project use an artifact.
    Share(ArtifactId, ProjectId),
    /// Write an entry of a ledger.
    Write(TaskId, Box<NewEntry>),
    /// Erase the text of a closed task.
    Erase(TaskId),
    /// Erase what an erased person wrote on a task.
    EraseWords(TaskId, HumanId),
    /// Erase the bytes of all versions of an artifact.
    EraseArtifact(ArtifactId),
}

impl TaskCommand {
    /// The command's name in logs and metrics.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create(_) => "task.create",
            Self::Assign(..) => "task.assign",
            Self::Start(_) => "task.start",
            Self::Cancel(..) => "task.cancel",
            Self::Interrupt(..) => "task.interrupt",
            Self::Amend(..) => "task.amend",
            Self::Grant(..) => "task.grant",
            Self::Raise(..) => "checkpoint.raise",
            Self::Resolve(..) => "checkpoint.resolve",
            Self::Lapse(_) => "checkpoint.expire",
            Self::Transfer(..) => "ownership.transfer",
            Self::Delegate(..) => "ownership.delegate",
            Self::Review(..) => "review.submit",
            Self::Remark(..) => "review.comment",
            Self::Commit(..) => "artifact.commit",
            Self::Reference(..) => "artifact.reference",
            Self::Share(..) => "artifact.share",
            Self::Write(..) => "ledger.write",
            Self::Erase(_) => "task.erase",
            Self::EraseWords(..) => "task.erase_words",
            Self::EraseArtifact(_) => "artifact.erase",
        }
    }

    /// The task it is about, if the command names one; a checkpoint knows its task.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Assign(id, ..)
            | Self::Start(id)
            | Self::Cancel(id, _)
            | Self::Interrupt(id, _)
            | Self::Amend(id, ..)
            | Self::Grant(id, _)
            | Self::Raise(id, _)
            | Self::Transfer(id, ..)
            | Self::Delegate(id, ..)
            | Self::Review(id, _)
            | Self::Remark(id, ..)
            | Self::Commit(id, _)
            | Self::Reference(id, ..)
            | Self::Write(id, _)
            | Self::EraseWords(id, _)
            | Self::Erase(id) => Some(*id),
            Self::Create(_)
            | Self::Resolve(..)
            | Self::Lapse(_)
            | Self::EraseArtifact(_)
            | Self::Share(..) => None,
        }
    }

    /// The checkpoint it is about, if the command names one.
    pub fn checkpoint(&self) -> Option<AskId> {
        match self {
            Self::Resolve(id, _) | Self::Lapse(id) => Some(*id),
            Self::Create(_)
            | Self::Assign(..)
            | Self::Start(_)
            | Self::Cancel(..)
            | Self::Interrupt(..)
            | Self::Amend(..)
            | Self::Grant(..)
            | Self::Raise(..)
            | Self::Transfer(..)
            | Self::Delegate(..)
            | Self::Review(..)
            | Self::Remark(..)
            | Self::Commit(..)
            | Self::Reference(..)
            | Self::Share(..)
            | Self::Write(..)
            | Self::EraseWords(..)
            | Self::EraseArtifact(_)
            | Self::Erase(_) => None,
        }
    }

    /// Whether the command creates an ask, under the fresh id.
    pub fn creates_ask(&self) -> bool {
        matches!(self, Self::Interrupt(..) | Self::Raise(..))
    }
}

/// A task to be created.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// The project; `None` for the principal's first project.
    pub project: Option<ProjectId>,
    /// The type of task.
    pub sort: String,
    /// The text of the task.
    pub spec: Spec,
    /// The task it is part of, if any.
    pub parent: Option<TaskId>,
    /// The deadline of the work.
    pub deadline: Option<Time>,
    /// The maximum duration of the work, in seconds.
    pub max_duration: Option<u64>,
    /// Whether its agent may delegate it.
    pub delegable: bool,
    /// How much its agent may do alone.
    pub autonomy: Autonomy,
    /// The permissions of its agent.
    pub grants: Vec<NewGrant>,
    /// Who must review a delivery; `None` for the principal.
    pub review_policy: Option<ReviewPolicy>,
    /// What happens when one of its checkpoints expires.
    pub on_silence: OnSilence,
}

impl NewTask {
    /// A task with a type, a goal and nothing else: in its author's own project, reviewed by them,
    /// without a deadline.
    pub fn new(sort: &str, goal: &str) -> Self {
        Self {
            project: None,
            sort: sort.to_owned(),
            spec: Spec { goal: goal.to_owned(), ..Spec::default() },
            parent: None,
            deadline: None,
            max_duration: None,
            delegable: false,
            autonomy: Autonomy::default(),
            grants: Vec::new(),
            review_policy: None,
            on_silence: OnSilence::default(),
        }
    }
}

/// A permission to grant or to revoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The scope of the permission.
    pub scope: String,
    /// Whether the action is allowed.
    pub decision: GrantDecision,
    /// How long the permission lasts.
    pub until: GrantDuration,
}

/// A checkpoint to be raised.
#[derive(Debug, Clone)]
pub struct NewCheckpoint {
    /// The kind of decision.
    pub kind: CheckpointKind,
    /// What the person reads.
    pub prompt: String,
    /// The options to choose from.
    pub options: Vec<CheckpointOption>,
    /// The evidence the agent shows.
    pub context: Vec<Evidence>,
    /// The actions the agent proposes.
    pub proposed_actions: Vec<ProposedAction>,
    /// The deadline; `None` for never.
    pub expires_at: Option<Time>,
    /// How urgent the decision is.
    pub priority: Priority,
    /// What the agent says about its own message.
    pub claims: Option<Box<NewExperienceEnvelope>>,
}

/// A decision on a checkpoint.
#[derive(Debug, Clone)]
pub struct NewResolution {
    /// The action the person takes.
    pub action: ResolutionAction,
    /// The agent that continues instead, if it is reassigned.
    pub reassign_to: Option<AgentId>,
    /// The data of the decision. Without lists of approved and denied actions it applies to all of
    /// them.
    pub details: ResolutionDetails,
}

/// A review to be given.
#[derive(Debug, Clone)]
pub struct NewReview {
    /// The reviewed artifact; `None` for the newest the task delivered.
    pub artifact: Option<ArtifactId>,
    /// The reviewed version; `None` for the newest.
    pub version: Option<String>,
    /// The kind of review.
    pub kind: ReviewKind,
    /// The decision of the reviewer.
    pub verdict: Verdict,
    /// The text of the review.
    pub text: ReviewText,
}

/// A version to be delivered.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// The artifact it is a version of; `None` for a new one.
    pub artifact: Option<ArtifactId>,
    /// The type of artifact.
    pub sort: String,
    /// The name of the version; `None` for the next number.
    pub name: Option<String>,
    /// The version it is based on; `None` for the newest.
    pub parent: Option<String>,
    /// The content. The server has verified the bytes it stores.
    pub payload: Payload,
}

/// An entry to write into a ledger.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// The scope of the ledger.
    pub scope: LedgerScope,
    /// The key of the entry.
    pub key: String,
    /// The new value.
    pub value: Value,
    /// The number of times it was written before, if that must match.
    pub expected: Option<u64>,
}

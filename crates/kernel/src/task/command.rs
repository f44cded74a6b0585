//! What can be wanted of a task, one variant per operation.

use serde_json::Value;

use super::artifact::{Payload, Role, VersionRef};
use super::checkpoint::{Action, CheckpointKind, CheckpointOption, Evidence, ProposedAction, Said};
use super::event::Given;
use super::grants::{Leave, Until};
use super::ledger::Scope;
use super::review::{Comment, ReviewKind, Verdict, Words};
use super::spec::{Autonomy, OnSilence, ReviewPolicy, Spec};
use super::{Handover, Intent, Party};
use crate::ask::{NewClaims, Priority};
use crate::ids::{AgentId, ArtifactId, AskId, HumanId, ProjectId, ReviewId, TaskId};
use crate::time::Time;

/// What is wanted of a task.
#[derive(Debug, Clone)]
pub enum TaskCommand {
    /// Write one down, under the fresh id.
    Create(Box<NewTask>),
    /// Give it to an agent.
    Assign(TaskId, AgentId, Given),
    /// The agent begins.
    Start(TaskId),
    /// Call it off.
    Cancel(TaskId, Option<String>),
    /// Stop the agent; the checkpoint has the fresh id.
    Interrupt(TaskId, String),
    /// Say something the agent is to take into account.
    Amend(TaskId, String, Intent),
    /// Allow or forbid something.
    Grant(TaskId, NewGrant),
    /// Let a person decide; the checkpoint has the fresh id.
    Raise(TaskId, Box<NewCheckpoint>),
    /// Decide.
    Resolve(AskId, Box<NewResolution>),
    /// Nobody will decide.
    Lapse(AskId),
    /// Give it to somebody else.
    Transfer(TaskId, Party, Handover),
    /// Hand it down.
    Delegate(TaskId, AgentId, Given),
    /// Judge what was delivered; the review has the fresh id.
    Review(TaskId, Box<NewReview>),
    /// Add something to a review.
    Remark(TaskId, ReviewId, Comment),
    /// Deliver; a new artifact has the fresh id.
    Commit(TaskId, Box<NewVersion>),
    /// Use an artifact.
    Reference(TaskId, VersionRef, Role),
    /// Let tasks of another project use an artifact.
    Share(ArtifactId, ProjectId),
    /// Write into a ledger.
    Write(TaskId, Box<NewEntry>),
    /// Forget the words of a task that is over.
    Erase(TaskId),
    /// Erase what an erased person wrote on a task.
    EraseWords(TaskId, HumanId),
    /// Erase the bytes of all versions of an artifact.
    EraseArtifact(ArtifactId),
}

impl TaskCommand {
    /// The verb, as logs and metrics name it.
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

    /// The task it is about, as far as the command says; a checkpoint knows its task.
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

    /// The checkpoint it is about, as far as the command says.
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

    /// Whether it makes an ask, under the fresh id.
    pub fn makes_ask(&self) -> bool {
        matches!(self, Self::Interrupt(..) | Self::Raise(..))
    }
}

/// A task to be written down.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// The project; where nobody says, the one its principal is at home in.
    pub project: Option<ProjectId>,
    /// What sort of task.
    pub sort: String,
    /// Its words.
    pub spec: Spec,
    /// The task it is part of.
    pub parent: Option<TaskId>,
    /// Until when it is to be done.
    pub deadline: Option<Time>,
    /// How many seconds may be worked on it.
    pub max_duration: Option<u64>,
    /// Whether its agent may hand it down.
    pub delegable: bool,
    /// How much its agent may do by itself.
    pub autonomy: Autonomy,
    /// What its agent may do.
    pub grants: Vec<NewGrant>,
    /// Who has to judge what is delivered.
    pub review_policy: Option<ReviewPolicy>,
    /// What happens when a checkpoint of it runs out.
    pub on_silence: OnSilence,
}

impl NewTask {
    /// One of a sort, with a goal and nothing else: in its writer's own project, judged by them, without
    /// a limit of time.
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

/// A permission to be given, or taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// What it is about.
    pub scope: String,
    /// Whether it may be done.
    pub decision: Leave,
    /// How long.
    pub until: Until,
}

/// A checkpoint to be raised.
#[derive(Debug, Clone)]
pub struct NewCheckpoint {
    /// What sort of decision.
    pub kind: CheckpointKind,
    /// What the person reads.
    pub prompt: String,
    /// What can be chosen.
    pub options: Vec<CheckpointOption>,
    /// What the agent shows for it.
    pub context: Vec<Evidence>,
    /// What the agent wants to do.
    pub proposed_actions: Vec<ProposedAction>,
    /// Until when.
    pub expires_at: Option<Time>,
    /// How urgent.
    pub priority: Priority,
    /// What the agent says of its message.
    pub claims: Option<Box<NewClaims>>,
}

/// A decision on a checkpoint.
#[derive(Debug, Clone)]
pub struct NewResolution {
    /// What is done.
    pub action: Action,
    /// Who goes on instead.
    pub reassign_to: Option<AgentId>,
    /// What is said. No list of approved and no list of denied actions is a yes or no to all.
    pub said: Said,
}

/// A verdict to be given.
#[derive(Debug, Clone)]
pub struct NewReview {
    /// On what; nothing for the newest thing the task delivered.
    pub artifact: Option<ArtifactId>,
    /// In which version; nothing for the newest.
    pub version: Option<String>,
    /// As what.
    pub kind: ReviewKind,
    /// How.
    pub verdict: Verdict,
    /// In which words.
    pub words: Words,
}

/// Something to be delivered.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// The artifact it is a version of; nothing for a new one.
    pub artifact: Option<ArtifactId>,
    /// What sort of thing.
    pub sort: String,
    /// What it is called; nothing for the next number.
    pub name: Option<String>,
    /// The version it comes from; nothing for the newest.
    pub parent: Option<String>,
    /// What it is. The shell has checked what it holds.
    pub payload: Payload,
}

/// Something to be written into a ledger.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// Whose ledger.
    pub scope: Scope,
    /// Which key.
    pub key: String,
    /// What it is to say.
    pub value: Value,
    /// How often it was written so far, if that matters.
    pub expected: Option<u64>,
}

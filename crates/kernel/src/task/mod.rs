//! Tasks: work that a person owns and an agent does, with the points at which people decide.
//!
//! ```text
//! Created ─▶ Assigned ─▶ InProgress ◀─▶ Blocked ─▶ Completed
//!                          ▲   └─▶ ReviewReady ─▶ UnderReview ─▶ Accepted ─▶ Completed
//!                          └──────────────────────────┘  └─▶ Rejected
//! ```
//!
//! A point of decision is an [`Ask`](crate::Ask) with a [`Checkpoint`] on it: an answer through any
//! interface changes the task in the same decision. The terms are those of HACP.
//!
//! | module | contents |
//! |---|---|
//! | `state` | the states and the one table of transitions |
//! | `spec`, `grants`, `checkpoint`, `review`, `artifact`, `ledger` | the objects |
//! | `contract` | the instructions for the runtime of an agent |
//! | `command`, `event`, `evolve` | commands, events, and the state after them |
//! | the rest | one command, one file |

mod amend;
mod artifact;
mod assign;
mod cancel;
mod checkpoint;
mod command;
mod commit;
mod contract;
mod create;
mod delegate;
mod erase;
mod erase_artifact;
mod erase_personal_text;
mod event;
mod evolve;
mod give_review;
mod grant;
mod grants;
mod interrupt;
mod lapse;
mod ledger;
mod party;
mod permissions;
mod raise;
mod reference;
mod remark;
mod resolve;
mod review;
mod share;
mod spec;
mod start;
mod state;
mod task_ask;
mod transfer;
mod write_ledger;

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::audit::{Erasable, Head};
use crate::command::Envelope;
use crate::ids::{AskId, HumanId, RunId, TaskId};
use crate::time::Time;
use crate::world::{Decision, Stop, World};

pub use artifact::{
    Artifact, Payload, PayloadKind, Reference, Role, StoredContent, Version, VersionRef,
};
use checkpoint::ALLOW;
pub use checkpoint::{
    Checkpoint, CheckpointDetails, CheckpointKind, CheckpointOption, CheckpointOutcome, Evidence,
    LapseReason, ProposedAction, RaisedBy, RaisedCheckpoint, Resolution, ResolutionAction,
    ResolutionDetails, Risk,
};
pub use command::{
    NewCheckpoint, NewEntry, NewGrant, NewResolution, NewReview, NewTask, NewVersion, TaskCommand,
};
pub use contract::{Contract, Duty, NewContract};
pub(crate) use erase::checkpoint_erased;
pub use event::{
    AgentInput, ArtifactEvent, EntryWritten, ResolutionWithoutComment, TaskEvent, TaskTextErased,
};
pub(crate) use evolve::{evolve_artifact, evolve_entry, evolve_task};
pub(crate) use give_review::review_by_answer;
pub use grant::{covers, is_scope};
pub use grants::{Grant, GrantDecision, GrantDuration, Permission};
pub(crate) use lapse::{record_lapse, withdraw};
pub use ledger::{Entry, LedgerScope};
pub use party::Party;
pub(crate) use resolve::resolve_by_answer;
pub use review::{
    AnchoredComment, ForReview, Remark, Review, ReviewKind, ReviewText, Severity, Verdict,
};
pub use spec::{
    Autonomy, Capability, ExternalRef, OnSilence, Quorum, ReviewPolicy, Spec, TaskCreated,
    TaskInput,
};
pub use state::{TRANSITIONS, TaskState, Trigger};

/// Work that a person owns. This aggregate is created and changed only by events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Task {
    /// The unique id of the task.
    pub id: TaskId,
    /// The end of its chain.
    pub head: Head,
    /// When it was created.
    pub created_at: Time,
    /// The task as created; it never changes.
    pub created: TaskCreated,
    /// The state of the task.
    pub state: TaskState,
    /// The number of changes, as the protocol counts them.
    pub revision: u64,
    /// The person or agent who has it now.
    pub assignee: Party,
    /// Who does the work: the assignee, or the party that continues after a decision.
    pub worker: Party,
    /// All transfers, in order.
    pub chain: Vec<Transfer>,
    /// The run of the agent that works on it, or did last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// When the work first began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// Its checkpoints, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<RaisedCheckpoint>,
    /// The delivered versions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delivered: Vec<VersionRef>,
    /// The ask by which the last delivery is reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_in: Option<AskId>,
    /// The reviews of its deliveries, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<Review>,
    /// The amendments of the principal, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steering: Vec<Amendment>,
    /// The permissions and prohibitions given after its creation, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<Grant>,
    /// The runs of the session grants, in the order of the grants. A grant without a run waits for
    /// the next one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<RunId>,
}

impl Deref for Task {
    type Target = TaskCreated;

    fn deref(&self) -> &TaskCreated {
        &self.created
    }
}

/// A run of an agent's runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The id of the run.
    pub id: RunId,
    /// The agent that runs it.
    pub agent: crate::ids::AgentId,
    /// How often the task was delegated to get there.
    #[serde(default)]
    pub depth: u32,
}

/// A change of the assignee of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The previous assignee.
    pub from: Party,
    /// The new assignee.
    pub to: Party,
    /// When it was transferred.
    pub at: Time,
    /// The kind of transfer.
    pub via: Handover,
}

/// Why a task changes its assignee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handover {
    /// It was assigned or delegated to them.
    Assign,
    /// They must decide at a checkpoint.
    Checkpoint,
    /// They may continue.
    Approve,
    /// They must rework it, or it was rejected or cancelled.
    Reject,
    /// It was handed over by a command.
    Handoff,
}

impl Handover {
    /// The kind of transfer as it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assign => "assign",
            Self::Checkpoint => "checkpoint",
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Handoff => "handoff",
        }
    }
}

/// An amendment by the principal while the task is in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amendment {
    /// The text of the amendment.
    pub text: Erasable<String>,
    /// The intent of the amendment.
    pub intent: Intent,
    /// Who sent it.
    pub by: HumanId,
    /// When it was sent.
    pub at: Time,
}

/// The intent of an amendment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Change the direction of the work.
    Redirect,
    /// Explain what the task means.
    #[default]
    Clarify,
    /// Add a constraint to the work.
    Constrain,
    /// Suggest that the agent stops.
    AbortHint,
}

impl Intent {
    /// The intent as it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Redirect => "redirect",
            Self::Clarify => "clarify",
            Self::Constrain => "constrain",
            Self::AbortHint => "abort_hint",
        }
    }
}

/// Decides a command about a task.
pub(crate) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    command: &TaskCommand,
) -> Result<Decision, Stop> {
    match command {
        TaskCommand::Create(new) => create::decide(world, envelope, new),
        TaskCommand::Assign(id, agent, given) => assign::decide(world, envelope, *id, agent, given),
        TaskCommand::Start(id) => start::decide(world, envelope, *id),
        TaskCommand::Cancel(id, reason) => cancel::decide(world, envelope, *id, reason.as_deref()),
        TaskCommand::Interrupt(id, prompt) => interrupt::decide(world, envelope, *id, prompt),
        TaskCommand::Amend(id, text, intent) => amend::decide(world, envelope, *id, text, *intent),
        TaskCommand::Grant(id, grant) => grant::decide(world, envelope, *id, grant),
        TaskCommand::Raise(id, new) => raise::decide(world, envelope, *id, new),
        TaskCommand::Resolve(id, new) => resolve::decide(world, envelope, *id, new),
        TaskCommand::Lapse(id) => lapse::decide(world, envelope, *id),
        TaskCommand::Transfer(id, to, via) => transfer::decide(world, envelope, *id, to, *via),
        TaskCommand::Delegate(id, to, given) => delegate::decide(world, envelope, *id, to, given),
        TaskCommand::Review(id, new) => give_review::decide(world, envelope, *id, new),
        TaskCommand::Remark(id, review, comment) => {
            remark::decide(world, envelope, *id, *review, comment)
        }
        TaskCommand::Commit(id, new) => commit::decide(world, envelope, *id, new),
        TaskCommand::Reference(id, artifact, role) => {
            reference::decide(world, envelope, *id, artifact, *role)
        }
        TaskCommand::Share(id, with) => share::decide(world, envelope, *id, with),
        TaskCommand::Write(id, new) => write_ledger::decide(world, envelope, *id, new),
        TaskCommand::Erase(id) => erase::decide(world, envelope, *id),
        TaskCommand::EraseWords(id, human) => {
            erase_personal_text::decide(world, envelope, *id, human)
        }
        TaskCommand::EraseArtifact(id) => erase_artifact::decide(world, envelope, *id),
    }
}

impl Task {
    /// The checkpoint it waits for; `None` if it waits for none.
    pub fn pending(&self) -> Option<&RaisedCheckpoint> {
        self.checkpoints
            .last()
            .filter(|raised| matches!(raised.outcome, CheckpointOutcome::Pending))
    }

    /// Whether it is blocked by a checkpoint that ended without an answer.
    pub fn is_stranded(&self) -> bool {
        self.state == TaskState::Blocked && self.pending().is_none()
    }

    /// When it is due: its deadline or the end of its maximum duration, whichever is earlier.
    pub fn due_at(&self) -> Option<Time> {
        let longest =
            self.started_at.zip(self.max_duration).map(|(at, for_)| at.plus_seconds(for_));
        self.deadline.into_iter().chain(longest).min()
    }

    /// Since when the task is closed with its text still stored. Retention counts from here.
    pub fn retention_start(&self) -> Option<Time> {
        self.state.is_closed().then_some(self.head.at).filter(|_| self.spec.value().is_some())
    }

    /// Erases every erasable value.
    pub(crate) fn erase(&mut self) {
        self.created.spec.erase();
        for raised in &mut self.checkpoints {
            if let CheckpointOutcome::Resolved(resolution) = &mut raised.outcome {
                resolution.details.erase();
            }
        }
        for review in &mut self.reviews {
            review.text.erase();
            review.remarks.iter_mut().for_each(|remark| remark.comment.erase());
        }
        self.steering.iter_mut().for_each(|amendment| amendment.text.erase());
    }
}

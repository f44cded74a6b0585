//! Tasks: work a person owns and an agent does, with the points at which people decide.
//!
//! ```text
//! Created ─▶ Assigned ─▶ InProgress ◀─▶ Blocked ─▶ Completed
//!                          ▲   └─▶ ReviewReady ─▶ UnderReview ─▶ Accepted ─▶ Completed
//!                          └──────────────────────────┘  └─▶ Rejected
//! ```
//!
//! A point at which somebody decides is an [`Ask`](crate::Ask) with a [`Checkpoint`] on it: whoever
//! answers it, wherever, moves the task in the same decision. The words of the protocol are HACP's.
//!
//! | module | what it holds |
//! |---|---|
//! | `state` | the states and the one table of transitions |
//! | `spec`, `grants`, `checkpoint`, `review`, `artifact`, `ledger` | the objects |
//! | `contract` | what the runtime of an agent has to do |
//! | `command`, `event`, `evolve` | what is wanted, what happened, and what the task is then |
//! | the rest | one verb, one file |

mod amend;
mod artifact;
mod asked;
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
mod erase_words;
mod event;
mod evolve;
mod grant;
mod grants;
mod interrupt;
mod judge;
mod lapse;
mod ledger;
mod may;
mod party;
mod raise;
mod reference;
mod remark;
mod resolve;
mod review;
mod share;
mod spec;
mod start;
mod state;
mod transfer;
mod write;

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::audit::{Erasable, Head};
use crate::command::Envelope;
use crate::ids::{AskId, HumanId, RunId, TaskId};
use crate::time::Time;
use crate::world::{Decision, Stop, World};

pub use artifact::{Artifact, Held, Payload, PayloadKind, Reference, Role, Version, VersionRef};
use checkpoint::ALLOW;
pub use checkpoint::{
    Action, Beside, Checkpoint, CheckpointKind, CheckpointOption, Ended, Evidence, Outcome,
    ProposedAction, Raised, RaisedBy, Resolution, Risk, Said,
};
pub use command::{
    NewCheckpoint, NewEntry, NewGrant, NewResolution, NewReview, NewTask, NewVersion, TaskCommand,
};
pub use contract::{Contract, Duty, Wanted};
pub(crate) use erase::checkpoint_erased;
pub use event::{ArtifactEvent, EntryWritten, Given, TaskEvent, TaskWordsErased, Uncommented};
pub(crate) use evolve::{evolve_artifact, evolve_entry, evolve_task};
pub use grant::{covers, is_scope};
pub use grants::{Grant, Leave, Permission, Until};
pub(crate) use judge::judged;
pub(crate) use lapse::{ended, withdrawn};
pub use ledger::{Entry, Scope};
pub use party::Party;
pub(crate) use resolve::answered;
pub use review::{Comment, ForReview, Remark, Review, ReviewKind, Severity, Verdict, Words};
pub use spec::{
    Autonomy, Capability, Created, ExternalRef, Input, OnSilence, Quorum, ReviewPolicy, Spec,
};
pub use state::{State, TRANSITIONS, Trigger};

/// Work a person owns. The aggregate; made and changed only by events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Task {
    /// Its one name.
    pub id: TaskId,
    /// Where its chain ends.
    pub head: Head,
    /// When it was written down.
    pub created_at: Time,
    /// What it is. Never changes.
    pub created: Created,
    /// Where it stands.
    pub state: State,
    /// How often it was changed, as the protocol counts.
    pub revision: u64,
    /// Who it is with.
    pub assignee: Party,
    /// Who does the work: whoever it is with, or whoever goes on once people have decided.
    pub worker: Party,
    /// Everybody it went to, in order.
    pub chain: Vec<Transfer>,
    /// The run of the agent that works on it, or did last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// When somebody first began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// Its checkpoints, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<Raised>,
    /// What was delivered, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delivered: Vec<VersionRef>,
    /// The ask by which what was delivered last is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_in: Option<AskId>,
    /// What was said of it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<Review>,
    /// What the principal said on the way, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steering: Vec<Amendment>,
    /// What was allowed and forbidden on the way, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<Grant>,
    /// The runs that what was granted as long as a run counts in, in the order it was granted. What is
    /// not named yet waits for the next run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<RunId>,
}

impl Deref for Task {
    type Target = Created;

    fn deref(&self) -> &Created {
        &self.created
    }
}

/// A run of an agent's runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// Whose.
    pub agent: crate::ids::AgentId,
    /// How often the task was handed down to get there.
    #[serde(default)]
    pub depth: u32,
}

/// A task went from one to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// From whom.
    pub from: Party,
    /// To whom.
    pub to: Party,
    /// When.
    pub at: Time,
    /// In what way.
    pub via: Handover,
}

/// In what way a task goes to somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handover {
    /// It was given to them, or handed down.
    Assign,
    /// They have to decide something.
    Checkpoint,
    /// They may go on.
    Approve,
    /// They have to do it again, or it was called off.
    Reject,
    /// It was handed over.
    Handoff,
}

impl Handover {
    /// The way as it is stored and shown.
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

/// What the principal said on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Amendment {
    /// What.
    pub text: Erasable<String>,
    /// To what end.
    pub intent: Intent,
    /// Who.
    pub by: HumanId,
    /// When.
    pub at: Time,
}

/// To what end somebody says something on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Go another way.
    Redirect,
    /// This is what was meant.
    #[default]
    Clarify,
    /// Keep within this.
    Constrain,
    /// Better stop.
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

/// Judges what is wanted of a task.
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
        TaskCommand::Review(id, new) => judge::decide(world, envelope, *id, new),
        TaskCommand::Remark(id, review, comment) => {
            remark::decide(world, envelope, *id, *review, comment)
        }
        TaskCommand::Commit(id, new) => commit::decide(world, envelope, *id, new),
        TaskCommand::Reference(id, artifact, role) => {
            reference::decide(world, envelope, *id, artifact, *role)
        }
        TaskCommand::Share(id, with) => share::decide(world, envelope, *id, with),
        TaskCommand::Write(id, new) => write::decide(world, envelope, *id, new),
        TaskCommand::Erase(id) => erase::decide(world, envelope, *id),
        TaskCommand::EraseWords(id, human) => erase_words::decide(world, envelope, *id, human),
        TaskCommand::EraseArtifact(id) => erase_artifact::decide(world, envelope, *id),
    }
}

impl Task {
    /// The checkpoint it waits for.
    pub fn pending(&self) -> Option<&Raised> {
        self.checkpoints.last().filter(|raised| matches!(raised.outcome, Outcome::Pending))
    }

    /// Whether it waits for a checkpoint that is over without an answer.
    pub fn is_stranded(&self) -> bool {
        self.state == State::Blocked && self.pending().is_none()
    }

    /// When it has to be done: its deadline, or as long after its start as it may take.
    pub fn due_at(&self) -> Option<Time> {
        let longest =
            self.started_at.zip(self.max_duration).map(|(at, for_)| at.plus_seconds(for_));
        self.deadline.into_iter().chain(longest).min()
    }

    /// Since when it is over with its words still here: what retention goes by.
    pub fn kept_since(&self) -> Option<Time> {
        self.state.is_over().then_some(self.head.at).filter(|_| self.spec.value().is_some())
    }

    /// Forgets every erasable value.
    pub(crate) fn erase(&mut self) {
        self.created.spec.erase();
        for raised in &mut self.checkpoints {
            if let Outcome::Resolved(resolution) = &mut raised.outcome {
                resolution.said.erase();
            }
        }
        for review in &mut self.reviews {
            review.words.erase();
            review.remarks.iter_mut().for_each(|remark| remark.comment.erase());
        }
        self.steering.iter_mut().for_each(|amendment| amendment.text.erase());
    }
}

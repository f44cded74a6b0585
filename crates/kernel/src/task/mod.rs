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

mod artifact;
mod checkpoint;
mod command;
mod contract;
mod event;
mod evolve;
mod grants;
mod ledger;
mod party;
mod review;
mod spec;
mod state;

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::audit::{Erasable, Head};
use crate::command::Envelope;
use crate::ids::{HumanId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::time::Time;
use crate::world::{Decision, Stop, World};

pub use artifact::{Artifact, Payload, PayloadKind, Reference, Role, Version, VersionRef};
pub use checkpoint::{
    Action, Beside, Checkpoint, CheckpointKind, CheckpointOption, Ended, Evidence, Outcome,
    ProposedAction, Raised, RaisedBy, Resolution, Risk, Said,
};
pub use command::{
    NewCheckpoint, NewEntry, NewGrant, NewResolution, NewReview, NewTask, NewVersion, TaskCommand,
};
pub use contract::{Contract, Duty, Wanted};
pub use event::{ArtifactEvent, EntryWritten, Given, TaskEvent};
pub(crate) use evolve::{evolve_artifact, evolve_entry, evolve_task};
pub use grants::{Grant, Leave, Until};
pub use ledger::{Entry, Scope};
pub use party::Party;
pub use review::{Comment, Remark, Review, ReviewKind, Severity, Verdict, Words};
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
    /// What was said of it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<Review>,
    /// What the principal said on the way, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steering: Vec<Amendment>,
    /// What was allowed and forbidden on the way, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub granted: Vec<Grant>,
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
    _world: &World<'_>,
    _envelope: &Envelope,
    _command: &TaskCommand,
) -> Result<Decision, Stop> {
    Err(Refusal::NotAllowed { why: "not yet" }.into())
}

impl Task {
    /// The checkpoint it waits for.
    pub fn pending(&self) -> Option<&Raised> {
        self.checkpoints.last().filter(|raised| matches!(raised.outcome, Outcome::Pending))
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

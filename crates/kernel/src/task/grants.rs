//! What an agent may do without asking.

use serde::{Deserialize, Serialize};

use crate::ids::{HumanId, RunId};
use crate::time::Time;

/// A permission given, or taken back: grants are only ever added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What it is about, such as `fs:/repo:*`.
    pub scope: String,
    /// Whether it may be done.
    pub decision: Leave,
    /// How long.
    pub until: Until,
    /// Who gave it.
    pub granted_by: HumanId,
    /// When.
    pub granted_at: Time,
}

/// A grant of a task, and whether it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission<'a> {
    /// What was said.
    pub grant: &'a Grant,
    /// The run it counts in, where it counts as long as a run and that one has begun.
    pub run: Option<RunId>,
    /// Whether it counts now.
    pub counts: bool,
}

/// Whether something may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// How long a grant counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// As long as the run it was given in: until an agent begins another, a person takes the task over,
    /// or it ends. Given while no agent works, it is for the next run. Stopping at a checkpoint ends no run.
    Session,
    /// As long as the task.
    Task,
    /// Up to this moment, itself included.
    At(Time),
}

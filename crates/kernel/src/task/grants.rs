//! Grants: the actions an agent may take without asking.

use serde::{Deserialize, Serialize};

use crate::ids::{HumanId, RunId};
use crate::time::Time;

/// A permission or a prohibition. Grants are only ever added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The scope it covers, such as `fs:/repo:*`.
    pub scope: String,
    /// Whether the action is allowed.
    pub decision: GrantDecision,
    /// How long it is in effect.
    pub until: GrantDuration,
    /// Who gave it.
    pub granted_by: HumanId,
    /// When it was given.
    pub granted_at: Time,
}

/// A grant of a task, and whether it is in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permission<'a> {
    /// The grant itself.
    pub grant: &'a Grant,
    /// The run of a session grant, once that run has begun.
    pub run: Option<RunId>,
    /// Whether it is in effect now.
    pub counts: bool,
}

/// Whether an action is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantDecision {
    /// The action is allowed.
    Allow,
    /// The action is forbidden.
    Deny,
}

/// How long a grant is in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantDuration {
    /// As long as the run it was given in: until an agent begins another, a person takes the task
    /// over, or the task is closed. If it is given while no agent works, it applies to the next
    /// run. Stopping at a checkpoint does not end a run.
    Session,
    /// Until the task is closed.
    Task,
    /// Up to and including this moment.
    At(Time),
}

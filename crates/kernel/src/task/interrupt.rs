//! The principal stops the agent: a checkpoint that a person raises.

use super::command::NewCheckpoint;
use super::may::seen;
use super::raise;
use super::{CheckpointKind, RaisedBy, State, TaskEvent};
use crate::ask::Priority;
use crate::command::Envelope;
use crate::ids::TaskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    prompt: &str,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    task.stands_in(&[State::InProgress])?;
    let working = task.assignee.agent().zip(task.running());
    let Some((agent, _)) = working else {
        let why = "no agent works on this task".to_owned();
        return Err(Refusal::Precondition { why }.into());
    };
    let new = NewCheckpoint {
        kind: CheckpointKind::Interrupt,
        prompt: prompt.to_owned(),
        options: Vec::new(),
        context: Vec::new(),
        proposed_actions: Vec::new(),
        // The person who stopped the agent decides when it goes on.
        expires_at: None,
        priority: Priority::Normal,
        hxp: None,
    };
    let mut decision = raise::raised(world, envelope, task, agent, &new, RaisedBy::Human)?;
    decision.happened.insert(0, task.event(TaskEvent::Interrupted));
    Ok(decision)
}

//! The agent a task is with hands it down to another.

use super::assign::keep;
use super::event::Given;
use super::may::seen;
use super::{Duty, State, TaskEvent};
use crate::actor::Actor;
use crate::command::Envelope;
use crate::ids::{AgentId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// How often a task may be handed down.
pub(super) const DEEPEST: u32 = 5;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    to: &AgentId,
    given: &Given,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    let Actor::Agent { id: agent, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only an agent hands a task down" }.into());
    };
    let failed = |why: &str| Stop::from(Refusal::Precondition { why: why.to_owned() });
    if !task.delegable {
        return Err(failed("this task is not delegable"));
    }
    task.stands_in(&[State::Assigned, State::InProgress])?;
    task.only_assignee(&envelope.actor)?;
    task.in_time(world.now)?;
    if task.run.as_ref().is_some_and(|run| run.depth >= DEEPEST) {
        return Err(failed("this task was handed down five times already, which is the most"));
    }
    if to == agent {
        let expected = "another agent";
        return Err(Refusal::Invalid { field: "to_agent", expected }.into());
    }
    let to = task.agent_for(world.directory, to, "to_agent")?.id.clone();
    let run = RunId::new(envelope.fresh);
    let given = keep(given, envelope)?;
    let contract = task.wants_new(&to, run, Duty::Delegate);
    let mut decision = task.decided(TaskEvent::Delegated { to, run, given });
    decision.contracts.push(contract);
    Ok(decision)
}

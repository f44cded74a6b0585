//! The principal gives a task to an agent.

use super::event::Given;
use super::may::seen;
use super::{Duty, State, TaskEvent};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::ids::{AgentId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable_json};
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    agent: &AgentId,
    given: &Given,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    task.stands_in(&[State::Created])?;
    task.in_time(world.now)?;
    let agent = task.agent_for(world.directory, agent, "agent_id")?.id.clone();
    let run = RunId::new(envelope.fresh);
    let given = keep(given, envelope)?;
    let contract = task.wants_new(&agent, run, Duty::Delegate);
    // Whoever it was handed to before it was given to anybody stops.
    let left = task.running().filter(|run| run.agent != agent);
    let left = left.map(|run| task.wants(run, Duty::Cancel));
    let mut decision = task.decided(TaskEvent::Assigned { agent, run, given });
    decision.contracts.push(contract);
    decision.contracts.extend(left);
    Ok(decision)
}

/// What an agent is given to begin with, if it can be kept.
pub(super) fn keep(given: &Given, envelope: &Envelope) -> Result<Erasable<Given>, Refusal> {
    let named = given.capability.as_deref().is_none_or(is_short);
    if !named {
        let expected = "a name of at most 200 bytes, without NUL";
        return Err(Refusal::Invalid { field: "capability", expected });
    }
    if !given.input.as_ref().is_none_or(is_storable_json) {
        let expected = "JSON without NUL characters";
        return Err(Refusal::Invalid { field: "input", expected });
    }
    Ok(Erasable::new(given.clone(), &mut envelope.salts.clone()))
}

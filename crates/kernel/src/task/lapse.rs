//! Nobody decides on a checkpoint: its time was up, somebody said so, or its ask was withdrawn.

use super::may::held;
use super::{Checkpoint, Ended, RaisedBy, TaskEvent};
use crate::actor::Actor;
use crate::ask::{Ask, DefaultAction};
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let (ask, checkpoint, task) = held(world, envelope, id)?;
    task.only_responsible(&envelope.actor, world.directory)?;
    if !ask.is_open() {
        let why = "this checkpoint does not wait any more".to_owned();
        return Err(Refusal::Precondition { why }.into());
    }
    let deadline = ask.deadline().map_or(world.now, |at| at.min(world.now)).max(ask.created_at);
    let over = ask.ends(Happened::Expired { deadline, report: DefaultAction::Abort });
    ended(world, checkpoint, ask, Ended::Expired, over)
}

/// The ask by which people decide something on a task was withdrawn: an agent takes back what it asked
/// itself, people what they decide on. Nobody takes back what was delivered.
pub(crate) fn withdrawn(
    world: &World<'_>,
    envelope: &Envelope,
    ask: &Ask,
    over: Decision,
) -> Result<Decision, Stop> {
    let administers = world.directory.administers(&envelope.actor);
    if ask.review.is_some() && !administers {
        let why = "what was delivered is judged, and cannot be withdrawn";
        return Err(Refusal::NotAllowed { why }.into());
    }
    let Some(checkpoint) = &ask.checkpoint else { return Ok(over) };
    let task = world.task(checkpoint.task)?;
    let why = "only the agent that raised a checkpoint and the people who decide on it withdraw it";
    match &envelope.actor {
        Actor::Agent { .. } if checkpoint.raised_by == RaisedBy::Agent => {}
        actor if !administers => {
            task.decider(actor, why)?;
        }
        _ => {}
    }
    ended(world, checkpoint, ask, Ended::Withdrawn, over)
}

/// The task hears that its checkpoint is over without an answer. It stays blocked, unless it was
/// written down that silence calls it off.
pub(crate) fn ended(
    world: &World<'_>,
    checkpoint: &Checkpoint,
    ask: &Ask,
    why: Ended,
    mut decision: Decision,
) -> Result<Decision, Stop> {
    let task = world.task(checkpoint.task)?;
    decision.happened.push(task.event(TaskEvent::Lapsed { checkpoint: ask.id, why }));
    if task.ends_by_silence(checkpoint.kind, why) {
        decision.happened.push(task.event(TaskEvent::Cancelled { reason: None }));
        decision.contracts.extend(task.stop());
    }
    Ok(decision)
}

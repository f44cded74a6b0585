//! Nobody decides on a checkpoint: its time was up, somebody said so, or its ask was withdrawn.

use super::may::held;
use super::{Checkpoint, Ended, TaskEvent};
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
    if why != Ended::Withdrawn && task.ends_by_silence(checkpoint.kind) {
        decision.happened.push(task.event(TaskEvent::Cancelled { reason: None }));
        decision.contracts.extend(task.stop());
    }
    Ok(decision)
}

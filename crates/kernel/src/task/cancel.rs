//! The principal calls a task off.

use super::may::{maybe_text, seen};
use super::{Duty, Ended, State, Task, TaskEvent};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::Happened;
use crate::ids::TaskId;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    reason: Option<&str>,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    task.stands_in(&[State::Created, State::Assigned, State::InProgress, State::Blocked])?;
    maybe_text("reason", reason)?;
    let kept = |mut salts| reason.map(|text| Erasable::new(text.to_owned(), &mut salts));
    let mut decision = Decision::default();
    // What it waits for matters no more, wherever somebody was asked.
    if let Some(pending) = task.pending() {
        let ask = world.ask(pending.ask)?;
        if ask.is_open() {
            decision = ask.ends(Happened::Cancelled { reason: kept(envelope.salts.clone()) });
        }
        let lapsed = TaskEvent::Lapsed { checkpoint: pending.ask, why: Ended::Cancelled };
        decision.happened.push(task.event(lapsed));
    }
    decision.happened.push(task.event(TaskEvent::Cancelled { reason: kept(envelope.salts.apart()) }));
    decision.contracts.extend(task.stop());
    Ok(decision)
}

impl Task {
    /// What its runtime has to do when it is over.
    pub(super) fn stop(&self) -> Option<(TaskId, super::Wanted)> {
        self.running().map(|run| self.wants(run, Duty::Cancel))
    }
}

//! The principal says something the agent is to take into account.

use super::may::{seen, text};
use super::{Amendment, Duty, Intent, State, TaskEvent};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::ids::TaskId;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    said: &str,
    intent: Intent,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    task.stands_in(&[State::InProgress, State::Blocked])?;
    text("text", said)?;
    let text = Erasable::new(said.to_owned(), &mut envelope.salts.clone());
    let (by, at) = (task.principal.clone(), world.now.max(task.head.at));
    let mut decision =
        task.decided(TaskEvent::Amended { amendment: Amendment { text, intent, by, at } });
    decision.contracts.extend(task.running().map(|run| task.wants(run, Duty::Steer)));
    Ok(decision)
}

//! Whoever a task was given to begins.

use super::may::seen;
use super::{State, TaskEvent};
use crate::command::Envelope;
use crate::ids::TaskId;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(world: &World<'_>, envelope: &Envelope, id: TaskId) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    task.stands_in(&[State::Assigned])?;
    task.only_assignee(&envelope.actor)?;
    task.in_time(world.now)?;
    Ok(task.decided(TaskEvent::Started))
}

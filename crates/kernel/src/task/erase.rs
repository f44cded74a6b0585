//! The words of a task that is over are forgotten.

use super::TaskEvent;
use super::may::seen;
use crate::command::Envelope;
use crate::ids::TaskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(world: &World<'_>, envelope: &Envelope, id: TaskId) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    if !world.directory.administers(&envelope.actor) {
        return Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into());
    }
    if !task.state.is_over() {
        let why = "only the words of a task that is over are erased";
        return Err(Refusal::NotOver { why }.into());
    }
    if task.spec.value().is_none() {
        return Ok(Decision::default());
    }
    Ok(task.decided(TaskEvent::Erased))
}

//! Somebody adds to a review that stands.

use super::may::seen;
use super::{Comment, Remark, TaskEvent, judge};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::ids::{ReviewId, TaskId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    review: ReviewId,
    comment: &Comment,
) -> Result<Decision, Stop> {
    let task = seen(world, envelope, id)?;
    world.directory.person(&envelope.actor)?;
    let why = "only the principal of the task and its reviewers comment on a review";
    let by = task.decider(&envelope.actor, why)?;
    if !task.reviews.iter().any(|judged| judged.id == review) {
        return Err(Refusal::NotFound { what: "review" }.into());
    }
    judge::comment(comment)?;
    let comment = Erasable::new(comment.clone(), &mut envelope.salts.clone());
    let remark = Box::new(Remark { by, comment, at: world.now.max(task.head.at) });
    Ok(task.decided(TaskEvent::Remarked { review, remark }))
}

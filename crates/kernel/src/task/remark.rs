//! A person adds a remark to an existing review.

use super::permissions::visible_task;
use super::{AnchoredComment, Remark, TaskEvent, give_review};
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
    comment: &AnchoredComment,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    world.directory.person(&envelope.actor)?;
    let why = "only the principal and the reviewers of the task can comment on a review";
    let by = task.decider(&envelope.actor, why)?;
    if !task.reviews.iter().any(|judged| judged.id == review) {
        return Err(Refusal::NotFound { what: "review" }.into());
    }
    // Text that is added after the erasure would never be erased.
    if task.spec.value().is_none() {
        let why = "the text of this task was erased, so comments cannot be added".to_owned();
        return Err(Refusal::Precondition { why }.into());
    }
    give_review::check_comment(comment)?;
    let comment = Erasable::new(comment.clone(), &mut envelope.salts.clone());
    let remark = Box::new(Remark { by, comment, at: world.now.max(task.head.at) });
    Ok(task.decided(TaskEvent::Remarked { review, remark }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Severity, TaskCommand, Verdict};
    use crate::testing::{Cast, human, new_task, verdict, version};

    fn comment(body: &str) -> AnchoredComment {
        let anchor = Some("page 2".to_owned());
        AnchoredComment { anchor, severity: Severity::Nit, body: body.to_owned() }
    }

    /// HACP-022, HACP-080, K-05, K-06: a remark is added beside the review and does not change it;
    /// it is recorded, keeps the revision, and is possible after the task is closed.
    #[test]
    fn a_review_stays_as_it_was() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.delivered(id, version());
        let review = cast.judge("olga", id, verdict(Verdict::Approved)).unwrap();
        let before = cast.task(id).clone();
        cast.run_task(cast.human("olga"), TaskCommand::Remark(id, review, comment("And the VAT?")));
        let mut after = cast.task(id).clone();
        assert_eq!(after.revision, before.revision);
        assert_eq!(cast.event_names(id).last(), Some(&"review_commented"));
        let added = std::mem::take(&mut after.reviews[0].remarks);
        assert_eq!(after.reviews, before.reviews);
        let [added] = &added[..] else { panic!() };
        assert_eq!(
            (&added.by, added.comment.value()),
            (&human("olga"), Some(&comment("And the VAT?")))
        );
    }

    /// No text is added to an erased task, because it would never be erased.
    #[test]
    fn nothing_is_added_to_what_was_erased() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.delivered(id, version());
        let review = cast.judge("olga", id, verdict(Verdict::Approved)).unwrap();
        cast.run_task(crate::actor::Actor::System, TaskCommand::Erase(id));
        let late = TaskCommand::Remark(id, review, comment("And the VAT?"));
        let refused = cast.attempt_task(cast.human("olga"), late);
        let why = "the text of this task was erased, so comments cannot be added".to_owned();
        assert_eq!(refused, Err(Refusal::Precondition { why }));
        assert_eq!(cast.event_names(id).last(), Some(&"erased"));
    }

    /// K-06: neither an agent nor a person who does not decide can comment.
    #[test]
    fn only_people_who_decide_comment() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.delivered(id, version());
        let review = cast.judge("olga", id, verdict(Verdict::ChangesRequested)).unwrap();
        for actor in [cast.agent("bot"), cast.human("mark"), crate::actor::Actor::System] {
            let said = TaskCommand::Remark(id, review, comment("me too"));
            assert!(matches!(cast.attempt_task(actor, said), Err(Refusal::NotAllowed { .. })));
        }
        let nothing = ReviewId::new(ulid::Ulid::from(7_u128));
        let astray = TaskCommand::Remark(id, nothing, comment("where?"));
        let refused = cast.attempt_task(cast.human("olga"), astray);
        assert_eq!(refused, Err(Refusal::NotFound { what: "review" }));
        let empty = TaskCommand::Remark(id, review, comment(" "));
        let refused = cast.attempt_task(cast.human("olga"), empty);
        assert!(matches!(refused, Err(Refusal::Invalid { field: "comment.body", .. })));
        assert!(cast.task(id).reviews.iter().all(|review| review.remarks.is_empty()));
    }
}

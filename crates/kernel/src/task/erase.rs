//! Erases the text of a closed task.

use super::permissions::visible_task;
use super::{CheckpointOutcome, Task, TaskEvent};
use crate::ask::Ask;
use crate::command::Envelope;
use crate::event::DomainEvent;
use crate::ids::{AskId, ReviewId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(world: &World<'_>, envelope: &Envelope, id: TaskId) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    if !world.directory.administers(&envelope.actor) {
        return Err(Refusal::NotAllowed { why: "only an administrator can do this" }.into());
    }
    if !task.state.is_closed() {
        let why = "only the text of a closed task can be erased";
        return Err(Refusal::NotOver { why }.into());
    }
    if task.spec.value().is_none() {
        return Ok(Decision::default());
    }
    Ok(task.decided(TaskEvent::Erased))
}

/// The event that erases the task's copy of an erased ask.
pub(crate) fn checkpoint_erased(
    world: &World<'_>,
    ask: &Ask,
) -> Result<Option<(Subject, DomainEvent)>, Stop> {
    let task = match (&ask.checkpoint, &ask.review) {
        (Some(checkpoint), _) => world.task(checkpoint.task)?,
        (None, Some(review)) => world.task(review.task)?,
        (None, None) => return Ok(None),
    };
    let artifact = ask.review.as_ref().map(|review| &review.artifact);
    let given = task.reviews.iter().filter(|review| artifact == Some(&review.artifact));
    let worded = given.filter(|review| {
        let remarked = |remark: &super::Remark| remark.comment.value().is_some();
        review.text.value().is_some() || review.remarks.iter().any(remarked)
    });
    let reviews: Vec<ReviewId> = worded.map(|review| review.id).collect();
    let said = task.checkpoints.iter().any(|raised| {
        raised.ask == ask.id
            && matches!(&raised.outcome, CheckpointOutcome::Resolved(resolution) if resolution.details.value().is_some())
    });
    if !said && reviews.is_empty() {
        return Ok(None);
    }
    Ok(Some(task.event(TaskEvent::CheckpointErased { checkpoint: ask.id, reviews })))
}

impl Task {
    pub(super) fn erase_checkpoint(&mut self, checkpoint: AskId, reviews: &[ReviewId]) {
        for raised in self.checkpoints.iter_mut().filter(|raised| raised.ask == checkpoint) {
            if let CheckpointOutcome::Resolved(resolution) = &mut raised.outcome {
                resolution.details.erase();
            }
        }
        for review in self.reviews.iter_mut().filter(|review| reviews.contains(&review.id)) {
            review.text.erase();
            review.remarks.iter_mut().for_each(|remark| remark.comment.erase());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::actor::Actor;
    use crate::task::{
        AnchoredComment, CheckpointKind, Intent, NewTask, Severity, TaskCommand, Verdict,
    };
    use crate::testing::{Cast, new_task, raising, resolution, verdict, version};

    /// The text is erased, the events stay: who did what, when, and that there was text.
    #[test]
    fn the_words_are_forgotten_and_the_story_is_not() {
        let mut cast = Cast::new();
        let mut new = new_task();
        new.spec.goal = "hush goal".to_owned();
        let id = cast.begun(NewTask { ..new });
        let said = TaskCommand::Amend(id, "hush amendment".to_owned(), Intent::Clarify);
        cast.run_task(cast.human("olga"), said);
        let ask = cast.raised(id, raising(CheckpointKind::Input));
        let mut provided = resolution(crate::task::ResolutionAction::Provide);
        provided.details.input = Some("hush input".to_owned());
        cast.resolve("olga", ask, provided).unwrap();
        cast.delivered(id, version());
        let review = cast.judge("olga", id, verdict(Verdict::Rejected)).unwrap();
        let body = "hush remark".to_owned();
        let comment = AnchoredComment { anchor: None, severity: Severity::Nit, body };
        cast.run_task(cast.human("olga"), TaskCommand::Remark(id, review, comment));
        let before = cast.task(id).clone();
        assert!(before.retention_start().is_some());
        cast.run_task(Actor::System, TaskCommand::Erase(id));
        let after = cast.task(id);
        let kept = serde_json::to_string(after).unwrap();
        assert!(!kept.contains("hush"), "{kept}");
        assert_eq!(after.spec.commitment(), before.spec.commitment());
        assert_eq!((after.state, after.revision), (before.state, before.revision));
        assert_eq!((&after.chain, &after.delivered), (&before.chain, &before.delivered));
        assert_eq!(after.retention_start(), None);
        let records = cast.records().len();
        cast.run_task(Actor::System, TaskCommand::Erase(id));
        assert_eq!(cast.records().len(), records, "there is nothing left to forget");
    }
}

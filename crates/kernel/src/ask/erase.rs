//! Erases the text of a closed ask, by law or retention. The chain stays valid: it holds
//! commitments only, and the store deletes the committed values in the same transaction.

use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::AskId;
use crate::refusal::Refusal;
use crate::task::checkpoint_erased;
use crate::world::{Decision, Stop, World};

pub(crate) fn decide(world: &World<'_>, envelope: &Envelope, id: AskId) -> Result<Decision, Stop> {
    let ask = world.ask(id)?;
    if !world.directory.administers(&envelope.actor) {
        return Err(Refusal::NotFound { what: "request" }.into());
    }
    if ask.is_open() {
        return Err(Refusal::NotOver { why: "cancel this request before erasing it" }.into());
    }
    // The task of a checkpoint or review holds a copy of the text. It is erased too, even if the
    // ask was erased before this rule existed.
    let copy = checkpoint_erased(world, ask)?;
    if ask.question.value().is_none() {
        return Ok(Decision { happened: copy.into_iter().collect(), ..Decision::default() });
    }
    let mut erased = Decision::on(ask, AskEvent::Erased);
    erased.happened.extend(copy);
    Ok(erased)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::command::AskCommand;
    use crate::receipt::{Receipt, ReceiptOutcome};
    use crate::task::{
        AnchoredComment, CheckpointKind, ResolutionAction, Severity, TaskCommand, Verdict,
    };
    use crate::testing::{Cast, new_ask, new_task, raising, resolution, verdict, version, yes};

    #[test]
    fn words_go_and_the_fact_of_the_answer_stays() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let early = cast.attempt(Actor::System, AskCommand::Erase(id));
        assert!(matches!(early, Err(Refusal::NotOver { .. })));
        cast.run(cast.human("olga"), AskCommand::Answer(id, yes()));
        let nosy = cast.attempt(cast.human("olga"), AskCommand::Erase(id));
        assert_eq!(nosy, Err(Refusal::NotFound { what: "request" }));
        let commitment = cast.seen(id).question.commitment();
        assert_eq!(cast.seen(id).retention_start(), Some(cast.seen(id).head.at));
        cast.run(Actor::System, AskCommand::Erase(id));
        let ask = cast.seen(id);
        assert_eq!((ask.question.value(), ask.retention_start()), (None, None));
        assert_eq!(ask.question.commitment(), commitment);
        let receipt = Receipt::of(ask).unwrap();
        assert!(matches!(receipt.outcome, ReceiptOutcome::Completed { reply: None, .. }));
    }

    /// Issue 21, point 15: the task held a copy of the comment, and the runtime could read it.
    #[test]
    fn the_copy_in_the_task_goes_with_the_checkpoint() {
        let mut cast = Cast::new();
        let task = cast.begun(new_task());
        let id = cast.raised(task, raising(CheckpointKind::Approval));
        let mut said = resolution(ResolutionAction::Approve);
        said.details.comment = Some("hush comment".to_owned());
        cast.resolve("olga", id, said).unwrap();
        let before = cast.task(task).clone();
        assert!(serde_json::to_string(&before).unwrap().contains("hush"));
        cast.run(Actor::System, AskCommand::Erase(id));
        let after = cast.task(task);
        let shown = serde_json::to_string(after).unwrap();
        assert!(!shown.contains("hush"), "{shown}");
        assert_eq!((after.state, after.revision), (before.state, before.revision));
        assert_eq!(after.spec, before.spec, "the task itself is not erased");
        let erased = cast.records().last().unwrap().event().unwrap();
        let resolved = cast.records().iter().find(|one| one.what == "checkpoint_resolved").unwrap();
        assert_eq!(erased.what.name(), "checkpoint_erased");
        assert!(erased.what.erases(&resolved.event().unwrap().erasure_trace()));
        let created = cast.records().iter().find(|one| one.what == "task_created").unwrap();
        assert!(!erased.what.erases(&created.event().unwrap().erasure_trace()));
        let records = cast.records().len();
        cast.run(Actor::System, AskCommand::Erase(id));
        assert_eq!(cast.records().len(), records, "nothing is left to erase");
    }

    #[test]
    fn the_verdict_in_the_task_goes_with_the_request_for_review() {
        let mut cast = Cast::new();
        let task = cast.begun(new_task());
        cast.delivered(task, version());
        let id = cast.task(task).judged_in.unwrap();
        let mut given = verdict(Verdict::ChangesRequested);
        given.text.requested_changes = vec!["hush change".to_owned()];
        let review = cast.judge("olga", task, given).unwrap();
        let body = "hush remark".to_owned();
        let comment = AnchoredComment { anchor: None, severity: Severity::Nit, body };
        cast.run_task(cast.human("olga"), TaskCommand::Remark(task, review, comment));
        cast.run(Actor::System, AskCommand::Erase(id));
        let shown = serde_json::to_string(cast.task(task)).unwrap();
        assert!(!shown.contains("hush"), "{shown}");
    }
}

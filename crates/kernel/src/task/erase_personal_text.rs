//! Erases what an erased person wrote on a task: comments, reasons, amendments and reviews. The
//! goal of the task and its decisions belong to the task and are erased with it.

use super::{
    CheckpointOutcome, ResolutionDetails, ResolutionWithoutComment, Task, TaskEvent, TaskTextErased,
};
use crate::actor::{Actor, ActorRef};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::ids::{HumanId, TaskId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    human: &HumanId,
) -> Result<Decision, Stop> {
    // Only the server sends this command, after a person was erased.
    if envelope.actor != Actor::System {
        return Err(Refusal::NotFound { what: "task" }.into());
    }
    let task = world.task(id)?;
    if !world.directory.human(human).is_some_and(crate::directory::Human::is_erased) {
        return Err(Refusal::NotAllowed { why: "erase the person first" }.into());
    }
    let by = ActorRef::Human(human.clone());
    let mut salts = envelope.salts.clone();
    let mut resolutions = Vec::new();
    for raised in &task.checkpoints {
        if let CheckpointOutcome::Resolved(resolution) = &raised.outcome
            && resolution.by == by
            && let Some(said) = resolution.details.value().filter(|said| said.comment.is_some())
        {
            let said =
                Erasable::new(ResolutionDetails { comment: None, ..said.clone() }, &mut salts);
            resolutions.push(ResolutionWithoutComment { checkpoint: raised.ask, details: said });
        }
    }
    // The reason for which a task was cancelled is in its events only, not in its state. The sender
    // of this command has seen an event that still has text of this person.
    let erased = TaskTextErased { human: human.clone(), resolutions };
    Ok(task.decided(TaskEvent::WordsErased(Box::new(erased))))
}

impl Task {
    pub(super) fn erase_text_by(&mut self, erased: &TaskTextErased) {
        for amendment in self.steering.iter_mut().filter(|said| said.by == erased.human) {
            amendment.text.erase();
        }
        for review in &mut self.reviews {
            if review.reviewer == erased.human {
                review.text.erase();
            }
            for remark in review.remarks.iter_mut().filter(|said| said.by == erased.human) {
                remark.comment.erase();
            }
        }
        for raised in &mut self.checkpoints {
            let same = |one: &&ResolutionWithoutComment| one.checkpoint == raised.ask;
            if let Some(one) = erased.resolutions.iter().find(same)
                && let CheckpointOutcome::Resolved(resolution) = &mut raised.outcome
            {
                resolution.details = one.details.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::DirectoryCommand;
    use crate::task::{CheckpointKind, Intent, ResolutionAction, TaskCommand, Verdict};
    use crate::testing::{Cast, human, new_task, raising, resolution, verdict, version};

    #[test]
    fn what_they_wrote_goes_and_what_was_decided_stays() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let said = TaskCommand::Amend(id, "hush amendment".to_owned(), Intent::Clarify);
        cast.run_task(cast.human("olga"), said);
        let ask = cast.raised(id, raising(CheckpointKind::Input));
        let mut provided = resolution(ResolutionAction::Provide);
        provided.details.input = Some("the input".to_owned());
        provided.details.comment = Some("hush comment".to_owned());
        cast.resolve("olga", ask, provided).unwrap();
        cast.delivered(id, version());
        let mut given = verdict(Verdict::ChangesRequested);
        given.text.requested_changes = vec!["hush change".to_owned()];
        cast.judge("olga", id, given).unwrap();
        cast.give_agent("bot", "mark");
        cast.run(Actor::System, DirectoryCommand::EraseHuman(human("olga")));
        let held = |cast: &Cast| {
            let of = |record: &&crate::audit::Record| {
                record.event().unwrap().has_text_by(&human("olga"))
            };
            cast.records().iter().filter(of).count()
        };
        // The comment is on the ask and on the task, and so is the amendment.
        assert_eq!(held(&cast), 5);
        cast.run_task(Actor::System, TaskCommand::EraseWords(id, human("olga")));
        let shown = serde_json::to_string(cast.task(id)).unwrap();
        assert!(!shown.contains("hush") && shown.contains("the input"), "{shown}");
        assert_eq!(cast.task(id).reviews[0].verdict, Verdict::ChangesRequested);
        let last = cast.records().last().unwrap().event().unwrap().what;
        let records = cast.records().iter().filter(|one| one.subject == crate::Subject::Task(id));
        for event in records.map(|record| record.event().unwrap()) {
            assert_eq!(
                last.erases(&event.erasure_trace()),
                event.has_text_by(&human("olga")),
                "{event:?}"
            );
        }
    }
}

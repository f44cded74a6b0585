//! The principal cancels a task.

use super::permissions::{check_optional_text, visible_task};
use super::{Duty, LapseReason, Task, TaskEvent, TaskState};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::event::AskEvent;
use crate::ids::TaskId;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    reason: Option<&str>,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    task.check_state(&[
        TaskState::Created,
        TaskState::Assigned,
        TaskState::InProgress,
        TaskState::Blocked,
    ])?;
    check_optional_text("reason", reason)?;
    let kept = |mut salts| reason.map(|text| Erasable::new(text.to_owned(), &mut salts));
    let mut decision = Decision::default();
    // The decision it waits for no longer matters, so the ask is closed everywhere.
    if let Some(pending) = task.pending() {
        let ask = world.ask(pending.ask)?;
        if ask.is_open() {
            let reason = kept(envelope.salts.clone());
            decision = Decision::on(ask, AskEvent::Cancelled { reason, decided: None });
        }
        // The reason is in the event that follows.
        let (checkpoint, why) = (pending.ask, LapseReason::Cancelled);
        let lapsed = TaskEvent::Lapsed { checkpoint, why, message: None };
        decision.happened.push(task.event(lapsed));
    }
    decision
        .happened
        .push(task.event(TaskEvent::Cancelled { reason: kept(envelope.salts.split()) }));
    decision.contracts.extend(task.cancel_contract());
    Ok(decision)
}

impl Task {
    /// The contract for its runtime when the task is closed.
    pub(super) fn cancel_contract(&self) -> Option<(TaskId, super::NewContract)> {
        self.current_run().map(|run| self.contract(run, Duty::Cancel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Phase;
    use crate::event::DomainEvent;
    use crate::refusal::Refusal;
    use crate::task::{CheckpointKind, CheckpointOutcome, Handover, Party, TaskCommand};
    use crate::testing::{Cast, human, new_task, raising, version};

    fn cancel(id: TaskId) -> TaskCommand {
        TaskCommand::Cancel(id, Some("moot".to_owned()))
    }

    /// K-13, K-20: the task is closed, back with its principal, and the runtime stops; this counts
    /// as one change.
    #[test]
    fn the_principal_has_it_back_and_the_run_stops() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.run_task(cast.human("olga"), cancel(id));
        let task = cast.task(id);
        assert_eq!((task.state, task.revision), (TaskState::Completed, 3));
        assert_eq!(task.assignee, Party::Human(human("olga")));
        assert_eq!(task.chain.last().map(|step| step.via), Some(Handover::Reject));
        let last = cast.contracts(id).pop().unwrap();
        assert_eq!((last.duty, last.run, last.seq), (Duty::Cancel, cast.run_of(id), task.head.seq));
    }

    /// HACP-080: the ask it waited for is closed too, wherever it was posted, and it is still one
    /// change.
    #[test]
    fn whoever_was_asked_meanwhile_is_asked_no_more() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let ask = cast.raised(id, raising(CheckpointKind::Approval));
        let before = cast.task(id).revision;
        cast.run_task(cast.human("olga"), cancel(id));
        assert_eq!(cast.task(id).revision, before + 1);
        assert_eq!(cast.seen(ask).phase(), Phase::Cancelled);
        let [raised] = &cast.task(id).checkpoints[..] else { panic!() };
        assert!(matches!(
            raised.outcome,
            CheckpointOutcome::Expired { why: Some(LapseReason::Cancelled), .. }
        ));
        assert_eq!(cast.duties(id).last().map(|(_, duty)| *duty), Some(Duty::Cancel));
    }

    /// Each subject has its own commitment: one does not confirm the text erased in the other.
    #[test]
    fn the_reason_is_committed_to_twice_with_different_salts() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let ask = cast.raised(id, raising(CheckpointKind::Approval));
        cast.run_task(cast.human("olga"), cancel(id));
        let TaskEvent::Cancelled { reason: Some(here) } = cast.last_of(id) else { panic!() };
        let there = cast.record_of(ask).into_iter().find_map(|event| {
            if let DomainEvent::Ask(AskEvent::Cancelled { reason, .. }) = event.what {
                reason
            } else {
                None
            }
        });
        let there = there.unwrap();
        assert_eq!(here.value(), there.value());
        assert_ne!(here.commitment(), there.commitment());
    }

    /// K-13: a delivery is judged, not cancelled, and the runtime is not notified of the attempt.
    #[test]
    fn what_waits_for_a_verdict_is_not_called_off() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.delivered(id, version());
        let before = (cast.records().len(), cast.follow_ups().len());
        let refused = cast.attempt_task(cast.human("olga"), cancel(id));
        assert!(matches!(refused, Err(Refusal::Precondition { .. })));
        assert_eq!((cast.records().len(), cast.follow_ups().len()), before);
    }

    /// A task without an assigned agent has no run to stop; neither has one that a person took
    /// over.
    #[test]
    fn no_run_no_contract() {
        let mut cast = Cast::new();
        let id = cast.written(new_task());
        cast.run_task(cast.human("olga"), cancel(id));
        assert_eq!(cast.contracts(id), []);
        let id = cast.begun(new_task());
        let mark = Party::Human(human("mark"));
        cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, mark, Handover::Handoff));
        let before = cast.contracts(id).len();
        cast.run_task(cast.human("olga"), cancel(id));
        assert_eq!(cast.contracts(id).len(), before);
    }
}

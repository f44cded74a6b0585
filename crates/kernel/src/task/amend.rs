//! The principal sends the agent an amendment.

use super::permissions::{check_text, visible_task};
use super::{Amendment, Duty, Intent, TaskEvent, TaskState};
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
    let task = visible_task(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    task.check_state(&[TaskState::InProgress, TaskState::Blocked])?;
    check_text("text", said)?;
    let text = Erasable::new(said.to_owned(), &mut envelope.salts.clone());
    let (by, at) = (task.principal.clone(), world.now.max(task.head.at));
    let mut decision =
        task.decided(TaskEvent::Amended { amendment: Amendment { text, intent, by, at } });
    decision.contracts.extend(task.current_run().map(|run| task.contract(run, Duty::Steer)));
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal;
    use crate::task::{CheckpointKind, TaskCommand};
    use crate::testing::{Cast, human, new_task, raising};

    /// HACP-020, HACP-026, digest §5: an amendment is added beside the task and never changes it,
    /// and the run takes it into account without restarting.
    #[test]
    fn the_direction_changes_and_the_task_does_not() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let (spec, run) = (cast.task(id).spec.clone(), cast.run_of(id));
        for (n, intent) in [Intent::Redirect, Intent::Clarify, Intent::Constrain, Intent::AbortHint]
            .into_iter()
            .enumerate()
        {
            let said = format!("thing {n}");
            cast.run_task(cast.human("olga"), TaskCommand::Amend(id, said.clone(), intent));
            let task = cast.task(id);
            assert_eq!(task.steering.len(), n + 1);
            let last = task.steering.last().unwrap();
            assert_eq!((last.text.value(), last.intent), (Some(&said), intent));
            assert_eq!((&last.by, last.at), (&human("olga"), cast.now()));
            assert_eq!((&task.spec, task.state), (&spec, TaskState::InProgress));
            let wanted = cast.contracts(id).pop().unwrap();
            assert_eq!((wanted.duty, wanted.run, wanted.seq), (Duty::Steer, run, task.head.seq));
        }
        assert_eq!(cast.task(id).revision, 2 + 4);
    }

    #[test]
    fn a_blocked_task_takes_it_in_and_stays_blocked() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.raised(id, raising(CheckpointKind::Approval));
        let said = TaskCommand::Amend(id, "In euros.".to_owned(), Intent::default());
        cast.run_task(cast.human("olga"), said);
        assert_eq!(cast.task(id).state, TaskState::Blocked);
        assert_eq!(cast.task(id).steering[0].intent, Intent::Clarify, "where nobody says");
        assert_eq!(cast.duties(id).last().map(|(_, duty)| *duty), Some(Duty::Steer));
    }

    #[test]
    fn something_has_to_be_said() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        for said in ["", " \n", "a\0b", &"x".repeat(64 * 1024 + 1)] {
            let said = TaskCommand::Amend(id, said.to_owned(), Intent::Clarify);
            let refused = cast.attempt_task(cast.human("olga"), said);
            assert!(matches!(refused, Err(Refusal::Invalid { field: "text", .. })));
        }
        assert_eq!(cast.task(id).steering, []);
    }
}

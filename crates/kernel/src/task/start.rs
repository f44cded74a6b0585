//! The assignee of a task starts to work.

use super::permissions::visible_task;
use super::{TaskEvent, TaskState};
use crate::command::Envelope;
use crate::ids::TaskId;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(world: &World<'_>, envelope: &Envelope, id: TaskId) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    task.check_state(&[TaskState::Assigned])?;
    task.only_assignee(&envelope.actor)?;
    task.check_deadline(world.now)?;
    Ok(task.decided(TaskEvent::Started))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal;
    use crate::task::{Handover, Party, TaskCommand};
    use crate::testing::{Cast, human, new_task};

    /// K-01, K-02: starting, which the first draft forgot, is an operation with its own event.
    #[test]
    fn beginning_is_on_the_record() {
        let mut cast = Cast::new();
        let id = cast.assigned(new_task(), "bot");
        cast.advance(3);
        cast.run_task(cast.agent("bot"), TaskCommand::Start(id));
        assert_eq!(cast.event_names(id), ["task_created", "task_assigned", "task_started"]);
        assert_eq!((cast.task(id).state, cast.task(id).revision), (TaskState::InProgress, 2));
        assert_eq!(cast.task(id).started_at, Some(cast.now()));
        assert_eq!(cast.contracts(id).len(), 1, "the runtime said it, so it knows");
    }

    /// HACP-041: the check of the state comes before the check of the assignee.
    #[test]
    fn whoever_lost_it_meanwhile_hears_of_the_state_first() {
        let mut cast = Cast::staffed();
        let id = cast.assigned(new_task(), "old");
        let bot = Party::Agent("bot".parse().unwrap());
        cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, bot, Handover::Handoff));
        let early = cast.attempt_task(cast.agent("old"), TaskCommand::Start(id));
        assert!(matches!(early, Err(Refusal::NotAllowed { .. })), "{early:?}");
        cast.run_task(cast.agent("bot"), TaskCommand::Start(id));
        for agent in ["old", "bot"] {
            let late = cast.attempt_task(cast.agent(agent), TaskCommand::Start(id));
            assert!(matches!(late, Err(Refusal::Precondition { .. })), "{late:?}");
        }
    }

    /// HACP-031: a person who takes it over works like an agent would.
    #[test]
    fn a_person_who_took_it_over_begins() {
        let mut cast = Cast::new();
        let id = cast.assigned(new_task(), "bot");
        let mark = Party::Human(human("mark"));
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Transfer(id, mark.clone(), Handover::Handoff),
        );
        cast.run_task(cast.human("mark"), TaskCommand::Start(id));
        assert_eq!((cast.task(id).state, &cast.task(id).assignee), (TaskState::InProgress, &mark));
    }

    /// K-17: a task cannot be started after the deadline, nor started twice to gain time.
    #[test]
    fn nobody_begins_what_is_late() {
        let mut cast = Cast::new();
        let at = cast.now().plus_seconds(60);
        let new = crate::task::NewTask { deadline: Some(at), ..new_task() };
        let id = cast.assigned(new, "bot");
        cast.advance(61);
        let late = cast.attempt_task(cast.agent("bot"), TaskCommand::Start(id));
        assert_eq!(late, Err(Refusal::PastDeadline { at }));
    }
}

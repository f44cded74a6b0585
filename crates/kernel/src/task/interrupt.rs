//! The principal stops the agent by raising a checkpoint. This is also possible if the last
//! checkpoint expired and can no longer be resolved: otherwise the task could only be cancelled.

use super::command::NewCheckpoint;
use super::permissions::visible_task;
use super::raise;
use super::{CheckpointKind, RaisedBy, TaskEvent, TaskState};
use crate::ask::Priority;
use crate::command::Envelope;
use crate::ids::TaskId;
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    prompt: &str,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    if !task.is_stranded() {
        task.check_state(&[TaskState::InProgress])?;
    }
    let Some(agent) = task.current_run().map(|run| &run.agent) else {
        let why = "this task has no active agent".to_owned();
        return Err(Refusal::Precondition { why }.into());
    };
    let new = NewCheckpoint {
        kind: CheckpointKind::Interrupt,
        prompt: prompt.to_owned(),
        options: Vec::new(),
        context: Vec::new(),
        proposed_actions: Vec::new(),
        // The person who stopped the agent decides when it continues.
        expires_at: None,
        priority: Priority::Normal,
        claims: None,
    };
    let mut decision = raise::raised(world, envelope, task, agent, &new, RaisedBy::Human)?;
    decision.happened.insert(0, task.event(TaskEvent::Interrupted));
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::ask::{Assignee, OnExpiry};
    use crate::command::AskCommand;
    use crate::task::{Duty, Handover, Party, TaskCommand};
    use crate::testing::{Cast, approve, human, new_task, version};

    /// HACP-031, HACP-050, HACP-053, digest §5: the agent stops, the events say who stopped it and
    /// what it waits for, in that order, and it is one change.
    #[test]
    fn the_agent_stops_and_waits_for_its_principal() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let before = cast.task(id).revision;
        let ask = cast.interrupted(id);
        let task = cast.task(id);
        assert_eq!((task.state, task.revision), (TaskState::Blocked, before + 1));
        assert_eq!(cast.event_names(id)[3..], ["task_interrupted", "checkpoint_raised"]);
        let raised = task.pending().unwrap();
        assert_eq!((raised.ask, raised.kind), (ask, CheckpointKind::Interrupt));
        assert_eq!(raised.raised_by, RaisedBy::Human);
        assert_eq!(task.assignee, Party::Human(human("olga")));
        assert_eq!(task.chain.last().map(|step| step.via), Some(Handover::Checkpoint));
        let wanted = cast.contracts(id).pop().unwrap();
        assert_eq!((wanted.duty, wanted.run, wanted.seq), (Duty::Block, cast.run_of(id), 5));
        let asked = cast.seen(ask);
        assert_eq!(asked.assignees, [Assignee::Person { human: human("olga") }]);
        assert_eq!((asked.expires_at, &asked.on_expiry), (None, &OnExpiry::StayOpen));
    }

    /// HACP-053: it does not expire; only the people who decide can end it.
    #[test]
    fn it_never_runs_out() {
        let mut cast = Cast::new();
        let new = crate::task::NewTask { on_silence: crate::task::OnSilence::Cancel, ..new_task() };
        let id = cast.begun(new);
        let ask = cast.interrupted(id);
        cast.advance(1_000_000_000);
        let expired = cast.attempt(Actor::System, AskCommand::Expire(ask));
        assert_eq!(expired, Err(Refusal::NotDue));
        cast.resolve("olga", ask, approve()).unwrap();
        assert_eq!(cast.task(id).state, TaskState::InProgress);
    }

    /// The agent that was stopped cannot withdraw the checkpoint.
    #[test]
    fn the_agent_cannot_withdraw_it() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let ask = cast.interrupted(id);
        let withdrawn = cast.attempt(cast.agent("bot"), AskCommand::Cancel(ask, None));
        assert!(matches!(withdrawn, Err(Refusal::NotAllowed { .. })), "{withdrawn:?}");
        assert!(cast.seen(ask).is_open());
    }

    #[test]
    fn there_has_to_be_an_agent_to_stop_and_something_to_say() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let stop = |said: &str| TaskCommand::Interrupt(id, said.to_owned());
        let silent = cast.attempt_task(cast.human("olga"), stop(" "));
        assert!(matches!(silent, Err(Refusal::Invalid { field: "prompt", .. })));
        let mark = Party::Human(human("mark"));
        cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, mark, Handover::Handoff));
        let nobody = cast.attempt_task(cast.human("olga"), stop("Wait."));
        assert!(matches!(nobody, Err(Refusal::Precondition { .. })));
        cast.delivered(id, version());
        let over = cast.attempt_task(cast.human("olga"), stop("Wait."));
        assert!(matches!(over, Err(Refusal::Precondition { .. })));
    }
}

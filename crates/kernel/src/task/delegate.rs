//! The agent that has a task delegates it to another agent.

use super::assign::store_input;
use super::event::AgentInput;
use super::permissions::visible_task;
use super::{Duty, TaskEvent, TaskState};
use crate::actor::Actor;
use crate::command::Envelope;
use crate::ids::{AgentId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

/// How often a task may be delegated.
pub(super) const MAX_DELEGATION_DEPTH: u32 = 5;

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    to: &AgentId,
    given: &AgentInput,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    let Actor::Agent { id: agent, .. } = &envelope.actor else {
        return Err(Refusal::NotAllowed { why: "only an agent can delegate a task" }.into());
    };
    let failed = |why: &str| Stop::from(Refusal::Precondition { why: why.to_owned() });
    if !task.delegable {
        return Err(failed("this task is not delegable"));
    }
    task.check_state(&[TaskState::Assigned, TaskState::InProgress])?;
    task.only_assignee(&envelope.actor)?;
    task.check_deadline(world.now)?;
    if task.run.as_ref().is_some_and(|run| run.depth >= MAX_DELEGATION_DEPTH) {
        return Err(failed("this task was already delegated five times, which is the maximum"));
    }
    if to == agent {
        let expected = "another agent";
        return Err(Refusal::Invalid { field: "to_agent", expected }.into());
    }
    let to = task.agent_for(world.directory, to, "to_agent")?.id.clone();
    let run = RunId::new(envelope.fresh);
    let given = store_input(given, envelope)?;
    let contract = task.contract_for_new_run(&to, run, Duty::Delegate);
    let mut decision = task.decided(TaskEvent::Delegated { to, run, given });
    decision.contracts.push(contract);
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Handover, NewTask, Party, TaskCommand};
    use crate::testing::{Cast, new_task, version};

    fn delegable() -> NewTask {
        NewTask { delegable: true, ..new_task() }
    }

    fn to(id: TaskId, agent: &str) -> TaskCommand {
        TaskCommand::Delegate(id, agent.parse().unwrap(), AgentInput::default())
    }

    /// HACP-025, digest §5: the child begins a run that knows its parent's; the parent's is not
    /// stopped.
    #[test]
    fn the_child_knows_its_parent() {
        let mut cast = Cast::staffed();
        let id = cast.begun(delegable());
        let (parent, before) = (cast.run_of(id), cast.task(id).revision);
        cast.run_task(cast.agent("bot"), to(id, "bob"));
        let task = cast.task(id);
        assert_eq!((task.state, task.revision), (TaskState::InProgress, before + 1));
        assert_eq!(task.assignee, Party::Agent("bob".parse().unwrap()));
        assert_eq!(task.chain.last().map(|step| step.via), Some(Handover::Assign));
        let wanted = cast.contracts(id).split_off(1);
        let [wanted] = &wanted[..] else { panic!("{wanted:?}") };
        let there = (Duty::Delegate, cast.run_of(id), Some(parent), task.head.seq);
        assert_eq!((wanted.duty, wanted.run, wanted.from, wanted.seq), there);
        let late =
            cast.attempt_task(cast.agent("bot"), TaskCommand::Commit(id, Box::new(version())));
        assert!(matches!(late, Err(Refusal::NotAllowed { .. })));
        cast.delivered(id, version());
    }

    /// K-17: only if the task allows it; this is a precondition for every caller.
    #[test]
    fn only_what_is_delegable() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task());
        for agent in [cast.agent("bot"), cast.widely("old")] {
            let refused = cast.attempt_task(agent, to(id, "bob"));
            assert!(matches!(refused, Err(Refusal::Precondition { .. })), "{refused:?}");
        }
    }

    /// K-14: not before it was assigned, and not to the agent itself or an unknown agent.
    #[test]
    fn to_whom_and_when() {
        let mut cast = Cast::staffed();
        let id = cast.written(delegable());
        let early = cast.attempt_task(cast.widely("bot"), to(id, "bob"));
        assert!(matches!(early, Err(Refusal::Precondition { .. })));
        let id = cast.begun(delegable());
        for agent in ["bot", "spy", "nobody"] {
            let refused = cast.attempt_task(cast.agent("bot"), to(id, agent));
            assert!(matches!(refused, Err(Refusal::Invalid { field: "to_agent", .. })));
        }
    }

    /// The open question on depth: five times, and then no more. A transfer by a person does not
    /// reset the count for agents that pass the task in a circle.
    #[test]
    fn a_task_is_handed_down_five_times() {
        let mut cast = Cast::staffed();
        let id = cast.begun(delegable());
        let circle = ["bot", "bob", "old"];
        let mut turns = circle.into_iter().cycle().zip(circle.into_iter().cycle().skip(1));
        for depth in 1..=5 {
            let (from, next) = turns.next().unwrap();
            cast.run_task(cast.agent(from), to(id, next));
            assert_eq!(cast.task(id).run.as_ref().map(|run| run.depth), Some(depth));
        }
        let (from, next) = turns.next().unwrap();
        let deepest = cast.attempt_task(cast.agent(from), to(id, next));
        assert!(matches!(deepest, Err(Refusal::Precondition { .. })), "{deepest:?}");
        let bot = Party::Agent("bot".parse().unwrap());
        cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, bot, Handover::Handoff));
        let again = cast.attempt_task(cast.agent("bot"), to(id, "bob"));
        assert!(matches!(again, Err(Refusal::Precondition { .. })), "{again:?}");
        cast.delivered(id, version());
    }

    /// K-17: no delegation after the deadline.
    #[test]
    fn nothing_that_is_late() {
        let mut cast = Cast::staffed();
        let id = cast.begun(NewTask { max_duration: Some(60), ..delegable() });
        cast.advance(60);
        let late = cast.attempt_task(cast.agent("bot"), to(id, "bob"));
        assert!(matches!(late, Err(Refusal::PastDeadline { .. })));
    }
}

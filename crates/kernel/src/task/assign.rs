//! The principal assigns a task to an agent.

use super::event::AgentInput;
use super::permissions::visible_task;
use super::{Duty, TaskEvent, TaskState};
use crate::audit::Erasable;
use crate::command::Envelope;
use crate::ids::{AgentId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::text::{is_short, is_storable_json};
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    agent: &AgentId,
    given: &AgentInput,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    task.only_principal(&envelope.actor)?;
    task.check_state(&[TaskState::Created])?;
    task.check_deadline(world.now)?;
    let agent = task.agent_for(world.directory, agent, "agent_id")?.id.clone();
    let run = RunId::new(envelope.fresh);
    let given = store_input(given, envelope)?;
    let contract = task.contract_for_new_run(&agent, run, Duty::Delegate);
    // An agent that received the task by a handoff before it was assigned stops.
    let left = task.current_run().filter(|run| run.agent != agent);
    let left = left.map(|run| task.contract(run, Duty::Cancel));
    let mut decision = task.decided(TaskEvent::Assigned { agent, run, given });
    decision.contracts.push(contract);
    decision.contracts.extend(left);
    Ok(decision)
}

/// The initial input of an agent, if it can be stored.
pub(super) fn store_input(
    given: &AgentInput,
    envelope: &Envelope,
) -> Result<Erasable<AgentInput>, Refusal> {
    let named = given.capability.as_deref().is_none_or(is_short);
    if !named {
        let expected = "a name of at most 200 bytes without NUL characters";
        return Err(Refusal::Invalid { field: "capability", expected });
    }
    if !given.input.as_ref().is_none_or(is_storable_json) {
        let expected = "JSON without NUL characters";
        return Err(Refusal::Invalid { field: "input", expected });
    }
    Ok(Erasable::new(given.clone(), &mut envelope.salts.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Contract, Handover, Party, TaskCommand, Transfer};
    use crate::testing::{Cast, human, new_task};

    fn assign(id: TaskId, agent: &str) -> TaskCommand {
        TaskCommand::Assign(id, agent.parse().unwrap(), AgentInput::default())
    }

    /// HACP-002, HACP-025, HACP-031: the agent is the assignee, the chain of custody says since
    /// when and from whom, and its runtime begins a run whose correlation id is the task.
    #[test]
    fn the_agent_has_it_and_begins_a_run() {
        let mut cast = Cast::new();
        let id = cast.written(new_task());
        cast.advance(5);
        cast.run_task(cast.human("olga"), assign(id, "bot"));
        let task = cast.task(id);
        let (from, to) = (Party::Human(human("olga")), Party::Agent("bot".parse().unwrap()));
        assert_eq!((task.state, &task.assignee), (TaskState::Assigned, &to));
        assert_eq!(task.chain, [Transfer { from, to, at: cast.now(), via: Handover::Assign }]);
        let run = cast.run_of(id);
        let (agent, at) = ("bot".parse().unwrap(), cast.now());
        let wanted = Contract {
            task: id,
            seq: 2,
            revision: 1,
            agent,
            run,
            from: None,
            duty: Duty::Delegate,
            at,
        };
        assert_eq!(cast.contracts(id), [wanted]);
    }

    /// HACP-041, HACP-042: a refused command changes nothing.
    #[test]
    fn only_an_agent_its_principal_has_a_say_in() {
        let mut cast = Cast::new();
        let id = cast.written(new_task());
        let long = AgentInput { capability: Some("x".repeat(201)), input: None };
        let nul = AgentInput { capability: None, input: Some(serde_json::json!(["\0"])) };
        let given = |given| TaskCommand::Assign(id, "bot".parse().unwrap(), given);
        for (command, field) in [
            (assign(id, "spy"), "agent_id"),
            (assign(id, "nobody"), "agent_id"),
            (given(long), "capability"),
            (given(nul), "input"),
        ] {
            let before = (cast.task(id).clone(), cast.records().len());
            let refused = cast.attempt_task(cast.human("olga"), command);
            assert!(matches!(refused, Err(Refusal::Invalid { field: f, .. }) if f == field));
            assert_eq!((cast.task(id).clone(), cast.records().len()), before);
        }
    }

    /// K-17: the deadline passed before any work began.
    #[test]
    fn nobody_is_given_what_is_late() {
        let mut cast = Cast::new();
        let at = cast.now().plus_seconds(60);
        let id = cast.written(crate::task::NewTask { deadline: Some(at), ..new_task() });
        cast.advance(60);
        let late = cast.attempt_task(cast.human("olga"), assign(id, "bot"));
        assert_eq!(late, Err(Refusal::PastDeadline { at }));
    }

    /// A run that began with a handoff does not continue beside the new one.
    #[test]
    fn whoever_had_it_before_stops() {
        let mut cast = Cast::staffed();
        let id = cast.written(new_task());
        let bob = Party::Agent("bob".parse().unwrap());
        cast.run_task(cast.human("olga"), TaskCommand::Transfer(id, bob, Handover::Handoff));
        let left = cast.run_of(id);
        cast.run_task(cast.human("olga"), assign(id, "bot"));
        let wanted: Vec<_> =
            cast.contracts(id).iter().skip(1).map(|c| (c.duty, c.run, c.from)).collect();
        let now = cast.run_of(id);
        assert_eq!(wanted, [(Duty::Delegate, now, Some(left)), (Duty::Cancel, left, None)]);
    }
}

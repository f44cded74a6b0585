//! A task is transferred: a person or another agent takes it over.

use super::permissions::visible_task;
use super::{Duty, Handover, Party, TaskEvent};
use crate::command::Envelope;
use crate::directory::Human;
use crate::ids::{RunId, TaskId};
use crate::refusal::Refusal;
use crate::world::{Decision, Stop, World};

pub(super) fn decide(
    world: &World<'_>,
    envelope: &Envelope,
    id: TaskId,
    to: &Party,
    via: Handover,
) -> Result<Decision, Stop> {
    let task = visible_task(world, envelope, id)?;
    task.only_responsible(&envelope.actor, world.directory)?;
    if task.state.is_closed() {
        let why = format!("the task is {}", task.state.as_str());
        return Err(Refusal::Precondition { why }.into());
    }
    if *to == task.assignee {
        return Err(Refusal::Precondition {
            why: "the task is already assigned to them".to_owned(),
        }
        .into());
    }
    let fresh = RunId::new(envelope.fresh);
    let run = match to {
        Party::Agent(agent) => {
            task.agent_for(world.directory, agent, "to")?;
            Some(fresh)
        }
        Party::Human(human) => {
            let able = |human: &Human| {
                human.active && (human.admin || human.projects.contains(&task.project))
            };
            if !world.directory.human(human).is_some_and(able) && *human != task.principal {
                let expected = "a member of the project of this task";
                return Err(Refusal::Invalid { field: "to", expected }.into());
            }
            None
        }
    };
    let mut decision = task.decided(TaskEvent::Transferred { to: to.clone(), via, run });
    // The previous run stops, even if the agent stays the same, because it begins another run.
    decision.contracts.extend(task.cancel_contract());
    if let (Some(agent), Some(run)) = (to.agent(), run) {
        decision.contracts.push(task.contract_for_new_run(agent, run, Duty::Handoff));
    }
    Ok(decision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Contract, TaskCommand, TaskState, Transfer, Verdict};
    use crate::testing::{Cast, human, new_task, verdict, version};

    fn agent(name: &str) -> Party {
        Party::Agent(name.parse().unwrap())
    }

    fn person(name: &str) -> Party {
        Party::Human(human(name))
    }

    /// HACP-025, K-16, K-24, digest §5: another agent takes over in its own run that knows its
    /// origin; the correlation id stays, and the previous run stops.
    #[test]
    fn another_agent_takes_over() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task());
        let (left, before) = (cast.run_of(id), cast.task(id).revision);
        cast.run_task(
            cast.human("adam"),
            TaskCommand::Transfer(id, agent("bob"), Handover::Handoff),
        );
        let task = cast.task(id);
        assert_eq!((task.state, task.revision), (TaskState::InProgress, before + 1));
        let (from, to, at) = (agent("bot"), agent("bob"), cast.now());
        assert_eq!(task.chain.last(), Some(&Transfer { from, to, at, via: Handover::Handoff }));
        let now = cast.run_of(id);
        let (seq, revision) = (task.head.seq, task.revision);
        let wanted = |name: &str, run, from, duty| {
            let agent = name.parse().unwrap();
            Contract { task: id, seq, revision, agent, run, from, duty, at }
        };
        let handed = wanted("bob", now, Some(left), Duty::Handoff);
        assert_eq!(cast.contracts(id)[1..], [wanted("bot", left, None, Duty::Cancel), handed]);
        let late =
            cast.attempt_task(cast.agent("bot"), TaskCommand::Commit(id, Box::new(version())));
        assert!(matches!(late, Err(Refusal::NotAllowed { .. })));
    }

    /// HACP-031, K-24: a person takes over, works, delivers and, if needed, reworks; the previous
    /// agent gets no more contracts.
    #[test]
    fn a_person_takes_over_and_keeps_it() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Transfer(id, person("mark"), Handover::Handoff),
        );
        assert_eq!(cast.duties(id).last(), Some(&("bot".to_owned(), Duty::Cancel)));
        let told = cast.contracts(id).len();
        cast.delivered(id, version());
        assert_eq!(cast.task(id).assignee, person("olga"));
        cast.judge("olga", id, verdict(Verdict::ChangesRequested)).unwrap();
        assert_eq!(
            (&cast.task(id).assignee, cast.task(id).state),
            (&person("mark"), TaskState::InProgress)
        );
        let said = TaskCommand::Amend(id, "Shorter.".to_owned(), crate::task::Intent::Clarify);
        cast.run_task(cast.human("olga"), said);
        cast.delivered(id, version());
        cast.judge("olga", id, verdict(Verdict::Approved)).unwrap();
        assert_eq!(cast.task(id).state, TaskState::Completed);
        assert_eq!(cast.contracts(id).len(), told, "no agent works on it");
    }

    /// Digest §5: handed back to the agent that waits, the task continues in a new run, and the
    /// previous one stops.
    #[test]
    fn the_same_agent_begins_anew() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.delivered(id, version());
        let left = cast.run_of(id);
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Transfer(id, agent("bot"), Handover::Handoff),
        );
        let now = cast.run_of(id);
        assert_ne!(now, left);
        let wanted = cast.contracts(id);
        let wanted: Vec<_> = wanted[1..].iter().map(|one| (one.duty, one.run, one.from)).collect();
        assert_eq!(wanted, [(Duty::Cancel, left, None), (Duty::Handoff, now, Some(left))]);
    }

    /// A principal who takes it over is the worker too.
    #[test]
    fn the_principal_takes_over() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Transfer(id, person("olga"), Handover::Handoff),
        );
        cast.delivered(id, version());
        cast.judge("olga", id, verdict(Verdict::ChangesRequested)).unwrap();
        assert_eq!(cast.task(id).assignee, person("olga"));
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Transfer(id, agent("bot"), Handover::Handoff),
        );
        assert_eq!(cast.duties(id).last(), Some(&("bot".to_owned(), Duty::Handoff)));
        cast.delivered(id, version());
    }

    /// If the task is handed over during the review, the new assignee does the rework; a closed
    /// task belongs to the principal.
    #[test]
    fn whoever_has_it_while_it_is_judged_does_it_again() {
        for (given, state, holder) in [
            (Verdict::ChangesRequested, TaskState::InProgress, agent("bob")),
            (Verdict::Rejected, TaskState::Rejected, person("olga")),
            (Verdict::Approved, TaskState::Completed, person("olga")),
        ] {
            let mut cast = Cast::staffed();
            let id = cast.begun(new_task());
            cast.delivered(id, version());
            cast.run_task(
                cast.human("olga"),
                TaskCommand::Transfer(id, agent("bob"), Handover::Handoff),
            );
            cast.judge("olga", id, verdict(given)).unwrap();
            assert_eq!((cast.task(id).state, &cast.task(id).assignee), (state, &holder));
        }
    }

    #[test]
    fn to_whom_a_task_cannot_go() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        for to in [agent("spy"), agent("nobody"), person("zoe"), person("nobody")] {
            let to = TaskCommand::Transfer(id, to, Handover::Handoff);
            let refused = cast.attempt_task(cast.human("olga"), to);
            assert!(matches!(refused, Err(Refusal::Invalid { field: "to", .. })), "{refused:?}");
        }
        let same = TaskCommand::Transfer(id, agent("bot"), Handover::Handoff);
        let refused = cast.attempt_task(cast.human("olga"), same);
        assert!(matches!(refused, Err(Refusal::Precondition { .. })));
    }
}

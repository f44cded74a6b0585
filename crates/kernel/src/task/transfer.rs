//! A task goes to somebody else: a person takes it over, or another agent does.

use super::may::seen;
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
    let task = seen(world, envelope, id)?;
    task.only_responsible(&envelope.actor, world.directory)?;
    if task.state.is_over() {
        let why = format!("the task is {}", task.state.as_str());
        return Err(Refusal::Precondition { why }.into());
    }
    if *to == task.assignee {
        return Err(
            Refusal::Precondition { why: "the task is with them already".to_owned() }.into()
        );
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
    if let (Some(agent), Some(run)) = (to.agent(), run) {
        decision.contracts.push(task.wants_new(agent, run, Duty::Handoff));
    }
    // Whoever worked on it before stops.
    let left = task.running().filter(|run| to.agent() != Some(&run.agent));
    decision.contracts.extend(left.map(|run| task.wants(run, Duty::Cancel)));
    Ok(decision)
}

//! The ask by which people decide on a task: a checkpoint or a review.

use serde_json::{Map, json};

use super::Task;
use crate::actor::Actor;
use crate::ask::{
    Assignee, DefaultAction, Dialect, NewExperienceEnvelope, OnExpiry, Priority, Route,
};
use crate::command::Envelope;
use crate::directory::Agent;
use crate::event::Asked;
use crate::ids::HumanId;
use crate::question::Question;
use crate::refusal::Refusal;
use crate::time::Time;
use crate::world::World;

/// The subject of the decision, and who decides.
pub(super) struct TaskQuestion<'n> {
    pub(super) question: Question,
    pub(super) deciders: Vec<HumanId>,
    pub(super) priority: Priority,
    pub(super) expires_at: Option<Time>,
    pub(super) claims: Option<&'n NewExperienceEnvelope>,
}

impl Task {
    /// An ask on behalf of the agent that works on the task, for the people who decide.
    pub(super) fn new_ask(
        &self,
        world: &World<'_>,
        envelope: &Envelope,
        agent: &Agent,
        on: TaskQuestion<'_>,
    ) -> Result<Asked, Refusal> {
        let Some(project) = world.directory.project(&agent.project) else {
            return Err(Refusal::NotAllowed { why: "this agent is not registered" });
        };
        let key = if let Actor::Agent { key, .. } = &envelope.actor { Some(*key) } else { None };
        let TaskQuestion { question, deciders, priority, expires_at, claims } = on;
        claims.map_or(Ok(()), |claims| claims.check(project.envelopes))?;
        let mut salts = envelope.salts.clone();
        let mut metadata = Map::new();
        metadata.insert("task".to_owned(), json!(self.id));
        let in_time = |at: &Time| expires_at.is_none_or(|end| *at < end);
        let reminders = project.reminders.iter().map(|after| world.now.plus_seconds(*after));
        // The agent's own project, so that it can follow its ask in any dialect.
        let asked = Asked::new(agent, question, metadata, &mut salts);
        Ok(Asked {
            key,
            owner: self.principal.clone(),
            dialect: Dialect::Hacp,
            priority,
            route: Route::Person { human: self.principal.clone() },
            // No other person may decide it, so no other person is asked, now or later.
            assignees: deciders.into_iter().map(|human| Assignee::Person { human }).collect(),
            expires_at,
            on_expiry: match expires_at {
                Some(_) => OnExpiry::Report { action: DefaultAction::Abort },
                None => OnExpiry::StayOpen,
            },
            reminders: reminders.filter(in_time).collect(),
            // The agent may belong to another project; the minimum of the task's project applies
            // too.
            minimum_assurance: project
                .minimum_assurance
                .max(self.minimum_assurance(world.directory)),
            irreversible_assurance: project
                .irreversible_assurance
                .max(self.irreversible_assurance(world.directory)),
            claims: claims.map(|claims| claims.to_stored(project.envelopes, &mut salts)),
            ..asked
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Assurance;
    use crate::command::DirectoryCommand;
    use crate::directory::NewProject;
    use crate::ids::{AskId, TaskId};
    use crate::task::{AgentInput, CheckpointKind, NewTask, TaskCommand};
    use crate::testing::{Cast, approve, new_task, raising};

    /// The stricter minimum applies: that of the task's project, or that of the agent's.
    #[test]
    fn the_stricter_of_two_projects_says_how_much_proof() {
        use Assurance::{Channel, Passkey, Session};
        for (ours, theirs, need) in
            [(Passkey, Session, Passkey), (Session, Passkey, Passkey), (Channel, Channel, Channel)]
        {
            let mut cast = Cast::staffed();
            for (name, floor) in [("acme", ours), ("rival", theirs)] {
                let plain = NewProject::plain(name.parse().unwrap());
                cast.run(
                    Actor::System,
                    DirectoryCommand::SaveProject(NewProject { minimum_assurance: floor, ..plain }),
                );
            }
            // Adam is a member of no project and may assign a task to any agent.
            let new = NewTask { project: "acme".parse().ok(), ..new_task() };
            cast.run_task(cast.human("adam"), TaskCommand::Create(Box::new(new)));
            let id = TaskId::new(cast.fresh());
            let assign = TaskCommand::Assign(id, "spy".parse().unwrap(), AgentInput::default());
            cast.run_task(cast.human("adam"), assign);
            cast.run_task(cast.agent("spy"), TaskCommand::Start(id));
            let raise = TaskCommand::Raise(id, Box::new(raising(CheckpointKind::Approval)));
            cast.run_task(cast.agent("spy"), raise);
            let ask = AskId::new(cast.fresh());
            assert_eq!(cast.seen(ask).minimum_assurance, need, "{ours:?} {theirs:?}");
            let resolved = cast.resolve("adam", ask, approve());
            let too_low = Refusal::AssuranceTooLow { have: Session, need };
            assert_eq!(resolved, if need > Session { Err(too_low) } else { Ok(()) });
        }
    }
}

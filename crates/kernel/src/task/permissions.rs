//! Permissions and preconditions of task commands.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Checkpoint, Duty, NewContract, Party, Run, Task, TaskEvent, TaskState};
use crate::actor::{Actor, Assurance};
use crate::ask::Ask;
use crate::command::Envelope;
use crate::directory::{Agent, Directory, Human};
use crate::event::DomainEvent;
use crate::ids::{AgentId, AskId, HumanId, RunId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::text::{is_storable, is_storable_json};
use crate::time::Time;
use crate::world::{Decision, Stop, World};

/// The maximum length of a text. Longer documents are artifacts.
pub(super) const LONGEST_TEXT: usize = 64 * 1024;

/// The task a command is about: it exists, the actor may see it, and it has the revision they have
/// seen.
pub(super) fn visible_task<'a>(
    world: &World<'a>,
    envelope: &Envelope,
    id: TaskId,
) -> Result<&'a Task, Stop> {
    let task = world.task(id)?;
    if !task.is_visible_to(&envelope.actor, world.directory) {
        return Err(Refusal::NotFound { what: "task" }.into());
    }
    task.check_revision(envelope)?;
    Ok(task)
}

/// The checkpoint a command is about, with its ask and its task.
pub(super) fn visible_checkpoint<'a>(
    world: &World<'a>,
    envelope: &Envelope,
    id: AskId,
) -> Result<(&'a Ask, &'a Checkpoint, &'a Task), Stop> {
    let missing = Refusal::NotFound { what: "checkpoint" };
    let ask = world.ask(id)?;
    let Some(checkpoint) = &ask.checkpoint else { return Err(missing.into()) };
    let task = world.task(checkpoint.task)?;
    if !task.is_visible_to(&envelope.actor, world.directory) {
        return Err(missing.into());
    }
    task.check_revision(envelope)?;
    Ok((ask, checkpoint, task))
}

impl Task {
    /// Refuses if the actor has seen another revision.
    fn check_revision(&self, envelope: &Envelope) -> Result<(), Refusal> {
        match envelope.expected {
            Some(expected) if expected != self.revision => {
                Err(Refusal::Stale { what: "task", revision: self.revision })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses everyone except the principal and administrators.
    pub(super) fn only_responsible(
        &self,
        actor: &Actor,
        directory: &Directory,
    ) -> Result<(), Refusal> {
        if directory.administers(actor) || self.only_principal(actor).is_ok() {
            return Ok(());
        }
        let why = "only the principal of the task or an administrator can do this";
        Err(Refusal::NotAllowed { why })
    }

    /// Whether an actor may read it: its people and its agents, and everyone who oversees its
    /// project.
    pub fn is_visible_to(&self, actor: &Actor, directory: &Directory) -> bool {
        if directory.oversees(actor, &self.project) {
            return true;
        }
        match actor {
            Actor::Human { id, .. } => directory.human(id).is_some_and(|human| {
                let has_it = self.assignee.human() == Some(&human.id);
                human.active && (has_it || self.is_decided_by(&human.id))
            }),
            Actor::Agent { id, .. } => self.agents().contains(id),
            Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => false,
        }
    }

    /// Every agent that was ever its assignee.
    pub fn agents(&self) -> BTreeSet<&AgentId> {
        self.chain.iter().filter_map(|step| step.to.agent()).collect()
    }

    /// Whether a person decides on it: its principal, or a reviewer it names.
    pub fn is_decided_by(&self, human: &HumanId) -> bool {
        *human == self.principal
            || self
                .review_policy
                .as_ref()
                .is_some_and(|policy| policy.required_reviewers.contains(human))
    }

    /// The person who acts, if they decide on the task.
    pub(super) fn decider(&self, actor: &Actor, why: &'static str) -> Result<HumanId, Refusal> {
        Party::of(actor)
            .and_then(|party| party.human().filter(|human| self.is_decided_by(human)).cloned())
            .ok_or(Refusal::NotAllowed { why })
    }

    /// The people who review its deliveries.
    pub fn reviewers(&self) -> Vec<HumanId> {
        match &self.review_policy {
            Some(policy) => policy.required_reviewers.clone(),
            None => vec![self.principal.clone()],
        }
    }

    /// The people who decide on it, its principal first.
    pub fn deciders(&self) -> Vec<HumanId> {
        let named = self.review_policy.iter().flat_map(|policy| &policy.required_reviewers);
        let others = named.filter(|human| **human != self.principal);
        std::iter::once(&self.principal).chain(others).cloned().collect()
    }

    /// Refuses everyone except the principal.
    pub(super) fn only_principal(&self, actor: &Actor) -> Result<(), Refusal> {
        if Party::of(actor).as_ref().and_then(Party::human) == Some(&self.principal) {
            return Ok(());
        }
        Err(Refusal::NotAllowed { why: "only the principal of the task can do this" })
    }

    /// Refuses everyone except the assignee.
    pub(super) fn only_assignee(&self, actor: &Actor) -> Result<(), Refusal> {
        if Party::of(actor).is_some_and(|party| party == self.assignee) {
            return Ok(());
        }
        Err(Refusal::NotAllowed { why: "only the assignee of the task can do this" })
    }

    /// Refuses actors who do not speak for the task. The principal always does; the worker does
    /// until the task is closed, and after that if their delivery was accepted.
    pub(super) fn only_party(&self, actor: &Actor) -> Result<(), Refusal> {
        if self.only_principal(actor).is_ok() {
            return Ok(());
        }
        if Party::of(actor).is_none_or(|party| party != self.worker) {
            let why = "only the principal and the agent of the task can do this";
            return Err(Refusal::NotAllowed { why });
        }
        if self.state.is_closed() && !self.is_accepted() {
            let why = "the task was closed without a result; only its principal can do this";
            return Err(Refusal::Precondition { why: why.to_owned() });
        }
        Ok(())
    }

    /// The minimum assurance of its project for decisions.
    pub(super) fn minimum_assurance(&self, directory: &Directory) -> Assurance {
        directory
            .project(&self.project)
            .map_or(Assurance::None, |project| project.minimum_assurance)
    }

    /// The minimum assurance of its project for approving irreversible or critical asks.
    pub(super) fn irreversible_assurance(&self, directory: &Directory) -> Option<Assurance> {
        directory.project(&self.project)?.irreversible_assurance
    }

    /// Refuses if the task is in another state.
    pub(super) fn check_state(&self, states: &[TaskState]) -> Result<(), Refusal> {
        if states.contains(&self.state) {
            return Ok(());
        }
        let wanted: Vec<_> = states.iter().map(|state| state.as_str()).collect();
        let (is, wanted) = (self.state.as_str(), wanted.join(" or "));
        Err(Refusal::Precondition { why: format!("the task is {is}; this requires {wanted}") })
    }

    /// Refuses after the deadline.
    pub(super) fn check_deadline(&self, now: Time) -> Result<(), Refusal> {
        match self.due_at().filter(|at| *at <= now.max(self.head.at)) {
            Some(at) => Err(Refusal::PastDeadline { at }),
            None => Ok(()),
        }
    }

    /// An agent to which its principal may assign it: of the same project, or one they have a say
    /// in.
    pub(super) fn agent_for<'a>(
        &self,
        directory: &'a Directory,
        id: &AgentId,
        field: &'static str,
    ) -> Result<&'a Agent, Refusal> {
        let theirs = |agent: &&Agent| {
            let principal = directory.human(&self.principal);
            agent.project == self.project
                || agent.owner == self.principal
                || principal.is_some_and(|human: &Human| {
                    human.admin || human.projects.contains(&agent.project)
                })
        };
        let expected = "an agent of the project of this task, or of its principal";
        directory.agent(id).filter(theirs).ok_or(Refusal::Invalid { field, expected })
    }

    /// A contract for the runtime of a run.
    pub(super) fn contract(&self, run: &Run, duty: Duty) -> (TaskId, NewContract) {
        (self.id, NewContract { agent: run.agent.clone(), run: run.id, from: None, duty })
    }

    /// A contract for a new run that takes over from the previous one.
    pub(super) fn contract_for_new_run(
        &self,
        agent: &AgentId,
        run: RunId,
        duty: Duty,
    ) -> (TaskId, NewContract) {
        let from = self.run.as_ref().map(|before| before.id);
        (self.id, NewContract { agent: agent.clone(), run, from, duty })
    }

    /// The run of the agent that works on it; `None` if a person took it over.
    pub(super) fn current_run(&self) -> Option<&Run> {
        let works = |run: &&Run| self.worker.agent() == Some(&run.agent);
        self.run.as_ref().filter(works).filter(|_| !self.state.is_closed())
    }

    /// An event of this task.
    pub(super) fn event(&self, event: TaskEvent) -> (Subject, DomainEvent) {
        (Subject::Task(self.id), DomainEvent::Task(Box::new(event)))
    }

    /// A decision with one event of this task.
    pub(super) fn decided(&self, event: TaskEvent) -> Decision {
        Decision { happened: vec![self.event(event)], ..Decision::default() }
    }
}

/// Refuses a text that is missing, too long, or cannot be stored.
pub(super) fn check_text(field: &'static str, text: &str) -> Result<(), Refusal> {
    if !text.trim().is_empty() && text.len() <= LONGEST_TEXT && is_storable(text) {
        return Ok(());
    }
    Err(Refusal::Invalid {
        field,
        expected: "a non-empty string of at most 64 KiB without NUL characters",
    })
}

/// Refuses an optional text that is empty, too long, or cannot be stored.
pub(super) fn check_optional_text(field: &'static str, said: Option<&str>) -> Result<(), Refusal> {
    said.map_or(Ok(()), |said| check_text(field, said))
}

/// Whether every key and every text of an object can be stored.
pub(super) fn is_storable_object(object: &Map<String, Value>) -> bool {
    object.iter().all(|(key, value)| is_storable(key) && is_storable_json(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, DirectoryCommand};
    use crate::directory::{NewHuman, Profile};
    use crate::task::{NewTask, TaskCommand};
    use crate::testing::{Cast, human, new_task};

    /// Its people, its project and its former workers see a task; for all others it does not exist.
    /// A key of agent reach shows the tasks of that agent, as with asks.
    #[test]
    fn who_sees_a_task() {
        let mut cast = Cast::staffed();
        let id = cast.assigned(new_task(), "old");
        let bot = Party::Agent("bot".parse().unwrap());
        cast.run_task(
            cast.human("olga"),
            TaskCommand::Transfer(id, bot, crate::task::Handover::Handoff),
        );
        let ask = cast.ask(crate::testing::new_ask());
        for (actor, sees) in [
            (cast.human("olga"), true),
            (cast.human("mark"), true),
            (cast.human("adam"), true),
            (cast.human("zoe"), false),
            (cast.human("ghost"), false),
            (cast.agent("bot"), true),
            (cast.agent("old"), true),
            (cast.agent("bob"), false),
            (cast.agent("spy"), false),
            (cast.widely("bot"), true),
            (cast.widely("bob"), true),
            (cast.widely("spy"), false),
            (Actor::link_holder(ask), false),
            (cast.guest(ask), false),
            (cast.relay(ask), false),
            (Actor::System, true),
        ] {
            assert_eq!(cast.task(id).is_visible_to(&actor, cast.directory()), sees, "{actor:?}");
        }
    }

    /// HACP-003, K-15: an inactive person decides nothing, even if the task names them.
    #[test]
    fn who_left_has_no_say() {
        let mut cast = Cast::staffed();
        let id = cast.begun(new_task().judged_by(crate::task::Quorum::Any, &["nina"]));
        cast.delivered(id, crate::testing::version());
        for name in ["nina", "olga"] {
            let new = NewHuman {
                id: human(name),
                profile: Profile::default(),
                admin: false,
                active: false,
                projects: ["acme".parse().unwrap()].into(),
                groups: [].into(),
                skills: [].into(),
            };
            cast.run(Actor::System, DirectoryCommand::SaveHuman(new));
        }
        let judged =
            cast.judge("nina", id, crate::testing::verdict(crate::task::Verdict::Approved));
        assert_eq!(judged, Err(Refusal::NotFound { what: "task" }));
        let cancelled = cast.attempt_task(cast.human("olga"), TaskCommand::Cancel(id, None));
        assert_eq!(cancelled, Err(Refusal::NotFound { what: "task" }));
    }

    /// HACP-080, HACP-081: the expected revision is compared before anything else, and is not
    /// revealed to actors who may not see the task.
    #[test]
    fn another_revision_refuses_every_operation() {
        let mut cast = Cast::new();
        let id = cast.begun(new_task());
        let revision = cast.task(id).revision;
        let start = || Command::Task(Box::new(TaskCommand::Start(id)));
        let stale = cast.attempt_at(Some(revision + 1), cast.agent("bot"), start());
        assert_eq!(stale, Err(Refusal::Stale { what: "task", revision }));
        let unseen = cast.attempt_at(Some(revision + 1), cast.agent("spy"), start());
        assert_eq!(unseen, Err(Refusal::NotFound { what: "task" }));
        let fresh = cast.attempt_at(Some(revision), cast.agent("bot"), start());
        assert!(matches!(fresh, Err(Refusal::Precondition { .. })));
    }

    /// K-17: a clock that is set back does not give a task more time.
    #[test]
    fn late_stays_late() {
        let mut cast = Cast::new();
        let at = cast.now().plus_seconds(10);
        let id = cast.assigned(NewTask { deadline: Some(at), ..new_task() }, "bot");
        cast.advance(11);
        let said = TaskCommand::Grant(
            id,
            crate::task::NewGrant {
                scope: "*".to_owned(),
                decision: crate::task::GrantDecision::Deny,
                until: crate::task::GrantDuration::Task,
            },
        );
        cast.run_task(cast.human("olga"), said);
        cast.turn_back(60);
        let late = cast.attempt_task(cast.agent("bot"), TaskCommand::Start(id));
        assert_eq!(late, Err(Refusal::PastDeadline { at }));
    }
}

//! The input and the output of a decision.

use std::collections::BTreeMap;

use crate::actor::ActorRef;
use crate::ask::Ask;
use crate::directory::Directory;
use crate::event::{AskEvent, DomainEvent};
use crate::evolve::Entity;
use crate::follow_up::FollowUp;
use crate::ids::{ArtifactId, AskId, EntryId, Subject, TaskId};
use crate::question::SecretValues;
use crate::refusal::Refusal;
use crate::task::{Artifact, Entry, NewContract, Task};
use crate::time::Time;

/// The data that is available to a decision.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// The moment of the decision.
    pub now: Time,
    /// People, agents, keys and rules: a snapshot in memory.
    pub directory: &'a Directory,
    /// The other data that was loaded.
    pub loaded: &'a Loaded,
}

/// The data that was loaded for a decision, by id; `None` for what does not exist.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The loaded asks.
    pub asks: BTreeMap<AskId, Option<Ask>>,
    /// The loaded tasks.
    pub tasks: BTreeMap<TaskId, Option<Task>>,
    /// The loaded artifacts.
    pub artifacts: BTreeMap<ArtifactId, Option<Artifact>>,
    /// The loaded entries of ledgers.
    pub entries: BTreeMap<EntryId, Option<Entry>>,
}

impl Loaded {
    /// The loaded state of a subject that is not in the directory.
    pub fn entity(&self, subject: &Subject) -> Option<Entity> {
        match subject {
            Subject::Ask(id) => self.asks.get(id)?.clone().map(|ask| Entity::Ask(Box::new(ask))),
            Subject::Task(id) => {
                self.tasks.get(id)?.clone().map(|task| Entity::Task(Box::new(task)))
            }
            Subject::Artifact(id) => {
                self.artifacts.get(id)?.clone().map(|made| Entity::Artifact(Box::new(made)))
            }
            Subject::Entry(id) => {
                self.entries.get(id)?.clone().map(|entry| Entity::Entry(Box::new(entry)))
            }
            Subject::Project(_)
            | Subject::Agent(_)
            | Subject::Human(_)
            | Subject::Key(_)
            | Subject::Rule(_)
            | Subject::Webhook(_) => None,
        }
    }
}

impl<'a> World<'a> {
    /// A loaded ask. Refused if it does not exist; stops with a need if it is not loaded.
    pub(crate) fn ask(&self, id: AskId) -> Result<&'a Ask, Stop> {
        found(&self.loaded.asks, &id, Subject::Ask, "request")
    }

    /// A loaded task. Refused if it does not exist; stops with a need if it is not loaded.
    pub(crate) fn task(&self, id: TaskId) -> Result<&'a Task, Stop> {
        found(&self.loaded.tasks, &id, Subject::Task, "task")
    }

    /// A loaded artifact. Refused if it does not exist; stops with a need if it is not loaded.
    pub(crate) fn artifact(&self, id: ArtifactId) -> Result<&'a Artifact, Stop> {
        found(&self.loaded.artifacts, &id, Subject::Artifact, "artifact")
    }

    /// A loaded entry of a ledger; `None` if it was never written. Stops with a need if it is not
    /// loaded.
    pub(crate) fn entry(&self, id: EntryId) -> Result<Option<&'a Entry>, Stop> {
        match self.loaded.entries.get(&id) {
            None => Err(Stop::Need(vec![Subject::Entry(id)])),
            Some(entry) => Ok(entry.as_ref()),
        }
    }
}

/// The loaded object with this id. Refused if it does not exist; stops with a need if it is not
/// loaded.
fn found<'a, K: Copy + Ord, T>(
    loaded: &'a BTreeMap<K, Option<T>>,
    id: &K,
    subject: impl FnOnce(K) -> Subject,
    what: &'static str,
) -> Result<&'a T, Stop> {
    match loaded.get(id) {
        None => Err(Stop::Need(vec![subject(*id)])),
        Some(None) => Err(Refusal::NotFound { what }.into()),
        Some(Some(entity)) => Ok(entity),
    }
}

/// The result of deciding a command.
#[derive(Debug, Clone, PartialEq)]
pub enum DecideOutcome {
    /// The command is accepted, with these consequences.
    Decided(Decision),
    /// More data is needed: load these subjects and decide again.
    Need(Vec<Subject>),
}

/// The consequences of a command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// The events, in order.
    pub happened: Vec<(Subject, DomainEvent)>,
    /// Work that must be stored in the same transaction, because a follower could not derive it
    /// from the events later: the email of a sign-in link, whose seed is in no event, and
    /// notifications of a security event, which go to the contact methods that were verified before
    /// it.
    pub work: Vec<FollowUp>,
    /// The contracts for agent runtimes. Each gets its number when the event that requires it is
    /// settled.
    pub contracts: Vec<(TaskId, NewContract)>,
    /// The secret values of an answer. The store encrypts them and writes them in the same
    /// transaction, apart from the events.
    pub secret: Option<SecretAnswer>,
    /// The actor, if it is not the sender of the command: a held answer belongs to the person who
    /// gave it. `None` if the sender is the actor.
    pub by: Option<ActorRef>,
}

/// The secret values of an answer to an ask.
#[derive(Debug, Clone, PartialEq)]
pub struct SecretAnswer {
    /// The ask that the values answer.
    pub ask: AskId,
    /// The values in plain text, by the key of their field.
    pub values: SecretValues,
}

impl Decision {
    pub(crate) fn of(subject: Subject, happened: impl Into<DomainEvent>) -> Self {
        Self { happened: vec![(subject, happened.into())], ..Self::default() }
    }

    pub(crate) fn on(ask: &Ask, happened: AskEvent) -> Self {
        Self::of(Subject::Ask(ask.id), happened)
    }

    #[must_use]
    pub(crate) fn with(mut self, effect: FollowUp) -> Self {
        self.work.push(effect);
        self
    }
}

/// Why a decision stops early: data is missing, or the command is refused.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    Need(Vec<Subject>),
    Refused(Refusal),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

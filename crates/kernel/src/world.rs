//! What a decision may look at, and what it comes to.

use std::collections::BTreeMap;

use crate::actor::By;
use crate::ask::Ask;
use crate::directory::Directory;
use crate::effect::Effect;
use crate::event::Happened;
use crate::evolve::Entity;
use crate::ids::{ArtifactId, AskId, EntryId, Subject, TaskId};
use crate::refusal::Refusal;
use crate::task::{Artifact, Entry, Task, Wanted};
use crate::time::Time;

/// The slice of the world that was loaded for a decision.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// The moment of the decision.
    pub now: Time,
    /// People, agents, keys, rules: a snapshot, always at hand.
    pub directory: &'a Directory,
    /// What was loaded of the rest.
    pub loaded: &'a Loaded,
}

/// What was loaded for a decision, by name; `None` for what does not exist.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// Asks.
    pub asks: BTreeMap<AskId, Option<Ask>>,
    /// Tasks.
    pub tasks: BTreeMap<TaskId, Option<Task>>,
    /// Artifacts.
    pub artifacts: BTreeMap<ArtifactId, Option<Artifact>>,
    /// Keys of ledgers.
    pub entries: BTreeMap<EntryId, Option<Entry>>,
}

impl Loaded {
    /// What is known of a subject that is not in the directory.
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
    /// An ask: loaded, absent, or still to be fetched.
    pub(crate) fn ask(&self, id: AskId) -> Result<&'a Ask, Stop> {
        found(&self.loaded.asks, &id, Subject::Ask, "request")
    }

    /// A task: loaded, absent, or still to be fetched.
    pub(crate) fn task(&self, id: TaskId) -> Result<&'a Task, Stop> {
        found(&self.loaded.tasks, &id, Subject::Task, "task")
    }

    /// An artifact: loaded, absent, or still to be fetched.
    pub(crate) fn artifact(&self, id: ArtifactId) -> Result<&'a Artifact, Stop> {
        found(&self.loaded.artifacts, &id, Subject::Artifact, "artifact")
    }

    /// A key of a ledger, which may never have been written; or it is still to be fetched.
    pub(crate) fn entry(&self, id: EntryId) -> Result<Option<&'a Entry>, Stop> {
        match self.loaded.entries.get(&id) {
            None => Err(Stop::Need(vec![Subject::Entry(id)])),
            Some(entry) => Ok(entry.as_ref()),
        }
    }
}

/// What was loaded under a name: something, nothing, or it was not looked for yet.
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

/// What came of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It may happen, and this is what does.
    Decided(Decision),
    /// Load these and ask again.
    Need(Vec<Subject>),
}

/// What happens, and what must be done about it outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// In order.
    pub happened: Vec<(Subject, Happened)>,
    /// For the outbox.
    pub effects: Vec<Effect>,
    /// What runtimes of agents have to do; numbered when it is settled which event wants it.
    pub contracts: Vec<(TaskId, Wanted)>,
    /// Who did it, where that is not who sent the command: a held answer is its person's.
    pub by: Option<By>,
}

impl Decision {
    pub(crate) fn of(subject: Subject, happened: Happened) -> Self {
        Self { happened: vec![(subject, happened)], ..Self::default() }
    }

    pub(crate) fn on(ask: &Ask, happened: Happened) -> Self {
        Self::of(Subject::Ask(ask.id), happened)
    }

    #[must_use]
    pub(crate) fn with(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

/// How a verb stops short: it lacks data, or it refuses.
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

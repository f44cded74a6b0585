//! Events: facts in the past tense that never change. Each aggregate defines its own enum beside
//! its commands.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::actor::ActorRef;
pub use crate::ask::event::{AskEvent, AskTextErased, Asked, HELD_ANSWER};
use crate::audit::Slot;
pub use crate::directory::event::DirectoryEvent;
use crate::ids::{AskId, HumanId, ReviewId, Subject};
use crate::task::{ArtifactEvent, EntryWritten, TaskEvent};
use crate::time::Time;

/// An event of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The subject of the event.
    pub subject: Subject,
    /// Its number in the subject's chain, from 1.
    pub seq: u64,
    /// When it happened. Never before the previous event of the subject.
    pub at: Time,
    /// Who caused it.
    pub by: ActorRef,
    /// The fact itself.
    pub what: DomainEvent,
}

/// The fact of an event, by the aggregate it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub enum DomainEvent {
    /// An event of an ask.
    Ask(AskEvent),
    /// An event of the directory.
    Directory(DirectoryEvent),
    /// An event of a task.
    Task(Box<TaskEvent>),
    /// An event of an artifact.
    Artifact(Box<ArtifactEvent>),
    /// An entry of a ledger was written.
    EntryWritten(Box<EntryWritten>),
}

impl From<AskEvent> for DomainEvent {
    fn from(event: AskEvent) -> Self {
        Self::Ask(event)
    }
}

impl From<DirectoryEvent> for DomainEvent {
    fn from(event: DirectoryEvent) -> Self {
        Self::Directory(event)
    }
}

/// The stored names of all aggregates share one tag, so the nesting does not show in the stored
/// form.
impl Serialize for DomainEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "snake_case", tag = "event")]
        enum OfTasks<'a> {
            Task(&'a TaskEvent),
            Artifact(&'a ArtifactEvent),
            EntryWritten(&'a EntryWritten),
        }
        match self {
            Self::Ask(event) => event.serialize(serializer),
            Self::Directory(event) => event.serialize(serializer),
            Self::Task(event) => OfTasks::Task(event).serialize(serializer),
            Self::Artifact(event) => OfTasks::Artifact(event).serialize(serializer),
            Self::EntryWritten(written) => OfTasks::EntryWritten(written).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for DomainEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case", tag = "event")]
        enum OfTasks {
            Task(Box<TaskEvent>),
            Artifact(Box<ArtifactEvent>),
            EntryWritten(Box<EntryWritten>),
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Stored {
            Ask(AskEvent),
            Directory(DirectoryEvent),
            Tasks(OfTasks),
        }
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Ask(event) => Self::Ask(event),
            Stored::Directory(event) => Self::Directory(event),
            Stored::Tasks(OfTasks::Task(event)) => Self::Task(event),
            Stored::Tasks(OfTasks::Artifact(event)) => Self::Artifact(event),
            Stored::Tasks(OfTasks::EntryWritten(written)) => Self::EntryWritten(written),
        })
    }
}

/// The part of an event that decides whether a later event of the same subject erased its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureTrace {
    pub(crate) what: &'static str,
    pub(crate) human: Option<HumanId>,
    pub(crate) checkpoint: Option<AskId>,
    pub(crate) review: Option<ReviewId>,
}

impl Event {
    /// Whether it holds free text of a person that is erased with the person: comments, reasons,
    /// amendments, reviews and passkey evidence. The answer itself is not such a text.
    pub fn has_text_by(&self, human: &HumanId) -> bool {
        if !matches!(&self.by, ActorRef::Human(by) if by == human) {
            return false;
        }
        match &self.what {
            DomainEvent::Ask(event) => event.has_free_text(),
            DomainEvent::Task(event) => event.has_free_text(),
            DomainEvent::Directory(_) | DomainEvent::Artifact(_) | DomainEvent::EntryWritten(_) => {
                false
            }
        }
    }

    /// The part that decides whether a later event erased its values.
    pub fn erasure_trace(&self) -> ErasureTrace {
        let (mut checkpoint, mut review) = (None, None);
        if let DomainEvent::Task(event) = &self.what {
            if let TaskEvent::Resolved { checkpoint: id, .. } = &**event {
                checkpoint = Some(*id);
            } else if let TaskEvent::Reviewed { review: given } = &**event {
                review = Some(given.id);
            } else if let TaskEvent::Remarked { review: id, .. } = &**event {
                review = Some(*id);
            }
        }
        let human = match &self.by {
            ActorRef::Human(human) => Some(human.clone()),
            ActorRef::Agent(_)
            | ActorRef::LinkHolder
            | ActorRef::Relay
            | ActorRef::Guest
            | ActorRef::System => None,
        };
        ErasureTrace { what: self.what.name(), human, checkpoint, review }
    }
}

impl DomainEvent {
    /// The event's name, as stored and shown.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ask(event) => event.name(),
            Self::Directory(event) => event.name(),
            Self::Task(event) => event.name(),
            Self::Artifact(event) => event.name(),
            Self::EntryWritten(_) => "entry_written",
        }
    }

    /// The names of the events that erase values of earlier events.
    pub const ERASING: [&'static str; 5] =
        ["erased", "words_erased", "human_erased", "checkpoint_erased", "task_words_erased"];

    /// Whether it erases the values of an earlier event of its subject. Every store deletes them in
    /// the transaction that writes this event.
    pub fn erases(&self, earlier: &ErasureTrace) -> bool {
        match self {
            Self::Ask(event) => event.erases(earlier),
            Self::Directory(event) => matches!(event, DirectoryEvent::HumanErased),
            Self::Task(event) => event.erases(earlier),
            Self::Artifact(_) | Self::EntryWritten(_) => false,
        }
    }

    /// Visits every erasable value, always in the same order.
    pub fn slots(&mut self, visit: &mut dyn FnMut(&mut dyn Slot)) {
        match self {
            Self::Ask(event) => event.slots(visit),
            Self::Directory(DirectoryEvent::HumanSaved(human)) => visit(&mut human.profile),
            Self::Task(event) => event.slots(visit),
            Self::EntryWritten(written) => visit(&mut written.value),
            Self::Directory(_) | Self::Artifact(_) => {}
        }
    }
}

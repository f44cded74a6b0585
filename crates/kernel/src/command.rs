//! Commands: what an actor wants to happen.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use ulid::Ulid;

use crate::actor::{Actor, Assurance, SenderVerification};
pub use crate::ask::command::AskCommand;
use crate::ask::{
    AskToken, Dialect, DisplayedContent, Labels, NewExperienceEnvelope, PostingAddress, Priority,
    Route,
};
use crate::audit::{Erasable, Salts};
use crate::directory::ContactMethod;
pub use crate::directory::command::DirectoryCommand;
use crate::ids::{AskId, HumanId};
use crate::question::{AnswerKind, Question, Reply};
use crate::task::TaskCommand;
use crate::time::Time;
use crate::verification::VerificationPolicy;

/// A command with everything the world does not contain: the actor, a fresh id, randomness.
///
/// The time is not part of it: it is set when the decision is made, in
/// [`World::now`](crate::World).
#[derive(Debug, Clone)]
pub struct Envelope {
    /// The party that sends the command.
    pub actor: Actor,
    /// The id of the object the command creates, if it creates one.
    pub fresh: Ulid,
    /// Randomness for commitments.
    pub salts: Salts,
    /// The version of the ask that the actor has seen. The command is refused if the ask has
    /// another version.
    pub expected: Option<u64>,
    /// How much of the question the server displayed, if the command answers one.
    pub shown: DisplayedContent,
    /// How the server verified the sender of the email that carried the command; `None` if it did
    /// not come by email.
    pub sender: Option<SenderVerification>,
    /// The requested change.
    pub command: Command,
}

impl Envelope {
    /// How the sender of the email was verified, as it is recorded with the answer.
    pub(crate) fn sender(&self, salts: &mut Salts) -> Option<Box<Erasable<SenderVerification>>> {
        self.sender.clone().map(|sender| Box::new(Erasable::new(sender, salts)))
    }

    /// The ask that the command creates or is about.
    pub fn subject(&self) -> Option<AskId> {
        if self.command.creates_ask() {
            return Some(AskId::new(self.fresh));
        }
        self.command.ask()
    }
}

/// All commands, by aggregate.
#[derive(Debug, Clone)]
pub enum Command {
    /// A command about an ask.
    Ask(AskCommand),
    /// A command about a task.
    Task(Box<TaskCommand>),
    /// A command about the directory.
    Directory(Box<DirectoryCommand>),
}

impl From<AskCommand> for Command {
    fn from(command: AskCommand) -> Self {
        Self::Ask(command)
    }
}

impl From<TaskCommand> for Command {
    fn from(command: TaskCommand) -> Self {
        Self::Task(Box::new(command))
    }
}

impl From<DirectoryCommand> for Command {
    fn from(command: DirectoryCommand) -> Self {
        Self::Directory(Box::new(command))
    }
}

impl Command {
    /// The command's name in logs and metrics.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Ask(command) => command.verb(),
            Self::Task(command) => command.verb(),
            Self::Directory(command) => command.verb(),
        }
    }

    /// Whether the command creates an ask, under the fresh id.
    pub fn creates_ask(&self) -> bool {
        match self {
            Self::Ask(command) => command.creates_ask(),
            Self::Task(command) => command.creates_ask(),
            Self::Directory(_) => false,
        }
    }

    /// The existing ask it is about, if any.
    pub fn ask(&self) -> Option<AskId> {
        match self {
            Self::Ask(command) => command.ask(),
            Self::Task(command) => command.checkpoint(),
            Self::Directory(_) => None,
        }
    }
}

/// A new ask, as the agent sends it.
#[derive(Debug, Clone)]
pub struct NewAsk {
    /// The protocol of the agent.
    pub dialect: Dialect,
    /// The question to the person.
    pub question: Question,
    /// Free data of the agent, stored with the ask.
    pub metadata: Map<String, Value>,
    /// The agent's own names for itself and its work.
    pub labels: Labels,
    /// Topics by which people qualify and lists filter.
    pub tags: BTreeSet<String>,
    /// How urgent the ask is.
    pub priority: Priority,
    /// How the assignees are chosen.
    pub route: Route,
    /// The number of seconds until it expires; `None` for never.
    pub timeout: Option<u64>,
    /// What happens at the deadline if there is no answer.
    pub on_expiry: NewOnExpiry,
    /// When to send reminders; if empty, the project's settings apply.
    pub reminders: Vec<Time>,
    /// The ask it continues.
    pub follows: Option<AskId>,
    /// The tokens that were created for it.
    pub grants: Vec<AskToken>,
    /// The stances of answers that the agent may pass on with a submit token; `None` for none at
    /// all.
    pub inline: Option<BTreeSet<AnswerKind>>,
    /// The URL to call when the ask is closed.
    pub callback: Option<String>,
    /// The proofs of presence that it demands.
    pub verification: Option<Box<VerificationPolicy>>,
    /// The minimum assurance of an answer, if it is higher than the project's.
    pub assurance: Option<Assurance>,
    /// An address where the agent wants it posted, besides notifying people.
    pub posting_address: Option<PostingAddress>,
    /// Further addresses to which the agent has the message copied.
    pub copies: Vec<ContactMethod>,
    /// What the agent says about its own message.
    pub claims: Option<Box<NewExperienceEnvelope>>,
}

/// A message that a person writes to an agent on their own initiative.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonMessage {
    /// The text of the message.
    pub text: String,
    /// Data for the agent beside the text, such as where the person wrote. It is erased with the
    /// text.
    pub metadata: Map<String, Value>,
}

impl From<String> for Box<PersonMessage> {
    fn from(text: String) -> Self {
        Self::new(PersonMessage { text, metadata: Map::new() })
    }
}

/// A nudge: why the agent cannot wait, and who else to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nudge {
    /// The reason, as the agent words it.
    pub text: String,
    /// People to ask as well. People outside the project are ignored.
    pub people: Vec<HumanId>,
}

/// What the agent wants to happen without an answer. It becomes an
/// [`OnExpiry`](crate::ask::OnExpiry) once checked.
#[derive(Debug, Clone, PartialEq)]
pub enum NewOnExpiry {
    /// The ask stays open and can still be answered.
    StayOpen,
    /// The ask fails.
    Fail,
    /// This answer is taken.
    Answer(Reply),
    /// The ask expires, and the server reports this action to the agent.
    Report(crate::ask::DefaultAction),
}

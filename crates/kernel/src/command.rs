//! What someone wants to happen.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use ulid::Ulid;

use crate::actor::{Actor, Assurance, SenderVerification};
pub use crate::ask::command::AskCommand;
use crate::ask::{Dialect, Grant, Labels, NewClaims, Place, Priority, Route, Shown};
use crate::audit::{Erasable, Salts};
use crate::directory::Means;
pub use crate::directory::command::DirectoryCommand;
use crate::ids::{AskId, HumanId};
use crate::question::{Question, Reply, Stance};
use crate::task::TaskCommand;
use crate::time::Time;
use crate::verification::Policy;

/// A command with everything that is not in the world: who, a fresh id, randomness.
///
/// The moment is not here: it is stamped when the decision is made, in
/// [`World::now`](crate::World).
#[derive(Debug, Clone)]
pub struct Envelope {
    /// Who wants it.
    pub actor: Actor,
    /// The id of what the command makes, if it makes something.
    pub fresh: Ulid,
    /// Randomness for commitments.
    pub salts: Salts,
    /// The version of the ask the actor has seen; any other refuses the command.
    pub expected: Option<u64>,
    /// What the server displayed of the question, if the command answers one.
    pub shown: Shown,
    /// How the sender of the email was verified that the command came with.
    pub sender: Option<SenderVerification>,
    /// What they want.
    pub command: Command,
}

impl Envelope {
    /// How the sender of the email was verified, as it is recorded with what they said.
    pub(crate) fn sender(&self, salts: &mut Salts) -> Option<Box<Erasable<SenderVerification>>> {
        self.sender.clone().map(|sender| Box::new(Erasable::new(sender, salts)))
    }

    /// The ask it makes, or is about.
    pub fn subject(&self) -> Option<AskId> {
        if self.command.makes_ask() {
            return Some(AskId::new(self.fresh));
        }
        self.command.ask()
    }
}

/// Everything that can be wanted, by what it is wanted of.
#[derive(Debug, Clone)]
pub enum Command {
    /// Something is wanted of an ask.
    Ask(AskCommand),
    /// Something is wanted of a task.
    Task(Box<TaskCommand>),
    /// Something is wanted of the directory.
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
    /// The verb, as logs and metrics name it.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Ask(command) => command.verb(),
            Self::Task(command) => command.verb(),
            Self::Directory(command) => command.verb(),
        }
    }

    /// Whether it makes an ask, under the fresh id.
    pub fn makes_ask(&self) -> bool {
        match self {
            Self::Ask(command) => command.makes_ask(),
            Self::Task(command) => command.makes_ask(),
            Self::Directory(_) => false,
        }
    }

    /// The ask it is about, if it is about one that exists.
    pub fn ask(&self) -> Option<AskId> {
        match self {
            Self::Ask(command) => command.ask(),
            Self::Task(command) => command.checkpoint(),
            Self::Directory(_) => None,
        }
    }
}

/// What an agent sends when it asks.
#[derive(Debug, Clone)]
pub struct NewAsk {
    /// The protocol it speaks.
    pub dialect: Dialect,
    /// What it asks.
    pub question: Question,
    /// Free data.
    pub metadata: Map<String, Value>,
    /// Its own names.
    pub labels: Labels,
    /// What it is about.
    pub tags: BTreeSet<String>,
    /// How urgent.
    pub priority: Priority,
    /// How people are picked.
    pub route: Route,
    /// After how many seconds it runs out; `None` for never.
    pub timeout: Option<u64>,
    /// What then.
    pub on_expiry: Silence,
    /// When to remind.
    pub reminders: Vec<Time>,
    /// The ask it continues.
    pub follows: Option<AskId>,
    /// The tokens that were drawn for it.
    pub grants: Vec<Grant>,
    /// Which answers the agent may pass on with a submit token; `None` for none at all.
    pub inline: Option<BTreeSet<Stance>>,
    /// Where to tell the agent that it is over.
    pub callback: Option<String>,
    /// Which proofs of a person it wants.
    pub verification: Option<Box<Policy>>,
    /// The least assurance an answer needs, if that is more than the project wants.
    pub assurance: Option<Assurance>,
    /// Where the agent wants it put, besides to people.
    pub place: Option<Place>,
    /// Further addresses to which the agent has the message copied.
    pub copies: Vec<Means>,
    /// What it says of its message.
    pub claims: Option<Box<NewClaims>>,
}

/// What a person writes to an agent of their own accord.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Their words.
    pub text: String,
    /// What is kept beside them for the agent, such as where they wrote; erased with them.
    pub metadata: Map<String, Value>,
}

impl From<String> for Box<Written> {
    fn from(text: String) -> Self {
        Self::new(Written { text, metadata: Map::new() })
    }
}

/// Why an agent cannot wait, and who else should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urge {
    /// What it says.
    pub text: String,
    /// Whom it wants asked as well; who is not of its project is not.
    pub people: Vec<HumanId>,
}

/// What the agent wants when nobody answers; becomes an
/// [`OnExpiry`](crate::ask::OnExpiry) once checked.
#[derive(Debug, Clone, PartialEq)]
pub enum Silence {
    /// Stay open.
    StayOpen,
    /// Fail.
    Fail,
    /// Take this answer.
    Answer(Reply),
    /// Expire, and tell the agent what to do.
    Report(crate::ask::DefaultAction),
}

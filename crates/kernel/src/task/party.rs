//! The assignee or worker of a task.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::ids::{AgentId, HumanId};

/// A person or an agent. The kind is explicit, because a name alone does not reveal it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "id")]
pub enum Party {
    /// A person of the directory.
    Human(HumanId),
    /// An agent of the directory.
    Agent(AgentId),
}

impl Party {
    /// The acting person or agent; `None` for other actors.
    pub fn of(actor: &Actor) -> Option<Self> {
        match actor {
            Actor::Human { id, .. } => Some(Self::Human(id.clone())),
            Actor::Agent { id, .. } => Some(Self::Agent(id.clone())),
            Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => None,
        }
    }

    /// The agent; `None` for a person.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Agent(id) => Some(id),
            Self::Human(_) => None,
        }
    }

    /// The person; `None` for an agent.
    pub fn human(&self) -> Option<&HumanId> {
        match self {
            Self::Human(id) => Some(id),
            Self::Agent(_) => None,
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Human(id) => id.fmt(f),
            Self::Agent(id) => id.fmt(f),
        }
    }
}

//! Who acts, through which door, and how sure we are that it is them.

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, HumanId, KeyId, ProjectId};

/// Whoever stands behind a command. Made by the shell from a checked credential, never from a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// An agent with its key.
    Agent {
        /// The agent the key was issued to.
        id: AgentId,
        /// The project the key belongs to.
        project: ProjectId,
        /// The key that was presented.
        key: KeyId,
        /// Whose asks the key may read and cancel.
        reach: Reach,
    },
    /// A person.
    Human {
        /// Who.
        id: HumanId,
        /// The door they came through.
        via: Via,
        /// How they proved who they are.
        assurance: Assurance,
    },
    /// Countersign itself: timers, bootstrap, the operator's shell.
    System,
}

impl Actor {
    /// The actor as it is written into events.
    pub fn by(&self) -> By {
        match self {
            Self::Agent { id, .. } => By::Agent(id.clone()),
            Self::Human { id, .. } => By::Human(id.clone()),
            Self::System => By::System,
        }
    }
}

/// How far an agent key sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Only the asks of its own agent.
    Agent,
    /// All asks of its project.
    Project,
}

/// Who did something, as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "kind", content = "id")]
pub enum By {
    /// An agent.
    Agent(AgentId),
    /// A person.
    Human(HumanId),
    /// Countersign itself.
    System,
}

impl std::fmt::Display for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Agent(id) => id.fmt(f),
            Self::Human(id) => id.fmt(f),
            Self::System => f.write_str("system"),
        }
    }
}

/// The door an answer came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// A call with a human token.
    Api,
    /// A signed-in browser.
    Web,
    /// The `countersign` command.
    Cli,
    /// Nobody: a default on silence.
    Timer,
    /// A scripted person, in a test.
    Script,
}

/// How sure we are that the named person answered; ordered, so that policy can demand a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Assurance {
    /// Nobody answered: a default was taken on silence.
    None,
    /// The agent says that a person answered.
    AgentAttested,
    /// Whoever held the review link.
    Link,
    /// An identity checked by the channel (Slack, mail).
    Channel,
    /// A signed-in session or a personal token.
    Session,
    /// A passkey used for this very question.
    Passkey,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assurance_is_ordered_from_silence_to_passkey() {
        use Assurance::{AgentAttested, Channel, Link, None, Passkey, Session};
        assert!(None < AgentAttested && AgentAttested < Link && Link < Channel);
        assert!(Channel < Session && Session < Passkey);
    }
}

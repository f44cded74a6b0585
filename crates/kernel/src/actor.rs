//! Who acts, through which interface, and how strongly their identity is proven.

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, AskId, HumanId, KeyId, ProjectId};

/// The party that sends a command. The server builds it from a checked credential, never from a
/// request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// An agent, authenticated by its key.
    Agent {
        /// The agent the key was issued to.
        id: AgentId,
        /// The project the key belongs to.
        project: ProjectId,
        /// The key that was presented.
        key: KeyId,
        /// Whose asks the key may read and cancel, and whose tasks it may read.
        scope: KeyScope,
    },
    /// A person of the directory.
    Human {
        /// The person's id.
        id: HumanId,
        /// The interface through which the person acts.
        via: AnswerInterface,
        /// How they proved who they are.
        assurance: Assurance,
    },
    /// The holder of the review link of one ask. They can act on no other ask.
    LinkHolder {
        /// The only ask the link works for.
        ask: AskId,
        /// The person to whose verified address the server sent this link. `None` if the link was
        /// given to an agent or went to an unverified address: the agent may have used it.
        sent_to: Option<HumanId>,
    },
    /// An agent that passes on a person's answer with the submit token of one ask.
    Relay {
        /// The only ask the submit token works for.
        ask: AskId,
        /// Who answered, according to the agent.
        attested: AttestedIdentity,
    },
    /// A person whom the server reached at the address the agent gave. They can act on this ask
    /// only. The platform says who they are; the directory does not know them.
    Guest {
        /// The only ask the guest can act on.
        ask: AskId,
        /// The platform through which they act.
        via: AnswerInterface,
        /// Who they are on the platform.
        attested: AttestedIdentity,
    },
    /// Countersign itself: timers, the bootstrap, the operator's command line.
    System,
}

/// Who answered and where, in the words of the agent that passes the answer on, or of the platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Attested))]
pub struct AttestedIdentity {
    /// How the person answered, such as `slack_block_action`.
    pub via: String,
    /// The platform, such as `slack`.
    pub platform: String,
    /// The ID of the person on that platform.
    pub platform_user_id: String,
    /// The name of the person on that platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

impl Actor {
    /// The holder of a review link that was given to an agent.
    pub fn link_holder(ask: AskId) -> Self {
        Self::LinkHolder { ask, sent_to: None }
    }

    /// The actor as events record it.
    pub fn to_ref(&self) -> ActorRef {
        match self {
            Self::Agent { id, .. } => ActorRef::Agent(id.clone()),
            Self::Human { id, .. } => ActorRef::Human(id.clone()),
            Self::LinkHolder { .. } => ActorRef::LinkHolder,
            Self::Relay { .. } => ActorRef::Relay,
            Self::Guest { .. } => ActorRef::Guest,
            Self::System => ActorRef::System,
        }
    }
}

/// Which asks an agent key can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Reach))]
pub enum KeyScope {
    /// Only the asks of its own agent, and the tasks it was ever given.
    Agent,
    /// All asks and tasks of its project.
    Project,
}

/// Who did something, as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "kind", content = "id")]
#[cfg_attr(feature = "openapi", schema(as = By))]
pub enum ActorRef {
    /// An agent.
    Agent(AgentId),
    /// A person.
    Human(HumanId),
    /// The holder of the review link.
    LinkHolder,
    /// A person whose answer the agent passed on. The server did not see this person.
    Relay,
    /// Someone at the address that the agent chose.
    Guest,
    /// Countersign itself.
    System,
}

impl ActorRef {
    /// The kind of actor, as one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Agent(_) => "agent",
            Self::Human(_) => "human",
            Self::LinkHolder => "link_holder",
            Self::Relay => "relay",
            Self::Guest => "guest",
            Self::System => "system",
        }
    }

    /// The id of the agent or person. `None` for actors that are not in the directory.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Agent(id) => Some(id.as_str()),
            Self::Human(id) => Some(id.as_str()),
            Self::LinkHolder | Self::Relay | Self::Guest | Self::System => None,
        }
    }
}

impl std::fmt::Display for ActorRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Agent(id) => id.fmt(f),
            Self::Human(id) => id.fmt(f),
            Self::LinkHolder => f.write_str("the holder of the review link"),
            Self::Relay => f.write_str("someone the agent speaks for"),
            Self::Guest => f.write_str("someone at the address that the agent chose"),
            Self::System => f.write_str("system"),
        }
    }
}

/// The interface through which an answer was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Via))]
pub enum AnswerInterface {
    /// A call with a human token.
    Api,
    /// A signed-in browser.
    Web,
    /// The `countersign` command.
    Cli,
    /// A button of a push notification.
    Push,
    /// A message in Slack.
    Slack,
    /// An email.
    Email,
    /// A text message.
    Sms,
    /// A message in `WhatsApp`.
    Whatsapp,
    /// A message in Telegram.
    Telegram,
    /// A program of the operator, through a webhook.
    Webhook,
    /// The review page, with its link.
    Link,
    /// The agent, with the submit token.
    Inline,
    /// The server, which took the default at the deadline.
    Timer,
    /// A scripted person, in a test.
    Script,
}

/// How the server verified that an email came from the address it names as its sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "method")]
pub enum SenderVerification {
    /// A DKIM signature that covers the whole email, of the sender's own domain.
    Dkim {
        /// The domain that signed.
        domain: String,
    },
    /// A chain of ARC seals, all of forwarders the operator trusts, which says that the email had
    /// such a signature before it was changed on its way.
    Arc {
        /// The domain that signed, as the chain says.
        domain: String,
        /// The forwarder that sealed last.
        sealer: String,
    },
}

/// The assurance that the named person answered. The levels are ordered, so that a policy can
/// require a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Assurance {
    /// There was no answer, and the default was taken.
    None,
    /// Only the agent vouches for the person: it passed the answer on, it received the review link
    /// that was used, or it chose an address that no person verified.
    #[serde(alias = "agent_attested")]
    AgentAttested,
    /// A review link or a reply address that the server sent only to a verified address of a
    /// person.
    Link,
    /// An identity checked by the channel: an account on a chat platform, or an email whose sender
    /// was [verified](SenderVerification).
    Channel,
    /// A signed-in session or a personal token.
    Session,
    /// A passkey used for this very question.
    Passkey,
}

impl std::fmt::Display for Assurance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::AgentAttested => "agent-attested",
            Self::Link => "link",
            Self::Channel => "channel",
            Self::Session => "session",
            Self::Passkey => "passkey",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assurance_is_displayed_as_it_is_written() {
        use Assurance::{AgentAttested, Channel, Link, None, Passkey, Session};
        for assurance in [None, AgentAttested, Link, Channel, Session, Passkey] {
            let written = serde_json::to_value(assurance).unwrap();
            assert_eq!(written, assurance.to_string());
        }
    }

    #[test]
    fn assurance_is_ordered_from_silence_to_passkey() {
        use Assurance::{AgentAttested, Channel, Link, None, Passkey, Session};
        assert!(None < AgentAttested && AgentAttested < Link && Link < Channel);
        assert!(Channel < Session && Session < Passkey);
    }
}

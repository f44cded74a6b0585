//! The terms an ask is made under: how urgent, who is asked, and what silence means.

use serde::{Deserialize, Serialize};

use crate::audit::{Digest, Erasable};
use crate::directory::Directory;
use crate::ids::{AskId, GroupId, HumanId, KeyId};
use crate::question::Reply;
use crate::strict::nothing_more;
use crate::time::Time;

/// The protocol an ask came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// HXP Execution 0.1.
    HxpExecution,
    /// HITL 0.7 and 0.8.
    Hitl,
    /// A2H v1alpha1, and what speaks to HumanLayer.
    A2h,
    /// HACP 0.1 and HLP 0.2.
    Hacp,
    /// Our own API.
    Native,
}

/// A conversation a person began with an agent: the asks that follow each other from its opening on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// What the person wrote first; its id is the name of the conversation.
    pub opening: AskId,
    /// Who began it.
    pub with: HumanId,
}

impl Conversation {
    /// Whether such a route leads to whoever began it.
    pub(crate) fn is_led_to_by(&self, route: &Route) -> bool {
        matches!(route, Route::Person { human } if *human == self.with)
    }
}

/// How urgent; ordered from least to most.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The agent can wait.
    Low,
    /// The usual.
    #[default]
    Normal,
    /// Blocks the agent's critical path.
    High,
    /// Notify at once.
    Critical,
}

impl Priority {
    /// Every priority, most urgent first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Normal, Self::Low];

    /// Its place in an inbox: 0 for critical.
    pub fn rank(self) -> u8 {
        match self {
            Self::Critical => 0,
            Self::High => 1,
            Self::Normal => 2,
            Self::Low => 3,
        }
    }
}

/// How people are picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "to", deny_unknown_fields)]
#[serde(expecting = "an object with `to`")]
pub enum Route {
    /// The agent's owner.
    #[serde(deserialize_with = "nothing_more")]
    Owner,
    /// Whom the owner's delegation rules name.
    #[serde(deserialize_with = "nothing_more")]
    Delegate,
    /// The first qualified member who takes it.
    Pool {
        /// Only members of this group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<GroupId>,
    },
    /// A named person.
    Person {
        /// Who.
        human: HumanId,
    },
}

/// A place at the table: who may see and answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "seat", deny_unknown_fields)]
pub enum Seat {
    /// One person.
    Person {
        /// Who.
        human: HumanId,
    },
    /// Every member of the project who is in the group and knows the ask's tags.
    Pool {
        /// The group, if one was named.
        group: Option<GroupId>,
    },
}

/// What happens when nobody answered in time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "on_expiry")]
pub enum OnExpiry {
    /// Nothing: it stays open and can still be answered.
    StayOpen,
    /// It fails.
    Fail,
    /// This answer is taken, signed as nobody's.
    Answer {
        /// The default; checked against the question when the ask is made.
        reply: Erasable<Reply>,
    },
    /// It expires and the agent is told what to do.
    Report {
        /// What the agent is to do.
        action: DefaultAction,
    },
}

/// What an agent does with an expired ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DefaultAction {
    /// Go on without.
    #[default]
    Skip,
    /// As if approved.
    Approve,
    /// As if rejected.
    Reject,
    /// Stop.
    Abort,
}

/// One step of an escalation ladder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rung {
    /// When it is reached.
    pub at: Time,
    /// Who is asked as well from then on.
    pub seat: Seat,
}

/// What the agent calls itself and its work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// HXP `agent_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// HXP `project_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// A token that was drawn for one ask: what it is good for, and its hash. The token itself is known
/// to its holder only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What for.
    pub purpose: Purpose,
    /// SHA-256 of the token.
    pub hash: Digest,
    /// The person to whose verified address the server sent the token. Absent where an agent was given
    /// it, where it went to an address nobody verified, and in what was stored before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_to: Option<HumanId>,
    /// When the server sent it to that person. Set by the kernel, for these alone; absent in what was
    /// stored before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Time>,
}

impl Grant {
    /// A token that an agent is given.
    pub fn to_agent(purpose: Purpose, hash: Digest) -> Self {
        Self { purpose, hash, sent_to: None, sent_at: None }
    }

    /// A review link that the server sends, to a verified address of this person if there is one.
    pub fn delivered(hash: Digest, sent_to: Option<HumanId>) -> Self {
        Self { sent_to, ..Self::to_agent(Purpose::Review, hash) }
    }

    /// Whether it was sent to a person whose access was ended since.
    pub fn is_ended(&self, directory: &Directory) -> bool {
        let person = self.sent_to.as_ref().and_then(|id| directory.human(id));
        person.is_some_and(|human| match self.sent_at {
            Some(at) => human.has_ended(at),
            None => human.access_ended_at.is_some(),
        })
    }
}

/// What a token is good for. One is never good for two things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Seeing the question on its page, and answering it there.
    Review,
    /// Passing on an answer, as the agent.
    Submit,
    /// Reading how it stands.
    Poll,
}

/// Where the agent wants to be told that an ask is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// The address: it may name people or hold secrets, so it is forgotten with the words.
    pub url: Erasable<String>,
    /// The key that asked: the call is signed with the secret that belongs to it.
    pub key: KeyId,
}

/// One attempt to tell the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallbackAttempt {
    /// When.
    pub at: Time,
    /// What came of it.
    #[serde(flatten)]
    pub result: CallbackResult,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum CallbackResult {
    /// The agent took it.
    Taken {
        /// With this HTTP status.
        status: u16,
    },
    /// It did not.
    Refused {
        /// With this HTTP status.
        status: u16,
    },
    /// Nobody was reached.
    Unreached {
        /// Why.
        error: String,
    },
}

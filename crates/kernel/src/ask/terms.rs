//! The terms of an ask: its urgency, its routing, and what happens on silence.

use serde::{Deserialize, Serialize};

use crate::audit::{Digest, Erasable};
use crate::directory::Directory;
use crate::ids::{AskId, GroupId, HumanId, KeyId};
use crate::question::Reply;
use crate::strict::nothing_more;
use crate::time::Time;

/// The protocol through which an ask came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// HXP Execution 0.1.
    HxpExecution,
    /// HITL 0.7 and 0.8.
    Hitl,
    /// A2H v1alpha1, and the `HumanLayer` API.
    A2h,
    /// HACP 0.1 and HLP 0.2.
    Hacp,
    /// Countersign's own API.
    Native,
}

/// A conversation that a person started with an agent: a sequence of asks from its opening on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// The person's first message. Its id is the id of the conversation.
    pub opening: AskId,
    /// The person who started it.
    pub with: HumanId,
}

impl Conversation {
    /// Whether this route leads to the person who started the conversation.
    pub(crate) fn is_reached_by(&self, route: &Route) -> bool {
        matches!(route, Route::Person { human } if *human == self.with)
    }
}

/// The urgency of an ask, in ascending order.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The agent can wait.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Blocks the agent's critical path.
    High,
    /// Notify people immediately, also during quiet hours.
    Critical,
}

impl Priority {
    /// Every priority, most urgent first.
    pub const ALL: [Self; 4] = [Self::Critical, Self::High, Self::Normal, Self::Low];

    /// The sort order in an inbox: 0 for critical.
    pub fn rank(self) -> u8 {
        match self {
            Self::Critical => 0,
            Self::High => 1,
            Self::Normal => 2,
            Self::Low => 3,
        }
    }
}

/// Who is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "to", deny_unknown_fields)]
#[serde(expecting = "an object with `to`")]
pub enum Route {
    /// The agent's owner.
    #[serde(deserialize_with = "nothing_more")]
    Owner,
    /// The person whom the owner's delegation rules name.
    #[serde(deserialize_with = "nothing_more")]
    Delegate,
    /// Every qualified member; the first one who claims the ask answers it.
    Pool {
        /// Only members of this group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<GroupId>,
    },
    /// A specific person.
    Person {
        /// The person.
        human: HumanId,
    },
}

/// An assignee: who can see and answer the ask.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "seat", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", schema(as = Seat))]
pub enum Assignee {
    /// One person.
    Person {
        /// The person.
        human: HumanId,
    },
    /// Every member of the project who is in the group and knows the ask's tags.
    Pool {
        /// The group, if one is named.
        group: Option<GroupId>,
    },
}

/// What happens at the deadline if there is no answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "on_expiry")]
pub enum OnExpiry {
    /// Nothing: it stays open and can still be answered.
    StayOpen,
    /// The ask fails.
    Fail,
    /// This answer is taken, recorded as given by the system.
    Answer {
        /// The default answer. It is checked against the question when the ask is created.
        reply: Erasable<Reply>,
    },
    /// The ask expires, and the server reports this action to the agent.
    Report {
        /// The action that the agent takes.
        action: DefaultAction,
    },
}

/// What an agent does with an expired ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DefaultAction {
    /// Continue without an answer.
    #[default]
    Skip,
    /// Continue as if approved.
    Approve,
    /// Continue as if rejected.
    Reject,
    /// Stop.
    Abort,
}

/// One escalation step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledEscalation {
    /// When the step takes effect.
    pub at: Time,
    /// The assignees that the step adds.
    #[serde(rename = "seat")]
    pub assignee: Assignee,
}

/// The agent's own names for itself and its work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// The `agent_id` of HXP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The `project_id` of HXP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// A token that was created for one ask: its purpose and its hash. Only its holder knows the token
/// itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskToken {
    /// The only purpose the token works for.
    pub purpose: TokenPurpose,
    /// SHA-256 of the token.
    pub hash: Digest,
    /// The person to whose verified address the server sent the token. Absent if it was given to an
    /// agent, if it went to an unverified address, and in grants stored before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_to: Option<HumanId>,
    /// When the server sent it to that person. The kernel sets it together with `sent_to`. Absent
    /// in grants stored before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Time>,
}

impl AskToken {
    /// A token that is given to an agent.
    pub fn to_agent(purpose: TokenPurpose, hash: Digest) -> Self {
        Self { purpose, hash, sent_to: None, sent_at: None }
    }

    /// A review link that the server sends, to a verified address of this person if there is one.
    pub fn sent_link(hash: Digest, sent_to: Option<HumanId>) -> Self {
        Self { sent_to, ..Self::to_agent(TokenPurpose::Review, hash) }
    }

    /// Whether it was sent to a person whose access was revoked since.
    pub fn is_revoked(&self, directory: &Directory) -> bool {
        let person = self.sent_to.as_ref().and_then(|id| directory.human(id));
        person.is_some_and(|human| match self.sent_at {
            Some(at) => human.access_ended_since(at),
            None => human.access_ended_at.is_some(),
        })
    }
}

/// The purpose of a token. A token has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenPurpose {
    /// See the question on its page, and answer it there.
    Review,
    /// Pass on an answer, as the agent.
    Submit,
    /// Read the state of the ask.
    Poll,
}

/// Where the agent wants to be notified that an ask is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// The callback URL. It may name people or contain secrets, so it is erased with the text.
    pub url: Erasable<String>,
    /// The key that created the ask. The call is signed with the secret of this key.
    pub key: KeyId,
}

/// A callback attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CallbackAttempt {
    /// The time of the attempt.
    pub at: Time,
    /// The result.
    #[serde(flatten)]
    pub result: CallbackResult,
}

/// The result of a callback attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", tag = "result")]
pub enum CallbackResult {
    /// The agent accepted the call.
    Taken {
        /// The HTTP status.
        status: u16,
    },
    /// The agent refused the call.
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// The agent was not reached.
    Unreached {
        /// The error.
        error: String,
    },
}

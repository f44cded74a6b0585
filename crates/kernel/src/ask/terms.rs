//! The terms an ask is made under: how urgent, who is asked, and what silence means.

use serde::{Deserialize, Serialize};

use crate::audit::Erasable;
use crate::ids::{GroupId, HumanId};
use crate::question::Reply;
use crate::strict::nothing_more;
use crate::time::Time;

/// The protocol an ask came in by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// HXP Execution 0.1.
    HxpExecution,
    /// Our own API.
    Native,
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

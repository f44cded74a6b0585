//! The closed sets of names in HXP Execution 0.1. Sections 2, 3, 6.1.

use kernel::ask::Phase;
use kernel::question::Kind;
use serde::{Deserialize, Serialize};

/// The action of a person (section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Action {
    /// Choose one of 2 to 6 options.
    Decide,
    /// Approve or reject.
    Approve,
    /// Provide a value.
    Provide,
}

impl Action {
    pub const ALL: [Self; 3] = [Self::Decide, Self::Approve, Self::Provide];

    /// The action of this name; names are case-sensitive.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "DECIDE" => Some(Self::Decide),
            "APPROVE" => Some(Self::Approve),
            "PROVIDE" => Some(Self::Provide),
            _ => None,
        }
    }

    /// The kinds of question that filters and rules for this action match.
    pub fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Decide => &[Kind::Choose, Kind::Confirm, Kind::Escalate],
            Self::Approve => &[Kind::Approve],
            Self::Provide => &[Kind::Provide, Kind::Converse],
        }
    }

    /// The action whose filters and rules match this kind of question.
    pub fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Approve => Self::Approve,
            Kind::Choose | Kind::Confirm | Kind::Escalate => Self::Decide,
            Kind::Provide | Kind::Converse => Self::Provide,
        }
    }
}

/// Who should handle a request (section 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The agent's registered owner.
    Owner,
    /// The person that the delegation rules name.
    Delegate,
    /// The first qualified person who takes it.
    Pool,
}

/// What happens on timeout (section 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fallback {
    /// The request stays open.
    Pause,
    /// The agent receives a failure receipt.
    Fail,
    /// The agent receives a receipt with `default_option`.
    Default,
}

/// The status of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// No person has taken it.
    Pending,
    /// A person has taken it.
    Assigned,
    /// Answered, or closed with the default.
    Completed,
    /// Expired.
    Expired,
    /// Expired with a failure receipt.
    Failed,
    /// Withdrawn.
    Cancelled,
}

impl Status {
    /// The status as written in JSON, in a query and in the `HXP-Status` header.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Assigned => "assigned",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Phase::ALL.map(Self::from).into_iter().find(|status| status.as_str() == name)
    }

    /// The kernel's phase.
    pub fn phase(self) -> Phase {
        match self {
            Self::Pending => Phase::Waiting,
            Self::Assigned => Phase::Engaged,
            Self::Completed => Phase::Completed,
            Self::Expired => Phase::Expired,
            Self::Failed => Phase::Failed,
            Self::Cancelled => Phase::Cancelled,
        }
    }
}

impl From<Phase> for Status {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Waiting => Self::Pending,
            Phase::Engaged => Self::Assigned,
            Phase::Completed => Self::Completed,
            Phase::Expired => Self::Expired,
            Phase::Failed => Self::Failed,
            Phase::Cancelled => Self::Cancelled,
        }
    }
}

/// The type of a provided value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputType {
    Text,
    Number,
    Url,
    Email,
    /// A reference to a file: a URL or a `data:` URI.
    File,
    /// One of `validation.allowed_values`.
    Selection,
}

impl InputType {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "text" => Some(Self::Text),
            "number" => Some(Self::Number),
            "url" => Some(Self::Url),
            "email" => Some(Self::Email),
            "file" => Some(Self::File),
            "selection" => Some(Self::Selection),
            _ => None,
        }
    }
}

//! The parameters of `GET /hxp/v1/requests` and `GET /hxp/v1/inbox`.
//! Section 5.1.
//!
//! Parameters nobody knows are ignored, and an empty value counts as absent.

use std::fmt;
use std::str::FromStr;

use kernel::ask::{Phase, Priority};
use kernel::{Ask, AskId};

use super::create::{bad_priority, priority};
use super::errors::{WireError, code};
use super::wire::{Action, Status};

/// The most requests of a page.
pub const MOST: u32 = 100;
/// How many an agent gets without saying.
pub const USUAL: u32 = 20;

/// Where the next page begins: after this ask. Opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The rank of its priority; plays no part in an agent's list.
    pub rank: u8,
    /// The ask.
    pub ask: AskId,
}

impl Cursor {
    /// The page after this ask.
    pub fn after(ask: &Ask) -> Self {
        Self { rank: ask.priority.rank(), ask: ask.id }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.rank, self.ask.ulid())
    }
}

impl FromStr for Cursor {
    type Err = WireError;

    fn from_str(text: &str) -> Result<Self, WireError> {
        let parse = || {
            let (rank, ask) = text.split_once('.')?;
            let known = |rank: &u8| Priority::ALL.iter().any(|priority| priority.rank() == *rank);
            let rank = rank.parse().ok().filter(known)?;
            let cursor = Self { rank, ask: AskId::read_as("", ask)? };
            Some(cursor).filter(|cursor| cursor.to_string() == text)
        };
        parse().ok_or_else(|| {
            let expected = "the cursor of an earlier page";
            WireError::field(400, code::INVALID_CURSOR, "cursor", expected)
        })
    }
}

/// What an agent wants to see, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// Only what this agent called itself.
    pub agent_id: Option<String>,
    /// Only what an agent called this project.
    pub project_id: Option<String>,
    /// Only in this phase.
    pub phase: Option<Phase>,
    /// The size of the page.
    pub limit: u32,
    /// Where it begins.
    pub cursor: Option<Cursor>,
}

impl ListQuery {
    /// Reads the decoded pairs of a query string; of a repeated name the last counts.
    pub fn parse<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, WireError> {
        let mut query =
            Self { agent_id: None, project_id: None, phase: None, limit: USUAL, cursor: None };
        for (key, value) in pairs {
            let value = value.as_ref();
            match key.as_ref() {
                _ if value.is_empty() => {}
                "agent_id" => query.agent_id = Some(value.to_owned()),
                "project_id" => query.project_id = Some(value.to_owned()),
                "status" => query.phase = Some(phase(value)?),
                "limit" => query.limit = limit(value)?,
                "cursor" => query.cursor = Some(value.parse()?),
                _ => {}
            }
        }
        Ok(query)
    }
}

/// What a person wants to see, most urgent first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxQuery {
    /// In these phases; pending and assigned when nothing is said.
    pub phases: Vec<Phase>,
    /// Only of this priority.
    pub priority: Option<Priority>,
    /// Only these; [`Action::kinds`] says which kinds of question are meant.
    pub action: Option<Action>,
    /// The size of the page; as many as there may be when nothing is said, because the web client
    /// never asks for a second page.
    pub limit: u32,
    /// Where it begins.
    pub cursor: Option<Cursor>,
}

impl InboxQuery {
    /// Reads the decoded pairs of a query string; of a repeated name the last counts.
    pub fn parse<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, WireError> {
        let mut query = Self {
            phases: Phase::OPEN.to_vec(),
            priority: None,
            action: None,
            limit: MOST,
            cursor: None,
        };
        for (key, value) in pairs {
            let value = value.as_ref();
            match key.as_ref() {
                _ if value.is_empty() => {}
                "status" => query.phases = vec![phase(value)?],
                "priority" => query.priority = Some(priority(value).ok_or_else(bad_priority)?),
                "action" => {
                    let bad = || {
                        let expected = "DECIDE, APPROVE or PROVIDE";
                        WireError::field(400, code::INVALID_ACTION, "action", expected)
                    };
                    query.action = Some(Action::named(value).ok_or_else(bad)?);
                }
                "limit" => query.limit = limit(value)?,
                "cursor" => query.cursor = Some(value.parse()?),
                _ => {}
            }
        }
        Ok(query)
    }
}

fn phase(name: &str) -> Result<Phase, WireError> {
    Status::named(name).map(Status::phase).ok_or_else(|| {
        let expected = "pending, assigned, completed, expired, failed or cancelled";
        WireError::field(400, code::INVALID_STATUS, "status", expected)
    })
}

fn limit(text: &str) -> Result<u32, WireError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let limit = text.parse().ok().filter(|limit| digits && (1..=MOST).contains(limit));
    limit.ok_or_else(|| {
        WireError::field(400, code::INVALID_LIMIT, "limit", "a whole number from 1 to 100")
    })
}

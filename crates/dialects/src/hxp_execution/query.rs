//! The parameters of `GET /hxp/v1/requests` and `GET /hxp/v1/inbox`.
//! Section 5.1.
//!
//! Unknown parameters are ignored, and an empty value counts as absent.

use std::fmt;
use std::str::FromStr;

use kernel::ask::{Phase, Priority};
use kernel::spelling::listed;
use kernel::{Ask, AskId};

use super::create::{ACTIONS, priority};
use super::errors::{HxpWireError, code};
use super::wire::{Action, Status};
use crate::members::PRIORITIES;

/// The maximum page size.
pub const MOST: u32 = 100;
/// The default page size for agents.
pub const USUAL: u32 = 20;

/// The last ask of a page, after which the next page starts. Opaque to callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HxpCursor {
    /// The rank of its priority; not used in an agent's list.
    pub rank: u8,
    pub ask: AskId,
}

impl HxpCursor {
    /// The cursor of the page after this ask.
    pub fn after(ask: &Ask) -> Self {
        Self { rank: ask.priority.rank(), ask: ask.id }
    }
}

impl fmt::Display for HxpCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.rank, self.ask.ulid())
    }
}

impl FromStr for HxpCursor {
    type Err = HxpWireError;

    fn from_str(text: &str) -> Result<Self, HxpWireError> {
        let parse = || {
            let (rank, ask) = text.split_once('.')?;
            let known = |rank: &u8| Priority::ALL.iter().any(|priority| priority.rank() == *rank);
            let rank = rank.parse().ok().filter(known)?;
            let cursor = Self { rank, ask: AskId::parse_with_prefix("", ask)? };
            Some(cursor).filter(|cursor| cursor.to_string() == text)
        };
        parse().ok_or_else(|| {
            let expected = "the next_cursor of the previous page";
            HxpWireError::field(400, code::INVALID_CURSOR, "cursor", expected)
        })
    }
}

/// A filter for an agent's requests, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// The agent's name as the agent states it.
    pub agent_id: Option<String>,
    /// The project's name as the agent states it.
    pub project_id: Option<String>,
    pub phase: Option<Phase>,
    /// The page size.
    pub limit: u32,
    pub cursor: Option<HxpCursor>,
}

impl ListQuery {
    /// Reads the decoded pairs of a query string; the last of a repeated name counts.
    pub fn parse<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, HxpWireError> {
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

/// A filter for a person's inbox, most urgent first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxQuery {
    /// The phases; pending and assigned by default.
    pub phases: Vec<Phase>,
    pub priority: Option<Priority>,
    /// The action; [`Action::kinds`] lists its kinds of question.
    pub action: Option<Action>,
    /// The page size; the maximum by default, because the web client never requests a second page.
    pub limit: u32,
    pub cursor: Option<HxpCursor>,
}

impl InboxQuery {
    /// Reads the decoded pairs of a query string; the last of a repeated name counts.
    pub fn parse<K: AsRef<str>, V: AsRef<str>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, HxpWireError> {
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
                "priority" => {
                    let bad = || {
                        let expected = listed(&PRIORITIES, value);
                        HxpWireError::field(400, code::INVALID_PRIORITY, "priority", &expected)
                    };
                    query.priority = Some(priority(value).ok_or_else(bad)?);
                }
                "action" => {
                    let bad = || {
                        let expected = listed(&ACTIONS, value);
                        HxpWireError::field(400, code::INVALID_ACTION, "action", &expected)
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

fn phase(name: &str) -> Result<Phase, HxpWireError> {
    Status::named(name).map(Status::phase).ok_or_else(|| {
        let names = ["pending", "assigned", "completed", "expired", "failed", "cancelled"];
        HxpWireError::field(400, code::INVALID_STATUS, "status", &listed(&names, name))
    })
}

fn limit(text: &str) -> Result<u32, HxpWireError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let limit = text.parse().ok().filter(|limit| digits && (1..=MOST).contains(limit));
    limit.ok_or_else(|| {
        HxpWireError::field(400, code::INVALID_LIMIT, "limit", "a whole number from 1 to 100")
    })
}

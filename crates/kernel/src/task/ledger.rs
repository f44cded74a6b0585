//! What a project, a team or the whole organisation remembers: keys whose values are only ever added to.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::audit::{Erasable, Head};
use crate::ids::{BadId, EntryId, TaskId};
use crate::time::Time;

/// One key of a ledger. Its chain is its history; the last value written is what is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name.
    pub id: EntryId,
    /// Where its chain ends; `head.seq` is how often it was written.
    pub head: Head,
    /// Whose ledger.
    pub scope: Scope,
    /// Which key.
    pub key: String,
    /// What it says.
    pub value: Erasable<Value>,
    /// The task that wrote it.
    pub by: TaskId,
    /// When.
    pub written_at: Time,
}

/// Whose ledger: `project:…`, `team:…` or `org:…`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scope(Box<str>);

impl Scope {
    /// The scope as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it is a ledger of, and of which.
    pub fn parts(&self) -> (&str, &str) {
        self.0.split_once(':').unwrap_or((&self.0, ""))
    }
}

impl FromStr for Scope {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let named = text.split_once(':').is_some_and(|(kind, name)| {
            let name = name.parse::<crate::ids::ProjectId>();
            matches!(kind, "project" | "team" | "org") && name.is_ok()
        });
        let expected = "project:, team: or org: followed by a name";
        if named { Ok(Self(text.into())) } else { Err(BadId { expected }) }
    }
}

impl TryFrom<String> for Scope {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.0.into()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

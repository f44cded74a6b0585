//! Health checks of a store: whether it is writable, how durable its commits are, and whether its
//! data is damaged.

use async_trait::async_trait;
use serde::Serialize;

use crate::Result;

/// Checks of the store itself, not of the contents of the audit log.
#[async_trait]
pub trait StoreHealth {
    /// Commits a small write and reverts it. Fails where an ordinary request could not be stored: a
    /// full disk, a read-only disk or database, a database that does not respond. Repeated calls do
    /// not grow the store.
    async fn probe_write(&self) -> Result<()>;

    /// The settings on which the durability of commits depends; `None` where nothing can be set.
    async fn durability(&self) -> Result<Option<Durability>>;

    /// Runs the database's own integrity check, and compares lists, deadlines and the search index
    /// with the states they derive from. Reads everything once. Damage is a result and not an
    /// error: the call fails only if the database cannot be reached at all.
    async fn inspect(&self) -> Result<Inspection>;
}

/// The settings of a database server on which the durability of commits depends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Durability {
    /// Whether the database waits until a write is on disk. If it is off, a crash of the machine
    /// loses commits and may damage the database.
    pub fsync: String,
    /// Whether the write-ahead log holds full pages. If it is off, a crash of the machine may
    /// damage the database.
    pub full_page_writes: String,
    /// The level of durability that a commit of this server waits for.
    pub synchronous_commit: String,
    /// The standby servers a commit waits for; empty for none.
    pub synchronous_standby_names: String,
}

impl Durability {
    /// Warnings about the settings. Each one says what can be lost and what to do.
    pub fn warnings(&self) -> Vec<&'static str> {
        let mut warnings = Vec::new();
        if self.fsync == "off" {
            warnings.push(
                "fsync is off: if the machine stops, acknowledged requests are lost and the \
                 database may be damaged; set fsync = on in postgresql.conf",
            );
        }
        if self.full_page_writes == "off" {
            warnings.push(
                "full_page_writes is off: if the machine stops, the database may be damaged; set \
                 full_page_writes = on unless the file system writes pages atomically",
            );
        }
        warnings
    }
}

/// The result of an inspection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The damage found; at most [`MOST_DAMAGES`] of one kind.
    pub damages: Vec<Damage>,
    /// Checks that could not run, and what to do about it.
    pub notes: Vec<String>,
}

/// The most damages of one kind that an inspection reports.
pub const MOST_DAMAGES: usize = 100;

/// One damaged object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The id of the request or task concerned; `None` for the database itself.
    pub subject: Option<String>,
    /// The problem, in one sentence.
    pub why: String,
}

impl Damage {
    /// Damage reported by the database itself.
    pub(crate) fn database(why: impl Into<String>) -> Self {
        Self { subject: None, why: why.into() }
    }
}

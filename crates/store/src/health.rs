//! Whether a store can be relied on: that it can be written now, how durable its commits are, and
//! that nothing in it is damaged.

use async_trait::async_trait;
use serde::Serialize;

use crate::Result;

/// Checks of the store itself, not of what is in the record.
#[async_trait]
pub trait Health {
    /// Makes a small write durable and takes it back. Fails where an ordinary request could not be
    /// stored: a full disk, a read-only disk or database, a database that does not answer. However
    /// often it is called, the store does not grow.
    async fn probe_write(&self) -> Result<()>;

    /// The settings on which the durability of commits depends; `None` where nothing can be set.
    async fn durability(&self) -> Result<Option<Durability>>;

    /// Runs the database's own integrity check, and compares lists, deadlines and the search index
    /// with the states they derive from. Reads everything once. Damage is a result and not an error:
    /// it fails only where the database cannot be reached at all.
    async fn inspect(&self) -> Result<Inspection>;
}

/// The settings of a database server on which the durability of commits depends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Durability {
    /// Whether the database waits until the disk has what was written. Off loses commits, and may
    /// damage the database, when the machine stops.
    pub fsync: String,
    /// Whether the log holds whole pages. Off may damage the database when the machine stops.
    pub full_page_writes: String,
    /// What a commit waits for in a session of ours.
    pub synchronous_commit: String,
    /// The standby servers a commit waits for; empty for none.
    pub synchronous_standby_names: String,
}

impl Durability {
    /// What is wrong with the settings: each sentence says what can be lost and what to do.
    pub fn warnings(&self) -> Vec<&'static str> {
        let mut warnings = Vec::new();
        if self.fsync == "off" {
            warnings.push(
                "fsync is off: acknowledged requests are lost and the database may be damaged when \
                 the machine stops; set fsync = on in postgresql.conf",
            );
        }
        if self.full_page_writes == "off" {
            warnings.push(
                "full_page_writes is off: the database may be damaged when the machine stops; set \
                 full_page_writes = on unless the file system writes pages atomically",
            );
        }
        warnings
    }
}

/// What an inspection found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// What is damaged; at most [`MOST_DAMAGES`] of one kind.
    pub damages: Vec<Damage>,
    /// What could not be checked, and what to do about it.
    pub notes: Vec<String>,
}

/// How many damages of one kind an inspection names.
pub const MOST_DAMAGES: usize = 100;

/// One thing that is damaged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The request or task it is about, by its name; none if it is the database itself.
    pub subject: Option<String>,
    /// What is wrong.
    pub why: String,
}

impl Damage {
    /// Damage the database itself reports.
    pub(crate) fn database(why: impl Into<String>) -> Self {
        Self { subject: None, why: why.into() }
    }
}

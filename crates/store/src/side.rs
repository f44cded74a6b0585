//! The side table: what is kept beside the record and belongs to no event.
//!
//! Anchors, codes, devices, drafts, secrets and snoozes are rows of one table with a key, a version and an
//! expiry. A backend implements [`Side`] and nothing else; the modules below give each kind its types
//! and its rules, once for all backends.

mod anchors;
mod codes;
mod devices;
mod drafts;
mod erasure;
mod secrets;
mod snoozes;

use async_trait::async_trait;
use kernel::{AskId, HumanId, Time};
use ulid::Ulid;

pub use anchors::Anchors;
pub use codes::{CODE_TRIES, Code, CodeTried, Codes};
pub use devices::{Device, Devices};
pub use drafts::Drafts;
pub use erasure::SideErasure;
pub use secrets::{SECRET_READABLE_FOR, Secrets};
pub use snoozes::{MOST_SNOOZED, Snoozes};

use crate::{BoxError, Result, StoreError};

/// What sort of row it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SideKind {
    /// Up to which block the chain was anchored elsewhere.
    Anchor,
    /// A code that was sent to an address.
    Code,
    /// A device that receives push notifications.
    Device,
    /// An answer that was begun and not sent.
    Draft,
    /// A secret answer, or a bot token an agent lends for one ask.
    Secret,
    /// An ask a person has hidden for a while.
    Snooze,
    /// A device that was notified of an ask.
    DeviceNotified,
}

impl SideKind {
    /// Its name, as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Code => "code",
            Self::Device => "device",
            Self::Draft => "draft",
            Self::Secret => "secret",
            Self::Snooze => "snooze",
            Self::DeviceNotified => "device_notified",
        }
    }
}

/// One row. The ask and the human are whom it belongs to, so that it is found by them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideRow {
    /// What sort of row.
    pub kind: SideKind,
    /// Unique within its kind.
    pub key: String,
    /// The ask it belongs to.
    pub ask: Option<AskId>,
    /// The person it belongs to.
    pub human: Option<HumanId>,
    /// How often it was written. A store counts it; writers leave it at 0.
    pub version: u64,
    /// When [`Store::sweep`](crate::Store::sweep) deletes it, if ever.
    pub expires_at: Option<Time>,
    /// What it says.
    pub value: Vec<u8>,
}

/// What must hold for a row to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideCondition {
    /// Nothing: it replaces any row under its key.
    Always,
    /// There is no row under its key.
    Absent,
    /// The row under its key has this version.
    Version(u64),
    /// The ask of the row exists and is open.
    AskOpen,
    /// The person of the row has fewer than so many other rows of this kind.
    FewerThan(usize),
}

/// Which rows of a kind are read or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideRows {
    /// The one under this key.
    Key(String),
    /// Those whose keys begin so.
    Prefix(String),
    /// Those of these asks.
    Asks(Vec<AskId>),
    /// Those of these people.
    Humans(Vec<HumanId>),
}

impl SideRows {
    /// The first key and the first key behind the last, where rows are chosen by their keys. Keys are
    /// printable ASCII: a space sorts before every character they have, and `~` behind.
    pub(crate) fn range(&self) -> Option<(String, String)> {
        match self {
            Self::Key(key) => Some((key.clone(), format!("{key} "))),
            Self::Prefix(prefix) => Some((prefix.clone(), format!("{prefix}~"))),
            Self::Asks(_) | Self::Humans(_) => None,
        }
    }
}

/// The part a backend implements. Every method is one transaction.
#[async_trait]
pub trait Side: Send + Sync {
    /// Writes a row if the condition holds; whether it did.
    async fn put_side(&self, row: SideRow, condition: SideCondition) -> Result<bool>;

    /// The rows of a kind, expired or not, ordered by key.
    async fn side(&self, kind: SideKind, rows: SideRows) -> Result<Vec<SideRow>>;

    /// Deletes rows of several kinds; how many of each.
    async fn delete_side(&self, rows: Vec<(SideKind, SideRows)>) -> Result<Vec<u64>>;
}

/// The row under one key.
async fn row<S: Side + ?Sized>(store: &S, kind: SideKind, key: String) -> Result<Option<SideRow>> {
    Ok(store.side(kind, SideRows::Key(key)).await?.pop())
}

/// An id as part of a key. Not as it is shown, so that a database can write keys by itself.
fn part(id: Ulid) -> String {
    hex::encode(id.to_bytes())
}

/// What a value that is JSON says.
fn read<T: serde::de::DeserializeOwned>(what: &str, value: &[u8]) -> Result<T> {
    serde_json::from_slice(value).map_err(|error| damaged(what, error))
}

fn damaged(what: &str, source: impl Into<BoxError>) -> StoreError {
    StoreError::Damaged { what: what.to_owned(), source: source.into() }
}

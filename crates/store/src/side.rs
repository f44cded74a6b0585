//! The side table: data stored beside the audit log that belongs to no event.
//!
//! Anchors, codes, devices, drafts, secrets and snoozes are rows of one table with a key, a version
//! and an expiry. A backend implements only [`SideStore`]; the modules below give each kind its
//! types and its rules, once for all backends.

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

pub use anchors::AnchorStore;
pub use codes::{CODE_TRIES, CodeCheck, CodeStore, VerificationCode};
pub use devices::{Device, DeviceStore};
pub use drafts::DraftStore;
pub use erasure::SideErasure;
pub(crate) use secrets::secret_row;
pub use secrets::{SECRET_READABLE_FOR, SecretStore};
pub use snoozes::{MOST_SNOOZED, SnoozeStore};

use crate::{BoxError, Result, StoreError};

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SideKind {
    /// The last block that was anchored outside the server.
    Anchor,
    /// A verification code sent to an address.
    Code,
    /// A device that receives push notifications.
    Device,
    /// An answer that a person began and has not sent.
    Draft,
    /// A secret answer, or a bot token that an agent lends for one ask.
    Secret,
    /// An ask that a person has snoozed.
    Snooze,
    /// A device that was notified of an ask.
    DeviceNotified,
}

impl SideKind {
    /// The name of the kind, as stored.
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

/// One row. It can be looked up by the ask and the person it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideRow {
    /// The kind of the row.
    pub kind: SideKind,
    /// Unique within its kind.
    pub key: String,
    /// The ask it belongs to.
    pub ask: Option<AskId>,
    /// The person it belongs to.
    pub human: Option<HumanId>,
    /// How often the row was written. The store counts it; writers leave it at 0.
    pub version: u64,
    /// When [`Store::sweep`](crate::Store::sweep) deletes it; `None` for never.
    pub expires_at: Option<Time>,
    /// The content; its format depends on the kind.
    pub value: Vec<u8>,
}

/// A condition for writing a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideCondition {
    /// No condition: the row replaces any other under its key.
    Always,
    /// No row exists under its key.
    Absent,
    /// The row under its key has this version.
    Version(u64),
    /// The ask of the row exists and is open.
    AskOpen,
    /// The person of the row has fewer than this many other rows of the kind.
    FewerThan(usize),
}

/// The rows of a kind to read or delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SideSelection {
    /// The row under this key.
    Key(String),
    /// The rows whose keys begin with this prefix.
    Prefix(String),
    /// The rows of these asks.
    Asks(Vec<AskId>),
    /// The rows of these people.
    Humans(Vec<HumanId>),
}

impl SideSelection {
    /// The first key, and the first key after the last one, if rows are selected by key. Keys are
    /// printable ASCII: a space sorts before every character they contain, and `~` after.
    pub(crate) fn range(&self) -> Option<(String, String)> {
        match self {
            Self::Key(key) => Some((key.clone(), format!("{key} "))),
            Self::Prefix(prefix) => Some((prefix.clone(), format!("{prefix}~"))),
            Self::Asks(_) | Self::Humans(_) => None,
        }
    }
}

/// The methods a backend implements. Each one is one transaction.
#[async_trait]
pub trait SideStore: Send + Sync {
    /// Writes a row if the condition holds. Returns whether it did.
    async fn put_side(&self, row: SideRow, condition: SideCondition) -> Result<bool>;

    /// The rows of a kind, expired or not, ordered by key.
    async fn side(&self, kind: SideKind, rows: SideSelection) -> Result<Vec<SideRow>>;

    /// Deletes rows of several kinds. Returns the number of each.
    async fn delete_side(&self, rows: Vec<(SideKind, SideSelection)>) -> Result<Vec<u64>>;
}

/// The row under one key.
async fn row<S: SideStore + ?Sized>(
    store: &S,
    kind: SideKind,
    key: String,
) -> Result<Option<SideRow>> {
    Ok(store.side(kind, SideSelection::Key(key)).await?.pop())
}

/// An id as part of a key. It is hexadecimal and not in its display form, so that SQL
/// can compute keys.
fn key_part(id: Ulid) -> String {
    hex::encode(id.to_bytes())
}

/// Parses a JSON value.
fn read<T: serde::de::DeserializeOwned>(what: &str, value: &[u8]) -> Result<T> {
    serde_json::from_slice(value).map_err(|error| damaged(what, error))
}

fn damaged(what: &str, source: impl Into<BoxError>) -> StoreError {
    StoreError::Damaged { what: what.to_owned(), source: source.into() }
}

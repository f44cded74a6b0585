//! Usage counters of agents, projects and people, for quotas.
//!
//! Counters are rows of the database, so all nodes share them. Triggers count open requests
//! and the bytes of requests in the same transaction as the change; everything else is
//! counted with [`UsageStore::charge`].

use async_trait::async_trait;
use kernel::Time;
use ulid::Ulid;

use crate::Result;

/// One addition to one counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The counter, as [`Account::counter`](kernel::quota::Account::counter) names it.
    pub name: String,
    /// The amount added.
    pub by: u64,
    /// The most the counter may reach.
    pub limit: Option<u64>,
    /// When the charge counts, and until when.
    pub kind: ChargeLifetime,
}

/// How long a charge counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeLifetime {
    /// Until the given time, when the counter is deleted.
    Until(Time),
    /// Until the given time, and only once per name.
    OnceUntil(Time, String),
    /// Until [`UsageStore::release`] is called for this holder.
    Held(Ulid),
}

/// Storage of usage counters.
#[async_trait]
pub trait UsageStore {
    /// Adds all charges, or none if a counter would exceed its limit. Then it returns the index of
    /// the first such charge.
    async fn charge(&self, charges: Vec<Charge>) -> Result<Option<usize>>;

    /// The values of the counters, in the order of the names; 0 for a counter that does not exist.
    async fn used(&self, names: Vec<String>) -> Result<Vec<u64>>;

    /// Removes the charges of a holder.
    async fn release(&self, holder: Ulid) -> Result<()>;
}

/// The key that records that a member was counted.
pub(crate) fn member(counter: &str, member: &str) -> String {
    format!("{counter}/{member}")
}

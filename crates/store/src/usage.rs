//! What agents, projects and people use, for quotas.
//!
//! Counters are rows of the database, so they hold on every node. Open requests and the bytes of
//! requests are counted by triggers on the tables that hold them, in the same transaction; everything
//! else is counted with [`Usage::charge`].

use async_trait::async_trait;
use kernel::Time;
use ulid::Ulid;

use crate::Result;

/// One addition to one counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// The counter, as [`Account::counter`](kernel::quota::Account::counter) names it.
    pub name: String,
    /// How much is added.
    pub by: u64,
    /// What the counter may come to.
    pub limit: Option<u64>,
    /// What else says when it counts.
    pub kind: Counting,
}

/// How an addition counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counting {
    /// Until a moment, when the counter is deleted.
    Until(Time),
    /// Likewise, but only once for each of these names.
    OnceUntil(Time, String),
    /// Until [`Usage::release`] is called for this holder.
    Held(Ulid),
}

/// Counters of what is used.
#[async_trait]
pub trait Usage {
    /// Adds all charges, or none if a counter would go above its limit: then the place of the first
    /// such charge is returned.
    async fn charge(&self, charges: Vec<Charge>) -> Result<Option<usize>>;

    /// What counters stand at, in the order of their names; 0 for one that nobody counted.
    async fn used(&self, names: Vec<String>) -> Result<Vec<u64>>;

    /// Takes back what was charged for a holder.
    async fn release(&self, holder: Ulid) -> Result<()>;
}

/// The name under which it is remembered that somebody was counted.
pub(crate) fn member(counter: &str, member: &str) -> String {
    format!("{counter}/{member}")
}

//! Usage counters of agents, projects and people, for quotas.
//!
//! Counters are rows of the database, so all nodes share them. Open requests and the bytes of
//! requests are counted in the same transaction as the change, once for all requests of a commit.
//! In PostgreSQL triggers count requests that change or leave a list. Everything else is counted
//! with [`UsageStore::charge`].

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::quota::{Account, Metric};
use kernel::{Ask, Phase, Time};
use ulid::Ulid;

use crate::Result;
use crate::listing::ListEntry;

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

/// By how much the counters of open requests and of their bytes grow in a transaction. Many
/// requests have the same agent, project and people, so these counters are written once for all of
/// them.
#[derive(Debug, Default)]
pub(crate) struct CounterGrowth(BTreeMap<String, i64>);

impl CounterGrowth {
    /// Counts an ask that enters or leaves a list. Lists of pools, kinds and others have no
    /// counter.
    pub(crate) fn listed(&mut self, entry: &ListEntry, by: i64) {
        let counted = ["agent/", "project/", "human/"];
        if Phase::OPEN.contains(&entry.phase)
            && counted.iter().any(|prefix| entry.scope.starts_with(prefix))
        {
            self.add(format!("{}/{}", Metric::OpenAsks.as_str(), entry.scope), by);
        }
    }

    /// Counts the bytes by which the state of an ask grew.
    pub(crate) fn stored(&mut self, ask: &Ask, bytes: i64) {
        if bytes != 0 {
            let accounts =
                [Account::Agent(ask.agent.clone()), Account::Project(ask.project.clone())];
            for account in accounts {
                self.add(account.counter(Metric::StoredBytes, ask.head.at), bytes);
            }
        }
    }

    /// Adds the growth of a later job.
    pub(crate) fn extend(&mut self, more: Self) {
        more.0.into_iter().for_each(|(name, by)| self.add(name, by));
    }

    /// The counters that change, and by how much.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (String, i64)> + use<> {
        std::mem::take(&mut self.0).into_iter().filter(|(_, by)| *by != 0)
    }

    fn add(&mut self, name: String, by: i64) {
        *self.0.entry(name).or_default() += by;
    }
}

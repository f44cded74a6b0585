//! Checking the record, exporting it, and proving one event of it.
//!
//! A check reads the record twice, each time in the order that needs no memory. By subject: every
//! chain with the state it led to, spread over the cores; what is held at a time is a few stretches
//! of whole chains, however large the store. In feed order: hashes only, for positions and blocks.
//! A server may go on writing meanwhile: a chain and its state are read at one moment, and what is
//! newer than the beginning of the check is left to the next one.

mod blocks;
mod chains;
mod export;
mod finding;
mod import;
mod proof;

use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use dialects::proof::Jwks;
use kernel::audit::Digest;
use store::{Store, StoreError};

pub use export::Export;
pub use finding::{Finding, Place};
pub use import::check_export;
pub use proof::{NoProof, proof};

/// How many findings are kept; a store that is broken everywhere must not fill the memory.
const KEPT: usize = 1_000;

/// What a check found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many events were checked.
    pub events: u64,
    /// Of how many subjects.
    pub subjects: u64,
    /// How many blocks were checked.
    pub blocks: u64,
    /// The last of them.
    pub last_block: Option<(u64, Digest)>,
    /// How many events are newer than the last block.
    pub unsealed: u64,
    /// What does not hold, the first of it.
    pub findings: Vec<Finding>,
    /// How much more does not hold.
    pub more: u64,
}

impl Report {
    /// Whether everything holds.
    pub fn holds(&self) -> bool {
        self.findings.is_empty()
    }

    fn found(&mut self, finding: Finding) {
        if self.findings.len() < KEPT {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
    }
}

/// What to check against.
#[derive(Clone)]
pub struct Against {
    /// The keys blocks are signed with.
    pub keys: Arc<Jwks>,
    /// A block somebody wrote down: it must be in the chain.
    pub known: Option<(u64, Digest)>,
}

/// How far a check is: what is done, and of how much. Bytes or events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Done.
    pub done: u64,
    /// In all, as far as is known.
    pub total: u64,
    /// Events checked so far.
    pub events: u64,
}

/// Checks everything in a store.
pub async fn check(
    store: &Arc<dyn Store>,
    against: &Against,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report, StoreError> {
    let mut report = Report::default();
    chains::check(store, &mut report, progress).await?;
    blocks::check(store, against, &mut report).await?;
    Ok(report)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get)
}

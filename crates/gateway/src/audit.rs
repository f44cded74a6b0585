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
use store::{Damage, Inspection, Store, StoreError};

use crate::feed_head;
use crate::sealed_head::Heads;

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
    /// What could not be checked, and losses that were accepted.
    pub notes: Vec<String>,
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
#[derive(Clone, Default)]
pub struct Against {
    /// The keys blocks are signed with.
    pub keys: Arc<Jwks>,
    /// A block somebody wrote down: it must be in the chain.
    pub known: Option<(u64, Digest)>,
    /// The head of the feed and the losses that are kept outside the database.
    pub marked: Heads,
    /// Leave out the database's own integrity check, and the comparison of lists, deadlines and the
    /// search index with the states they derive from.
    pub quick: bool,
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
    if !against.quick {
        let Inspection { damages, notes } = store.inspect().await?;
        for damage in damages {
            report.found(Finding::Damaged(damage));
        }
        report.notes = notes;
    }
    let damaged = !report.holds();
    let checked = async {
        chains::check(store, &mut report, progress).await?;
        blocks::check(store, against, &mut report).await?;
        lost(store, &against.marked, &mut report).await
    };
    match checked.await {
        // What is damaged may keep the rest from being read: what was found is said all the same.
        Err(StoreError::Damaged { what, source }) if damaged => {
            let why = format!("the stored {what} cannot be read: {source}");
            report.found(Finding::Damaged(Damage { subject: None, why }));
            Ok(report)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(report),
    }
}

/// Acknowledged events that are missing, by what is kept outside the database.
async fn lost(
    store: &Arc<dyn Store>,
    marked: &Heads,
    report: &mut Report,
) -> Result<(), StoreError> {
    for loss in &marked.lost {
        if loss.accepted {
            report.notes.push(format!("accepted by an operator: {loss}"));
        } else {
            report.found(Finding::Lost(loss.clone()));
        }
    }
    if let Some(head) = marked.head
        && let Some(loss) = feed_head::lost(store, head).await?
    {
        report.found(Finding::Lost(loss));
    }
    Ok(())
}

fn cores() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get)
}

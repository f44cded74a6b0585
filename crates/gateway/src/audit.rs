//! Verifies the audit log, exports it, and proves single events.
//!
//! A verification reads the log twice, each time in the order that needs no memory. By subject:
//! every chain with the state it leads to, spread over the cores. Only a few groups of whole
//! chains are in memory at a time, whatever the size of the store. In feed order: hashes only,
//! for positions and blocks. A server may continue to write meanwhile: a chain and its state are
//! read in one snapshot, and events that are newer than the start of the verification are left to
//! the next one.

mod blocks;
mod chains;
mod export;
mod finding;
mod proof;
mod verify_export;

use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use dialects::proof::Jwks;
use kernel::audit::Digest;
use store::{Damage, Inspection, Store, StoreError};

use crate::feed_head;
use crate::sealed_head::Heads;

pub use export::AuditExport;
pub use finding::{AuditFinding, FindingLocation};
pub use proof::{NoProof, proof};
pub use verify_export::check_export;

/// The most findings that are kept, so that a store that is broken everywhere does not
/// exhaust the memory.
const MAX_FINDINGS: usize = 1_000;

/// The result of a verification.
#[derive(Debug, Default)]
pub struct AuditReport {
    /// The number of events that were checked.
    pub events: u64,
    /// The number of their subjects.
    pub subjects: u64,
    /// The number of blocks that were checked.
    pub blocks: u64,
    /// The last checked block, by number and hash.
    pub last_block: Option<(u64, Digest)>,
    /// The number of events after the last block.
    pub unsealed: u64,
    /// The first findings.
    pub findings: Vec<AuditFinding>,
    /// The number of further findings.
    pub more: u64,
    /// Parts that could not be checked, and accepted losses.
    pub notes: Vec<String>,
}

impl AuditReport {
    /// Whether there are no findings.
    pub fn holds(&self) -> bool {
        self.findings.is_empty()
    }

    fn add_finding(&mut self, finding: AuditFinding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
    }
}

/// What to verify against.
#[derive(Clone, Default)]
pub struct AuditBaseline {
    /// The keys that sign blocks.
    pub keys: Arc<Jwks>,
    /// A block that the operator recorded elsewhere. It must be in the chain.
    pub known: Option<(u64, Digest)>,
    /// The head of the feed and the losses, as recorded outside the database.
    pub marked: Heads,
    /// Skips the database's own integrity check, and the comparison of lists, deadlines and the
    /// search index with the states they derive from.
    pub quick: bool,
}

/// The progress of a verification, in bytes or events.
#[derive(Debug, Clone, Copy, Default)]
pub struct AuditProgress {
    pub done: u64,
    /// The total, as far as it is known.
    pub total: u64,
    /// The number of events checked so far.
    pub events: u64,
}

/// Verifies everything in a store.
pub async fn check(
    store: &Arc<dyn Store>,
    against: &AuditBaseline,
    progress: &mut (dyn FnMut(AuditProgress) + Send),
) -> Result<AuditReport, StoreError> {
    let mut report = AuditReport::default();
    if !against.quick {
        let Inspection { damages, notes } = store.inspect().await?;
        for damage in damages {
            report.add_finding(AuditFinding::Damaged(damage));
        }
        report.notes = notes;
    }
    let damaged = !report.holds();
    let checked = async {
        chains::check(store, &mut report, progress).await?;
        blocks::check(store, against, &mut report).await?;
        check_lost_events(store, &against.marked, &mut report).await
    };
    match checked.await {
        // Damage may prevent reading the rest. The findings so far are reported nevertheless.
        Err(StoreError::Damaged { what, source }) if damaged => {
            let why = format!("the stored {what} cannot be read: {source}");
            report.add_finding(AuditFinding::Damaged(Damage { subject: None, why }));
            Ok(report)
        }
        Err(error) => Err(error),
        Ok(()) => Ok(report),
    }
}

/// Acknowledged events that are missing, according to the head recorded outside the database.
async fn check_lost_events(
    store: &Arc<dyn Store>,
    marked: &Heads,
    report: &mut AuditReport,
) -> Result<(), StoreError> {
    for loss in &marked.lost {
        if loss.accepted {
            report.notes.push(format!("accepted by an operator: {loss}"));
        } else {
            report.add_finding(AuditFinding::Lost(loss.clone()));
        }
    }
    if let Some(head) = marked.head
        && let Some(loss) = feed_head::loss_since(store, head).await?
    {
        report.add_finding(AuditFinding::Lost(loss));
    }
    Ok(())
}

fn cores() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get)
}

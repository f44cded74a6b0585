//! Verifies the feed and its blocks: no position is missing, and every block is valid.

use std::collections::VecDeque;
use std::sync::Arc;

use dialects::proof::{Jwks, ProofError, jws};
use futures_util::{Stream, StreamExt, stream};
use kernel::seal::{Block, BlockError, BlockFault, BlockVerifier};
use store::{SealedBlock, Store, StoreError};

use super::{AuditBaseline, AuditFinding, AuditReport, cores};

/// The number of hashes per read.
const PAGE: usize = 8_192;
/// The number of blocks per read. Each has a signature to check.
const BLOCKS: usize = 128;

/// Checks the positions, and every block against the records it covers.
pub(super) async fn check(
    store: &Arc<dyn Store>,
    against: &AuditBaseline,
    report: &mut AuditReport,
) -> Result<(), StoreError> {
    // The order matters: a block that is closed after this covers only later records.
    let newest = store.block(store::BlockQuery::Last).await?.map_or(0, |sealed| sealed.block.n);
    let end = store.last_position().await?;
    let mut blocks = std::pin::pin!(verified_blocks(store, &against.keys, newest));
    let mut waiting: VecDeque<OpenedBlock> = VecDeque::new();
    let mut more = true;
    let mut chain = BlockChain::new(BlockVerifier::default(), against);
    let mut position = 0;
    while position < end {
        let hashes = store.hashes(position, PAGE).await?;
        if hashes.is_empty() {
            break;
        }
        for (at, hash) in hashes {
            if at > end {
                position = end;
                break;
            }
            if at != position + 1 {
                report.add_finding(AuditFinding::Missing { position: at });
            }
            position = at;
            loop {
                if waiting.is_empty() && more {
                    match blocks.next().await {
                        Some(page) => waiting.extend(page?),
                        None => more = false,
                    }
                    continue;
                }
                match waiting.front() {
                    Some(next) if next.block.first <= at => {}
                    Some(_) | None => break,
                }
                if let Some(next) = waiting.pop_front() {
                    chain.block(&next, report);
                }
            }
            chain.seals.record(at, hash, &mut |unsound| {
                report.add_finding(AuditFinding::Unsound(unsound));
            });
        }
    }
    // Blocks that cover missing records.
    loop {
        for next in waiting.drain(..) {
            chain.block(&next, report);
        }
        match blocks.next().await {
            Some(page) => waiting.extend(page?),
            None => break,
        }
    }
    chain.finish(report);
    Ok(())
}

/// A block as it was signed, and its flaw if the signature does not hold.
pub(super) struct OpenedBlock {
    pub(super) block: Block,
    pub(super) flaw: Option<BlockFault>,
}

impl OpenedBlock {
    /// Checks the signature, and that the stored block equals the signed one.
    pub(super) fn of(sealed: SealedBlock, keys: &Jwks) -> Self {
        let flaw = match jws::open::<Block>(&sealed.jws, Block::TYP, keys) {
            Ok(signed) if signed == sealed.block => None,
            Ok(_) | Err(ProofError::Claims) => Some(BlockFault::Columns),
            Err(_) => Some(BlockFault::Signature),
        };
        Self { block: sealed.block, flaw }
    }
}

/// Blocks in order with their signatures checked, on all cores.
fn verified_blocks(
    store: &Arc<dyn Store>,
    keys: &Arc<Jwks>,
    newest: u64,
) -> impl Stream<Item = Result<Vec<OpenedBlock>, StoreError>> {
    let pages = stream::unfold(Some(0), move |after: Option<u64>| async move {
        let after = after.filter(|after| *after < newest)?;
        match store.blocks(after, BLOCKS).await {
            Ok(mut page) => {
                page.retain(|sealed| sealed.block.n <= newest);
                let next = page.last().map(|sealed| sealed.block.n);
                Some((Ok(page), next))
            }
            Err(error) => Some((Err(error), None)),
        }
    });
    let open = move |page: Result<Vec<SealedBlock>, StoreError>| {
        let keys = Arc::clone(keys);
        async move {
            let page = page?;
            let open = move || page.into_iter().map(|one| OpenedBlock::of(one, &keys)).collect();
            tokio::task::spawn_blocking(open)
                .await
                .map_err(|error| StoreError::Unavailable(error.into()))
        }
    };
    pages.map(open).buffered(cores() + 1)
}

/// Consecutive blocks, and whether the block that the operator recorded is among them.
pub(super) struct BlockChain {
    pub(super) seals: BlockVerifier,
    known: Option<(u64, kernel::audit::Digest)>,
    met: bool,
}

impl BlockChain {
    pub(super) fn new(seals: BlockVerifier, against: &AuditBaseline) -> Self {
        Self { seals, known: against.known, met: false }
    }

    pub(super) fn block(&mut self, opened: &OpenedBlock, report: &mut AuditReport) {
        let block = &opened.block;
        report.blocks += 1;
        if let Some(flaw) = opened.flaw {
            report.add_finding(AuditFinding::Unsound(BlockError { n: block.n, flaw }));
        }
        self.met |= self.known == Some((block.n, block.hash()));
        self.seals.block(block, &mut |unsound| report.add_finding(AuditFinding::Unsound(unsound)));
    }

    pub(super) fn finish(mut self, report: &mut AuditReport) {
        self.seals.finish(&mut |unsound| report.add_finding(AuditFinding::Unsound(unsound)));
        report.unsealed = self.seals.unsealed();
        report.last_block = self.seals.last();
        if let Some((n, hash)) = self.known.filter(|_| !self.met) {
            report.add_finding(AuditFinding::Unknown { n, hash });
        }
    }
}

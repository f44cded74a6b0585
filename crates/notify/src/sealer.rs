//! Seals records into signed blocks: when the oldest unsealed record is old enough, when a block is
//! full, on start and on stop. Nothing has to be recovered after a crash: unsealed records are read
//! from the store. Two sealers cannot fork the chain: the store accepts a block only after the last
//! one.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use gateway::sealed_head::{HeadFile, SealedHead};
use gateway::signing::Signer;
use kernel::Time;
use kernel::audit::Digest;
use kernel::seal::{Block, LARGEST, MerkleTree};
use store::outage::Outage;
use store::{AnnouncedChange, Clock, SealedBlock, Store};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The shortest interval between two checks whether it is time to seal.
const TICK: Duration = Duration::from_secs(1);
/// How many hashes are read at once, so that other reads do not wait long.
const PAGE: usize = 4096;

/// Seals records into signed blocks.
pub struct Sealer {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    signer: Signer,
    issuer: String,
    sealed_head: HeadFile,
    /// The number of the newest block this process has seen.
    newest: watch::Sender<u64>,
    outage: Outage,
}

impl Sealer {
    /// A sealer that signs as `issuer` and writes the newest block to `sealed_head`.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        signer: Signer,
        issuer: String,
        sealed_head: HeadFile,
    ) -> Self {
        let (newest, outage) = (watch::Sender::new(0), Outage::new("sealing"));
        Self { store, clock, signer, issuer, sealed_head, newest, outage }
    }

    /// The keys that sign blocks.
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// The issuer that blocks name.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Changes with every new block.
    pub fn newest(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Seals every record, in as many blocks as it takes. Returns how many.
    pub async fn seal(&self) -> anyhow::Result<u64> {
        let end = self.store.last_position().await?;
        let head = self.last_sealed_here().await?;
        let mut closed = 0;
        loop {
            let last = self.store.block(store::BlockQuery::Last).await?.map(|sealed| sealed.block);
            if let Some(last) = &last {
                if head.is_none_or(|head| head.n < last.n) {
                    self.sealed_head.write(SealedHead { n: last.n, hash: last.hash() })?;
                }
                self.newest.send_if_modified(|n| std::mem::replace(n, last.n) != last.n);
            }
            if last.as_ref().map_or(1, Block::end) > end {
                return Ok(closed);
            }
            let Some(block) = self.next(last.as_ref(), end).await? else { return Ok(closed) };
            let jws = self.signer.sign(Block::TYP, &block, block.at);
            let (n, count) = (block.n, block.count);
            // If not, another node was faster, and its block is the last one now.
            if self.store.append_block(SealedBlock { block, jws }).await? {
                closed += 1;
                metrics::counter!("countersign_blocks_sealed_total").increment(1);
                tracing::debug!(block.n = n, block.records = count, "sealed a block");
            }
        }
    }

    /// The block that was written to the file last. It must still be in the database.
    async fn last_sealed_here(&self) -> anyhow::Result<Option<SealedHead>> {
        let Some(head) = self.sealed_head.read()? else { return Ok(None) };
        let found = self.store.blocks(head.n.saturating_sub(1), 1).await?;
        let there =
            found.iter().any(|sealed| sealed.block.n == head.n && sealed.block.hash() == head.hash);
        if !there {
            bail!(
                "block {}, which this server sealed, is not in the audit log; sealing stopped. \
                 See docs/audit.md, \"A record that lost its end\"",
                head.n
            );
        }
        Ok(Some(head))
    }

    /// A block of the records after the last block, up to `end`.
    async fn next(&self, last: Option<&Block>, end: u64) -> anyhow::Result<Option<Block>> {
        let first = last.map_or(1, Block::end);
        let to = end.min(first + LARGEST - 1);
        let mut tree = MerkleTree::default();
        while first + tree.len() <= to {
            let after = first + tree.len() - 1;
            let limit = usize::try_from(to - after).unwrap_or(PAGE).min(PAGE);
            let hashes = self.store.hashes(after, limit).await?;
            if hashes.is_empty() {
                break;
            }
            for (position, hash) in hashes {
                if position != first + tree.len() {
                    bail!("events are missing before position {position}; sealing stopped");
                }
                tree.push(hash);
            }
        }
        Ok((!tree.is_empty()).then(|| Block {
            issuer: self.issuer.clone(),
            n: last.map_or(1, |last| last.n + 1),
            first,
            count: tree.len(),
            root: tree.root(),
            prev: last.map_or(Digest::ZERO, Block::hash),
            at: last.map_or_else(|| self.clock.now(), |last| last.at.max(self.clock.now())),
        }))
    }

    /// How many records are not sealed yet.
    pub async fn unsealed(&self) -> anyhow::Result<u64> {
        let sealed =
            self.store.block(store::BlockQuery::Last).await?.map_or(1, |sealed| sealed.block.end());
        Ok((self.store.last_position().await? + 1).saturating_sub(sealed))
    }

    /// Seals, and logs a failure. Returns whether it succeeded.
    async fn try_seal(&self) -> bool {
        let outcome = self.seal().await;
        match &outcome {
            Ok(_) => self.outage.worked("sealer"),
            Err(error) => {
                metrics::counter!("countersign_seal_failures_total").increment(1);
                self.outage.failed("sealer", &format!("{error:#}"));
            }
        }
        outcome.is_ok()
    }

    /// Whether it is time to seal records that wait since `since`.
    async fn is_time(&self, since: Time, every: Duration) -> bool {
        // Another node may have sealed the records that waited then.
        let last = self.store.block(store::BlockQuery::Last).await.ok().flatten();
        let since = last.map_or(since, |last| last.block.at.max(since));
        let waited = self.clock.now().millis() - since.millis();
        // A clock that was set back must not delay sealing forever.
        let due = u128::try_from(waited).is_ok_and(|waited| waited >= every.as_millis());
        due || waited < 0 || self.unsealed().await.is_ok_and(|n| n >= LARGEST)
    }
}

/// Runs until shutdown. `Server::stop` seals once more, when nothing is written any more.
pub async fn run(
    sealer: Arc<Sealer>,
    every: Duration,
    mut feed: Receiver<Arc<[AnnouncedChange]>>,
    stop: CancellationToken,
) {
    // Records that a previous process left.
    let mut waiting = !sealer.try_seal().await;
    loop {
        let mut since = sealer.clock.now();
        if !waiting {
            let news = tokio::select! {
                () = stop.cancelled() => return,
                news = feed.recv() => news,
            };
            since = match news {
                // Counted from the event itself, however late it is announced.
                Ok(news) => news.first().map_or(since, |first| first.change.at),
                Err(RecvError::Lagged(_)) => since,
                Err(RecvError::Closed) => return,
            };
        }
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(TICK) => {}
            }
            if sealer.is_time(since, every).await {
                break;
            }
        }
        // Changes that are committed from here on are read from the feed, even if this block
        // contains them already.
        while !matches!(feed.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
        waiting = !sealer.try_seal().await;
    }
}

//! Everything in maps behind one lock: for tests, and as a readable reference.
//!
//! Nothing survives the process. Every other backend behaves like this one. Where two backends
//! differ, the `suite` lacks a check.

mod chains;
mod files;
mod followers;
mod health;
mod insights;
mod listing;
mod messages;
mod side;
mod state;
mod tasks;
mod uploads;
mod usage;
mod work_queue;

use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use kernel::audit::{Digest, RecordRow};
use kernel::directory::Directory;
use kernel::{Ask, AskId, HumanId, KeyId, ProjectId, Time};
use tokio::sync::broadcast;
use ulid::Ulid;

use crate::job::{self, UnitOfWork, keeps_key};
use crate::leases::WakeUp;
use crate::listing::{AskListPage, AskListQuery, Count, ExpiringQuery};
use crate::messages::expired_before;
use crate::paging;
use crate::work_queue::unlogged_before;
use crate::{
    AnnouncedChange, AskStore, AuditFeed, BlockQuery, ChainPage, Change, Clock, FEED_CAPACITY,
    FeedQuery, FileHolderStore, Job, JobOutcome, KeyUseStore, ReceiptSignature, ReceiptSignatures,
    Result, SealedBlock, SearchIndex, SearchQuery, Store, later,
};
use state::{MemoryState, record_index};

/// A store that lives as long as its process.
pub struct Memory {
    clock: Arc<dyn Clock>,
    feed: broadcast::Sender<Arc<[AnnouncedChange]>>,
    state: Mutex<MemoryState>,
}

impl Memory {
    /// An empty store.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let (feed, _) = broadcast::channel(FEED_CAPACITY);
        Self { clock, feed, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, MemoryState> {
        // Every write is computed before the first map changes, so a panic leaves no partial write.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for Memory {
    async fn transact(&self, job: Job) -> Result<JobOutcome> {
        let mut state = self.state();
        let before = state.records.len() as u64;
        let outcome = job::transact(&mut *state, self.clock.now(), &job, None)?;
        let news: Arc<[AnnouncedChange]> = state.news(before).collect();
        if !news.is_empty() {
            // A feed without receivers is not an error.
            let _ = self.feed.send(news);
        }
        Ok(outcome)
    }

    fn directory(&self) -> Arc<Directory> {
        self.state().directory()
    }

    async fn sweep(&self, now: Time) -> Result<u64> {
        let mut state = self.state();
        let before = state.idempotency.len();
        let MemoryState { idempotency, asks, .. } = &mut *state;
        idempotency.retain(|_, remembered| {
            let ask = remembered.ask.and_then(|id| asks.get(&id));
            remembered.is_recent(now) || ask.is_some_and(|ask| keeps_key(ask, now))
        });
        state.sweep_side(now);
        state.used.retain(|_, (_, until)| *until > now);
        let expired = unlogged_before(now);
        state.log.retain(|_, logged| logged.updated_at > expired);
        let forgotten = expired_before(now);
        state.messages.retain(|_, message| !message.over || message.updated_at > forgotten);
        Ok((before - state.idempotency.len()) as u64)
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl AskStore for Memory {
    async fn ask(&self, id: AskId) -> Result<Option<Arc<Ask>>> {
        Ok(self.state().ask(id)?.map(Arc::new))
    }

    async fn ask_ids(&self, after: Option<AskId>, limit: usize) -> Result<Vec<AskId>> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let ids = self
            .state()
            .asks
            .range((from, Bound::Unbounded))
            .take(limit)
            .map(|(id, _)| *id)
            .collect();
        Ok(ids)
    }

    async fn ask_by_idempotency_key(
        &self,
        scope: String,
        key: String,
        now: Time,
    ) -> Result<Option<AskId>> {
        let mut state = self.state();
        let Some(earlier) = state.idempotency_record(&scope, &key)? else { return Ok(None) };
        let ask = earlier.ask.and_then(|id| state.asks.get(&id));
        let counts = earlier.is_recent(now) || ask.is_some_and(|ask| keeps_key(ask, now));
        Ok(earlier.ask.filter(|_| counts))
    }

    async fn list(&self, list: AskListQuery) -> Result<AskListPage> {
        let state = self.state();
        let found = paging::page(&*state, &list)?;
        let asks = found.ids.iter().filter_map(|id| state.asks.get(id).cloned()).collect();
        Ok(AskListPage { asks, next: found.next })
    }

    async fn count(&self, list: AskListQuery) -> Result<Count> {
        paging::count(&*self.state(), &list)
    }

    async fn expiring(&self, wanted: ExpiringQuery) -> Result<Vec<Ask>> {
        let state = self.state();
        Ok(listing::expiring(&state, &wanted))
    }

    async fn claim_due(&self, now: Time, lease: Duration, limit: usize) -> Result<Vec<AskId>> {
        let state = self.state();
        Ok(state.leases.claim(now, later(now, lease), state.due(now), limit))
    }

    async fn next_due(&self) -> Result<Option<Time>> {
        let state = self.state();
        let wakes: Vec<WakeUp> = state.wakes.iter().take(state.leases.len() + 1).copied().collect();
        Ok(state.leases.next(&wakes))
    }

    async fn claim_ended(
        &self,
        project: ProjectId,
        since: Time,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<AskId>> {
        let state = self.state();
        let own = |(_, id): &&WakeUp| state.asks.get(id).is_some_and(|ask| ask.project == project);
        let over = state.over.iter().take_while(|(at, _)| *at <= since);
        let over = over.filter(own).copied().collect();
        Ok(state.over_leases.claim(now, later(now, lease), over, limit))
    }

    async fn view(&self, ask: AskId, human: HumanId, until: Option<Time>) -> Result<()> {
        self.state().viewers.view(ask, human, until);
        Ok(())
    }

    async fn viewers(&self, asks: Vec<AskId>, now: Time) -> Result<Vec<(AskId, HumanId)>> {
        Ok(self.state().viewers.viewers_of(&asks, now))
    }
}

#[async_trait]
impl ReceiptSignatures for Memory {
    async fn store_receipt_signatures(&self, new: Vec<ReceiptSignature>) -> Result<Vec<AskId>> {
        let mut state = self.state();
        let mut changed = Vec::new();
        for ReceiptSignature { ask, version, claims, kid, signature } in new {
            if state.asks.get(&ask).is_some_and(|there| there.head.seq == version) {
                state.receipt_signatures.insert((ask, claims), (kid, signature));
            } else {
                changed.push(ask);
            }
        }
        Ok(changed)
    }

    async fn receipt_signature(
        &self,
        ask: AskId,
        claims: Digest,
    ) -> Result<Option<(String, Vec<u8>)>> {
        Ok(self.state().receipt_signatures.get(&(ask, claims)).cloned())
    }
}

#[async_trait]
impl KeyUseStore for Memory {
    async fn touch_keys(&self, used: Vec<(KeyId, Time)>) -> Result<()> {
        let mut state = self.state();
        for (key, at) in used {
            let last = state.key_use.entry(key).or_insert(at);
            *last = at.max(*last);
        }
        Ok(())
    }

    async fn key_used(&self, id: KeyId) -> Result<Option<Time>> {
        Ok(self.state().key_use.get(&id).copied())
    }
}

#[async_trait]
impl AuditFeed for Memory {
    async fn changes(&self, of: FeedQuery, limit: usize) -> Result<Vec<Change>> {
        let state = self.state();
        let positions = state.positions(&of, limit);
        Ok(positions.into_iter().filter_map(|at| state.change(at)).collect())
    }

    async fn rows(&self, of: FeedQuery, limit: usize) -> Result<Vec<RecordRow>> {
        let state = self.state();
        let positions = state.positions(&of, limit);
        Ok(positions.into_iter().filter_map(|at| state.row(at)).collect())
    }

    fn feed(&self) -> broadcast::Receiver<Arc<[AnnouncedChange]>> {
        self.feed.subscribe()
    }

    async fn last_position(&self) -> Result<u64> {
        Ok(self.state().records.len() as u64)
    }

    async fn hashes(&self, position: u64, limit: usize) -> Result<Vec<(u64, Digest)>> {
        let state = self.state();
        Ok(state
            .after(position, limit)
            .map(|(place, record)| (place as u64 + 1, record.hash))
            .collect())
    }

    async fn chains(&self, after: Option<String>, limit: usize) -> Result<ChainPage> {
        Ok(self.state().chains(after.as_deref(), limit))
    }

    async fn append_block(&self, sealed: SealedBlock) -> Result<bool> {
        let mut state = self.state();
        let fits = sealed.follows(state.blocks.last(), state.records.len() as u64);
        if fits {
            state.blocks.push(sealed);
        }
        Ok(fits)
    }

    async fn block(&self, which: BlockQuery) -> Result<Option<SealedBlock>> {
        let state = self.state();
        Ok(match which {
            BlockQuery::Last => state.blocks.last(),
            BlockQuery::At(position) => state
                .blocks
                .iter()
                .find(|sealed| (sealed.block.first..sealed.block.end()).contains(&position)),
        }
        .cloned())
    }

    async fn blocks(&self, n: u64, limit: usize) -> Result<Vec<SealedBlock>> {
        Ok(self.state().blocks.iter().skip(record_index(n)).take(limit).cloned().collect())
    }
}

#[async_trait]
impl SearchIndex for Memory {
    async fn search(&self, wanted: SearchQuery) -> Result<Vec<Ask>> {
        let state = self.state();
        let Some(terms) = wanted.terms() else { return Ok(Vec::new()) };
        let newest = state.asks.values().rev().filter(|ask| terms.admit(ask));
        Ok(newest.take(wanted.limit()).cloned().collect())
    }

    async fn index(&self, _: usize) -> Result<usize> {
        Ok(0)
    }
}

#[async_trait]
impl FileHolderStore for Memory {
    async fn record_file(&self, holder: Ulid, digest: Digest) -> Result<()> {
        self.state().files.insert((holder, digest));
        Ok(())
    }

    async fn own_files(&self, holder: Ulid) -> Result<Vec<Digest>> {
        Ok(self.state().own_files(holder))
    }

    async fn file_holders(&self, digest: Digest) -> Result<Vec<Ulid>> {
        let state = self.state();
        let given = state.files.iter().filter(|(_, one)| *one == digest);
        Ok(given.map(|(holder, _)| *holder).collect())
    }

    async fn forget_files(&self, holder: Ulid, only: Option<Digest>) -> Result<()> {
        self.state()
            .files
            .retain(|(of, digest)| *of != holder || only.is_some_and(|only| only != *digest));
        Ok(())
    }
}

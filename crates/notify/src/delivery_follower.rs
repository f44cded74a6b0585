//! Follows the event feed and writes the deliveries that follow from it.
//!
//! ```text
//! commit ──▶ feed ──▶ follow-ups of each event ──▶ deliveries ──▶ one commit: position + work
//! ```
//!
//! A commit hands its events over in memory. The follower reads events back only where it has none
//! in memory: after a start, after falling behind, and for events of other nodes. Its position and
//! the work are written in one commit. So each event becomes work exactly once, wherever the
//! process dies, and of two nodes that follow at the same moment one has its step refused.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use gateway::Gateway;
use kernel::ask::Priority;
use kernel::{Ask, AskId, FollowUp, Subject, Time, follow_ups};
use store::Work;
use store::followers::{DELIVERIES, FollowerAdvance};
use store::{AnnouncedChange, StoreError};
use tokio::sync::{Mutex, Notify, broadcast};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use ulid::Ulid;

/// Events handled in one step.
const BATCH: usize = 500;
/// Events whose follow-ups are kept in memory. A follower that is further behind reads them back.
const MAX_EVENTS_IN_MEMORY: usize = 10_000;
/// How long to wait for the end of a burst: one commit then serves many events. Critical
/// notifications do not wait.
const BURST_WAIT: Duration = Duration::from_millis(20);
/// How soon to look for events that nothing announced.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long a node runs the follower without saying so again. A node that dies is replaced after
/// this time and a tick.
const LEASE: Duration = Duration::from_secs(3);

/// Turns follow-ups into deliveries.
#[async_trait]
pub trait DeliveryPlanner: Send + Sync {
    /// The deliveries for these follow-ups, each with the moment of its event, and when each is
    /// due.
    async fn deliveries(
        &self,
        follow_ups: Vec<(Time, Work)>,
    ) -> Result<Vec<(Time, Work)>, StoreError>;
}

/// The follower that writes deliveries.
pub struct DeliveryFollower {
    gateway: Gateway,
    plan: Arc<dyn DeliveryPlanner>,
    handed_over: SyncMutex<VecDeque<AnnouncedChange>>,
    progress: Mutex<FollowerProgress>,
}

#[derive(Default)]
struct FollowerProgress {
    /// The position in the store; unknown at first and after a failed step.
    stored: Option<u64>,
    /// The position up to which events are handled. Events after the stored position produced no
    /// work.
    handled: u64,
    stored_at: Option<Time>,
}

/// Where the events of a step came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchOrigin {
    Nothing,
    HandedOver,
    ReadBack,
}

/// Some events and what follows from them.
struct FollowUpBatch {
    to: u64,
    follow_ups: Vec<(Time, Work)>,
}

impl DeliveryFollower {
    /// A follower of the feed of this gateway.
    pub fn new(gateway: Gateway, plan: Arc<dyn DeliveryPlanner>) -> Self {
        let (handed_over, progress) = (SyncMutex::default(), Mutex::default());
        Self { gateway, plan, handed_over, progress }
    }

    /// Follows until shutdown, and rings `work` whenever there may be deliveries to execute.
    pub async fn run(
        &self,
        mut feed: broadcast::Receiver<Arc<[AnnouncedChange]>>,
        work: Arc<Notify>,
        stop: CancellationToken,
    ) {
        let (node, database) = (self.gateway.ids().ulid(), self.gateway.database());
        let mut leads_since = None;
        loop {
            database
                .note("notifications", &self.handle_all(node, &mut leads_since, &mut feed).await);
            work.notify_one();
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                closed = self.wait_for_burst(&mut feed) => if closed {
                    return;
                },
            }
        }
        let stored = self.store_position(Duration::ZERO).await;
        database.note("notifications", &stored);
    }

    /// Waits for an event, and then for the end of a burst or for a critical event. Returns whether
    /// the feed is closed.
    async fn wait_for_burst(&self, feed: &mut broadcast::Receiver<Arc<[AnnouncedChange]>>) -> bool {
        let mut end = None;
        loop {
            let news = match end {
                None => feed.recv().await,
                Some(end) => match tokio::time::timeout_at(end, feed.recv()).await {
                    Ok(news) => news,
                    Err(_) => return false,
                },
            };
            match news {
                Ok(news) if self.hand_over(&news) => return false,
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    end.get_or_insert_with(|| Instant::now() + BURST_WAIT);
                }
                Err(broadcast::error::RecvError::Closed) => return true,
            }
        }
    }

    /// Handles everything there is, if this node runs the follower. A busy node does not extend its
    /// lease with every round, but once a tick.
    async fn handle_all(
        &self,
        node: Ulid,
        leads_since: &mut Option<Instant>,
        feed: &mut broadcast::Receiver<Arc<[AnnouncedChange]>>,
    ) -> Result<(), StoreError> {
        if leads_since.is_none_or(|since| since.elapsed() >= POLL_INTERVAL) {
            let asked = Instant::now();
            let leads = self
                .gateway
                .store()
                .acquire_lead(DELIVERIES, node, self.gateway.now(), LEASE)
                .await;
            *leads_since = matches!(leads, Ok(true)).then_some(asked);
            if !leads? {
                self.handed_over().clear();
                *self.progress.lock().await = FollowerProgress::default();
                return Ok(());
            }
        }
        loop {
            // Under load there are always newer events in the store. They are announced here too,
            // so reading them back would only repeat the work.
            while let Ok(news) = feed.try_recv() {
                self.hand_over(&news);
            }
            match self.handle().await? {
                BatchOrigin::Nothing => break,
                BatchOrigin::HandedOver if self.handed_over().is_empty() && feed.is_empty() => {
                    break;
                }
                BatchOrigin::HandedOver | BatchOrigin::ReadBack => {}
            }
        }
        self.store_position(POLL_INTERVAL).await
    }

    /// Handles everything that is committed by now, and stores the position.
    pub async fn catch_up(&self) -> Result<(), StoreError> {
        while self.step().await? {}
        self.store_position(Duration::ZERO).await
    }

    /// The deliveries for follow-ups that an earlier release wrote as work.
    pub async fn deliveries(
        &self,
        follow_ups: Vec<(Time, Work)>,
    ) -> Result<Vec<(Time, Work)>, StoreError> {
        self.plan.deliveries(follow_ups).await
    }

    /// Takes events over from a commit of this process. Returns whether one of them is critical.
    pub fn hand_over(&self, news: &[AnnouncedChange]) -> bool {
        let mut handed_over = self.handed_over();
        if handed_over.len() + news.len() > MAX_EVENTS_IN_MEMORY {
            handed_over.clear();
        }
        handed_over.extend(news.iter().cloned());
        let follow_ups = news.iter().filter_map(|news| news.follow_ups.as_ref());
        follow_ups.flat_map(|follow_ups| follow_ups.iter()).any(is_critical)
    }

    /// Handles some events. Returns whether there may be more.
    pub async fn step(&self) -> Result<bool, StoreError> {
        Ok(self.handle().await? != BatchOrigin::Nothing)
    }

    /// Handles some events: those that were handed over, or else those in the store.
    async fn handle(&self) -> Result<BatchOrigin, StoreError> {
        let mut progress = self.progress.lock().await;
        if progress.stored.is_none() {
            let stored = self.gateway.store().follower(DELIVERIES).await?;
            *progress = FollowerProgress { stored: Some(stored), handled: stored, stored_at: None };
        }
        let (batch, handled) = match self.handed_over_after(progress.handled) {
            Some(batch) => (batch, BatchOrigin::HandedOver),
            None => (self.read_back(progress.handled).await?, BatchOrigin::ReadBack),
        };
        if batch.to == progress.handled {
            return Ok(BatchOrigin::Nothing);
        }
        let work = if batch.follow_ups.is_empty() {
            Vec::new()
        } else {
            self.plan.deliveries(batch.follow_ups).await?
        };
        progress.handled = batch.to;
        if !work.is_empty() {
            self.store_step(&mut progress, work).await?;
        }
        Ok(handled)
    }

    /// Stores the position where no work did it, unless that was done less than `every` ago: a
    /// request that notifies no one costs no commit of its own.
    async fn store_position(&self, every: Duration) -> Result<(), StoreError> {
        let mut progress = self.progress.lock().await;
        let behind = progress.stored.is_some_and(|stored| stored < progress.handled);
        let recent = progress.stored_at.is_some_and(|at| {
            let passed = self.gateway.now().millis().saturating_sub(at.millis());
            u128::try_from(passed).is_ok_and(|passed| passed < every.as_millis())
        });
        if behind && !recent { self.store_step(&mut progress, Vec::new()).await } else { Ok(()) }
    }

    async fn store_step(
        &self,
        progress: &mut FollowerProgress,
        work: Vec<(Time, Work)>,
    ) -> Result<(), StoreError> {
        // Unknown until the store confirms the step.
        let Some(from) = progress.stored.take() else { return Ok(()) };
        let step = FollowerAdvance { follower: DELIVERIES, from, to: progress.handled, work };
        if self.gateway.store().advance(step).await? {
            progress.stored = Some(progress.handled);
            progress.stored_at = Some(self.gateway.now());
        }
        Ok(())
    }

    /// The events after a position that were handed over, if the first of them was.
    fn handed_over_after(&self, position: u64) -> Option<FollowUpBatch> {
        let mut handed_over = self.handed_over();
        while handed_over.front().is_some_and(|news| news.change.position <= position) {
            handed_over.pop_front();
        }
        let mut batch = FollowUpBatch { to: position, follow_ups: Vec::new() };
        for _ in 0..BATCH {
            let next = handed_over.front().filter(|news| news.change.position == batch.to + 1);
            let Some(follow_ups) = next.and_then(|news| news.follow_ups.clone()) else { break };
            let Some(news) = handed_over.pop_front() else { break };
            batch.to = news.change.position;
            let at = news.change.at;
            batch.follow_ups.extend(follow_ups.iter().map(|one| (at, one.clone().into())));
        }
        (batch.to > position).then_some(batch)
    }

    /// The events after a position, read back from the store.
    async fn read_back(&self, position: u64) -> Result<FollowUpBatch, StoreError> {
        let rows = self.gateway.store().events_after(position, BATCH).await?;
        let directory = self.gateway.directory();
        let mut asks: HashMap<AskId, Option<Arc<Ask>>> = HashMap::new();
        let mut batch = FollowUpBatch { to: position, follow_ups: Vec::new() };
        for row in rows {
            batch.to = row.position;
            let event = match row.open() {
                Ok(event) => event,
                Err(error) => {
                    batch.dead_letter(row.at, &format!("{error:?}"));
                    continue;
                }
            };
            let ask = match event.subject {
                Subject::Ask(id) => match asks.get(&id) {
                    Some(ask) => ask.clone(),
                    None => match self.gateway.store().ask(id).await {
                        Ok(ask) => asks.entry(id).or_insert(ask).clone(),
                        Err(StoreError::Damaged { what, source }) => {
                            batch.dead_letter(row.at, &format!("{what}: {source}"));
                            continue;
                        }
                        Err(error) => return Err(error),
                    },
                },
                _ => None,
            };
            let follow_ups = follow_ups(&event, ask.as_deref(), &directory);
            batch.follow_ups.extend(follow_ups.into_iter().map(|one| (event.at, one.into())));
        }
        Ok(batch)
    }

    fn handed_over(&self) -> std::sync::MutexGuard<'_, VecDeque<AnnouncedChange>> {
        // A panic leaves the queue whole.
        self.handed_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FollowUpBatch {
    /// An event that cannot be read delays no other. It is recorded as undeliverable, which
    /// operators see.
    fn dead_letter(&mut self, at: Time, error: &str) {
        tracing::error!(
            position = self.to,
            error,
            "skipped an event that cannot be read; no one is notified of it"
        );
        let error = error.to_owned();
        self.follow_ups.push((at, Work::SetAside { position: self.to, error }));
    }
}

fn is_critical(follow_up: &FollowUp) -> bool {
    matches!(
        follow_up,
        FollowUp::Notify { priority: Priority::Critical, .. }
            | FollowUp::Post { priority: Priority::Critical, .. }
    )
}

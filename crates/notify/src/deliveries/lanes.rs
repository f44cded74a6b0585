//! Lanes of deliveries: each receiver has its own, so a slow receiver delays only its own
//! deliveries. One task works on a lane: with more calls at once as long as the receiver answers,
//! one by one while it does not.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use gateway::DATABASE_USER;
use kernel::{Time, WebhookId};
use store::Work;
use store::outage::Outage;
use store::work_queue::DeliveryLogUpdate;
use store::{ClaimedWork, Settlement, StoreError};
use tokio::sync::Semaphore;

use super::{CLAIM_LEASE, Deliveries};

/// How many lanes are read at once; the next read begins where this one ended.
const LANES_PER_READ: usize = 256;
/// How many calls of one lane are under way at once, as long as the receiver answers.
const MAX_CALLS_PER_LANE: usize = 8;
/// How many calls are made in sequence before the next claim: all of them end within the lease,
/// however long each takes.
const CALLS_PER_CLAIM: usize = 4;
/// How many calls are under way at once, in all lanes.
const MAX_CALLS: usize = 256;

/// The user of a webhook endpoint, as its outage log names it.
const OUTAGE_LOG_USER: &str = "deliveries";

/// The lanes that this process works on.
pub(crate) struct Lanes {
    busy: Mutex<HashSet<String>>,
    /// Lanes whose platform accepts no more before a time.
    paused: Mutex<HashMap<String, Time>>,
    /// Where the next read of lanes begins.
    place: Mutex<String>,
    calls: Semaphore,
    /// Webhook endpoints that fail.
    endpoints: Mutex<HashMap<WebhookId, Outage>>,
    /// Held while the deliveries for people are executed.
    pub(super) people: tokio::sync::Mutex<()>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            busy: Mutex::default(),
            paused: Mutex::default(),
            place: Mutex::default(),
            calls: Semaphore::new(MAX_CALLS),
            endpoints: Mutex::default(),
            people: tokio::sync::Mutex::default(),
        }
    }
}

impl Lanes {
    /// Whether no lane is being worked on.
    pub(super) fn are_idle(&self) -> bool {
        lock(&self.busy).is_empty()
    }

    /// Marks a lane as being worked on; `false` if it was already.
    fn begin(&self, lane: &str) -> bool {
        lock(&self.busy).insert(lane.to_owned())
    }

    fn end(&self, lane: &str) {
        lock(&self.busy).remove(lane);
    }

    /// Pauses a lane. Another node finds that out for itself.
    fn pause(&self, lane: &str, until: Time) {
        let mut paused = lock(&self.paused);
        let known = paused.entry(lane.to_owned()).or_insert(until);
        *known = until.max(*known);
    }

    /// Logs that deliveries to an endpoint start to fail, and that they succeed again, once each.
    pub(super) fn note_endpoint(&self, id: WebhookId, error: Option<&str>) {
        let mut endpoints = lock(&self.endpoints);
        match error {
            Some(error) => endpoints
                .entry(id)
                .or_insert_with(|| Outage::new(format!("webhook endpoint {id}")))
                .failed(OUTAGE_LOG_USER, error),
            None => {
                if let Some(outage) = endpoints.remove(&id) {
                    outage.worked(OUTAGE_LOG_USER);
                }
            }
        }
    }

    /// Forgets that an endpoint fails, because nothing is sent there any more.
    pub(super) fn forget_endpoint(&self, id: WebhookId) {
        lock(&self.endpoints).remove(&id);
    }

    /// Until when a lane is paused, if it is.
    fn paused_until(&self, lane: &str, now: Time) -> Option<Time> {
        lock(&self.paused).get(lane).copied().filter(|until| now < *until)
    }

    /// How long until the first paused lane continues; forgets those that are no longer paused.
    pub(super) fn next_resume(&self, now: Time) -> Option<Duration> {
        let mut paused = lock(&self.paused);
        paused.retain(|_, until| now < *until);
        let first = paused.values().min()?;
        Some(Duration::from_millis(u64::try_from(first.millis() - now.millis()).unwrap_or(0)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves a set, a map or a text whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How one delivery is settled.
pub(super) struct SettledDelivery {
    pub(super) settlement: Settlement,
    pub(super) entry: Option<DeliveryLogUpdate>,
    /// Whether the receiver answered.
    pub(super) answered: bool,
}

impl SettledDelivery {
    /// Settled without an entry in the delivery log.
    pub(super) fn without_log_entry(settlement: Settlement) -> Self {
        Self { settlement, entry: None, answered: true }
    }
}

impl Deliveries {
    /// Starts to work on the lanes that have something due.
    pub(super) async fn start_lanes(&self) -> Result<(), StoreError> {
        let gateway = &self.gateway;
        let place = lock(&self.lanes.place).clone();
        let lanes = gateway.store().lanes(&place, gateway.now(), LANES_PER_READ).await?;
        let last = lanes.last().filter(|_| lanes.len() == LANES_PER_READ);
        *lock(&self.lanes.place) = last.map_or_else(String::new, |(lane, _)| lane.clone());
        for (lane, due) in lanes {
            let paused = self.lanes.paused_until(&lane, gateway.now()).is_some();
            if due && !paused && self.lanes.begin(&lane) {
                let deliveries = self.clone();
                self.tasks.spawn(async move {
                    tokio::select! {
                        () = deliveries.stop.cancelled() => {}
                        () = deliveries.run_lane(&lane) => {}
                    }
                    deliveries.lanes.end(&lane);
                });
            }
        }
        Ok(())
    }

    /// Works on a lane until nothing is due. A call under way when the server stops is repeated
    /// later.
    async fn run_lane(&self, lane: &str) {
        // The command of a runtime gets one contract after the other.
        let runtime = lane.strip_prefix(Work::RUNTIMES);
        let in_order = runtime.is_some_and(|runtime| self.runtimes.has_command(runtime));
        let widest = if in_order { 1 } else { MAX_CALLS_PER_LANE };
        let mut width = 1;
        loop {
            match self.run_batch(lane, width).await {
                Ok(None) => return,
                Ok(Some(true)) => width = (width * 2).min(widest),
                Ok(_) if self.lanes.paused_until(lane, self.gateway.now()).is_some() => return,
                // A receiver that does not answer gets one call at a time, so it occupies one call
                // of all.
                Ok(Some(false)) => width = 1,
                Err(error) => {
                    self.gateway.database().failed(DATABASE_USER, &error);
                    return;
                }
            }
        }
    }

    /// Executes some deliveries of a lane. Returns whether the receiver answered all of them;
    /// `None` if nothing was due.
    async fn run_batch(&self, lane: &str, width: usize) -> Result<Option<bool>, StoreError> {
        let gateway = &self.gateway;
        let claimed = gateway
            .store()
            .claim(lane, gateway.now(), CLAIM_LEASE, width * CALLS_PER_CLAIM)
            .await?;
        if claimed.is_empty() {
            return Ok(None);
        }
        let all = claimed.len();
        let calls = stream::iter(claimed).map(|delivery| self.run_delivery(lane, delivery));
        // Deliveries that end together are settled together.
        let mut done = calls.buffer_unordered(width).ready_chunks(all);
        let mut answered = true;
        while let Some(ready) = done.next().await {
            let (mut settled, mut log) = (Vec::new(), Vec::new());
            for outcome in ready {
                let (id, done) = outcome?;
                answered &= done.answered;
                settled.push((id, done.settlement));
                log.extend(done.entry);
            }
            gateway.store().settle(settled, log).await?;
        }
        Ok(Some(answered))
    }

    /// Executes one delivery, when a call is free.
    async fn run_delivery(
        &self,
        lane: &str,
        delivery: ClaimedWork,
    ) -> Result<(u64, SettledDelivery), StoreError> {
        // The semaphore is never closed.
        let _room = self.lanes.calls.acquire().await;
        // Deliveries that were claimed together with one that paused the lane wait too.
        if let Some(at) = self.lanes.paused_until(lane, self.gateway.now()) {
            let settlement = Settlement::Back { at };
            return Ok((delivery.id, SettledDelivery { settlement, entry: None, answered: false }));
        }
        let done = match &delivery.work {
            Work::CallBack { ask, .. } => self.call_back(&delivery, *ask).await?,
            Work::Webhook { webhook, message: told } => {
                self.call_webhook(&delivery, *webhook, told).await?
            }
            Work::SignInLink { key, seed } => SettledDelivery::without_log_entry(
                self.people.sign_in_links.send(&delivery, *key, seed).await,
            ),
            Work::Contract(contract) => self.deliver_contract(&delivery, contract).await?,
            Work::Push { .. }
            | Work::Security { .. }
            | Work::Send { .. }
            | Work::Amend { .. }
            | Work::SendDigest { .. }
            | Work::PushDigest { .. } => {
                let settlement = self.people.notify(&delivery).await?;
                let answered =
                    !matches!(settlement, Settlement::Retry { .. } | Settlement::Back { .. });
                if let Settlement::Back { at } = settlement {
                    self.lanes.pause(lane, at);
                }
                SettledDelivery { settlement, entry: None, answered }
            }
            Work::Notify { .. }
            | Work::NotificationStep { .. }
            | Work::Digest { .. }
            | Work::Close { .. }
            | Work::DropFiles { .. }
            | Work::EraseHuman { .. }
            | Work::DropArtifact { .. }
            | Work::SetAside { .. } => {
                SettledDelivery::without_log_entry(self.deliver(&delivery).await?)
            }
        };
        Ok((delivery.id, done))
    }
}

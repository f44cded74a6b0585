//! Lanes of deliveries: each receiver has its own, so a slow receiver delays only its own deliveries. One task
//! works on a lane: with more calls at once as long as the receiver answers, one by one while it does not.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use gateway::REQUESTS;
use kernel::{Time, WebhookId};
use store::Work;
use store::outage::Outage;
use store::work_queue::Entry;
use store::{Delivery, Settlement, StoreError};
use tokio::sync::Semaphore;

use super::{Deliveries, LEASE};

/// How many lanes are read at once; the next read begins where this one ended.
const LOOKED_AT: usize = 256;
/// How many calls of one lane are under way at once, as long as the receiver answers.
const WIDEST: usize = 8;
/// How many calls are made in sequence before the next claim: all of them end within the lease, however long
/// each takes.
const EACH: usize = 4;
/// How many calls are under way at once, in all lanes.
const CALLS: usize = 256;

/// The user of a webhook endpoint, as its outage log names it.
const DELIVERIES: &str = "deliveries";

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
            calls: Semaphore::new(CALLS),
            endpoints: Mutex::default(),
            people: tokio::sync::Mutex::default(),
        }
    }
}

impl Lanes {
    /// Whether no lane is being worked on.
    pub(super) fn are_idle(&self) -> bool {
        held(&self.busy).is_empty()
    }

    /// Marks a lane as being worked on; `false` if it was already.
    fn begin(&self, lane: &str) -> bool {
        held(&self.busy).insert(lane.to_owned())
    }

    fn end(&self, lane: &str) {
        held(&self.busy).remove(lane);
    }

    /// Pauses a lane. Another node finds that out for itself.
    fn pause(&self, lane: &str, until: Time) {
        let mut paused = held(&self.paused);
        let known = paused.entry(lane.to_owned()).or_insert(until);
        *known = until.max(*known);
    }

    /// Logs that deliveries to an endpoint start to fail, and that they succeed again, once each.
    pub(super) fn note_endpoint(&self, id: WebhookId, error: Option<&str>) {
        let mut endpoints = held(&self.endpoints);
        match error {
            Some(error) => endpoints
                .entry(id)
                .or_insert_with(|| Outage::new(format!("webhook endpoint {id}")))
                .failed(DELIVERIES, error),
            None => {
                if let Some(outage) = endpoints.remove(&id) {
                    outage.worked(DELIVERIES);
                }
            }
        }
    }

    /// Forgets that an endpoint fails, because nothing is sent there any more.
    pub(super) fn forget_endpoint(&self, id: WebhookId) {
        held(&self.endpoints).remove(&id);
    }

    /// Until when a lane is paused, if it is.
    fn paused_until(&self, lane: &str, now: Time) -> Option<Time> {
        held(&self.paused).get(lane).copied().filter(|until| now < *until)
    }

    /// How long until the first paused lane continues; forgets those that are no longer paused.
    pub(super) fn soonest(&self, now: Time) -> Option<Duration> {
        let mut paused = held(&self.paused);
        paused.retain(|_, until| now < *until);
        let first = paused.values().min()?;
        Some(Duration::from_millis(u64::try_from(first.millis() - now.millis()).unwrap_or(0)))
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves a set, a map or a text whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How one delivery is settled.
pub(super) struct Settled {
    pub(super) settlement: Settlement,
    pub(super) entry: Option<Entry>,
    /// Whether the receiver answered.
    pub(super) answered: bool,
}

impl Settled {
    /// Settled without an entry in the delivery log.
    pub(super) fn plainly(settlement: Settlement) -> Self {
        Self { settlement, entry: None, answered: true }
    }
}

impl Deliveries {
    /// Starts to work on the lanes that have something due.
    pub(super) async fn start_lanes(&self) -> Result<(), StoreError> {
        let gateway = &self.gateway;
        let place = held(&self.lanes.place).clone();
        let lanes = gateway.store().lanes(&place, gateway.now(), LOOKED_AT).await?;
        let last = lanes.last().filter(|_| lanes.len() == LOOKED_AT);
        *held(&self.lanes.place) = last.map_or_else(String::new, |(lane, _)| lane.clone());
        for (lane, due) in lanes {
            let paused = self.lanes.paused_until(&lane, gateway.now()).is_some();
            if due && !paused && self.lanes.begin(&lane) {
                let deliveries = self.clone();
                self.tasks.spawn(async move {
                    tokio::select! {
                        () = deliveries.stop.cancelled() => {}
                        () = deliveries.pump(&lane) => {}
                    }
                    deliveries.lanes.end(&lane);
                });
            }
        }
        Ok(())
    }

    /// Works on a lane until nothing is due. A call under way when the server stops is repeated later.
    async fn pump(&self, lane: &str) {
        // The command of a runtime gets one contract after the other.
        let runtime = lane.strip_prefix(Work::RUNTIMES);
        let in_order = runtime.is_some_and(|runtime| self.runtimes.has_command(runtime));
        let widest = if in_order { 1 } else { WIDEST };
        let mut width = 1;
        loop {
            match self.stretch(lane, width).await {
                Ok(None) => return,
                Ok(Some(true)) => width = (width * 2).min(widest),
                Ok(_) if self.lanes.paused_until(lane, self.gateway.now()).is_some() => return,
                // A receiver that does not answer gets one call at a time, so it occupies one call of all.
                Ok(Some(false)) => width = 1,
                Err(error) => {
                    self.gateway.database().failed(REQUESTS, &error);
                    return;
                }
            }
        }
    }

    /// Executes some deliveries of a lane. Returns whether the receiver answered all of them; `None` if nothing
    /// was due.
    async fn stretch(&self, lane: &str, width: usize) -> Result<Option<bool>, StoreError> {
        let gateway = &self.gateway;
        let claimed = gateway.store().claim(lane, gateway.now(), LEASE, width * EACH).await?;
        if claimed.is_empty() {
            return Ok(None);
        }
        let all = claimed.len();
        let calls = stream::iter(claimed).map(|delivery| self.turn(lane, delivery));
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
    async fn turn(&self, lane: &str, delivery: Delivery) -> Result<(u64, Settled), StoreError> {
        // The semaphore is never closed.
        let _room = self.lanes.calls.acquire().await;
        // Deliveries that were claimed together with one that paused the lane wait too.
        if let Some(at) = self.lanes.paused_until(lane, self.gateway.now()) {
            let settlement = Settlement::Back { at };
            return Ok((delivery.id, Settled { settlement, entry: None, answered: false }));
        }
        let done = match &delivery.work {
            Work::CallBack { ask, .. } => self.call_back(&delivery, *ask).await?,
            Work::Webhook { webhook, message: told } => {
                self.call_webhook(&delivery, *webhook, told).await?
            }
            Work::SignInLink { key, seed } => {
                Settled::plainly(self.people.sign_in_links.send(&delivery, *key, seed).await)
            }
            Work::Contract(contract) => self.contract(&delivery, contract).await?,
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
                Settled { settlement, entry: None, answered }
            }
            Work::Notify { .. }
            | Work::NotificationStep { .. }
            | Work::Digest { .. }
            | Work::Close { .. }
            | Work::DropFiles { .. }
            | Work::EraseHuman { .. }
            | Work::DropArtifact { .. }
            | Work::SetAside { .. } => Settled::plainly(self.deliver(&delivery).await?),
        };
        Ok((delivery.id, done))
    }
}

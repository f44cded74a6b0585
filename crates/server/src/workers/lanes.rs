//! Lanes of the outbox: whoever we depend on to answer has one of their own, and holds up nobody but
//! themselves. One pump works a lane off, wider as long as it is answered, one by one while it is not.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use gateway::REQUESTS;
use kernel::{Effect, Time, WebhookId};
use store::outage::Outage;
use store::outbox::Entry;
use store::{Delivery, Settlement, StoreError};
use tokio::sync::Semaphore;

use super::outbox::{Desk, LEASE};
use crate::channels::send::Sending;
use crate::push::deliver::Telling;
use crate::reach::gather::Gathering;
use crate::reach::security::SecurityNotice;
use crate::reach::step::Told;

/// How many lanes are looked at in one go; the next go begins where this one ended.
const LOOKED_AT: usize = 256;
/// How many calls of one lane are under way at once, as long as they are answered.
const WIDEST: usize = 8;
/// How many calls one place of a lane makes before the next claim: all of them end within the lease,
/// however long each takes.
const EACH: usize = 4;
/// How many calls are under way at once, in all lanes.
const CALLS: usize = 256;

/// Who uses a webhook endpoint, as its outage calls it.
const DELIVERIES: &str = "deliveries";

/// The lanes this process is working off: each at one place, whoever looks.
pub struct Lanes {
    busy: Mutex<HashSet<String>>,
    /// Those whose platform takes no more before a moment.
    resting: Mutex<HashMap<String, Time>>,
    /// Where the next look begins.
    place: Mutex<String>,
    calls: Semaphore,
    /// Webhook endpoints that fail at the moment.
    endpoints: Mutex<HashMap<WebhookId, Outage>>,
    /// Whoever works off what people are told.
    pub(super) people: tokio::sync::Mutex<()>,
}

impl Default for Lanes {
    fn default() -> Self {
        Self {
            busy: Mutex::default(),
            resting: Mutex::default(),
            place: Mutex::default(),
            calls: Semaphore::new(CALLS),
            endpoints: Mutex::default(),
            people: tokio::sync::Mutex::default(),
        }
    }
}

impl Lanes {
    /// Whether none is being worked off.
    pub fn idle(&self) -> bool {
        held(&self.busy).is_empty()
    }

    /// Whether nobody works on it yet; from now on somebody does.
    fn begin(&self, lane: &str) -> bool {
        held(&self.busy).insert(lane.to_owned())
    }

    fn end(&self, lane: &str) {
        held(&self.busy).remove(lane);
    }

    /// Leaves a lane alone until then. Another node finds that out for itself.
    fn rest(&self, lane: &str, until: Time) {
        let mut resting = held(&self.resting);
        let known = resting.entry(lane.to_owned()).or_insert(until);
        *known = until.max(*known);
    }

    /// Logs that deliveries to an endpoint begin to fail, and that they succeed again, once each.
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

    /// Until when a lane is left alone, if it is.
    fn rests(&self, lane: &str, now: Time) -> Option<Time> {
        held(&self.resting).get(lane).copied().filter(|until| now < *until)
    }

    /// How long until the first of those that rest goes on; forgets those that do.
    pub(super) fn soonest(&self, now: Time) -> Option<Duration> {
        let mut resting = held(&self.resting);
        resting.retain(|_, until| now < *until);
        let first = resting.values().min()?;
        Some(Duration::from_millis(u64::try_from(first.millis() - now.millis()).unwrap_or(0)))
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A set or a text: a panic leaves either whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What became of one delivery.
pub(super) struct Done {
    pub(super) settlement: Settlement,
    pub(super) entry: Option<Entry>,
    /// Whether somebody was there.
    pub(super) answered: bool,
}

impl Done {
    /// Settled, with nothing to note.
    pub(super) fn plainly(settlement: Settlement) -> Self {
        Self { settlement, entry: None, answered: true }
    }
}

impl Desk {
    /// Begins to work off the lanes in which something is due.
    pub(super) async fn look(&self) -> Result<(), StoreError> {
        let gateway = &self.app.gateway;
        let place = held(&self.app.lanes.place).clone();
        let lanes = gateway.store().lanes(&place, gateway.now(), LOOKED_AT).await?;
        let last = lanes.last().filter(|_| lanes.len() == LOOKED_AT);
        *held(&self.app.lanes.place) = last.map_or_else(String::new, |(lane, _)| lane.clone());
        for (lane, due) in lanes {
            let rests = self.app.lanes.rests(&lane, gateway.now()).is_some();
            if due && !rests && self.app.lanes.begin(&lane) {
                let desk = self.clone();
                self.app.tasks.spawn(async move {
                    tokio::select! {
                        () = desk.app.stop.cancelled() => {}
                        () = desk.pump(&lane) => {}
                    }
                    desk.app.lanes.end(&lane);
                });
            }
        }
        Ok(())
    }

    /// Works a lane off. What is under way when the server stops is done again by the next.
    async fn pump(&self, lane: &str) {
        // A command is told one thing after the other. Where there is none, nobody is told anything.
        let runtime = lane.strip_prefix(Effect::RUNTIMES);
        let commands = &self.app.config.runtime_commands;
        let told = |runtime| commands.keys().any(|agent| agent.as_str() == runtime);
        let widest = if runtime.is_some_and(told) { 1 } else { WIDEST };
        let mut width = 1;
        loop {
            match self.stretch(lane, width).await {
                Ok(None) => return,
                Ok(Some(true)) => width = (width * 2).min(widest),
                Ok(_) if self.app.lanes.rests(lane, self.app.gateway.now()).is_some() => return,
                // Whoever does not answer is asked one by one: they hold up one call of all.
                Ok(Some(false)) => width = 1,
                Err(error) => {
                    self.app.gateway.database().failed(REQUESTS, &error);
                    return;
                }
            }
        }
    }

    /// Some of a lane: whether somebody answered to all of it, or nothing if nothing was due.
    async fn stretch(&self, lane: &str, width: usize) -> Result<Option<bool>, StoreError> {
        let gateway = &self.app.gateway;
        let claimed = gateway.store().claim(lane, gateway.now(), LEASE, width * EACH).await?;
        if claimed.is_empty() {
            return Ok(None);
        }
        let all = claimed.len();
        let calls = stream::iter(claimed).map(|delivery| self.turn(lane, delivery));
        // What is ready together is settled together.
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

    /// One delivery, when there is room for a call.
    async fn turn(&self, lane: &str, delivery: Delivery) -> Result<(u64, Done), StoreError> {
        // Nobody closes it.
        let _room = self.app.lanes.calls.acquire().await;
        // What was claimed together with one that was not taken need not hear the same.
        if let Some(at) = self.app.lanes.rests(lane, self.app.gateway.now()) {
            let settlement = Settlement::Back { at };
            return Ok((delivery.id, Done { settlement, entry: None, answered: false }));
        }
        let done = match &delivery.effect {
            Effect::CallBack { ask, .. } => self.call_back(&delivery, *ask).await?,
            Effect::Tell { webhook, told } => self.tell(&delivery, *webhook, told).await?,
            Effect::MailLink { key, seed } => self.mail_link(&delivery, *key, seed).await,
            Effect::Contract(contract) => self.contract(&delivery, contract).await?,
            Effect::Push { .. }
            | Effect::NotifySecurity { .. }
            | Effect::Send { .. }
            | Effect::Amend { .. }
            | Effect::SendGathered { .. }
            | Effect::PushGathered { .. } => {
                let told = self.tell_person(&delivery).await?;
                let answered = !matches!(told, Settlement::Retry { .. } | Settlement::Back { .. });
                if let Settlement::Back { at } = told {
                    self.app.lanes.rest(lane, at);
                }
                Done { settlement: told, entry: None, answered }
            }
            Effect::Notify { .. }
            | Effect::Reach { .. }
            | Effect::Gather { .. }
            | Effect::Settle { .. }
            | Effect::DropFiles { .. }
            | Effect::EraseHuman { .. }
            | Effect::DropArtifact { .. } => {
                Done::plainly(self.deliver(&delivery, Vec::new()).await?)
            }
        };
        Ok((delivery.id, done))
    }

    /// A notice to one person, by one means.
    async fn tell_person(&self, delivery: &Delivery) -> Result<Settlement, StoreError> {
        let (app, attempt) = (&self.app, delivery.attempt);
        match &delivery.effect {
            Effect::Push { device, ask, why, priority, chain } => {
                let (device, ask, why, priority) = (*device, *ask, *why, *priority);
                let chain = chain.as_ref();
                app.tell(Telling { device, ask, why, priority, chain, attempt }).await
            }
            Effect::Send { ask, why, priority, medium, to, chain, passed_on } => {
                let told = Told { ask: *ask, why: *why, priority: *priority };
                let (to, chain, passed_on) = (*to, chain.as_ref(), *passed_on);
                let since = delivery.written_at;
                app.send(Sending { told, to, chain, passed_on, medium, attempt, since }).await
            }
            Effect::Amend { message, .. } => {
                app.amend(*message, attempt, delivery.written_at).await
            }
            Effect::SendGathered { human, at, to, tried, .. } => {
                app.send_gathered(Gathering { human, at: *at, tried }, *to, attempt).await
            }
            Effect::PushGathered { human, at, device } => {
                let gathering = Gathering { human, at: *at, tried: &[] };
                app.push_gathered(gathering, *device, attempt).await
            }
            Effect::NotifySecurity { human, event, to, .. } => {
                let notice = SecurityNotice { human, event: *event, to: *to };
                app.notify_security(notice, attempt, delivery.written_at).await
            }
            Effect::Notify { .. }
            | Effect::Reach { .. }
            | Effect::Gather { .. }
            | Effect::Settle { .. }
            | Effect::CallBack { .. }
            | Effect::Tell { .. }
            | Effect::DropFiles { .. }
            | Effect::EraseHuman { .. }
            | Effect::DropArtifact { .. }
            | Effect::MailLink { .. }
            | Effect::Contract(_) => Ok(Settlement::Done),
        }
    }
}

//! Effects that were committed become calls. At least once: a claim has a lease, and what is not
//! settled before it ends is claimed again.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use kernel::ask::CallbackResult;
use kernel::audit::Digest;
use kernel::{Actor, AskId, Command, Effect, KeyId, Time};
use store::{Delivery, News, Settlement, StoreError};
use tokio::sync::Semaphore;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::callbacks::{self, Call};
use crate::channels::Channels;
use crate::channels::devices::Devices;
use crate::http::Shared;
use crate::mail::Unsent;
use crate::push::deliver::Telling;

/// How long a claim holds.
const LEASE: Duration = Duration::from_mins(1);
/// How many are claimed at once.
const BATCH: usize = 128;
/// How long to wait for news before looking for retries that are due.
const NAP: Duration = Duration::from_secs(1);
/// How long news are gathered before the outbox is looked at. Nobody notices that a notice comes so
/// much later, and a claim and its settlement serve many at once instead of a few each.
const GATHER: Duration = Duration::from_millis(20);
/// How often a delivery is tried.
pub(crate) const ATTEMPTS: u32 = 12;
/// When a callback is tried again, in seconds after the attempt before (HITL-184). Then it is given
/// up: polling is the truth, and whoever wants to can have it tried once more.
const CALLBACK_AGAIN: [u64; 3] = [1, 5, 30];
/// How many callbacks are under way at once. An agent that does not answer holds up nobody's notices;
/// as many as this do, until the first of their calls has ended.
const CALLS: usize = 64;

/// Works off the outbox.
#[derive(Clone)]
pub struct Desk {
    app: Shared,
    channels: Arc<Channels>,
    calls: Arc<Semaphore>,
}

impl Desk {
    /// A desk that tells people through these channels.
    pub fn new(app: Shared, channels: Channels) -> Self {
        Self { app, channels: Arc::new(channels), calls: Arc::new(Semaphore::new(CALLS)) }
    }

    /// Runs until shutdown.
    pub async fn run(self, mut feed: Receiver<Arc<[News]>>) {
        loop {
            if let Err(error) = self.drain().await {
                tracing::warn!(error = %error, "cannot work off the outbox; trying again");
            }
            tokio::select! {
                () = self.app.stop.cancelled() => return,
                () = tokio::time::sleep(NAP) => {}
                news = feed.recv() => match news {
                    Ok(_) | Err(RecvError::Lagged(_)) => tokio::time::sleep(GATHER).await,
                    Err(RecvError::Closed) => return,
                }
            }
            // What was told until now is found in the outbox.
            while !matches!(feed.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
        }
    }

    /// Delivers everything that is due now, most urgent first. Callbacks, letters and notices to devices
    /// are begun, and settled when they are over.
    pub async fn drain(&self) -> Result<(), StoreError> {
        let gateway = &self.app.gateway;
        loop {
            let claimed = gateway.store().claim(gateway.now(), LEASE, BATCH).await?;
            if claimed.is_empty() {
                return Ok(());
            }
            let all = claimed.len() < BATCH;
            let devices = Devices::gather(&self.app, &claimed).await?;
            let mut settled = Vec::with_capacity(claimed.len());
            for delivery in claimed {
                match delivery.effect {
                    Effect::CallBack { .. } | Effect::MailLink { .. } | Effect::Push { .. } => {
                        self.begin(delivery).await;
                    }
                    Effect::Notify { .. } | Effect::Settle { .. } | Effect::DropFiles { .. } => {
                        let into = devices.each(&delivery);
                        settled.push((delivery.id, self.deliver(&delivery, into).await));
                    }
                }
            }
            if !settled.is_empty() {
                gateway.store().settle(settled).await?;
            }
            // What was written meanwhile brings news of its own.
            if all {
                return Ok(());
            }
        }
    }

    /// Delivers what is done at once; what it comes to for devices is done each by itself.
    async fn deliver(&self, delivery: &Delivery, into: Vec<Effect>) -> Settlement {
        let (gateway, files) = (&self.app.gateway, &self.app.files);
        let outcome = match &delivery.effect {
            Effect::DropFiles { ask } => files.take_away(&**gateway.store(), *ask).await,
            Effect::Notify { .. }
            | Effect::Settle { .. }
            | Effect::CallBack { .. }
            | Effect::Push { .. }
            | Effect::MailLink { .. } => self.channels.perform(gateway, &delivery.effect).await,
        };
        count("countersign_deliveries_total", outcome.is_ok());
        match outcome {
            Ok(()) if into.is_empty() => Settlement::Done,
            Ok(()) => Settlement::Split { into, at: gateway.now() },
            Err(error) if delivery.attempt >= ATTEMPTS => {
                tracing::error!(delivery.id, error = format!("{error:#}"), "giving up a delivery");
                Settlement::Dead { error: format!("{error:#}") }
            }
            Err(error) => {
                let at = retry_at(self.app.gateway.now(), delivery.attempt);
                Settlement::Retry { at, error: format!("{error:#}") }
            }
        }
    }

    /// Begins a callback, a letter or a notice. One that is under way when the server stops is tried
    /// again by the next.
    async fn begin(&self, delivery: Delivery) {
        // Nobody closes it.
        let Ok(turn) = Arc::clone(&self.calls).acquire_owned().await else { return };
        let desk = self.clone();
        self.app.tasks.spawn(async move {
            let called = tokio::select! {
                () = desk.app.stop.cancelled() => return,
                called = desk.call(&delivery) => called,
            };
            let settled = match called {
                Ok(settlement) => {
                    desk.app.gateway.store().settle(vec![(delivery.id, settlement)]).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = settled {
                tracing::warn!(delivery.id, %error, "cannot settle a delivery; it is made again");
            }
            drop(turn);
        });
    }

    async fn call(&self, delivery: &Delivery) -> Result<Settlement, StoreError> {
        match delivery.effect {
            Effect::CallBack { ask } => self.call_back(delivery, ask).await,
            Effect::MailLink { key, seed } => Ok(self.mail_link(delivery, key, &seed).await),
            Effect::Push { device, ask, why, priority } => {
                let attempt = delivery.attempt;
                self.app.tell(Telling { device, ask, why, priority, attempt }).await
            }
            Effect::Notify { .. } | Effect::Settle { .. } | Effect::DropFiles { .. } => {
                Ok(self.deliver(delivery, Vec::new()).await)
            }
        }
    }

    /// Sends a sign-in link, as long as it works.
    async fn mail_link(&self, delivery: &Delivery, key: KeyId, seed: &Digest) -> Settlement {
        let sent = match self.app.sign_in_letter(key, seed) {
            // It was used, has run out, or there is nobody to send it to any more.
            None => return Settlement::Done,
            Some(letter) => match &self.app.mailer {
                Some(mailer) => mailer.send(&letter).await,
                None => Err(Unsent::Refused(anyhow!("smtp_url is not set any more"))),
            },
        };
        count("countersign_letters_total", sent.is_ok());
        match sent {
            Ok(()) => Settlement::Done,
            Err(unsent) => {
                let refused = matches!(unsent, Unsent::Refused(_)) || delivery.attempt >= ATTEMPTS;
                let error = format!("{:#}", anyhow::Error::from(unsent));
                tracing::warn!(delivery.id, key.id = %key, error, "a sign-in link was not sent");
                let at = retry_at(self.app.gateway.now(), delivery.attempt);
                if refused { Settlement::Dead { error } } else { Settlement::Retry { at, error } }
            }
        }
    }

    async fn call_back(&self, delivery: &Delivery, ask: AskId) -> Result<Settlement, StoreError> {
        let gateway = &self.app.gateway;
        let Some(ask) = gateway.store().ask(ask).await? else {
            return Ok(Settlement::Done);
        };
        let url =
            ask.callback.as_ref().and_then(|callback| Some((callback.url.value()?, callback)));
        // The words were erased, or somebody opened it again: there is nothing to tell.
        let (Some((url, callback)), Some(body)) = (url, self.app.hitl_callback(&ask)) else {
            return Ok(Settlement::Done);
        };
        let secret = self.app.callback_secret(callback.key);
        let event_id = dialects::hitl::case_id(ask.id);
        let at = gateway.now();
        let call = Call { url, event_id: &event_id, body, secret: &secret, at };
        let result = self.app.callbacks.call(call).await;
        count("countersign_callbacks_total", matches!(result, CallbackResult::Taken { .. }));
        let again = callbacks::may_help(&result);
        let error = match &result {
            CallbackResult::Taken { .. } => None,
            CallbackResult::Refused { status } => Some(format!("HTTP status {status}")),
            CallbackResult::Unreached { error } => Some(error.clone()),
        };
        match gateway.run(Actor::System, Command::NoteCallback(ask.id, result)).await {
            // Its words were erased meanwhile, and the address with them.
            Ok(_) | Err(StoreError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
        let Some(error) = error else { return Ok(Settlement::Done) };
        let place = usize::try_from(delivery.attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        if let Some(seconds) = CALLBACK_AGAIN.get(place).filter(|_| again) {
            return Ok(Settlement::Retry { at: gateway.now().plus_seconds(*seconds), error });
        }
        tracing::warn!(ask.id = %ask.id, error, "giving up a callback");
        Ok(Settlement::Dead { error })
    }
}

pub(crate) fn count(name: &'static str, done: bool) {
    let result = if done { "done" } else { "failed" };
    metrics::counter!(name, "result" => result).increment(1);
}

/// One second, then twice as long each time, an hour at most.
pub(crate) fn retry_at(now: Time, attempt: u32) -> Time {
    now.plus_seconds(2_u64.saturating_pow(attempt.saturating_sub(1)).min(3600))
}

//! Effects that were committed become calls. At least once: a claim has a lease, and what is not
//! settled before it ends is claimed again.

use std::sync::Arc;
use std::time::Duration;

use kernel::{Effect, Time};
use store::{Delivery, News, Settlement, StoreError};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::channels::people::People;
use crate::http::Shared;
use crate::reach::gather::Gathering;
use crate::reach::step::Told;

/// How long a claim holds.
pub(super) const LEASE: Duration = Duration::from_mins(1);
/// How many are claimed at once.
const BATCH: usize = 128;
/// How long to wait for news before looking for retries that are due.
const NAP: Duration = Duration::from_secs(1);
/// How long news are gathered before the outbox is looked at. Nobody notices that a notice comes so
/// much later, and a claim and its settlement serve many at once instead of a few each.
const GATHER: Duration = Duration::from_millis(20);
/// How often a delivery is tried.
pub(crate) const ATTEMPTS: u32 = 12;

/// Works off the outbox: what people are told by itself, everything else in its [lanes](super::lanes).
#[derive(Clone)]
pub struct Desk {
    pub(super) app: Shared,
}

impl Desk {
    /// A desk that notifies people through the channels of the server.
    pub fn new(app: Shared) -> Self {
        Self { app }
    }

    /// Runs until shutdown.
    pub async fn run(self, mut feed: Receiver<Arc<[News]>>) {
        loop {
            self.app.gateway.database().note("outbox", &self.drain().await);
            let rests = self.app.lanes.soonest(self.app.gateway.now());
            let nap = rests.map_or(NAP, |rests| rests.min(NAP));
            tokio::select! {
                () = self.app.stop.cancelled() => return,
                () = tokio::time::sleep(nap) => {}
                news = feed.recv() => match news {
                    Ok(_) | Err(RecvError::Lagged(_)) => tokio::time::sleep(GATHER).await,
                    Err(RecvError::Closed) => return,
                }
            }
            // What was told until now is found in the outbox.
            while !matches!(feed.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
        }
    }

    /// Delivers to people everything that is due now, most urgent first, and begins with what is due in
    /// other lanes.
    pub async fn drain(&self) -> Result<(), StoreError> {
        let _alone = self.app.lanes.people.lock().await;
        self.look().await?;
        let gateway = &self.app.gateway;
        loop {
            let claimed =
                gateway.store().claim(Effect::PEOPLE, gateway.now(), LEASE, BATCH).await?;
            if claimed.is_empty() {
                return Ok(());
            }
            let all = claimed.len() < BATCH;
            let people = People::gather(&self.app, &claimed).await?;
            let mut settled = Vec::with_capacity(claimed.len());
            for delivery in claimed {
                let into = people.each(&delivery, gateway.now());
                settled.push((delivery.id, self.deliver(&delivery, into).await?));
            }
            let split = settled.iter().any(|(_, done)| matches!(done, Settlement::Split { .. }));
            gateway.store().settle(settled, Vec::new()).await?;
            // Nobody brings news of what was split.
            if split {
                self.look().await?;
            }
            // What was written meanwhile brings news of its own.
            if all && !split {
                return Ok(());
            }
        }
    }

    /// Delivers what is done at once; what it comes to for each person is done each by itself.
    pub(super) async fn deliver(
        &self,
        delivery: &Delivery,
        into: Vec<(Time, Effect)>,
    ) -> Result<Settlement, StoreError> {
        let (gateway, files) = (&self.app.gateway, &self.app.files);
        let outcome = match &delivery.effect {
            Effect::Reach { ask, why, priority, chain } => {
                let told = Told { ask: *ask, why: *why, priority: *priority };
                return self.app.reach(told, chain).await;
            }
            Effect::Gather { human, at, tried } => {
                return self.app.gather(Gathering { human, at: *at, tried }).await;
            }
            Effect::EraseHuman { human, after } => {
                return self.app.erasure.erase_words_of(human, *after).await;
            }
            Effect::DropFiles { ask } => files.take_away(&**gateway.store(), ask.ulid()).await,
            Effect::DropArtifact { artifact } => self.app.erasure.drop_artifact(*artifact).await,
            Effect::Notify { .. }
            | Effect::Settle { .. }
            | Effect::CallBack { .. }
            | Effect::Push { .. }
            | Effect::Send { .. }
            | Effect::Amend { .. }
            | Effect::SendGathered { .. }
            | Effect::PushGathered { .. }
            | Effect::Tell { .. }
            | Effect::MailLink { .. }
            | Effect::NotifySecurity { .. }
            | Effect::Contract(_) => self.app.show_on_terminal(&delivery.effect).await,
        };
        count("countersign_deliveries_total", outcome.is_ok());
        Ok(match outcome {
            Ok(()) if into.is_empty() => Settlement::Done,
            Ok(()) => Settlement::Split { into },
            // What was erased must go, however long that takes.
            Err(error)
                if matches!(
                    delivery.effect,
                    Effect::DropFiles { .. } | Effect::DropArtifact { .. }
                ) =>
            {
                tracing::warn!(
                    delivery.id,
                    error = format!("{error:#}"),
                    "files are not erased yet"
                );
                let at = retry_at(self.app.gateway.now(), delivery.attempt);
                Settlement::Retry { at, error: format!("{error:#}") }
            }
            Err(error) if delivery.attempt >= ATTEMPTS => {
                tracing::error!(delivery.id, error = format!("{error:#}"), "giving up a delivery");
                Settlement::Dead { error: format!("{error:#}") }
            }
            Err(error) => {
                let at = retry_at(self.app.gateway.now(), delivery.attempt);
                Settlement::Retry { at, error: format!("{error:#}") }
            }
        })
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

//! Executes deliveries, at least once each: a claim has a lease, and a delivery that is not
//! settled before the lease ends is claimed again.
//!
//! | module | contents |
//! |---|---|
//! | [`lanes`] | one lane for each receiver, so that a slow receiver delays only its own deliveries |
//! | `calls` | webhooks and callbacks |
//! | [`runtime_contracts`] | contracts, passed to the runtime of an agent by a command of the operator |

mod calls;
pub mod lanes;
pub mod runtime_contracts;

use std::sync::Arc;
use std::time::Duration;

use gateway::Gateway;
use gateway::data_eraser::DataEraser;
use gateway::receipts::Receipts;
use store::Work;
use store::{ClaimedWork, Settlement, StoreError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::attempts::{ATTEMPTS, count, retry_at};
use crate::callbacks::Callbacks;
use crate::delivery_follower::DeliveryFollower;
use crate::people::PeopleNotifier;
use crate::people::digest::DigestDelivery;
use crate::people::notification_steps::Notification;
use crate::webhooks::Webhooks;
use lanes::Lanes;
use runtime_contracts::RuntimeCommands;

/// How long a claim holds.
pub(super) const CLAIM_LEASE: Duration = Duration::from_mins(1);
/// How many are claimed at once.
const BATCH: usize = 128;
/// How long to wait for a change before looking for retries that are due.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Executes deliveries: the plans of people by itself, every call in its [lane](lanes). Clones
/// share the lanes.
#[derive(Clone)]
pub struct Deliveries {
    pub(crate) gateway: Gateway,
    pub(crate) receipts: Receipts,
    pub(crate) erasure: DataEraser,
    pub(crate) follower: Arc<DeliveryFollower>,
    pub(crate) people: Arc<PeopleNotifier>,
    pub(crate) webhooks: Webhooks,
    pub(crate) callbacks: Callbacks,
    pub(crate) runtimes: RuntimeCommands,
    pub(crate) lanes: Arc<Lanes>,
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl Deliveries {
    /// Whether no lane is being worked on.
    pub fn are_idle(&self) -> bool {
        self.lanes.are_idle()
    }

    /// Runs until shutdown. `written` is notified when new deliveries may exist.
    pub async fn run(self, written: Arc<Notify>) {
        loop {
            self.gateway.database().note("outbox", &self.execute().await);
            let rests = self.lanes.next_resume(self.gateway.now());
            let nap = rests.map_or(POLL_INTERVAL, |rests| rests.min(POLL_INTERVAL));
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = tokio::time::sleep(nap) => {}
                () = written.notified() => {}
            }
        }
    }

    /// Follows the feed to its end and executes everything that is due now.
    pub async fn drain(&self) -> Result<(), StoreError> {
        self.follower.catch_up().await?;
        self.execute().await
    }

    /// Executes everything that is due for people now, most urgent first, and starts the other
    /// lanes that have something due.
    async fn execute(&self) -> Result<(), StoreError> {
        let _alone = self.lanes.people.lock().await;
        self.start_lanes().await?;
        let gateway = &self.gateway;
        loop {
            let claimed =
                gateway.store().claim(Work::PEOPLE, gateway.now(), CLAIM_LEASE, BATCH).await?;
            if claimed.is_empty() {
                return Ok(());
            }
            let all = claimed.len() < BATCH;
            let mut settled = Vec::with_capacity(claimed.len());
            for delivery in claimed {
                settled.push((delivery.id, self.deliver(&delivery).await?));
            }
            let split = settled.iter().any(|(_, done)| matches!(done, Settlement::Split { .. }));
            gateway.store().settle(settled, Vec::new()).await?;
            // New deliveries of a split are not announced.
            if split {
                self.start_lanes().await?;
            }
            // Deliveries that were written meanwhile are announced.
            if all && !split {
                return Ok(());
            }
        }
    }

    /// Executes a delivery that needs no lane.
    async fn deliver(&self, delivery: &ClaimedWork) -> Result<Settlement, StoreError> {
        let outcome = match &delivery.work {
            Work::NotificationStep { ask, why, priority, plan: chain } => {
                let about = Notification { ask: *ask, why: *why, priority: *priority };
                return self.people.steps.next(about, chain).await;
            }
            Work::Digest { human, at, tried } => {
                let digest = DigestDelivery { human, at: *at, tried };
                return self.people.digests.start(digest).await;
            }
            Work::EraseHuman { human, after } => {
                return self.erasure.erase_texts_of(human, *after).await;
            }
            Work::DropFiles { ask } => self.erasure.drop_files(*ask).await,
            Work::DropArtifact { artifact } => self.erasure.drop_artifact(*artifact).await,
            // Releases before followers wrote these with the event.
            Work::Notify { .. } | Work::Close { .. } => {
                let follow_up = (delivery.written_at, delivery.work.clone());
                let into = self.follower.deliveries(vec![follow_up]).await?;
                return Ok(Settlement::Split { into });
            }
            Work::SetAside { position, error } => {
                return Ok(Settlement::Dead { error: format!("event {position}: {error}") });
            }
            Work::CallBack { .. }
            | Work::Push { .. }
            | Work::Send { .. }
            | Work::Amend { .. }
            | Work::SendDigest { .. }
            | Work::PushDigest { .. }
            | Work::Webhook { .. }
            | Work::SignInLink { .. }
            | Work::Security { .. }
            | Work::Contract(_) => Ok(()),
        };
        count("countersign_deliveries_total", outcome.is_ok());
        Ok(match outcome {
            Ok(()) => Settlement::Done,
            // Erased files must be deleted, however long that takes.
            Err(error)
                if matches!(delivery.work, Work::DropFiles { .. } | Work::DropArtifact { .. }) =>
            {
                tracing::warn!(
                    delivery.id,
                    error = format!("{error:#}"),
                    "could not erase files, will retry"
                );
                let at = retry_at(self.gateway.now(), delivery.attempt);
                Settlement::Retry { at, error: format!("{error:#}") }
            }
            Err(error) if delivery.attempt >= ATTEMPTS => {
                tracing::error!(
                    delivery.id,
                    error = format!("{error:#}"),
                    "a unit of work failed after the last attempt, giving up"
                );
                Settlement::Dead { error: format!("{error:#}") }
            }
            Err(error) => {
                let at = retry_at(self.gateway.now(), delivery.attempt);
                Settlement::Retry { at, error: format!("{error:#}") }
            }
        })
    }
}

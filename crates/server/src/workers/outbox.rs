//! Effects that were committed become calls. At least once: a claim has a lease, and what is not
//! settled before it ends is claimed again.

use std::sync::Arc;
use std::time::Duration;

use kernel::Time;
use store::{Delivery, News, Settlement, StoreError};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;

use crate::channels::Channels;
use crate::gateway::Gateway;

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
const ATTEMPTS: u32 = 12;

/// Runs until shutdown.
pub async fn run(
    gateway: Gateway,
    channels: Arc<Channels>,
    mut feed: Receiver<Arc<[News]>>,
    stop: CancellationToken,
) {
    loop {
        if let Err(error) = drain(&gateway, &channels).await {
            tracing::warn!(error = %error, "cannot work off the outbox; trying again");
        }
        tokio::select! {
            () = stop.cancelled() => return,
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

/// Delivers everything that is due now, most urgent first.
pub async fn drain(gateway: &Gateway, channels: &Channels) -> Result<(), StoreError> {
    loop {
        let claimed = gateway.store().claim(gateway.now(), LEASE, BATCH).await?;
        if claimed.is_empty() {
            return Ok(());
        }
        let mut settled = Vec::with_capacity(claimed.len());
        for delivery in claimed {
            settled.push((delivery.id, deliver(gateway, channels, &delivery).await));
        }
        let all = settled.len() < BATCH;
        gateway.store().settle(settled).await?;
        // What was written meanwhile brings news of its own.
        if all {
            return Ok(());
        }
    }
}

async fn deliver(gateway: &Gateway, channels: &Channels, delivery: &Delivery) -> Settlement {
    let outcome = channels.perform(gateway, &delivery.effect).await;
    let result = if outcome.is_ok() { "done" } else { "failed" };
    metrics::counter!("countersign_deliveries_total", "result" => result).increment(1);
    match outcome {
        Ok(()) => Settlement::Done,
        Err(error) if delivery.attempt >= ATTEMPTS => {
            tracing::error!(delivery.id, error = format!("{error:#}"), "giving up a delivery");
            Settlement::Dead { error: format!("{error:#}") }
        }
        Err(error) => {
            let at = retry_at(gateway.now(), delivery.attempt);
            Settlement::Retry { at, error: format!("{error:#}") }
        }
    }
}

/// One second, then twice as long each time, an hour at most.
fn retry_at(now: Time, attempt: u32) -> Time {
    now.plus_seconds(2_u64.saturating_pow(attempt.saturating_sub(1)).min(3600))
}

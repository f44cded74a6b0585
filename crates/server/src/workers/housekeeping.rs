//! Once a minute: store which keys were used, delete old idempotency keys, idle cases, abandoned
//! uploads and old contracts of runtimes, aggregate the samples of histograms, and check whether an
//! unavailable bucket has recovered.

use std::sync::Arc;
use std::time::Duration;

use gateway::auth::Authenticator;
use gateway::blobs::Blobs;
use gateway::{Gateway, REQUESTS};
use metrics_exporter_prometheus::PrometheusHandle;
use store::StoreError;
use tokio_util::sync::CancellationToken;

const EVERY: Duration = Duration::from_mins(1);

/// Runs until shutdown, and once more at shutdown.
pub async fn run(
    gateway: Gateway,
    door: Arc<Authenticator>,
    blobs: Blobs,
    metrics: PrometheusHandle,
    stop: CancellationToken,
) {
    look(&blobs, &stop).await;
    let mut round = 0;
    loop {
        let stopped = tokio::select! {
            () = stop.cancelled() => true,
            () = tokio::time::sleep(EVERY) => false,
        };
        metrics.run_upkeep();
        gateway.database().note(REQUESTS, &tidy(&gateway, &door).await);
        let swept = gateway.store().sweep_contracts(round, gateway.now()).await;
        gateway.database().note(REQUESTS, &swept);
        if let Ok(next) = swept {
            round = next;
        }
        if stopped && blobs.are_away() {
            return;
        }
        if let Err(error) = blobs.sweep().await {
            tracing::warn!(error = format!("{error:#}"), "cannot take uploads away; trying again");
        }
        if stopped {
            return;
        }
        if blobs.are_away() {
            look(&blobs, &stop).await;
        }
    }
}

/// Checks whether files are available, unless the server stops.
async fn look(blobs: &Blobs, stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = blobs.look() => {}
    }
}

/// Runs the housekeeping of the database once.
pub async fn tidy(gateway: &Gateway, door: &Authenticator) -> Result<(), StoreError> {
    door.forget_quiet();
    let used = door.take_used();
    if !used.is_empty() {
        gateway.store().touch_keys(used).await?;
    }
    gateway.store().sweep(gateway.now()).await?;
    Ok(())
}

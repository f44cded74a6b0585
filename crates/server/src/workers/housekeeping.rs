//! Once a minute: store which keys were used, delete old idempotency keys, idle cases, abandoned
//! uploads and old contracts of runtimes, aggregate the samples of histograms, and check whether an
//! unavailable bucket has recovered.

use std::sync::Arc;
use std::time::Duration;

use gateway::auth::Authenticator;
use gateway::blobs::Blobs;
use gateway::{DATABASE_USER, Gateway};
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
    check_files(&blobs, &stop).await;
    let mut round = 0;
    loop {
        let stopped = tokio::select! {
            () = stop.cancelled() => true,
            () = tokio::time::sleep(EVERY) => false,
        };
        metrics.run_upkeep();
        gateway.database().note(DATABASE_USER, &clean_up(&gateway, &door).await);
        let swept = gateway.store().sweep_contracts(round, gateway.now()).await;
        gateway.database().note(DATABASE_USER, &swept);
        if let Ok(next) = swept {
            round = next;
        }
        if stopped && blobs.is_storage_unavailable() {
            return;
        }
        if let Err(error) = blobs.delete_abandoned_uploads().await {
            tracing::warn!(
                error = format!("{error:#}"),
                "cannot delete expired uploads, will retry"
            );
        }
        if stopped {
            return;
        }
        if blobs.is_storage_unavailable() {
            check_files(&blobs, &stop).await;
        }
    }
}

/// Checks whether files are available, unless the server stops.
async fn check_files(blobs: &Blobs, stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = blobs.check_availability() => {}
    }
}

/// Runs the housekeeping of the database once.
pub async fn clean_up(gateway: &Gateway, door: &Authenticator) -> Result<(), StoreError> {
    door.drop_idle_counters();
    let used = door.take_key_uses();
    if !used.is_empty() {
        gateway.store().touch_keys(used).await?;
    }
    gateway.store().sweep(gateway.now()).await?;
    Ok(())
}

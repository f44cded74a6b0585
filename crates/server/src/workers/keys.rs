//! Nodes that share a database look every few seconds whether the server's keys were changed: sooner
//! than a new key signs for the first time.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::signing::Signer;

const EVERY: Duration = Duration::from_secs(2);

/// Runs until shutdown.
pub async fn run(signer: Signer, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
        if let Err(error) = signer.refresh().await {
            tracing::warn!(error = format!("{error:#}"), "cannot look for new keys; trying again");
        }
    }
}

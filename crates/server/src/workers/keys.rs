//! Nodes that share a database check every few seconds whether the server's keys have changed. They
//! load a new key before it signs for the first time.

use std::sync::Arc;
use std::time::Duration;

use gateway::signing::Signer;
use store::outage::Outage;
use tokio_util::sync::CancellationToken;

const EVERY: Duration = Duration::from_secs(2);

/// Runs until shutdown.
pub async fn run(signer: Signer, database: Arc<Outage>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
        match signer.refresh().await {
            Ok(()) => database.worked("signing keys"),
            Err(error) => database.failed("signing keys", &format!("{error:#}")),
        }
    }
}

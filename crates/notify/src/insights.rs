//! Counts events for `/insights`, and exports the same counts to `/metrics`.

use std::sync::Arc;
use std::time::Duration;

use kernel::insight::{CountScope, Tally};
use store::outage::Outage;
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::projection_loop::{self, NewsReceiver};

/// How many records are counted at once.
const BATCH: usize = 1_000;
/// How long to wait after a change, so that the counts of a burst are written together.
const BURST_WAIT: Duration = Duration::from_millis(250);

/// Runs until shutdown.
pub async fn run(
    store: Arc<dyn Store>,
    database: Arc<Outage>,
    feed: NewsReceiver,
    name_projects: bool,
    stop: CancellationToken,
) {
    let step = || {
        let store = Arc::clone(&store);
        async move { count(&*store, name_projects).await }
    };
    projection_loop::run("insights", database, BURST_WAIT, feed, stop, step).await;
}

/// Counts the next records. Returns whether there may be more.
pub async fn count(store: &dyn Store, name_projects: bool) -> Result<bool, StoreError> {
    let counted = store.count_next(BATCH).await?;
    export(&counted.tally, name_projects);
    Ok(counted.records > 0)
}

/// Adds counts to `/metrics`. Each node exports its own counts, so their sum is complete. Agents
/// are not named because there may be many. Projects are named only if the settings ask for it:
/// `/metrics` needs no credential.
fn export(tally: &Tally, name_projects: bool) {
    for (cell, n) in tally.cells() {
        let CountScope::Project(project) = &cell.scope else { continue };
        let (measure, bin) = (cell.measure.as_str(), cell.bin);
        let counter = if name_projects {
            metrics::counter!(
                "countersign_insights_total",
                "project" => project.to_string(), "measure" => measure, "bin" => bin,
            )
        } else {
            metrics::counter!("countersign_insights_total", "measure" => measure, "bin" => bin)
        };
        counter.increment(n);
    }
}

//! The counts behind `/insights`, and the same for `/metrics`.

use std::sync::Arc;
use std::time::Duration;

use kernel::insight::{Tally, Whose};
use store::outage::Outage;
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use super::behind::{self, Feed};

/// Records taken in one go.
const BATCH: usize = 1_000;
/// How long to gather: the counts of a burst are written together.
const GATHER: Duration = Duration::from_millis(250);

/// Runs until shutdown.
pub async fn run(
    store: Arc<dyn Store>,
    database: Arc<Outage>,
    feed: Feed,
    stop: CancellationToken,
) {
    let step = || {
        let store = Arc::clone(&store);
        async move { count(&*store).await }
    };
    behind::run("insights", database, GATHER, feed, stop, step).await;
}

/// Counts on; whether there may be more.
pub async fn count(store: &dyn Store) -> Result<bool, StoreError> {
    let counted = store.count_on(BATCH).await?;
    tell(&counted.tally);
    Ok(counted.records > 0)
}

/// What was counted, for operators. All the nodes together have all of it; names of agents are left out,
/// there may be many.
fn tell(tally: &Tally) {
    for (cell, n) in tally.cells() {
        if let Whose::Project(project) = &cell.whose {
            metrics::counter!(
                "countersign_insights_total",
                "project" => project.to_string(),
                "measure" => cell.measure.as_str(),
                "bin" => cell.bin,
            )
            .increment(n);
        }
    }
}

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
    name_projects: bool,
    stop: CancellationToken,
) {
    let step = || {
        let store = Arc::clone(&store);
        async move { count(&*store, name_projects).await }
    };
    behind::run("insights", database, GATHER, feed, stop, step).await;
}

/// Counts on; whether there may be more.
pub async fn count(store: &dyn Store, name_projects: bool) -> Result<bool, StoreError> {
    let counted = store.count_on(BATCH).await?;
    tell(&counted.tally, name_projects);
    Ok(counted.records > 0)
}

/// What was counted, for operators. All the nodes together have all of it; names of agents are left out,
/// there may be many. Names of projects are left out unless the settings ask for them: `/metrics` needs
/// no credential.
fn tell(tally: &Tally, name_projects: bool) {
    for (cell, n) in tally.cells() {
        let Whose::Project(project) = &cell.whose else { continue };
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

//! The index of words.

use std::sync::Arc;
use std::time::Duration;

use store::Store;
use store::outage::Outage;
use tokio_util::sync::CancellationToken;

use super::behind::{self, Feed};

/// Changes taken in one go.
const BATCH: usize = 500;
/// How long to gather: a burst is indexed together.
const GATHER: Duration = Duration::from_millis(50);

/// Runs until shutdown.
pub async fn run(
    store: Arc<dyn Store>,
    database: Arc<Outage>,
    feed: Feed,
    stop: CancellationToken,
) {
    let step = || {
        let store = Arc::clone(&store);
        async move { Ok(store.index(BATCH).await? > 0) }
    };
    behind::run("search index", database, GATHER, feed, stop, step).await;
}

//! Keeps the search index up to date.

use std::sync::Arc;
use std::time::Duration;

use store::Store;
use store::outage::Outage;
use tokio_util::sync::CancellationToken;

use crate::projection_loop::{self, NewsReceiver};

/// How many changes are indexed at once.
const BATCH: usize = 500;
/// How long to wait after a change, so that a burst is indexed together.
const BURST_WAIT: Duration = Duration::from_millis(50);

/// Runs until shutdown.
pub async fn run(
    store: Arc<dyn Store>,
    database: Arc<Outage>,
    feed: NewsReceiver,
    stop: CancellationToken,
) {
    let step = || {
        let store = Arc::clone(&store);
        async move { Ok(store.index(BATCH).await? > 0) }
    };
    projection_loop::run("search index", database, BURST_WAIT, feed, stop, step).await;
}

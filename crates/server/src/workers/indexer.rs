//! The index of words, a little behind the commits: nobody who asks waits for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{News, Store};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// Changes taken in one go.
const BATCH: usize = 500;
/// How long to gather: a burst is indexed together.
const GATHER: Duration = Duration::from_millis(50);
/// While others write it rests so many times as long as it works.
const REST: u32 = 4;
/// How soon to look again when nobody said that something happened: on another node, perhaps.
const IDLE: Duration = Duration::from_secs(2);
/// How soon to try again what failed.
const AGAIN: Duration = Duration::from_secs(5);

/// Runs until shutdown.
pub async fn run(
    store: Arc<dyn Store>,
    mut feed: broadcast::Receiver<Arc<[News]>>,
    stop: CancellationToken,
) {
    loop {
        let pause = match catch_up(&store, &mut feed, &stop).await {
            Ok(()) => GATHER,
            Err(error) => {
                tracing::warn!(error = %error, "the search index is behind; trying again");
                AGAIN
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        tokio::select! {
            () = stop.cancelled() => return,
            // Whether it was told or missed, something happened; closed is the end of the store.
            told = feed.recv() => if matches!(told, Err(broadcast::error::RecvError::Closed)) {
                return;
            },
            () = tokio::time::sleep(IDLE) => {}
        }
    }
}

/// Indexes all there is. Asks come first: it takes both hands only while nobody writes.
async fn catch_up(
    store: &Arc<dyn Store>,
    feed: &mut broadcast::Receiver<Arc<[News]>>,
    stop: &CancellationToken,
) -> Result<(), store::StoreError> {
    loop {
        let begun = Instant::now();
        if store.index(BATCH).await? == 0 {
            return Ok(());
        }
        let rest = if heard(feed) { begun.elapsed() * REST } else { Duration::ZERO };
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Whether something was written since it was last asked.
fn heard(feed: &mut broadcast::Receiver<Arc<[News]>>) -> bool {
    use broadcast::error::TryRecvError::Lagged;
    let mut heard = false;
    while matches!(feed.try_recv(), Ok(_) | Err(Lagged(_))) {
        heard = true;
    }
    heard
}

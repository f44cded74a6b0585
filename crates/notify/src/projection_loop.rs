//! The loop of a follower: it processes the event feed shortly after the commits, so that no
//! request waits for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::outage::Outage;
use store::{AnnouncedChange, StoreError};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// While requests write, a follower pauses this many times as long as it worked.
const PAUSE_FACTOR: u32 = 9;
/// How soon to look again without a notification: another node may have written.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How soon to retry a failed step.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// Changes, as the store announces them.
pub(crate) type NewsReceiver = broadcast::Receiver<Arc<[AnnouncedChange]>>;

/// Follows the feed until shutdown. `step` processes some events and returns whether there may be
/// more; `gather` is how long to wait for the end of a burst.
pub(crate) async fn run<S, F>(
    what: &'static str,
    database: Arc<Outage>,
    gather: Duration,
    mut feed: NewsReceiver,
    stop: CancellationToken,
    step: S,
) where
    S: Fn() -> F,
    F: Future<Output = Result<bool, StoreError>>,
{
    loop {
        let pause = match catch_up(&step, &mut feed, &stop).await {
            Ok(()) => {
                database.worked(what);
                gather
            }
            Err(error) => {
                database.failed(what, &error);
                RETRY_DELAY
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        tokio::select! {
            () = stop.cancelled() => return,
            // A missed change is a change too; a closed feed means that the store is closed.
            change = feed.recv() => if matches!(change, Err(broadcast::error::RecvError::Closed)) {
                return;
            },
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}

/// Processes everything there is. Requests come first: it works without pauses only while no one
/// writes.
async fn catch_up<S, F>(
    step: &S,
    feed: &mut NewsReceiver,
    stop: &CancellationToken,
) -> Result<(), StoreError>
where
    S: Fn() -> F,
    F: Future<Output = Result<bool, StoreError>>,
{
    loop {
        let begun = Instant::now();
        if !step().await? {
            return Ok(());
        }
        let rest = if has_changed(feed) { begun.elapsed() * PAUSE_FACTOR } else { Duration::ZERO };
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Whether something was written since the last call.
fn has_changed(feed: &mut NewsReceiver) -> bool {
    use broadcast::error::TryRecvError::Lagged;
    let mut changed = false;
    while matches!(feed.try_recv(), Ok(_) | Err(Lagged(_))) {
        changed = true;
    }
    changed
}

//! What is made from the record a little behind the commits, so that nobody who asks waits for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::outage::Outage;
use store::{News, StoreError};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// While others write it rests so many times as long as it works.
const REST: u32 = 9;
/// How soon to look again when nobody said that something happened: on another node, perhaps.
const IDLE: Duration = Duration::from_secs(2);
/// How soon to try again what failed.
const AGAIN: Duration = Duration::from_secs(5);

/// Changes as they are told.
pub(super) type Feed = broadcast::Receiver<Arc<[News]>>;

/// Goes after the record until shutdown. `step` does some of it, and says whether there may be more;
/// `gather` is how long to wait for a burst to be over.
pub(super) async fn run<S, F>(
    what: &'static str,
    database: Arc<Outage>,
    gather: Duration,
    mut feed: Feed,
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

/// Does all there is. Asks come first: it takes both hands only while nobody writes.
async fn catch_up<S, F>(
    step: &S,
    feed: &mut Feed,
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
        let rest = if heard(feed) { begun.elapsed() * REST } else { Duration::ZERO };
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = tokio::time::sleep(rest) => {}
        }
    }
}

/// Whether something was written since it was last asked.
fn heard(feed: &mut Feed) -> bool {
    use broadcast::error::TryRecvError::Lagged;
    let mut heard = false;
    while matches!(feed.try_recv(), Ok(_) | Err(Lagged(_))) {
        heard = true;
    }
    heard
}

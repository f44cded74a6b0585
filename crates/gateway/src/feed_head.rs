//! The head of the feed, kept outside the database a little behind it: a log that lost acknowledged
//! events is noticed at the next start and by `audit verify`, also while they were in no block yet.
//!
//! Nothing waits for it. The head is read and written at most once a second, and when the server
//! stops, so what was acknowledged in the last second before a crash is not covered.

use std::sync::Arc;
use std::time::Duration;

use store::outage::Outage;
use store::{News, Store, StoreError};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;

use crate::sealed_head::{FeedHead, HeadFile, Loss};

/// How far the kept head may be behind what was acknowledged.
const LAG: Duration = Duration::from_secs(1);

/// The head of a feed as it is now; none while nothing happened.
pub async fn newest(store: &Arc<dyn Store>) -> Result<Option<FeedHead>, StoreError> {
    let position = store.last_position().await?;
    if position == 0 {
        return Ok(None);
    }
    let last = store.rows(position - 1, 1).await?;
    let first = store.hashes(0, 1).await?;
    let head = last.first().zip(first.first()).map(|(last, (_, origin))| FeedHead {
        position: last.position,
        hash: last.hash,
        at: last.at,
        origin: *origin,
    });
    Ok(head)
}

/// What a store has lost since a head was kept, if anything.
pub async fn lost(store: &Arc<dyn Store>, head: FeedHead) -> Result<Option<Loss>, StoreError> {
    let last = store.last_position().await?;
    let (to, until, accepted) = (head.position, head.at, false);
    if last < head.position {
        let before = store.rows(last.saturating_sub(1), 1).await?;
        let after = before.first().filter(|_| last > 0).map(|row| row.at);
        return Ok(Some(Loss { from: last + 1, to, after, until, replaced: false, accepted }));
    }
    let found = store.hashes(head.position.saturating_sub(1), 1).await?;
    if found.first() == Some(&(head.position, head.hash)) {
        return Ok(None);
    }
    Ok(Some(Loss { from: to, to, after: None, until, replaced: true, accepted }))
}

/// What is lost where there is no database any more.
pub fn everything(head: FeedHead) -> Loss {
    let (to, until) = (head.position, head.at);
    Loss { from: 1, to, after: None, until, replaced: false, accepted: false }
}

/// Whether a head was kept of another database than this one.
pub async fn is_foreign(store: &Arc<dyn Store>, head: FeedHead) -> Result<bool, StoreError> {
    let first = store.hashes(0, 1).await?;
    Ok(first.first().is_some_and(|(_, origin)| *origin != head.origin))
}

/// Writes down the head as it is now.
pub async fn keep(store: &Arc<dyn Store>, mark: &HeadFile) -> anyhow::Result<()> {
    if !mark.is_kept() {
        return Ok(());
    }
    let Some(head) = newest(store).await? else { return Ok(()) };
    let mark = mark.clone();
    // A sync takes as long as the disk likes.
    tokio::task::spawn_blocking(move || {
        mark.change(|marked| {
            // Never back: a head that is gone is a loss, and the next start says so.
            if marked.head.is_none_or(|kept| kept.position < head.position) {
                marked.head = Some(head);
            }
        })
    })
    .await?
}

/// Keeps the head until shutdown. Whoever stops the server keeps it once more when nothing is written
/// any more.
pub async fn run(
    store: Arc<dyn Store>,
    mark: HeadFile,
    mut feed: Receiver<Arc<[News]>>,
    stop: CancellationToken,
) {
    if !mark.is_kept() {
        return;
    }
    let outage = Outage::new("file of the feed's head");
    let mut waiting = true;
    loop {
        if !waiting {
            tokio::select! {
                () = stop.cancelled() => return,
                news = feed.recv() => match news {
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                },
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LAG) => {}
        }
        // What is committed from here on is news, whether or not this head has it already.
        while !matches!(feed.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
        let kept = keep(&store, &mark).await;
        waiting = kept.is_err();
        match kept {
            Ok(()) => outage.worked("feed head"),
            Err(error) => outage.failed("feed head", &format!("{error:#}")),
        }
    }
}

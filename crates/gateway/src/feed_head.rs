//! Records the head of the feed outside the database, with a short delay. The next start and
//! `audit verify` can therefore detect that the log lost acknowledged events, even before they
//! were in a block.
//!
//! Nothing waits for it. The head is read and written at most once a second, and when the server
//! stops. Events that were acknowledged in the last second before a crash are not covered.

use std::sync::Arc;
use std::time::Duration;

use store::outage::Outage;
use store::{AnnouncedChange, Store, StoreError};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;

use crate::sealed_head::{FeedHead, HeadFile, LostEvents};

/// The longest time that the recorded head may lag behind the feed.
const MAX_HEAD_DELAY: Duration = Duration::from_secs(1);

/// The current head of a feed. `None` if it has no events.
pub async fn current_head(store: &Arc<dyn Store>) -> Result<Option<FeedHead>, StoreError> {
    let position = store.last_position().await?;
    if position == 0 {
        return Ok(None);
    }
    let last = store.rows(store::FeedQuery::After(position - 1), 1).await?;
    let first = store.hashes(0, 1).await?;
    let head = last.first().zip(first.first()).map(|(last, (_, origin))| FeedHead {
        position: last.position,
        hash: last.hash,
        at: last.at,
        origin: *origin,
    });
    Ok(head)
}

/// The events that a store has lost since this head was recorded, if any.
pub async fn loss_since(
    store: &Arc<dyn Store>,
    head: FeedHead,
) -> Result<Option<LostEvents>, StoreError> {
    let last = store.last_position().await?;
    let (to, until, accepted) = (head.position, head.at, false);
    if last < head.position {
        let before = store.rows(store::FeedQuery::After(last.saturating_sub(1)), 1).await?;
        let after = before.first().filter(|_| last > 0).map(|row| row.at);
        return Ok(Some(LostEvents {
            from: last + 1,
            to,
            after,
            until,
            replaced: false,
            accepted,
        }));
    }
    let found = store.hashes(head.position.saturating_sub(1), 1).await?;
    if found.first() == Some(&(head.position, head.hash)) {
        return Ok(None);
    }
    Ok(Some(LostEvents { from: to, to, after: None, until, replaced: true, accepted }))
}

/// The loss if the database no longer exists.
pub fn total_loss(head: FeedHead) -> LostEvents {
    let (to, until) = (head.position, head.at);
    LostEvents { from: 1, to, after: None, until, replaced: false, accepted: false }
}

/// Whether the head belongs to another database.
pub async fn is_foreign(store: &Arc<dyn Store>, head: FeedHead) -> Result<bool, StoreError> {
    let first = store.hashes(0, 1).await?;
    Ok(first.first().is_some_and(|(_, origin)| *origin != head.origin))
}

/// Records the current head.
pub async fn record_head(store: &Arc<dyn Store>, mark: &HeadFile) -> anyhow::Result<()> {
    if !mark.is_present() {
        return Ok(());
    }
    let Some(head) = current_head(store).await? else { return Ok(()) };
    let mark = mark.clone();
    // A sync may take long.
    tokio::task::spawn_blocking(move || {
        mark.change(|marked| {
            // Never backwards: a missing head is a loss, which the next start reports.
            if marked.head.is_none_or(|kept| kept.position < head.position) {
                marked.head = Some(head);
            }
        })
    })
    .await?
}

/// Records the head until shutdown. The caller records it once more after the last write.
pub async fn run(
    store: Arc<dyn Store>,
    mark: HeadFile,
    mut feed: Receiver<Arc<[AnnouncedChange]>>,
    stop: CancellationToken,
) {
    if !mark.is_present() {
        return;
    }
    let outage = Outage::new("feed head file");
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
            () = tokio::time::sleep(MAX_HEAD_DELAY) => {}
        }
        // Events that are committed from here on trigger the next round, even if this head
        // already includes them.
        while !matches!(feed.try_recv(), Err(TryRecvError::Empty | TryRecvError::Closed)) {}
        let kept = record_head(&store, &mark).await;
        waiting = kept.is_err();
        match kept {
            Ok(()) => outage.worked("feed head"),
            Err(error) => outage.failed("feed head", &format!("{error:#}")),
        }
    }
}

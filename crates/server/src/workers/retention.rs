//! Erases the text of requests that were closed longer ago than the retention time, in batches that
//! leave room for other work, and deletes old daily counts. A restart needs no recovery: the work
//! is read from the store, and nodes share it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use gateway::{DATABASE_USER, Gateway};
use kernel::insight::Day;
use kernel::task::TaskCommand;
use kernel::{Actor, AskCommand, Command, ProjectId, Time};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::config::{Retention, RetentionSetting};

/// The interval of the worker.
const EVERY: Duration = Duration::from_mins(1);
/// The lease of a claim. If this node dies, other nodes take over after it.
const CLAIM_LEASE: Duration = Duration::from_mins(1);
/// The number of asks claimed at once.
const BATCH: usize = 256;
/// The number of asks erased at once; the store commits them together.
const AT_ONCE: usize = 32;

/// The number of counts deleted at once.
const COUNTS_PER_DELETE: usize = 2_000;

/// Runs until shutdown.
pub async fn run(
    gateway: Gateway,
    usual: Option<Retention>,
    counts: Option<Retention>,
    stop: CancellationToken,
) {
    let mut forgotten = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            erased = erase(&gateway, usual) => gateway.database().note(DATABASE_USER, &erased),
        }
        // Finding old counts reads all of them, so once a day is enough.
        let before = counts.map(|kept| Day::of(since(gateway.now(), kept)));
        if let Some(before) = before.filter(|_| before != forgotten) {
            tokio::select! {
                () = stop.cancelled() => return,
                gone = delete_old_counts(gateway.store(), before) => {
                    gateway.database().note(DATABASE_USER, &gone);
                    if gone.is_ok() {
                        forgotten = Some(before);
                    }
                },
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

/// Deletes the counts of days before `before`. Returns their number.
pub async fn delete_old_counts(store: &Arc<dyn Store>, before: Day) -> Result<u64, StoreError> {
    let mut total = 0;
    loop {
        let began = Instant::now();
        let gone = store.forget_counts(before, COUNTS_PER_DELETE).await?;
        total += gone;
        if gone < COUNTS_PER_DELETE as u64 {
            return Ok(total);
        }
        tokio::time::sleep(began.elapsed()).await;
    }
}

/// Erases everything whose retention time has passed. Returns the number of erased items. A project
/// may set its own retention time; the others use `usual`.
pub async fn erase(gateway: &Gateway, usual: Option<Retention>) -> Result<u64, StoreError> {
    let mut total = 0;
    for project in gateway.directory().projects() {
        let kept = match project.retention {
            Some(RetentionSetting::Always) => None,
            Some(RetentionSetting::For(retention)) => Some(retention),
            None => usual,
        };
        if let Some(retention) = kept {
            total += erase_asks(gateway, &project.id, retention).await?;
            total += erase_tasks(gateway, &project.id, retention).await?;
        }
    }
    Ok(total)
}

/// A request that was closed at this moment or before has been kept long enough.
fn since(now: Time, retention: Retention) -> Time {
    Time::from_millis(now.millis().saturating_sub(retention.millis()))
}

async fn erase_asks(
    gateway: &Gateway,
    project: &ProjectId,
    retention: Retention,
) -> Result<u64, StoreError> {
    let mut total = 0;
    loop {
        let now = gateway.now();
        let (store, since) = (gateway.store(), since(now, retention));
        let over = store.claim_ended(project.clone(), since, now, CLAIM_LEASE, BATCH).await?;
        let (all, began) = (over.len() < BATCH, Instant::now());
        let mut work = stream::iter(over)
            .map(|id| erased(gateway, AskCommand::Erase(id)))
            .buffer_unordered(AT_ONCE);
        let mut failed = None;
        while let Some(erased) = work.next().await {
            match erased {
                Ok(()) => total += 1,
                // An ask that cannot be erased must not delay the others.
                Err(error) => failed = Some(error),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        if all {
            return Ok(total);
        }
        tokio::time::sleep(began.elapsed()).await;
    }
}

/// Tasks are fewer than asks, so nodes do not claim them: the second node erases nothing.
async fn erase_tasks(
    gateway: &Gateway,
    project: &ProjectId,
    retention: Retention,
) -> Result<u64, StoreError> {
    let mut total = 0;
    loop {
        let (since, began) = (since(gateway.now(), retention), Instant::now());
        let over = gateway.store().ended_tasks(project.clone(), since, BATCH).await?;
        let mut failed = None;
        for id in &over {
            match erased(gateway, Command::Task(Box::new(TaskCommand::Erase(*id)))).await {
                Ok(()) => total += 1,
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) => return Err(error),
            None if over.len() < BATCH => return Ok(total),
            None => {}
        }
        tokio::time::sleep(began.elapsed()).await;
    }
}

async fn erased(gateway: &Gateway, command: impl Into<Command>) -> Result<(), StoreError> {
    gateway.run(Actor::System, command).await?;
    metrics::counter!("countersign_retention_erased_total").increment(1);
    Ok(())
}

//! Erases the words of what is over for longer than they are kept, in batches that leave room for
//! others, and forgets counts of days nobody wants to look at any more. A restart needs nothing: what is
//! to go is read from the store, and nodes share it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use gateway::{Gateway, REQUESTS};
use kernel::insight::Day;
use kernel::task::TaskCommand;
use kernel::{Actor, AskCommand, Command, ProjectId, Time};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::config::{Keep, Retention};

/// How often the worker looks.
const EVERY: Duration = Duration::from_mins(1);
/// How long other nodes leave to this one what it has claimed: should it die, they take over then.
const LEASE: Duration = Duration::from_mins(1);
/// How many asks are claimed at once.
const BATCH: usize = 256;
/// How many of them are erased at once; the store commits those together.
const AT_ONCE: usize = 32;

/// How many counts are forgotten at once.
const COUNTS: usize = 2_000;

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
            erased = erase(&gateway, usual) => gateway.database().note(REQUESTS, &erased),
        }
        // Finding them means going through all there are: once a day is enough.
        let before = counts.map(|kept| Day::of(since(gateway.now(), kept)));
        if let Some(before) = before.filter(|_| before != forgotten) {
            tokio::select! {
                () = stop.cancelled() => return,
                gone = forget(gateway.store(), before) => {
                    gateway.database().note(REQUESTS, &gone);
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

/// Forgets what was counted on the days before one; how many counts that were.
pub async fn forget(store: &Arc<dyn Store>, before: Day) -> Result<u64, StoreError> {
    let mut total = 0;
    loop {
        let began = Instant::now();
        let gone = store.forget_counts(before, COUNTS).await?;
        total += gone;
        if gone < COUNTS as u64 {
            return Ok(total);
        }
        tokio::time::sleep(began.elapsed()).await;
    }
}

/// Erases everything that was kept long enough; how much. A project that says how long keeps its words
/// so long, the others keep them as is usual here.
pub async fn erase(gateway: &Gateway, usual: Option<Retention>) -> Result<u64, StoreError> {
    let mut total = 0;
    for project in gateway.directory().projects() {
        let kept = match project.retention {
            Some(Keep::Always) => None,
            Some(Keep::For(retention)) => Some(retention),
            None => usual,
        };
        if let Some(retention) = kept {
            total += erase_asks(gateway, &project.id, retention).await?;
            total += erase_tasks(gateway, &project.id, retention).await?;
        }
    }
    Ok(total)
}

/// What ended at this moment or before was kept long enough.
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
        let over = store.claim_over(project.clone(), since, now, LEASE, BATCH).await?;
        let (all, began) = (over.len() < BATCH, Instant::now());
        let mut work = stream::iter(over)
            .map(|id| erased(gateway, AskCommand::Erase(id)))
            .buffer_unordered(AT_ONCE);
        let mut failed = None;
        while let Some(erased) = work.next().await {
            match erased {
                Ok(()) => total += 1,
                // What cannot be erased must not hold up the others.
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

/// Tasks are fewer than asks, so nodes do not share them out: whoever comes second erases nothing.
async fn erase_tasks(
    gateway: &Gateway,
    project: &ProjectId,
    retention: Retention,
) -> Result<u64, StoreError> {
    let mut total = 0;
    loop {
        let (since, began) = (since(gateway.now(), retention), Instant::now());
        let over = gateway.store().over_tasks(project.clone(), since, BATCH).await?;
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

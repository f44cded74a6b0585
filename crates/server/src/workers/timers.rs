//! Held answers, deadlines, reminders and escalations, in batches that leave room for other work. A
//! restart needs no recovery: due work is read from the store, however late.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use gateway::{DATABASE_USER, Gateway};
use kernel::ask::DueAction;
use kernel::{Actor, Ask, AskCommand, AskId, Refusal};
use store::StoreError;
use tokio_util::sync::CancellationToken;

/// The longest pause of the worker. It notices a new deadline within this time.
const MAX_PAUSE: Duration = Duration::from_millis(250);
/// The lease of a claim. If this node dies, other nodes take over after it.
const CLAIM_LEASE: Duration = Duration::from_secs(30);
/// The number of asks claimed at once.
const BATCH: usize = 512;
/// The number of asks decided at once; the store commits them together.
const AT_ONCE: usize = 64;

/// In a flood, the worker pauses after each batch so that other work gets the store, unless
/// something has been due for this many seconds. A deadline that fires late is still
/// dated at the deadline.
const LATE: u64 = 20;

/// Runs until shutdown.
pub async fn run(gateway: Gateway, stop: CancellationToken) {
    loop {
        let nap = match run_due(&gateway).await {
            Ok(()) => {
                // Requests arrive irregularly. This worker uses the store all the time, so its
                // success also reports the recovery for them.
                gateway.database().worked("timers");
                gateway.database().worked(DATABASE_USER);
                pause_until_due(&gateway).await
            }
            Err(error) => {
                gateway.database().failed("timers", &error);
                MAX_PAUSE * 4
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(nap) => {}
        }
    }
}

/// Executes everything that is due now.
pub async fn run_due(gateway: &Gateway) -> Result<(), StoreError> {
    loop {
        let due = gateway.store().claim_due(gateway.now(), CLAIM_LEASE, BATCH).await?;
        if due.is_empty() {
            return Ok(());
        }
        let (flood, began) = (due.len() == BATCH, Instant::now());
        let fired = |id| async move {
            // In a full batch nearly all are deadlines, and reading each ask first would double the
            // cost.
            let begun = if flood { act(gateway, id, DueAction::Expire).await? } else { None };
            fire(gateway, id, begun).await
        };
        let mut work = stream::iter(due).map(fired).buffer_unordered(AT_ONCE);
        let mut failed = None;
        while let Some(fired) = work.next().await {
            // One ask that cannot be decided must not delay the others.
            if let Err(error) = fired {
                failed = Some(error);
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        if flood && !is_late(gateway).await? {
            tokio::time::sleep(began.elapsed() * 3 / 4).await;
        }
    }
}

/// Executes everything that is due on one ask, one command after the other. The ask
/// is read unless `known`.
async fn fire(gateway: &Gateway, id: AskId, known: Option<Ask>) -> Result<(), StoreError> {
    let mut ask = match known {
        Some(ask) => Some(ask),
        None => gateway.store().ask(id).await?.map(Arc::unwrap_or_clone),
    };
    while let Some(due) = ask.as_ref().and_then(|ask| ask.due(gateway.now())) {
        ask = act(gateway, id, due).await?;
    }
    Ok(())
}

/// Runs the command for due work. Returns the ask afterwards; `None` if the work was not due.
async fn act(gateway: &Gateway, id: AskId, due: DueAction) -> Result<Option<Ask>, StoreError> {
    let (command, name) = match due {
        DueAction::CommitHeld => (AskCommand::CommitHeld(id), "commit_held"),
        DueAction::Expire => (AskCommand::Expire(id), "expire"),
        DueAction::Remind => (AskCommand::Remind(id), "remind"),
        DueAction::Escalate => (AskCommand::Escalate(id), "escalate"),
    };
    match gateway.run(Actor::System, command).await {
        Ok(outcome) => {
            metrics::counter!("countersign_timers_fired_total", "due" => name).increment(1);
            Ok(outcome.ask)
        }
        Err(StoreError::Refused(Refusal::NotDue)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn is_late(gateway: &Gateway) -> Result<bool, StoreError> {
    let oldest = gateway.store().next_due().await?;
    Ok(oldest.is_some_and(|due| due.plus_seconds(LATE) < gateway.now()))
}

async fn pause_until_due(gateway: &Gateway) -> Duration {
    let Ok(Some(next)) = gateway.store().next_due().await else { return MAX_PAUSE };
    let millis = u64::try_from(next.millis() - gateway.now().millis()).unwrap_or(0);
    Duration::from_millis(millis.max(1)).min(MAX_PAUSE)
}

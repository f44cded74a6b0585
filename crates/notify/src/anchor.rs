//! Passes every sealed block to the operator's anchor command, in order, so that a copy exists
//! outside the server. A command that fails is retried with growing delays; sealing continues
//! meanwhile.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use store::outage::Outage;
use store::{SealedBlock, Store, StoreError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::operator_command::OperatorCommands;

/// How long the command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Runs until shutdown. `newest` changes with every new block.
pub async fn run(
    store: Arc<dyn Store>,
    commands: OperatorCommands,
    command: String,
    mut newest: watch::Receiver<u64>,
    stop: CancellationToken,
) {
    let (mut failed, outage) = (0, Outage::new("anchor command"));
    loop {
        newest.mark_unchanged();
        let pause = match next(&store, &commands, &command, &stop).await {
            Ok(true) => {
                failed = 0;
                outage.worked("anchor");
                continue;
            }
            Ok(false) => None,
            Err(_) if stop.is_cancelled() => return,
            Err(error) => {
                failed += 1;
                let pause = pause(failed);
                metrics::counter!("countersign_anchor_attempts_total", "result" => "failed")
                    .increment(1);
                outage.failed("anchor", &format!("{error:#}"));
                Some(pause)
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause.unwrap_or(LONGEST_PAUSE)) => {}
            // More blocks do not make a failing command work.
            changed = newest.changed(), if pause.is_none() => if changed.is_err() { return },
        }
    }
}

/// How many blocks are not anchored yet.
pub async fn waiting(store: &Arc<dyn Store>) -> Result<u64, StoreError> {
    let newest = store.block(store::BlockQuery::Last).await?.map_or(0, |sealed| sealed.block.n);
    Ok(newest.saturating_sub(store.anchored().await?.unwrap_or(0)))
}

/// One second, then twice as long each time.
fn pause(failed: u32) -> Duration {
    Duration::from_secs(2_u64.saturating_pow(failed.saturating_sub(1))).min(LONGEST_PAUSE)
}

/// Anchors the next block; `false` if there is none.
async fn next(
    store: &Arc<dyn Store>,
    commands: &OperatorCommands,
    command: &str,
    stop: &CancellationToken,
) -> anyhow::Result<bool> {
    let done = if let Some(n) = store.anchored().await? {
        n
    } else {
        // The newest block vouches for all before it, so that is where anchoring begins.
        let newest = store
            .block(store::BlockQuery::Last)
            .await?
            .map_or(0, |sealed| sealed.block.n.saturating_sub(1));
        store.anchor(newest).await?;
        newest
    };
    let Some(sealed) = store.blocks(done, 1).await?.pop() else { return Ok(false) };
    let n = sealed.block.n;
    tokio::select! {
        () = stop.cancelled() => bail!("the server stops"),
        outcome = tokio::time::timeout(COMMAND_TIMEOUT, perform(commands, command, &sealed)) => match outcome {
            Ok(outcome) => outcome.with_context(|| format!("block {n}"))?,
            Err(_) => bail!("block {n}: the command took longer than {COMMAND_TIMEOUT:?}"),
        },
    }
    store.anchor(n).await?;
    metrics::counter!("countersign_anchor_attempts_total", "result" => "done").increment(1);
    tracing::debug!(block.n = n, "anchored a block");
    Ok(true)
}

/// Runs the command once. Dropping the future kills the command with every process it started.
async fn perform(
    commands: &OperatorCommands,
    command: &str,
    sealed: &SealedBlock,
) -> anyhow::Result<()> {
    let block = &sealed.block;
    let hash = block.hash();
    let input = serde_json::json!({
        "n": block.n, "root": block.root, "hash": hash, "at": block.at, "block": sealed.jws,
    });
    let environment = [
        ("COUNTERSIGN_BLOCK_N", block.n.to_string()),
        ("COUNTERSIGN_BLOCK_ROOT", block.root.to_string()),
        ("COUNTERSIGN_BLOCK_HASH", hash.to_string()),
    ];
    let output = commands.run(command, &input.to_string(), &environment).await?;
    if !output.status.success() {
        bail!("the command failed ({}): {}", output.status, output.complaint);
    }
    Ok(())
}

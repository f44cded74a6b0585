//! What the runtimes of agents have to do, brought to them by a command of the operator's.
//!
//! Every contract was numbered in the store by the commit that wanted it. Where there is no command, the
//! runtime reads it there and says up to where it has it; endpoints are told beside, each for itself. A
//! command gets one contract after the other, in order: the first that is not confirmed is run, and
//! confirmed when it was taken. What was decided stands all the while, whether the runtime can be
//! reached or not.

use std::time::Duration;

use anyhow::{Context, bail};
use dialects::hacp::Version;
use dialects::hacp::runtime::HarnessEvent;
use kernel::task::Contract;
use serde::Deserialize;
use store::{Delivery, Settlement, StoreError};

use super::lanes::Done;
use super::outbox::{Desk, count, retry_at};
use crate::command;

/// How long a command may take. It begins a run and says which; the work itself comes afterwards.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a contract is tried: then those behind it get their turn.
const LONGEST: u64 = 24 * 3600;
/// How many are looked at to see whose turn it is.
const BATCH: usize = 256;

/// Whether it is the turn of a contract.
enum Turn {
    /// It is the first that is not confirmed, under this number.
    Now(u64),
    /// Others come before it.
    Later,
    /// It was confirmed already.
    Over,
}

impl Desk {
    /// Brings a contract to its runtime, if there is a command for it.
    pub(super) async fn contract(
        &self,
        delivery: &Delivery,
        contract: &Contract,
    ) -> Result<Done, StoreError> {
        let gateway = &self.app.gateway;
        let over = Done::plainly(Settlement::Done);
        let Some(command) = self.app.config.runtime_commands.get(&contract.agent) else {
            return Ok(over);
        };
        let n = match self.turn_of(contract).await? {
            Turn::Now(n) => n,
            Turn::Over => return Ok(over),
            Turn::Later => {
                let error = "an operation before it is not confirmed yet".to_owned();
                let at = retry_at(gateway.now(), delivery.attempt.min(6));
                let settlement = Settlement::Retry { at, error };
                return Ok(Done { settlement, entry: None, answered: false });
            }
        };
        let outcome = match self.app.harness_event(contract, Version::default()).await? {
            Some(event) => perform(command, &event).await,
            // There is no such task any more.
            None => Ok(()),
        };
        count("countersign_runtime_commands_total", outcome.is_ok());
        let Err(error) = outcome else {
            gateway.store().ack_contracts(contract.agent.clone(), n).await?;
            return Ok(over);
        };
        let error = format!("{error:#}");
        let (agent, duty) = (&contract.agent, contract.duty.as_str());
        let now = gateway.now();
        let settlement = if contract.at.plus_seconds(LONGEST) > now {
            tracing::warn!(
                task.id = %contract.task, agent.id = %agent, duty, error,
                "a runtime did not take what it has to do; trying again"
            );
            Settlement::Retry { at: retry_at(now, delivery.attempt), error }
        } else {
            tracing::error!(
                task.id = %contract.task, agent.id = %agent, duty, error,
                "giving up what a runtime has to do"
            );
            gateway.store().ack_contracts(contract.agent.clone(), n).await?;
            Settlement::Dead { error }
        };
        Ok(Done { settlement, entry: None, answered: false })
    }

    /// Whose turn it is, as the store numbers them.
    async fn turn_of(&self, contract: &Contract) -> Result<Turn, StoreError> {
        let store = self.app.gateway.store();
        let first = store.acked(contract.agent.clone()).await?;
        let mut after = first;
        loop {
            let waiting = store.contracts(contract.agent.clone(), after, BATCH).await?;
            for (place, (n, waits)) in waiting.iter().enumerate() {
                if waits == contract {
                    let in_turn = after == first && place == 0;
                    return Ok(if in_turn { Turn::Now(*n) } else { Turn::Later });
                }
            }
            match waiting.last() {
                Some((n, _)) if waiting.len() == BATCH => after = *n,
                Some(_) | None => return Ok(Turn::Over),
            }
        }
    }
}

/// What a command answers.
#[derive(Deserialize)]
struct Answer {
    run_id: Option<String>,
    correlation_id: Option<String>,
}

/// Runs the command once: the event on standard input, `{"run_id": …}` on standard output.
async fn perform(command: &str, event: &HarnessEvent) -> anyhow::Result<()> {
    let told = serde_json::to_string(event)?;
    let environment = [
        ("HACP_OPERATION", event.operation.as_str().to_owned()),
        ("HACP_OPERATION_ID", event.operation_id.clone()),
        ("HACP_TASK_ID", event.task_id.to_string()),
        ("HACP_RUN_ID", event.run_id.to_string()),
    ];
    let running = command::run(command, &told, &environment);
    let ended = tokio::time::timeout(PATIENCE, running)
        .await
        .with_context(|| format!("the command took longer than {PATIENCE:?}"))??;
    if !ended.status.success() {
        bail!("the command failed ({}): {}", ended.status, ended.complaint);
    }
    judged(&ended.answer, event)
}

/// Whether an answer means that it was taken.
fn judged(answer: &[u8], event: &HarnessEvent) -> anyhow::Result<()> {
    let answer: Answer = serde_json::from_slice(answer)
        .context("the command did not answer with a JSON object such as {\"run_id\": \"…\"}")?;
    let Some(run) = answer.run_id.filter(|run| !run.is_empty()) else {
        bail!("the command's answer has no run_id");
    };
    let task = event.correlation_id.to_string();
    if answer.correlation_id.is_some_and(|id| id != task) {
        bail!("the command's answer has another correlation_id than the task's, {task}");
    }
    tracing::debug!(task.id = task, run.id = run, "a runtime took what it has to do");
    Ok(())
}

//! Passes contracts to the runtimes of agents, by a command of the operator.
//!
//! The commit that made a contract numbered it in the store. Without a command, the runtime reads
//! contracts there and confirms them by number; webhook endpoints get them too. A command gets one
//! contract after the other: the first that is not confirmed is passed on, and confirmed when the
//! command accepts it. Decisions stand whether or not the runtime can be reached.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use dialects::hacp::HacpVersion;
use dialects::hacp::runtime::HarnessEvent;
use gateway::runtime_contracts::harness_event;
use kernel::AgentId;
use kernel::task::Contract;
use serde::Deserialize;
use store::{ClaimedWork, Settlement, StoreError};

use super::Deliveries;
use super::lanes::SettledDelivery;
use crate::attempts::{count, retry_at};
use crate::operator_command::OperatorCommands;

/// How long a command may take. It starts a run and names it; the work itself comes afterwards.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);
/// For how many seconds a contract is retried before the next one gets its turn.
const MAX_RETRY_SECONDS: u64 = 24 * 3600;
/// How many contracts are read at once.
const BATCH: usize = 256;

/// The commands that pass contracts to the runtimes of agents. Clones share them.
#[derive(Clone)]
pub struct RuntimeCommands {
    commands: Arc<BTreeMap<AgentId, String>>,
    runner: OperatorCommands,
}

impl RuntimeCommands {
    /// The command of each agent that has one.
    pub fn new(commands: BTreeMap<AgentId, String>, runner: OperatorCommands) -> Self {
        Self { commands: Arc::new(commands), runner }
    }

    /// Whether the runtime of this agent has a command.
    pub(super) fn has_command(&self, agent: &str) -> bool {
        self.commands.keys().any(|known| known.as_str() == agent)
    }
}

/// Whether it is the turn of a contract.
enum ContractTurn {
    /// It is the first that is not confirmed, under this number.
    Now(u64),
    /// Others come before it.
    Later,
    /// It was confirmed already.
    Over,
}

impl Deliveries {
    /// Passes a contract to its runtime, if there is a command for it.
    pub(super) async fn deliver_contract(
        &self,
        delivery: &ClaimedWork,
        contract: &Contract,
    ) -> Result<SettledDelivery, StoreError> {
        let gateway = &self.gateway;
        let over = SettledDelivery::without_log_entry(Settlement::Done);
        let Some(command) = self.runtimes.commands.get(&contract.agent) else {
            return Ok(over);
        };
        let n = match self.turn_of(contract).await? {
            ContractTurn::Now(n) => n,
            ContractTurn::Over => return Ok(over),
            ContractTurn::Later => {
                let error = "a previous operation is not confirmed yet".to_owned();
                let at = retry_at(gateway.now(), delivery.attempt.min(6));
                let settlement = Settlement::Retry { at, error };
                return Ok(SettledDelivery { settlement, entry: None, answered: false });
            }
        };
        let outcome =
            match harness_event(&**gateway.store(), contract, HacpVersion::default()).await? {
                Some(event) => run_command(&self.runtimes.runner, command, &event).await,
                // The task no longer exists.
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
        let settlement = if contract.at.plus_seconds(MAX_RETRY_SECONDS) > now {
            tracing::warn!(
                task.id = %contract.task, agent.id = %agent, duty, error,
                "runtime command failed, will retry"
            );
            Settlement::Retry { at: retry_at(now, delivery.attempt), error }
        } else {
            tracing::error!(
                task.id = %contract.task, agent.id = %agent, duty, error,
                "runtime command failed after the last attempt, giving up"
            );
            gateway.store().ack_contracts(contract.agent.clone(), n).await?;
            Settlement::Dead { error }
        };
        Ok(SettledDelivery { settlement, entry: None, answered: false })
    }

    /// Whether it is the turn of a contract, by the numbers of the store.
    async fn turn_of(&self, contract: &Contract) -> Result<ContractTurn, StoreError> {
        let store = self.gateway.store();
        let first = store.acked(contract.agent.clone()).await?;
        let mut after = first;
        loop {
            let waiting = store.contracts(contract.agent.clone(), after, BATCH).await?;
            for (place, (n, waits)) in waiting.iter().enumerate() {
                if waits == contract {
                    let in_turn = after == first && place == 0;
                    return Ok(if in_turn { ContractTurn::Now(*n) } else { ContractTurn::Later });
                }
            }
            match waiting.last() {
                Some((n, _)) if waiting.len() == BATCH => after = *n,
                Some(_) | None => return Ok(ContractTurn::Over),
            }
        }
    }
}

/// The output of a command.
#[derive(Deserialize)]
struct RuntimeOutput {
    run_id: Option<String>,
    correlation_id: Option<String>,
}

/// Runs the command once: the event on standard input, `{"run_id": …}` on standard output.
async fn run_command(
    runner: &OperatorCommands,
    command: &str,
    event: &HarnessEvent,
) -> anyhow::Result<()> {
    let input = serde_json::to_string(event)?;
    let environment = [
        ("HACP_OPERATION", event.operation.as_str().to_owned()),
        ("HACP_OPERATION_ID", event.operation_id.clone()),
        ("HACP_TASK_ID", event.task_id.to_string()),
        ("HACP_RUN_ID", event.run_id.to_string()),
    ];
    let running = runner.run(command, &input, &environment);
    let output = tokio::time::timeout(COMMAND_TIMEOUT, running)
        .await
        .with_context(|| format!("the command took longer than {COMMAND_TIMEOUT:?}"))??;
    if !output.status.success() {
        bail!("the command failed ({}): {}", output.status, output.complaint);
    }
    check(&output.answer, event)
}

/// Whether the output means that the runtime accepted the contract.
fn check(answer: &[u8], event: &HarnessEvent) -> anyhow::Result<()> {
    let answer: RuntimeOutput = serde_json::from_slice(answer)
        .context("the command did not answer with a JSON object such as {\"run_id\": \"…\"}")?;
    let Some(run) = answer.run_id.filter(|run| !run.is_empty()) else {
        bail!("the command's answer has no run_id");
    };
    let task = event.correlation_id.to_string();
    if answer.correlation_id.is_some_and(|id| id != task) {
        bail!("the command's answer has the wrong correlation_id; expected {task}");
    }
    tracing::debug!(task.id = task, run.id = run, "runtime command accepted an operation");
    Ok(())
}

//! The events for the runtime of an agent: `runtime.peek`, `runtime.ack`, `pending.outbox`. Peeking
//! removes nothing. An acknowledgement covers all events up to a position, and never moves back.

use dialects::hacp::errors::code;
use dialects::hacp::runtime::OutboxState;
use dialects::hacp::{HacpError, HacpVersion, OperationParams};
use gateway::runtime_contracts::harness_event;
use kernel::task::Contract;
use kernel::{Actor, AgentId, Refusal, TaskId};
use serde_json::json;

use super::HacpFailure;
use super::operations::OperationResult;
use super::queries::{bad_cursor, limit};
use crate::http::hacp::HacpOperations;

/// How many events are checked before an acknowledgement for a single run is accepted.
const AT_ONCE: usize = 1000;

impl HacpOperations {
    pub(super) async fn runtime(
        &self,
        actor: &Actor,
        version: HacpVersion,
        params: OperationParams,
    ) -> Result<OperationResult, HacpFailure> {
        let store = self.gateway.store();
        match params {
            OperationParams::Peek(peeked) => {
                let agent = runtime(actor)?;
                let after = match peeked.cursor {
                    Some(cursor) => cursor,
                    None => store.acked(agent.clone()).await?,
                };
                let most = limit(peeked.limit);
                let contracts = store.contracts(agent, after, most).await?;
                let next = contracts.last().filter(|_| contracts.len() == most);
                let next = next.map(|(n, _)| n.to_string());
                let mut events = Vec::with_capacity(contracts.len());
                for (n, contract) in &contracts {
                    if peeked.run.is_none_or(|run| run == contract.run) {
                        let told = harness_event(&**store, contract, version).await?;
                        events.extend(told.map(|told| version.stamped(told.at_position(*n))));
                    }
                }
                Ok(OperationResult::list(json!(events), next))
            }
            OperationParams::Ack(acked) => {
                let agent = runtime(actor)?;
                if let Some(run) = acked.run {
                    let before = store.acked(agent.clone()).await?;
                    let passed = store.contracts(agent.clone(), before, AT_ONCE).await?;
                    let whole = passed.len() < AT_ONCE;
                    if !whole && passed.last().is_some_and(|(n, _)| *n < acked.through) {
                        let expected = "the position of one of the next 1000 events of the runtime";
                        return Err(HacpError::field("params.through", expected).into());
                    }
                    let mut passed = passed.iter().take_while(|(n, _)| *n <= acked.through);
                    if passed.any(|(_, contract)| contract.run != run) {
                        let message = "through: an event of another run comes before it";
                        return Err(HacpError::new(code::CONFLICT, message).into());
                    }
                }
                let through = store.ack_contracts(agent, acked.through).await?;
                Ok(json!({ "acknowledged": through.to_string() }).into())
            }
            OperationParams::Outbox { task, page } => {
                let after = match page.cursor.as_deref().map(str::parse::<u64>) {
                    Some(Ok(n)) => n,
                    Some(Err(_)) => return Err(bad_cursor().into()),
                    None => 0,
                };
                let most = limit(page.limit);
                let agents = self.queryable_agents(actor, task).await?;
                let contracts = self.unacknowledged_events(agents, after, most).await?;
                let next = contracts.last().filter(|_| contracts.len() == most);
                let next = next.map(|(n, _)| n.to_string());
                let directory = self.gateway.directory();
                let mut waiting = Vec::new();
                for (_, contract) in &contracts {
                    if task.is_some_and(|task| task != contract.task) {
                        continue;
                    }
                    let theirs = matches!(actor, Actor::Agent { .. });
                    let of = store.task(contract.task).await?;
                    if !theirs && !of.is_some_and(|of| of.is_visible_to(actor, &directory)) {
                        continue;
                    }
                    if let Some(told) = harness_event(&**store, contract, version).await? {
                        let kept = told.outbox_record(OutboxState::Pending, None, contract.at);
                        waiting.push(version.stamped(kept));
                    }
                }
                Ok(OperationResult::list(json!(waiting), next))
            }
            _ => Err(HacpError::internal().into()),
        }
    }

    /// The agents whose runtimes the caller may query: an agent its own, a person that of the agent
    /// that works on a task, or those of the projects they see.
    async fn queryable_agents(
        &self,
        actor: &Actor,
        task: Option<TaskId>,
    ) -> Result<Vec<AgentId>, HacpFailure> {
        match (actor, task) {
            (Actor::Agent { id, .. }, _) => Ok(vec![id.clone()]),
            (_, Some(task)) => {
                let task = self.task(actor, task).await?;
                Ok(task.run.map(|run| run.agent).into_iter().collect())
            }
            (_, None) => {
                let projects = self.projects(actor).await?;
                let directory = self.gateway.directory();
                let seen = directory.agents().filter(|agent| projects.contains(&agent.project));
                Ok(seen.map(|agent| agent.id.clone()).collect())
            }
        }
    }

    /// The events after a position that these runtimes have not acknowledged, in order.
    async fn unacknowledged_events(
        &self,
        agents: Vec<AgentId>,
        after: u64,
        most: usize,
    ) -> Result<Vec<(u64, Contract)>, HacpFailure> {
        let store = self.gateway.store();
        let mut all = Vec::new();
        for agent in agents {
            let behind = store.acked(agent.clone()).await?.max(after);
            all.extend(store.contracts(agent, behind, most).await?);
        }
        all.sort_unstable_by_key(|(n, _)| *n);
        all.truncate(most);
        Ok(all)
    }
}

/// The calling agent. People have no runtime.
fn runtime(actor: &Actor) -> Result<AgentId, HacpFailure> {
    match actor {
        Actor::Agent { id, .. } => Ok(id.clone()),
        _ => Err(Refusal::NotAllowed {
            why: "only an agent has a runtime; this is a person's token",
        }
        .into()),
    }
}

//! Contracts for the runtimes of agents, as HACP events.

use dialects::hacp::HacpVersion;
use dialects::hacp::runtime::{self, HarnessEvent};
use kernel::Subject;
use kernel::task::Contract;
use store::{Store, StoreError};

/// A contract with the text of the record that it comes from; `None` if its task no longer exists.
pub async fn harness_event(
    store: &dyn Store,
    contract: &Contract,
    version: HacpVersion,
) -> Result<Option<HarnessEvent>, StoreError> {
    let Some(task) = store.task(contract.task).await? else { return Ok(None) };
    let (subject, after) = (Subject::Task(task.id), contract.seq.saturating_sub(1));
    let records = store.chain(subject, after, 1).await?;
    let event = records.first().and_then(|record| record.event().ok());
    Ok(event.and_then(|event| runtime::harness_event(contract, &task, &event, version)))
}

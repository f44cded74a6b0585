//! What the runtimes of agents have to do, brought to them.

use kernel::task::Contract;
use store::Settlement;

use super::lanes::Done;

/// Brings a contract to its runtime. It was numbered in the store by the same commit: where neither an
/// endpoint nor a command is registered, the runtime reads it there and says up to where it has it, so
/// nothing is left to be done.
pub(super) fn deliver(contract: &Contract) -> Done {
    let (agent, duty) = (&contract.agent, contract.duty.as_str());
    tracing::debug!(task.id = %contract.task, agent.id = %agent, duty, "a runtime has something to do");
    Done::plainly(Settlement::Done)
}

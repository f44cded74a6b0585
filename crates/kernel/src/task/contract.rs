//! Contracts: what the runtime of an agent must do after people decided.

use serde::{Deserialize, Serialize};

use crate::audit::Digest;
use crate::ids::{AgentId, RunId, TaskId};
use crate::time::Time;

/// An instruction for a runtime. Its details are in the event `seq` of the task: the text is stored
/// in one place only, and is erased there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// The task, which is also the correlation id of the run.
    pub task: TaskId,
    /// The event of the task that requires it.
    pub seq: u64,
    /// The revision of the task after the event.
    pub revision: u64,
    /// The agent whose runtime must act.
    pub agent: AgentId,
    /// The run it concerns.
    pub run: RunId,
    /// The run it came from, if the task was delegated or handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RunId>,
    /// The required action.
    pub duty: Duty,
    /// When it was decided.
    pub at: Time,
}

impl Contract {
    /// The id of the contract. It is the same for every delivery.
    pub fn id(&self) -> String {
        let whole = format!("{}:{}:{}:{}", self.task, self.seq, self.duty.as_str(), self.run);
        let digest = Digest::of(whole.as_bytes()).to_string();
        format!("op_{}", digest.get(..24).unwrap_or_default())
    }
}

/// An action of a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// Begin a new run.
    Delegate,
    /// Stop and wait.
    Block,
    /// Continue the run.
    Resume,
    /// Take over from another run.
    Handoff,
    /// Take an amendment into account, without restarting.
    Steer,
    /// Stop the run permanently.
    Cancel,
}

impl Duty {
    /// The duty as it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delegate => "delegate",
            Self::Block => "block",
            Self::Resume => "resume",
            Self::Handoff => "handoff",
            Self::Steer => "steer",
            Self::Cancel => "cancel",
        }
    }
}

/// A contract before the event that requires it is known. It is the last event of the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewContract {
    /// The agent whose runtime must act.
    pub agent: AgentId,
    /// The run it concerns.
    pub run: RunId,
    /// The run it came from, if any.
    pub from: Option<RunId>,
    /// The required action.
    pub duty: Duty,
}

impl NewContract {
    /// The contract for the task in its current state.
    pub(crate) fn for_task(self, task: &super::Task) -> Contract {
        let Self { agent, run, from, duty } = self;
        let (seq, revision, at) = (task.head.seq, task.revision, task.head.at);
        Contract { task: task.id, seq, revision, agent, run, from, duty, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Cast, new_task};

    /// A contract has the same id for every delivery, and no other contract has it.
    #[test]
    fn a_contract_has_one_name() {
        let mut cast = Cast::new();
        let id = cast.assigned(new_task(), "bot");
        let contract = cast.contracts(id).pop().unwrap();
        assert_eq!(contract.task, id, "the task is the correlation");
        let name = contract.id();
        assert_eq!((name.len(), &name[..3], contract.clone().id()), (27, "op_", name.clone()));
        for other in [
            Contract { seq: 9, ..contract.clone() },
            Contract { duty: Duty::Cancel, ..contract.clone() },
            Contract { run: RunId::new(ulid::Ulid::from(7_u128)), ..contract.clone() },
        ] {
            assert_ne!(other.id(), name);
        }
        let stored = serde_json::to_string(&contract).unwrap();
        assert_eq!(serde_json::from_str::<Contract>(&stored).unwrap(), contract);
    }

    #[test]
    fn duties_are_written_as_they_are_called() {
        for duty in
            [Duty::Delegate, Duty::Block, Duty::Resume, Duty::Handoff, Duty::Steer, Duty::Cancel]
        {
            assert_eq!(serde_json::to_value(duty).unwrap(), duty.as_str());
        }
    }
}

//! What the runtime of an agent has to do now: the other side of what people decide.

use serde::{Deserialize, Serialize};

use crate::audit::Digest;
use crate::ids::{AgentId, RunId, TaskId};
use crate::time::Time;

/// Something a runtime has to do. What exactly stands in the record of the task, at `seq`: the words
/// are kept in one place, and go from there when they are erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// The task; also the correlation id of the run.
    pub task: TaskId,
    /// The event of the task that wants it.
    pub seq: u64,
    /// The revision of the task it leads to.
    pub revision: u64,
    /// Whose runtime.
    pub agent: AgentId,
    /// Which run.
    pub run: RunId,
    /// The run it came from, where a task was handed down or over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RunId>,
    /// What to do.
    pub duty: Duty,
    /// When it was decided.
    pub at: Time,
}

impl Contract {
    /// What it is called, however often it is delivered.
    pub fn id(&self) -> String {
        let whole = format!("{}:{}:{}:{}", self.task, self.seq, self.duty.as_str(), self.run);
        let digest = Digest::of(whole.as_bytes()).to_string();
        format!("op_{}", digest.get(..24).unwrap_or_default())
    }
}

/// What a runtime has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duty {
    /// Begin a run.
    Delegate,
    /// Stop, and wait.
    Block,
    /// Go on.
    Resume,
    /// Take over from another.
    Handoff,
    /// Take this into account, without beginning anew.
    Steer,
    /// Stop for good.
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

/// A contract before it is known which event of its task wants it: the last one that is decided with
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Whose runtime.
    pub agent: AgentId,
    /// Which run.
    pub run: RunId,
    /// The run it came from.
    pub from: Option<RunId>,
    /// What to do.
    pub duty: Duty,
}

impl Wanted {
    /// The contract it is, on the task as it is now.
    pub(crate) fn of(self, task: &super::Task) -> Contract {
        let Self { agent, run, from, duty } = self;
        let (seq, revision, at) = (task.head.seq, task.revision, task.head.at);
        Contract { task: task.id, seq, revision, agent, run, from, duty, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Cast, new_task};

    /// However often it is delivered, it has the same name, and no other has it.
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

//! The operations by name: `POST /hacp/v1/ops/{object.verb}`. HACP-040, K-01, K-02.

use kernel::spelling::suggestion;

use super::errors::{HacpError, code};
use super::version::HacpVersion;

/// The version that introduced an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OperationOrigin {
    /// HACP 0.1. This includes `task.start`, the only one of its 21 operations that its table does
    /// not list.
    First,
    /// HLP 0.2.
    Second,
    /// A Countersign extension.
    Ours,
}

macro_rules! operations {
    ($count:literal; $($(#[$doc:meta])* $variant:ident = $name:literal, $origin:ident, $changes:literal;)*) => {
        /// An operation of the protocol.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Operation {
            $($(#[$doc])* $variant,)*
        }

        impl Operation {
            /// Every operation, in the order of the protocol's table.
            pub const ALL: [Self; $count] = [$(Self::$variant),*];

            /// The name: `<object>.<verb>`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            fn origin(self) -> OperationOrigin {
                match self {
                    $(Self::$variant => OperationOrigin::$origin,)*
                }
            }

            /// Whether it can change data; all others only read.
            pub fn changes(self) -> bool {
                match self {
                    $(Self::$variant => $changes,)*
                }
            }
        }
    };
}

operations! {
    29;
    /// A person creates a task.
    TaskCreate = "task.create", First, true;
    /// A task is assigned to an agent.
    TaskAssign = "task.assign", First, true;
    /// The agent starts the task.
    TaskStart = "task.start", First, true;
    /// A task is cancelled.
    TaskCancel = "task.cancel", First, true;
    /// The principal interrupts the agent.
    TaskInterrupt = "task.interrupt", Second, true;
    /// The principal sends the agent an amendment.
    TaskAmend = "task.amend", Second, true;
    /// The principal allows or denies an action after the start.
    TaskGrant = "task.grant", Ours, true;
    /// Reads one task.
    TaskGet = "task.get", First, false;
    /// Lists tasks.
    TaskList = "task.list", First, false;
    /// The agent asks a person to decide.
    CheckpointRaise = "checkpoint.raise", First, true;
    /// A person decides.
    CheckpointResolve = "checkpoint.resolve", First, true;
    /// A checkpoint expires without a decision.
    CheckpointExpire = "checkpoint.expire", First, true;
    /// A task gets another assignee.
    OwnershipTransfer = "ownership.transfer", First, true;
    /// An agent delegates a task.
    OwnershipDelegate = "ownership.delegate", First, true;
    /// A person reviews an artifact.
    ReviewSubmit = "review.submit", First, true;
    /// A person adds a comment to a review.
    ReviewComment = "review.comment", First, true;
    /// An agent delivers a version of an artifact.
    ArtifactCommit = "artifact.commit", First, true;
    /// Reads an artifact.
    ArtifactGet = "artifact.get", First, false;
    /// A task refers to an artifact.
    ArtifactReference = "artifact.reference", First, true;
    /// Lets tasks of another project refer to an artifact.
    ArtifactShare = "artifact.share", Ours, true;
    /// Reads a key of a ledger.
    LedgerRead = "ledger.read", First, false;
    /// Writes a key of a ledger.
    LedgerWrite = "ledger.write", First, true;
    /// Lists all values of a key.
    LedgerHistory = "ledger.history", First, false;
    /// Searches audit events.
    AuditQuery = "audit.query", First, false;
    /// Reads the history of a task, and its state at any time.
    AuditReplay = "audit.replay", First, false;
    /// Lists the caller's open items.
    HumanInbox = "human.inbox", Ours, false;
    /// Lists the operations that runtimes have not confirmed.
    PendingOutbox = "pending.outbox", Ours, false;
    /// Reads a runtime's pending operations.
    RuntimePeek = "runtime.peek", Ours, false;
    /// Confirms a runtime's operations up to a position.
    RuntimeAck = "runtime.ack", Ours, true;
}

impl Operation {
    /// The operation of this name in this version.
    pub fn named(name: &str, version: HacpVersion) -> Result<Self, HacpError> {
        let named = Self::ALL.into_iter().find(|operation| operation.name() == name);
        named.filter(|operation| operation.is_in(version)).ok_or_else(|| {
            let message = format!("unknown operation in {}", version.spec());
            let known = Self::ALL.into_iter().filter(|operation| operation.is_in(version));
            let meant = suggestion(name, known.map(Self::name));
            HacpError::new(code::NOT_FOUND, format!("{message}{meant}"))
        })
    }

    /// Whether a version has it. Countersign's extensions belong to the newest version.
    pub fn is_in(self, version: HacpVersion) -> bool {
        match self.origin() {
            OperationOrigin::First => true,
            OperationOrigin::Second | OperationOrigin::Ours => version >= HacpVersion::V02,
        }
    }

    /// Whether a version of the protocol lists it; false for Countersign's extensions.
    pub fn is_listed(self) -> bool {
        self.origin() != OperationOrigin::Ours
    }
}

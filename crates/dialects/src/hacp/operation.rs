//! The operations by name: `POST /hacp/v1/ops/{object.verb}`. HACP-040, K-01, K-02.

use kernel::spelling::nearest;

use super::errors::{HacpError, code};
use super::version::Version;

/// Where an operation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// HACP 0.1 has it; `task.start` too, the one of its 21 that it does not list.
    First,
    /// HLP 0.2 added it.
    Second,
    /// It is ours.
    Ours,
}

macro_rules! operations {
    ($count:literal; $($(#[$doc:meta])* $variant:ident = $name:literal, $origin:ident, $changes:literal;)*) => {
        /// Everything that can be asked for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Operation {
            $($(#[$doc])* $variant,)*
        }

        impl Operation {
            /// Every operation, in the order of the protocol's table.
            pub const ALL: [Self; $count] = [$(Self::$variant),*];

            /// Its name: `<object>.<verb>`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            fn origin(self) -> Origin {
                match self {
                    $(Self::$variant => Origin::$origin,)*
                }
            }

            /// Whether it may change something; all others only look.
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
    /// A person writes down work.
    TaskCreate = "task.create", First, true;
    /// It is given to an agent.
    TaskAssign = "task.assign", First, true;
    /// The agent begins.
    TaskStart = "task.start", First, true;
    /// It is called off.
    TaskCancel = "task.cancel", First, true;
    /// The agent is stopped.
    TaskInterrupt = "task.interrupt", Second, true;
    /// The agent is told something on the way.
    TaskAmend = "task.amend", Second, true;
    /// Something is allowed or forbidden on the way.
    TaskGrant = "task.grant", Ours, true;
    /// One task.
    TaskGet = "task.get", First, false;
    /// Many.
    TaskList = "task.list", First, false;
    /// A person has to decide.
    CheckpointRaise = "checkpoint.raise", First, true;
    /// A person decides.
    CheckpointResolve = "checkpoint.resolve", First, true;
    /// Nobody will.
    CheckpointExpire = "checkpoint.expire", First, true;
    /// A task goes to somebody else.
    OwnershipTransfer = "ownership.transfer", First, true;
    /// An agent hands it down.
    OwnershipDelegate = "ownership.delegate", First, true;
    /// A person judges what was delivered.
    ReviewSubmit = "review.submit", First, true;
    /// And adds something later.
    ReviewComment = "review.comment", First, true;
    /// An agent delivers.
    ArtifactCommit = "artifact.commit", First, true;
    /// What was delivered.
    ArtifactGet = "artifact.get", First, false;
    /// A task uses it.
    ArtifactReference = "artifact.reference", First, true;
    /// Tasks of another project may.
    ArtifactShare = "artifact.share", Ours, true;
    /// What a key of a ledger says.
    LedgerRead = "ledger.read", First, false;
    /// It says something else from now on.
    LedgerWrite = "ledger.write", First, true;
    /// Everything it ever said.
    LedgerHistory = "ledger.history", First, false;
    /// What happened, here and there.
    AuditQuery = "audit.query", First, false;
    /// What happened to one task, and what it was at any moment.
    AuditReplay = "audit.replay", First, false;
    /// What waits for the caller.
    HumanInbox = "human.inbox", Ours, false;
    /// What runtimes have not confirmed.
    PendingOutbox = "pending.outbox", Ours, false;
    /// What a runtime has to do.
    RuntimePeek = "runtime.peek", Ours, false;
    /// It did so up to here.
    RuntimeAck = "runtime.ack", Ours, true;
}

impl Operation {
    /// The operation of this name in this version.
    pub fn named(name: &str, version: Version) -> Result<Self, HacpError> {
        let named = Self::ALL.into_iter().find(|operation| operation.name() == name);
        named.filter(|operation| operation.is_in(version)).ok_or_else(|| {
            let message = format!("there is no such operation in {}", version.spec());
            let known = Self::ALL.into_iter().filter(|operation| operation.is_in(version));
            let message = match nearest(name, known.map(Self::name)) {
                Some(meant) => format!("{message}; did you mean {meant}?"),
                None => message,
            };
            HacpError::new(code::NOT_FOUND, message)
        })
    }

    /// Whether a version has it. What is ours stands beside the newest.
    pub fn is_in(self, version: Version) -> bool {
        match self.origin() {
            Origin::First => true,
            Origin::Second | Origin::Ours => version >= Version::V02,
        }
    }

    /// Whether one of the protocol's versions lists it, and not only we.
    pub fn is_listed(self) -> bool {
        self.origin() != Origin::Ours
    }
}

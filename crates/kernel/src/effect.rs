//! What must now be done outside. Rows first, calls later.

use serde::{Deserialize, Serialize};

use crate::ask::{Priority, Seat};
use crate::audit::Digest;
use crate::ids::{AskId, KeyId};

/// Work for the outbox, written in the same transaction as the events that caused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "effect")]
pub enum Effect {
    /// Tell whoever holds this seat.
    Notify {
        /// About which ask.
        ask: AskId,
        /// Whom.
        seat: Seat,
        /// Why now.
        why: Occasion,
        /// How urgent: critical ones are delivered first and at once.
        priority: Priority,
    },
    /// The ask is over: lock or withdraw what was sent.
    Settle {
        /// Which ask.
        ask: AskId,
    },
    /// The ask is over: tell the agent where it wants to be told.
    CallBack {
        /// Which ask.
        ask: AskId,
    },
    /// The words of the ask are erased: what was uploaded to it goes too.
    DropFiles {
        /// Which ask.
        ask: AskId,
    },
    /// Tell one device of a person, or that it is over.
    Push {
        /// Which device.
        device: Digest,
        /// About which ask.
        ask: AskId,
        /// Why now; nothing if it is over.
        why: Option<Occasion>,
        /// How urgent.
        priority: Priority,
    },
    /// Send a sign-in link to whoever it is for.
    MailLink {
        /// Which link.
        key: KeyId,
        /// What its secret is made from, together with what only the server knows.
        seed: Digest,
    },
}

/// Why somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    /// It is new.
    Asked,
    /// It was handed to them.
    Assigned,
    /// It still waits.
    Reminder,
    /// Nobody else answered.
    Escalated,
}

impl Effect {
    /// The ask it is about, if it is about one.
    pub fn ask(&self) -> Option<AskId> {
        match self {
            Self::Notify { ask, .. }
            | Self::Settle { ask }
            | Self::CallBack { ask }
            | Self::Push { ask, .. }
            | Self::DropFiles { ask } => Some(*ask),
            Self::MailLink { .. } => None,
        }
    }

    /// The order in which the outbox is worked off: 0 first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Notify { priority, .. } | Self::Push { priority, .. } => priority.rank(),
            Self::Settle { .. } | Self::CallBack { .. } | Self::MailLink { .. } => {
                Priority::High.rank()
            }
            Self::DropFiles { .. } => Priority::Low.rank(),
        }
    }
}

//! Why a message was not delivered, and why a call does not count.

use std::time::Duration;

/// Why a message was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// It may later.
    #[error("{why}")]
    Later {
        /// What is wrong, for the operator. Holds no secret.
        why: String,
        /// Not before this has passed, if the platform said so.
        after: Option<Duration>,
    },
    /// The address does not exist any more: nothing will ever be delivered there.
    #[error("{why}")]
    Gone {
        /// What is gone, for the operator. Holds no secret.
        why: String,
    },
    /// It never will.
    #[error("{why}")]
    Never {
        /// What is wrong, and what to do about it, for the operator. Holds no secret.
        why: String,
    },
}

impl DeliveryError {
    /// It may get through later.
    pub fn later(why: impl Into<String>) -> Self {
        Self::Later { why: why.into(), after: None }
    }

    /// It never will.
    pub fn never(why: impl Into<String>) -> Self {
        Self::Never { why: why.into() }
    }
}

/// The call is not from the platform, or is old.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ForgedCall(pub &'static str);

/// The call is from the platform, and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnreadableCall(pub String);

/// Why `WhatsApp` takes no free text, whoever carries it.
pub(crate) const OUTSIDE_WINDOW: &str = "they have not written for 24 hours, and WhatsApp then takes \
    approved templates alone: set one up, and name it in the settings";

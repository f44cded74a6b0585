//! Why a message did not get through, and why what came in does not count.

use std::time::Duration;

/// Why a message did not get through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// It may later.
    #[error("{why}")]
    Later {
        /// What is wrong, for the operator. Holds no secret.
        why: String,
        /// Not before this has passed, if the platform said so.
        after: Option<Duration>,
    },
    /// It never will.
    #[error("{why}")]
    Never {
        /// What is wrong, and what to do about it, for the operator. Holds no secret.
        why: String,
    },
}

impl Failed {
    /// It may get through later.
    pub fn later(why: impl Into<String>) -> Self {
        Self::Later { why: why.into(), after: None }
    }

    /// It never will.
    pub fn never(why: impl Into<String>) -> Self {
        Self::Never { why: why.into() }
    }
}

/// What came in is not the platform's, or is old.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Forged(pub &'static str);

/// What came in is the platform's, and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unread(pub String);

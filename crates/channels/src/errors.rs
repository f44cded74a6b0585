//! Why a message was not delivered, and why a webhook call was rejected.

use std::time::Duration;

/// Why a message was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// Delivery may succeed later.
    #[error("{why}")]
    Later {
        /// The cause, for the operator. Contains no secret.
        why: String,
        /// The delay that the platform asked for.
        after: Option<Duration>,
    },
    /// The address no longer exists: every later delivery there fails too.
    #[error("{why}")]
    Gone {
        /// The address that is gone, for the operator. Contains no secret.
        why: String,
    },
    /// Delivery fails permanently.
    #[error("{why}")]
    Never {
        /// The cause and the remedy, for the operator. Contains no secret.
        why: String,
    },
}

impl DeliveryError {
    /// An error after which delivery may succeed later.
    pub fn later(why: impl Into<String>) -> Self {
        Self::Later { why: why.into(), after: None }
    }

    /// A permanent error.
    pub fn never(why: impl Into<String>) -> Self {
        Self::Never { why: why.into() }
    }
}

/// The call is not from the platform, or is too old.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ForgedCall(pub &'static str);

/// The call is from the platform, but cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnreadableCall(pub String);

/// Why `WhatsApp` rejects free text, through Meta and through Twilio.
pub(crate) const OUTSIDE_WINDOW: &str = "WhatsApp accepts only approved templates 24 hours after \
                                         the person's last message; create a template and set \
                                         whatsapp_template";

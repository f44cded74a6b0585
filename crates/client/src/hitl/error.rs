//! What can go wrong while a case is followed.

use std::time::Duration;

/// What went wrong. Addresses are told without their tokens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HitlError {
    /// The service does not speak the protocol.
    #[error("the service does not speak HITL here: {0}")]
    Malformed(String),
    /// An address that may not be called: it is neither https nor on this machine.
    #[error("{0} is neither an https address nor one of this machine")]
    BadUrl(String),
    /// Nobody answered.
    #[error("cannot reach {url}")]
    Unreachable {
        /// Who was called.
        url: String,
        /// Why not.
        #[source]
        source: reqwest::Error,
    },
    /// The service refused.
    #[error("{message} (HTTP {status} {code})")]
    Refused {
        /// The status.
        status: u16,
        /// Its name for the reason, such as `duplicate_submission`; empty if it has none.
        code: String,
        /// What it said.
        message: String,
        /// When to try again, if it said so.
        retry_after: Option<Duration>,
        /// Where the person can go instead, if it said so.
        review_url: Option<String>,
    },
    /// The answer cannot be passed on for this case; the person uses the page.
    #[error("{0}")]
    NotInline(String),
    /// The answer needs a proof that a person gives it (0.8). Nothing is gained by sending it again:
    /// the person gives it on the page, if there is one.
    #[error("{message}")]
    VerificationRequired {
        /// What the service said.
        message: String,
        /// Where the person can go instead, if it said so.
        review_url: Option<String>,
    },
    /// A proof that was passed on does not count (0.8). As above.
    #[error("{message}")]
    VerificationFailed {
        /// What the service said.
        message: String,
        /// Where the person can go instead, if it said so.
        review_url: Option<String>,
    },
    /// A callback whose signature is missing, malformed or wrong.
    #[error("the callback is not signed with this secret")]
    BadSignature,
    /// What the caller gave cannot be sent.
    #[error("{0}")]
    Invalid(String),
}

impl HitlError {
    /// Whether the same call may succeed later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            Self::Malformed(_)
            | Self::BadUrl(_)
            | Self::NotInline(_)
            | Self::VerificationRequired { .. }
            | Self::VerificationFailed { .. }
            | Self::BadSignature
            | Self::Invalid(_) => false,
        }
    }

    /// How long the service wants to be left alone.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

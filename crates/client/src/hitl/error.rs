//! Errors while following a case.

use std::time::Duration;

/// Why following a case failed. URLs are shown without their tokens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HitlError {
    /// The response does not follow the protocol.
    #[error("the response is not HITL: {0}")]
    Malformed(String),
    /// The URL may not be called: it is neither https nor on this machine.
    #[error("{0} is neither an https URL nor a URL on this machine")]
    BadUrl(String),
    /// The service could not be reached.
    #[error("cannot reach {url}")]
    Unreachable {
        /// The URL of the call.
        url: String,
        #[source]
        source: reqwest::Error,
    },
    /// The service refused.
    #[error("{message} (HTTP {status} {code})")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The service's code, such as `duplicate_submission`; empty if it has none.
        code: String,
        /// The service's message.
        message: String,
        /// When to try again, if the service names a time.
        retry_after: Option<Duration>,
        /// The page that the person can use instead, if the service names one.
        review_url: Option<String>,
    },
    /// The answer cannot be submitted inline for this case; the person must use the page.
    #[error("{0}")]
    NotInline(String),
    /// The answer needs a proof that a person gives it (0.8). A retry does not help: the person
    /// must use the page, if there is one.
    #[error("{message}")]
    VerificationRequired {
        /// The service's message.
        message: String,
        /// The page that the person can use instead, if the service names one.
        review_url: Option<String>,
    },
    /// A submitted proof is not valid (0.8). A retry does not help either.
    #[error("{message}")]
    VerificationFailed {
        /// The service's message.
        message: String,
        /// The page that the person can use instead, if the service names one.
        review_url: Option<String>,
    },
    /// The signature of a callback is missing, malformed or wrong.
    #[error("the callback is not signed with this secret")]
    BadSignature,
    /// The caller's data cannot be sent.
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

    /// How long to wait before the next call, if the service says so.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

//! Why a credential is rejected. A separate module, because token issuers use it too.

use std::time::Duration;

/// Why a credential is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// No credential was presented.
    Missing,
    /// It is unknown, revoked, expired, or of the wrong kind. The caller does not learn which.
    Unknown,
    /// Too many requests with this credential. Retry after this long.
    TooFast(Duration),
    /// Too many streams are open with this credential.
    TooManyStreams,
    /// The issuer's keys could not be fetched.
    Unavailable,
}

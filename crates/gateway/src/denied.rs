//! Why a credential is not accepted. A module of its own, because the issuers of tokens say so too.

use std::time::Duration;

/// Why somebody was not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denied {
    /// No credential was presented.
    Missing,
    /// It is unknown, revoked, run out, or of the wrong kind. Which of these is not said.
    Unknown,
    /// Too many requests with this credential; try again after this long.
    TooFast(Duration),
    /// Too many streams are open with this credential.
    TooManyStreams,
    /// The issuer's keys could not be fetched.
    Unavailable,
}

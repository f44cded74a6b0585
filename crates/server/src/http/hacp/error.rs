//! HACP: the shape of all errors. `{"error": {code, message, details, retryable, …}}`.

use dialects::hacp::{HacpError, HacpVersion};
use kernel::Refusal;
use serde::Serialize;

use crate::http::dialect_error::{CommonErrors, DialectError};

/// An error with the protocol version of the caller.
pub struct VersionedHacpError {
    pub(super) error: HacpError,
    version: HacpVersion,
}

/// An error of this dialect, as a response.
pub type HacpFailure = DialectError<VersionedHacpError>;

impl From<HacpError> for HacpFailure {
    fn from(error: HacpError) -> Self {
        VersionedHacpError::from(error).into()
    }
}

impl From<HacpError> for VersionedHacpError {
    fn from(error: HacpError) -> Self {
        Self { error, version: HacpVersion::default() }
    }
}

impl HacpFailure {
    /// The same error in the caller's protocol version.
    pub(super) fn in_version(mut self, version: HacpVersion) -> Self {
        self.error.version = version;
        self
    }

    /// The error itself, for responses that are not sent over HTTP.
    pub(super) fn into_error(self) -> HacpError {
        self.error.error
    }
}

impl CommonErrors for VersionedHacpError {
    const CHALLENGE: &'static str = "Bearer";

    fn status(&self) -> u16 {
        self.error.status
    }

    fn body(&self) -> impl Serialize {
        self.error.body(self.version)
    }

    fn refused(refusal: &Refusal) -> Self {
        HacpError::refused(refusal).into()
    }

    fn denied() -> Self {
        HacpError::unauthorized().into()
    }

    fn rate_limited() -> Self {
        HacpError::rate_limited().into()
    }

    fn unavailable() -> Self {
        HacpError::unavailable().into()
    }

    fn internal() -> Self {
        HacpError::internal().into()
    }

    fn too_large() -> Self {
        HacpError::too_large().into()
    }

    fn broken_off() -> Self {
        HacpError::field("body", "a complete body within 30 seconds").into()
    }

    fn header(name: &'static str, expected: &'static str) -> Self {
        HacpError::field(name, expected).into()
    }
}

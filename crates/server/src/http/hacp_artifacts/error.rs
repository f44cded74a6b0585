//! HACP: how every refusal looks. `{"error": {code, message, details, retryable, …}}`.

use axum::http::{HeaderName, HeaderValue};
use dialects::hacp::errors::code;
use dialects::hacp::{HacpError, Version};
use kernel::Refusal;
use serde::Serialize;
use serde_json::json;
use store::MOST_PIECES;

use crate::blobs::Stopped;
use crate::http::body::BodyError;
use crate::http::dialect_error::{DialectError, Wording};

/// An error in this dialect's shape.
pub type Error = DialectError<HacpError>;

/// How many bytes of an upload have arrived.
pub(super) const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");

impl Wording for HacpError {
    const CHALLENGE: &'static str = "Bearer";

    fn status(&self) -> u16 {
        self.status
    }

    fn body(&self) -> impl Serialize {
        Self::body(self, Version::default())
    }

    fn refused(refusal: &Refusal) -> Self {
        Self::refused(refusal)
    }

    fn denied() -> Self {
        Self::unauthorized()
    }

    fn rate_limited() -> Self {
        Self::rate_limited()
    }

    fn unavailable() -> Self {
        Self::unavailable()
    }

    fn internal() -> Self {
        Self::internal()
    }

    fn too_large() -> Self {
        Self::too_large()
    }

    fn broken_off() -> Self {
        Self::field("", "all of it, and never nothing for 30 seconds")
    }

    fn header(name: &'static str, expected: &'static str) -> Self {
        Self::field(name, expected)
    }
}

/// 409: this is not where the upload goes on.
pub(super) fn elsewhere(offset: u64) -> Error {
    let message = format!("Upload-Offset: expected {offset}, so much has arrived");
    let mut error = HacpError::new(code::CONFLICT, message)
        .with("field", json!("Upload-Offset"))
        .with("offset", json!(offset));
    // The same bytes never belong there again.
    error.retryable = false;
    let mut error = Error::from(error);
    error.headers.insert(UPLOAD_OFFSET, HeaderValue::from(offset));
    error
}

/// 413: larger than the settings allow.
pub(super) fn over_limit(limit: u64) -> HacpError {
    let message = format!("an artifact has at most {limit} bytes here");
    HacpError::new(code::TOO_LARGE, message).with("limit", json!(limit))
}

/// What is said about an upload that stopped, where the whole may have `limit` bytes.
pub(super) fn stopped(stopped: Stopped, limit: u64) -> Error {
    match stopped {
        Stopped::Gone => HacpError::missing("upload", "upload").into(),
        Stopped::Elsewhere { offset } => elsewhere(offset),
        Stopped::TooLong { length } => {
            let expected = format!("no more than {length} bytes in all, as was said");
            HacpError::field("Upload-Length", &expected).with("length", json!(length)).into()
        }
        Stopped::TooShort { length, offset } => {
            let expected = format!("{length} bytes in all, as was said; there are {offset}");
            HacpError::field("Upload-Length", &expected).with("offset", json!(offset)).into()
        }
        Stopped::TooLarge => over_limit(limit).into(),
        Stopped::TooManyPieces => {
            let expected = format!("larger parts: an upload comes in at most {MOST_PIECES}");
            HacpError::field("", &expected).into()
        }
        Stopped::OtherChecksum { is } => {
            let expected = format!("sha256:{is}, which the bytes have");
            HacpError::field("Upload-Checksum", &expected).into()
        }
        Stopped::Body(
            error @ (BodyError::BrokenOff | BodyError::TooSlow | BodyError::TooLarge),
        ) => error.into(),
        Stopped::Unkept => HacpError::unavailable().into(),
        Stopped::Store(error) => error.into(),
    }
}

//! HACP: what is said about an upload that goes no further.

use axum::http::{HeaderName, HeaderValue};
use dialects::hacp::HacpError;
use dialects::hacp::errors::code;
use gateway::blobs::{Interrupted, Stopped};
use serde_json::json;
use store::MOST_PIECES;

use super::Failure;
use crate::http::body::BodyError;

/// How many bytes of an upload have arrived.
pub(super) const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");

/// 409: this is not where the upload goes on.
pub(super) fn elsewhere(offset: u64) -> Failure {
    let message = format!("Upload-Offset: expected {offset}, so much has arrived");
    let mut error = HacpError::new(code::CONFLICT, message)
        .with("field", json!("Upload-Offset"))
        .with("offset", json!(offset));
    // The same bytes never belong there again.
    error.retryable = false;
    let mut error = Failure::from(error);
    error.headers.insert(UPLOAD_OFFSET, HeaderValue::from(offset));
    error
}

/// 413: larger than the settings allow.
pub(super) fn over_limit(limit: u64) -> HacpError {
    let message = format!("an artifact has at most {limit} bytes here");
    HacpError::new(code::TOO_LARGE, message).with("limit", json!(limit))
}

/// What is said about an upload that stopped, where the whole may have `limit` bytes.
pub(super) fn stopped(stopped: Stopped, limit: u64) -> Failure {
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
            HacpError::field("body", &expected).into()
        }
        Stopped::OtherChecksum { is } => {
            let expected = format!("sha256:{is}, which the bytes have");
            HacpError::field("Upload-Checksum", &expected).into()
        }
        Stopped::Interrupted(Interrupted::BrokenOff) => BodyError::BrokenOff.into(),
        Stopped::Interrupted(Interrupted::TooSlow) => BodyError::TooSlow.into(),
        Stopped::Unkept => HacpError::unavailable().into(),
        Stopped::Store(error) => error.into(),
    }
}

//! Reads request bodies, bounded in size and time.

use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use bytes::Bytes;
use http_body_util::LengthLimitError;

/// The maximum time a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a body could not be read.
#[derive(Debug)]
pub enum BodyError {
    TooLarge,
    /// The client closed the connection.
    BrokenOff,
    /// The client took too long.
    TooSlow,
}

/// Reads a body of at most `limit` bytes.
pub async fn read(body: Body, limit: usize) -> Result<Bytes, BodyError> {
    read_within(body, limit, BODY_TIMEOUT).await
}

/// The same, with another time limit.
pub async fn read_within(body: Body, limit: usize, patience: Duration) -> Result<Bytes, BodyError> {
    // A body that announces too large a size is refused without reading it.
    if usize::try_from(body.size_hint().lower()).map_or(true, |length| length > limit) {
        return Err(BodyError::TooLarge);
    }
    let reading = tokio::time::timeout(patience, to_bytes(body, limit));
    reading.await.map_err(|_| BodyError::TooSlow)?.map_err(|error| {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(error) = cause {
            if error.is::<LengthLimitError>() {
                return BodyError::TooLarge;
            }
            cause = error.source();
        }
        BodyError::BrokenOff
    })
}

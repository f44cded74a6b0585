//! Bodies, bounded.

use axum::body::{Body, to_bytes};
use bytes::Bytes;

/// The body was larger than allowed, or broke off.
pub enum BodyError {
    /// Larger than the limit.
    TooLarge,
    /// The sender went away.
    BrokenOff,
}

/// Reads a body of at most `limit` bytes.
pub async fn read(body: Body, limit: usize) -> Result<Bytes, BodyError> {
    to_bytes(body, limit).await.map_err(|error| {
        let mut cause: Option<&dyn std::error::Error> = Some(&error);
        while let Some(error) = cause {
            if error.to_string().contains("length limit exceeded") {
                return BodyError::TooLarge;
            }
            cause = error.source();
        }
        BodyError::BrokenOff
    })
}

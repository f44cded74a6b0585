//! Error responses, as far as all dialects build them alike. Each dialect has its own wording.

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use gateway::auth::{Denied, TooManyCalls};
use gateway::verification::VerifierUnavailable;
use kernel::Refusal;
use kernel::quota::QuotaExceeded;
use serde::Serialize;
use store::StoreError;

use crate::http::body::BodyError;
use crate::http::conditional_headers::BadHeader;
use crate::http::request_log;

/// A dialect's errors for failures that occur in all dialects.
pub trait CommonErrors: Sized {
    /// The `WWW-Authenticate` challenge of a 401.
    const CHALLENGE: &'static str;
    fn status(&self) -> u16;
    fn body(&self) -> impl Serialize;
    /// The kernel refused the command.
    fn refused(refusal: &Refusal) -> Self;
    /// The credential is missing or invalid.
    fn denied() -> Self;
    /// The caller exceeded a rate limit.
    fn rate_limited() -> Self;
    /// The store is unavailable.
    fn unavailable() -> Self;
    /// The server failed.
    fn internal() -> Self;
    /// The body is too large.
    fn too_large() -> Self;
    /// The body did not arrive completely.
    fn broken_off() -> Self;
    /// A header has an invalid value.
    fn header(name: &'static str, expected: &'static str) -> Self;
}

/// An error in the shape of its dialect.
pub struct DialectError<E> {
    pub(super) error: Box<E>,
    /// Additional response headers.
    pub(super) headers: HeaderMap,
}

impl<E: CommonErrors> DialectError<E> {
    fn later(error: E, seconds: u64) -> Self {
        let mut error = Self::from(error);
        error.headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        error
    }
}

impl<E: CommonErrors> From<E> for DialectError<E> {
    fn from(error: E) -> Self {
        Self { error: Box::new(error), headers: HeaderMap::new() }
    }
}

impl<E: CommonErrors> From<StoreError> for DialectError<E> {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refusal) => refusal.into(),
            StoreError::Unavailable(source) => {
                request_log::note_unavailable(&source);
                Self::later(E::unavailable(), 1)
            }
            StoreError::Damaged { what, source } => {
                tracing::error!(error = %source, what, "stored data is damaged and cannot be \
                     read; run countersign audit verify");
                E::internal().into()
            }
        }
    }
}

impl<E: CommonErrors> From<Refusal> for DialectError<E> {
    fn from(refusal: Refusal) -> Self {
        let error = E::refused(&refusal);
        match refusal {
            Refusal::Quota(QuotaExceeded { retry_after: Some(seconds), .. }) => {
                Self::later(error, seconds)
            }
            _ => error.into(),
        }
    }
}

impl<E: CommonErrors> From<VerifierUnavailable> for DialectError<E> {
    fn from(VerifierUnavailable: VerifierUnavailable) -> Self {
        Self::later(E::unavailable(), 5)
    }
}

impl<E: CommonErrors> From<Denied> for DialectError<E> {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Missing | Denied::Unknown => E::denied().into(),
            Denied::TooFast(wait) => Self::later(E::rate_limited(), wait.as_secs().max(1)),
            Denied::TooManyStreams => Self::later(E::rate_limited(), 5),
            Denied::Unavailable => Self::later(E::unavailable(), 5),
        }
    }
}

impl<E: CommonErrors> From<TooManyCalls> for DialectError<E> {
    fn from(too_many: TooManyCalls) -> Self {
        let mut error = Self::later(E::rate_limited(), too_many.wait.as_secs().max(1));
        error.headers.insert("x-ratelimit-limit", HeaderValue::from(too_many.limit));
        error.headers.insert("x-ratelimit-remaining", HeaderValue::from(0));
        error
    }
}

impl<E: CommonErrors> From<BadHeader> for DialectError<E> {
    fn from(bad: BadHeader) -> Self {
        E::header(bad.name, bad.expected).into()
    }
}

impl<E: CommonErrors> From<BodyError> for DialectError<E> {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => E::too_large().into(),
            BodyError::BrokenOff | BodyError::TooSlow => E::broken_off().into(),
        }
    }
}

impl<E: CommonErrors> IntoResponse for DialectError<E> {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.error.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut answer = (status, Json(self.error.body())).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static(E::CHALLENGE);
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        answer.headers_mut().extend(self.headers);
        answer
    }
}

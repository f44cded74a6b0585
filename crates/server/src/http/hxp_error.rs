//! HXP Execution 0.1: how every refusal looks. Specification §5.3.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::hxp_execution::wire::Status;
use dialects::hxp_execution::{WireError, errors};
use kernel::{AskId, Refusal};
use store::StoreError;

use crate::auth::Denied;
use crate::http::body::BodyError;
use crate::http::conditions::BadHeader;
use crate::http::hxp_execution::name;

/// An error in this dialect's shape.
pub struct HxpError {
    pub(super) error: Box<WireError>,
    retry_after: Option<u64>,
    /// The request it is about, if the caller may know of it.
    pub(super) about: Option<(AskId, Status)>,
}

impl HxpError {
    fn later(error: WireError, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..error.into() }
    }
}

impl From<WireError> for HxpError {
    fn from(error: WireError) -> Self {
        Self { error: Box::new(error), retry_after: None, about: None }
    }
}

impl From<StoreError> for HxpError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refusal) => WireError::refused(&refusal, false).into(),
            StoreError::Unavailable(source) => {
                tracing::error!(error = %source, "the store is not available");
                Self::later(WireError::unavailable(), 1)
            }
            StoreError::Damaged { what, source } => {
                tracing::error!(error = %source, what, "stored data cannot be read");
                WireError::internal().into()
            }
        }
    }
}

impl From<Refusal> for HxpError {
    fn from(refusal: Refusal) -> Self {
        WireError::refused(&refusal, false).into()
    }
}

impl From<Denied> for HxpError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Missing | Denied::Unknown => WireError::unauthorized().into(),
            Denied::TooFast(wait) => Self::later(WireError::rate_limited(), wait.as_secs().max(1)),
            Denied::TooManyStreams => Self::later(WireError::rate_limited(), 5),
            Denied::Unavailable => Self::later(WireError::unavailable(), 5),
        }
    }
}

impl From<BadHeader> for HxpError {
    fn from(bad: BadHeader) -> Self {
        WireError::field(400, errors::code::INVALID_BODY, bad.name, bad.expected).into()
    }
}

impl From<BodyError> for HxpError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => WireError::too_large().into(),
            BodyError::BrokenOff | BodyError::TooSlow => {
                let message = "the body broke off";
                WireError::new(400, errors::code::INVALID_JSON, message).into()
            }
        }
    }
}

impl IntoResponse for HxpError {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut answer = (status, Json(self.error.body())).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(seconds) = self.retry_after {
            answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some((id, status)) = self.about {
            name(answer.headers_mut(), id, status);
        }
        answer
    }
}

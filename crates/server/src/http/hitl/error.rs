//! HITL: how every refusal looks. Section 16 of its digest; `{error, message, …}`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::hitl::WireError;
use store::StoreError;

use crate::auth::{Denied, TooMany};
use crate::http::body::BodyError;
use crate::http::conditions::BadHeader;
use crate::verification::Unavailable;

/// An error in this dialect's shape.
pub struct HitlError {
    pub(super) error: Box<WireError>,
    retry_after: Option<u64>,
    /// How many calls are allowed, where there were too many.
    limit: Option<u32>,
}

impl HitlError {
    fn later(error: WireError, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..error.into() }
    }

    /// The same, naming the case: whoever has its token knows it already.
    pub(super) fn about(mut self, case_id: &str) -> Self {
        if self.error.status != 401 && self.error.status != 404 {
            *self.error = self.error.with("case_id", case_id.into());
        }
        self
    }
}

impl From<WireError> for HitlError {
    fn from(error: WireError) -> Self {
        Self { error: Box::new(error), retry_after: None, limit: None }
    }
}

impl From<StoreError> for HitlError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refusal) => WireError::refused(&refusal).into(),
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

impl From<Unavailable> for HitlError {
    fn from(Unavailable: Unavailable) -> Self {
        Self::later(WireError::unavailable(), 5)
    }
}

impl From<Denied> for HitlError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Missing | Denied::Unknown => WireError::invalid_token().into(),
            Denied::TooFast(wait) => Self::later(WireError::rate_limited(), wait.as_secs().max(1)),
            Denied::TooManyStreams => Self::later(WireError::rate_limited(), 5),
            Denied::Unavailable => Self::later(WireError::unavailable(), 5),
        }
    }
}

impl From<TooMany> for HitlError {
    fn from(too_many: TooMany) -> Self {
        let mut error = Self::later(WireError::rate_limited(), too_many.wait.as_secs().max(1));
        error.limit = Some(too_many.limit);
        error
    }
}

impl From<BadHeader> for HitlError {
    fn from(bad: BadHeader) -> Self {
        WireError::field(bad.name, bad.expected).into()
    }
}

impl From<BodyError> for HitlError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => WireError::too_large().into(),
            BodyError::BrokenOff | BodyError::TooSlow => {
                WireError::field("body", "all of it, within 30 seconds").into()
            }
        }
    }
}

impl IntoResponse for HitlError {
    fn into_response(self) -> Response {
        let status =
            StatusCode::from_u16(self.error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut answer = (status, Json(self.error.body())).into_response();
        let headers = answer.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer error=\"invalid_token\"");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(limit) = self.limit {
            headers.insert("x-ratelimit-limit", HeaderValue::from(limit));
            headers.insert("x-ratelimit-remaining", HeaderValue::from(0));
        }
        answer
    }
}

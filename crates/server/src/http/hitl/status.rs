//! `GET /hitl/v1/reviews/{id}/status`: the status of a case. Specification §8.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::hitl;
use gateway::auth::Lane;
use kernel::Ask;
use store::StoreError;

use super::Answer;
use crate::http::conditions::{self, Seen};
use crate::http::hitl::HitlCases;
use crate::http::name::Named;

pub(super) async fn status(
    State(cases): State<Arc<HitlCases>>,
    Named(id): Named<String>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer {
    let (ask, _) = cases.readable(&id, &headers, &pairs).await?;
    let left = cases.authenticator.count(ask.id, Lane::Poll)?;
    // An `If-None-Match` that cannot be read is ignored: polling continues (HITL-082).
    let seen = Seen::read(&headers).unwrap_or(Seen::Unsaid);
    let mut answer = if seen.has(ask.version()) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        cases.poll(&*cases.gateway.told(Arc::clone(&ask)).await?).await?
    };
    let headers = answer.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&conditions::tag(&ask)) {
        headers.insert(header::ETAG, tag);
    }
    if ask.is_open() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(hitl::POLL_EVERY));
    }
    headers.insert("x-ratelimit-limit", HeaderValue::from(left.limit));
    headers.insert("x-ratelimit-remaining", HeaderValue::from(left.remaining));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

impl HitlCases {
    /// The response of a poll.
    pub(super) async fn poll(&self, ask: &Ask) -> Result<Response, StoreError> {
        let (name, signature) =
            (self.receipts.respondent(ask), self.receipts.hitl_signature(ask).await?);
        Ok(Json(hitl::poll(ask, name, signature)).into_response())
    }
}

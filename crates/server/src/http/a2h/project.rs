//! `GET /project`, `GET /status`, `GET /version` (A2H-018, A2H-019).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::Answer;
use crate::http::a2h::A2hCalls;

/// The project of the key, under all names that clients read it by.
pub(super) async fn project(State(calls): State<Arc<A2hCalls>>, headers: HeaderMap) -> Answer {
    let caller = calls.agent(&headers)?;
    let (project, organization) = (caller.project, calls.config.public_url.authority().to_owned());
    let body = json!({
        "name": project,
        "slug": project,
        "organization": organization,
        "project_slug": project,
        "org_slug": organization,
    });
    Ok(Json(body).into_response())
}

pub(super) async fn status() -> Response {
    Json(json!({ "status": "ok" })).into_response()
}

pub(super) async fn version() -> Response {
    Json(json!({ "version": env!("CARGO_PKG_VERSION") })).into_response()
}

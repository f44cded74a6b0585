//! The documentation of the native API: `GET /openapi.json` for programs, `GET /docs` for people.

use std::sync::OnceLock;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use gateway::Gateway;
use views::{PageContext, docs};

use crate::http::{AppState, api, pages};

pub fn routes() -> Router<AppState> {
    Router::new().route("/openapi.json", get(document)).route("/docs", get(page))
}

/// Needs no credential: the document contains nothing about this installation's users.
async fn document() -> Response {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    let text = TEXT.get_or_init(|| api::document().to_pretty_json().unwrap_or_default().into());
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, text.clone()).into_response()
}

async fn page(State(gateway): State<Gateway>) -> Response {
    static PAGE: OnceLock<docs::Document> = OnceLock::new();
    let document = PAGE.get_or_init(|| {
        docs::Document::read(&serde_json::to_value(api::document()).unwrap_or_default())
    });
    pages::html(StatusCode::OK, docs::page(&PageContext::anonymous(gateway.now()), document))
}

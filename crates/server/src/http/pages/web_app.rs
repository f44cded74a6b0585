//! The installable web app: `/manifest.webmanifest`, `/sw.js`, and the page shown offline.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use gateway::Gateway;
use views::{PageContext, message_page, web_app};

use super::html;

/// An hour, because installed apps check the manifest now and then.
const MANIFEST_CACHE_CONTROL: &str = "public, max-age=3600";

pub(super) async fn manifest() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/manifest+json"),
        (header::CACHE_CONTROL, MANIFEST_CACHE_CONTROL),
        (header::VARY, "accept-language"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, web_app::manifest()).into_response()
}

/// Not cached, so that browsers find a new version at once.
pub(super) async fn worker() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, web_app::WORKER_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, web_app::worker()).into_response()
}

pub(super) async fn offline(State(gateway): State<Gateway>) -> Response {
    html(StatusCode::OK, message_page::offline(&PageContext::anonymous(gateway.now())))
}

pub(super) async fn unsent(State(gateway): State<Gateway>) -> Response {
    html(StatusCode::OK, message_page::unsent(&PageContext::anonymous(gateway.now())))
}

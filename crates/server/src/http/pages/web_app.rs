//! What makes an app of the pages: `/manifest.webmanifest`, `/sw.js`, and what it shows without a
//! network.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use gateway::Gateway;
use views::{Frame, message_page, web_app};

use super::html;

/// For an hour: an app that was installed looks at it now and then.
const MANIFEST_KEPT: &str = "public, max-age=3600";

pub(super) async fn manifest() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/manifest+json"),
        (header::CACHE_CONTROL, MANIFEST_KEPT),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, web_app::manifest()).into_response()
}

/// Asked for anew each time, so that a new version is found at once.
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
    html(StatusCode::OK, message_page::offline(&Frame::anonymous(gateway.now())))
}

pub(super) async fn unsent(State(gateway): State<Gateway>) -> Response {
    html(StatusCode::OK, message_page::unsent(&Frame::anonymous(gateway.now())))
}

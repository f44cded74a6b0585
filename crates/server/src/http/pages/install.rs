//! What makes an app of the pages: `/manifest.webmanifest`, `/sw.js`, and what it shows without a
//! network.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::html;
use crate::http::Shared;
use crate::web::{Frame, install};

/// For an hour: an app that was installed looks at it now and then.
const MANIFEST_KEPT: &str = "public, max-age=3600";

pub(super) async fn manifest() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/manifest+json"),
        (header::CACHE_CONTROL, MANIFEST_KEPT),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, install::manifest()).into_response()
}

/// Asked for anew each time, so that a new version is found at once.
pub(super) async fn worker() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, install::WORKER_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, install::worker()).into_response()
}

pub(super) async fn offline(State(app): State<Shared>) -> Response {
    html(StatusCode::OK, install::offline(&Frame::anonymous(app.gateway.now())))
}

pub(super) async fn unsent(State(app): State<Shared>) -> Response {
    html(StatusCode::OK, install::unsent(&Frame::anonymous(app.gateway.now())))
}

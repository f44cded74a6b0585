//! Two metrics per request, and a log line for every one that may change something or failed; reads
//! are logged at `debug`. Each has an id that the caller sees too. Queries, bodies and credentials
//! are never logged.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use crate::ids::random;

/// The middleware.
pub async fn observe(mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request
        .headers()
        .get("x-request-id")
        .and_then(|id| id.to_str().ok())
        .filter(|id| id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
        .map_or_else(|| hex::encode(random::<8>()), str::to_owned);
    let shown = HeaderValue::from_str(&id).unwrap_or(HeaderValue::from_static("unknown"));
    request.headers_mut().insert("x-request-id", shown.clone());
    let method = request.method().clone();
    // The pattern, not the address: ids and tokens stay out of labels and logs.
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "unmatched".to_owned(), |path| path.as_str().to_owned());
    let span = tracing::info_span!("request", request.id = %id);

    let mut response = next.run(request).instrument(span.clone()).await;

    let status = response.status().as_u16();
    let duration = started.elapsed();
    let labels = [
        ("method", known(&method).to_owned()),
        ("route", route.clone()),
        ("status", status.to_string()),
    ];
    metrics::counter!("countersign_http_requests_total", &labels).increment(1);
    metrics::histogram!("countersign_http_request_seconds", "route" => route.clone())
        .record(duration.as_secs_f64());
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    span.in_scope(|| {
        if status >= 500 {
            tracing::error!(%method, route, status, duration_ms, "request failed");
        } else if !method.is_safe() {
            tracing::info!(%method, route, status, duration_ms, "request served");
        } else {
            tracing::debug!(%method, route, status, duration_ms, "request served");
        }
    });
    response.headers_mut().insert("x-request-id", shown);
    response
}

/// Methods are the caller's words; only those we know become a label.
fn known(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::DELETE
        | Method::OPTIONS => method.as_str(),
        _ => "other",
    }
}

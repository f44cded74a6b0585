//! For operators: `GET /healthz`, `GET /readyz`, `GET /metrics`, and the pages behind error codes.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use gateway::readiness::NotReady;
use gateway::{DATABASE_USER, Gateway};
use notify::anchor;
use serde_json::json;
use views::PageContext;
use views::docs::errors;

use crate::config::Config;
use crate::http::path_param::PathParam;
use crate::http::problem::{ApiProblem, INDEX, PAGES};
use crate::http::services::Operations;
use crate::http::{AppState, pages};

/// The routes of the main address. Metrics are left out if they have an address of their own.
pub fn routes(with_metrics: bool) -> Router<AppState> {
    let routes = probes().route("/errors", get(error_codes)).route("/errors/{code}", get(explain));
    if with_metrics { routes.route("/metrics", get(metrics)) } else { routes }
}

/// The routes of the operations address.
pub fn operations() -> Router<AppState> {
    probes().route("/metrics", get(metrics))
}

fn probes() -> Router<AppState> {
    Router::new()
        .route("/healthz", get(|| async { axum::Json(json!({ "status": "ok" })) }))
        .route("/readyz", get(readyz))
}

/// Ready when the store is writable. A bucket that does not answer is only reported: most
/// operations need no file, and other nodes use the same bucket.
async fn readyz(
    State(gateway): State<Gateway>,
    State(operations): State<Arc<Operations>>,
) -> Response {
    match operations.readiness.check(gateway.store()).await {
        Ok(durability) => {
            let mut body = json!({ "status": "ready" });
            if operations.files.is_unavailable() {
                body["files"] = json!("the bucket does not respond");
            }
            if let Some(durability) = durability {
                body["database"] = json!(durability);
            }
            axum::Json(body).into_response()
        }
        Err(NotReady(reason)) => {
            gateway.database().failed(DATABASE_USER, &reason);
            let status = "the database is not writable";
            let body = axum::Json(json!({ "status": status, "reason": reason }));
            (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
        }
    }
}

async fn metrics(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(operations): State<Arc<Operations>>,
) -> Response {
    measure(&gateway, &config, &operations).await;
    let text = operations.metrics.render();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

/// Updates the gauges of waiting work when metrics are read.
async fn measure(gateway: &Gateway, config: &Config, operations: &Operations) {
    #[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
    let set = |name: &'static str, n: u64| metrics::gauge!(name).set(n as f64);
    set("countersign_watched_asks", gateway.wake().len() as u64);
    if let Ok(unsealed) = operations.sealer.unsealed().await {
        set("countersign_unsealed_records", unsealed);
    }
    if operations.files.is_bucket() {
        set("countersign_files_away", u64::from(operations.files.is_unavailable()));
    }
    if config.anchor_command.is_some()
        && let Ok(waiting) = anchor::waiting(gateway.store()).await
    {
        set("countersign_blocks_not_anchored", waiting);
    }
    if let Ok(backlog) = gateway.store().backlog().await {
        set("countersign_outbox_waiting", backlog.waiting);
        set("countersign_outbox_dead", backlog.dead);
    }
}

/// The list of all error codes.
async fn error_codes(State(gateway): State<Gateway>, headers: HeaderMap) -> Response {
    if page_format(&headers) == PageFormat::Markdown {
        return markdown(INDEX);
    }
    html_page(errors::index(&PageContext::anonymous(gateway.now()), INDEX))
}

/// The page behind a problem's `type`.
async fn explain(
    State(gateway): State<Gateway>,
    PathParam(code): PathParam<String>,
    headers: HeaderMap,
) -> Response {
    let known = PAGES.iter().find(|(known, _)| *known == code);
    match (known, page_format(&headers)) {
        (Some((_, page)), PageFormat::Markdown) => markdown(page),
        (Some((code, page)), PageFormat::Page | PageFormat::Anything) => {
            html_page(errors::page(&PageContext::anonymous(gateway.now()), code, page))
        }
        (None, PageFormat::Page) => pages::no_such_page(&gateway),
        (None, PageFormat::Markdown | PageFormat::Anything) => ApiProblem::new(404, "not-found")
            .detail("unknown error code; see /errors for all codes")
            .into_response(),
    }
}

/// The format of a page that the client accepts.
#[derive(PartialEq, Eq)]
enum PageFormat {
    Markdown,
    Page,
    Anything,
}

fn page_format(headers: &HeaderMap) -> PageFormat {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let names = |kind: &str| accept.is_some_and(|accept| accept.contains(kind));
    if names("text/html") {
        PageFormat::Page
    } else if names("text/markdown") || names("text/plain") {
        PageFormat::Markdown
    } else {
        PageFormat::Anything
    }
}

fn html_page(page: String) -> Response {
    let mut answer = pages::html(StatusCode::OK, page);
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    answer
}

fn markdown(text: &'static str) -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/markdown; charset=utf-8"), (header::VARY, "accept")];
    (headers, text).into_response()
}

//! For operators: `GET /healthz`, `GET /readyz`, `GET /metrics`.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use gateway::readiness::NotReady;
use gateway::{DATABASE_USER, Gateway};
use notify::anchor;
use serde_json::json;

use crate::config::Config;
use crate::http::AppState;
use crate::http::services::Operations;

/// The routes of the main address. Metrics are left out if they have an address of their own.
pub fn routes(with_metrics: bool) -> Router<AppState> {
    if with_metrics { operations() } else { probes() }
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

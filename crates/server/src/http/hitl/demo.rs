//! `POST /api/demo?type=…`, with `--dev` only: creates a sample case of each type to try its page.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use dialects::hitl::WireError;
use notify::callbacks::Callbacks;
use serde_json::{Map, Value};

use super::{Answer, HitlCases, create, param};

/// One sample per type, as a service would send it.
static SAMPLES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    // The file is part of the binary, and a test parses it.
    serde_json::from_str(include_str!("demo.json")).unwrap_or_default()
});

/// The agent key that every server has with `--dev`.
const DEV_KEY: &str = "Bearer dev-agent-key";

pub(super) async fn demo(
    State(cases): State<Arc<HitlCases>>,
    callbacks: State<Callbacks>,
    Query(pairs): Query<Vec<(String, String)>>,
    mut headers: HeaderMap,
) -> Answer {
    if !cases.config.dev {
        return Err(WireError::no_route().into());
    }
    let kind = param(&pairs, "type").unwrap_or("approval");
    let Some(sample) = SAMPLES.get(kind) else {
        let kinds: Vec<&str> = SAMPLES.keys().map(String::as_str).collect();
        return Err(WireError::field("type", &kinds.join(", ")).into());
    };
    headers.entry(header::AUTHORIZATION).or_insert(HeaderValue::from_static(DEV_KEY));
    create::create(State(cases), callbacks, headers, Body::from(sample.to_string())).await
}

//! `GET /hacp/v1/health`; `GET`, `POST /hacp/v1/version`; `GET /hacp/v1/schemas` and each schema.
//! None of them needs a credential.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use dialects::hacp::{self, HacpError, schema as registry};
use gateway::Gateway;
use serde_json::json;

use super::{Failure, version_of};
use crate::config::Config;
use crate::http::body;
use crate::http::name::Named;

/// 200 with the protocol version while the store answers; else 503 `UNAVAILABLE`.
pub(super) async fn health(
    State(gateway): State<Gateway>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let version = version_of(&headers)?;
    if let Err(error) = gateway.store().ping().await {
        tracing::warn!(error = %error, "the HACP health check failed: the store does not answer");
        return Err(Failure::from(HacpError::unavailable()).in_version(version));
    }
    Ok(Json(version.stamped(json!({ "status": "ok" }))).into_response())
}

pub(super) async fn spoken(headers: HeaderMap) -> Result<Response, Failure> {
    Ok(Json(hacp::spoken(version_of(&headers)?)).into_response())
}

pub(super) async fn negotiated(
    State(config): State<Arc<Config>>,
    body: Body,
) -> Result<Response, Failure> {
    let bytes = body::read(body, config.body_limit).await?;
    Ok(Json(hacp::negotiate(&bytes)?.stamp()).into_response())
}

pub(super) async fn schemas(headers: HeaderMap) -> Result<Response, Failure> {
    let names: Vec<_> = registry::names(version_of(&headers)?).collect();
    Ok(Json(names).into_response())
}

pub(super) async fn schema(
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let version = version_of(&headers)?;
    let schema = registry::schema(&name, version);
    let schema = schema.map_err(|error| Failure::from(error).in_version(version));
    Ok(Json(schema?).into_response())
}

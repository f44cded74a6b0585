//! HACP 0.1 and HLP 0.2: tasks people own and agents work on.
//!
//! | file | route |
//! |---|---|
//! | `operations` | `POST /hacp/v1/ops/{operation}` |
//! | `commands`, `queries` | writing and reading; used by `operations` and `socket` |
//! | `runtime` | `runtime.peek`, `runtime.ack`, `pending.outbox` |
//! | `history` | `audit.query`, `audit.replay` |
//! | `events` | `GET /hacp/v1/events` |
//! | `socket` | `GET /hacp/ws`: the operations as JSON-RPC 2.0 |
//! | `uploads` | `POST`, `PUT /hacp/v1/uploads`; `GET`, `PATCH`, `DELETE /hacp/v1/uploads/{id}` |
//! | `content` | `GET …/content` of an upload, and of a version of an artifact |
//! | this one | `GET /hacp/v1/health`, `GET`, `POST /hacp/v1/version`, `GET /hacp/v1/schemas/{name}` |
//!
//! The actor is the credential, an agent key or a human token, and never a parameter.

mod commands;
mod content;
mod error;
mod events;
mod history;
mod operations;
mod queries;
mod runtime;
mod socket;
mod uploads;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use dialects::hacp::{self, HacpError, HacpVersion, VERSION_HEADER, schema as registry};
use gateway::Gateway;
use gateway::blobs::Blobs;
use kernel::actor::KeyScope;
use kernel::{Actor, ProjectId};
use serde_json::json;
use store::StoreError;

use crate::config::Config;
use crate::http::callers::Callers;
use crate::http::path_param::PathParam;
use crate::http::services::Streaming;
use crate::http::{AppState, body};

pub use error::HacpFailure;
pub use history::PageEnds;

pub fn routes() -> Router<AppState> {
    Router::new()
        .route("/hacp/v1/ops/{operation}", post(operations::call))
        .route("/hacp/v1/health", get(health))
        .route("/hacp/v1/version", get(supported_versions).post(negotiate))
        .route("/hacp/v1/schemas", get(schemas))
        .route("/hacp/v1/schemas/{name}", get(schema))
        .route("/hacp/v1/events", get(events::stream))
        .route("/hacp/v1/uploads", post(uploads::begin).put(uploads::upload_whole))
        .route(
            "/hacp/v1/uploads/{id}",
            get(uploads::upload_status).patch(uploads::append).delete(uploads::discard),
        )
        .route("/hacp/v1/uploads/{id}/content", get(content::of_upload))
        .route("/hacp/v1/artifacts/{id}/versions/{version}/content", get(content::of_version))
        .route("/hacp/ws", get(socket::open))
}

/// The response for an unknown path of this dialect.
pub fn no_route() -> Response {
    HacpFailure::from(HacpError::no_route()).into_response()
}

/// The response for a method that a path does not support.
pub fn wrong_method() -> Response {
    HacpFailure::from(HacpError::method_not_allowed()).into_response()
}

/// The response for a request that a library rejected, or for a panic.
pub fn unreadable(broken: bool) -> Response {
    let error = if broken {
        HacpError::internal()
    } else {
        HacpError::field("request", "a path, a query and headers that can be parsed")
    };
    HacpFailure::from(error).into_response()
}

/// The protocol version of a request.
fn version_of(headers: &HeaderMap) -> Result<HacpVersion, HacpError> {
    let Some(value) = headers.get(VERSION_HEADER) else { return Ok(HacpVersion::default()) };
    HacpVersion::from_header(Some(value.to_str().unwrap_or("?")))
}

/// The operations of HACP, over HTTP and over WebSocket.
pub struct HacpOperations {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) callers: Callers,
    pub(in crate::http) blobs: Blobs,
    pub(in crate::http) streaming: Streaming,
    pub(in crate::http) page_ends: PageEnds,
}

impl HacpOperations {
    /// The projects whose tasks the caller sees. For an agent with a key of its own, those of the
    /// tasks it was given.
    async fn projects(&self, actor: &Actor) -> Result<Vec<ProjectId>, StoreError> {
        Ok(match actor {
            Actor::Agent { id, scope: KeyScope::Agent, .. } => {
                self.gateway.store().projects_with_tasks(id.clone()).await?
            }
            Actor::Agent { project, scope: KeyScope::Project, .. } => vec![project.clone()],
            Actor::Human { id, .. } => {
                let directory = self.gateway.directory();
                match directory.human(id) {
                    Some(human) if human.admin => {
                        directory.projects().map(|project| project.id.clone()).collect()
                    }
                    Some(human) => human.projects.iter().cloned().collect(),
                    None => Vec::new(),
                }
            }
            Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => Vec::new(),
        })
    }
}

// `GET /hacp/v1/health`; `GET`, `POST /hacp/v1/version`; `GET /hacp/v1/schemas` and each schema.
// None of them needs a credential.

/// 200 with the protocol version while the store answers; else 503 `UNAVAILABLE`.
async fn health(
    State(gateway): State<Gateway>,
    headers: HeaderMap,
) -> Result<Response, HacpFailure> {
    let version = version_of(&headers)?;
    if let Err(error) = gateway.store().ping().await {
        tracing::warn!(error = %error, "the HACP health check failed because the database does \
                                        not respond");
        return Err(HacpFailure::from(HacpError::unavailable()).in_version(version));
    }
    Ok(Json(version.stamped(json!({ "status": "ok" }))).into_response())
}

async fn supported_versions(headers: HeaderMap) -> Result<Response, HacpFailure> {
    Ok(Json(hacp::version_response(version_of(&headers)?)).into_response())
}

async fn negotiate(State(config): State<Arc<Config>>, body: Body) -> Result<Response, HacpFailure> {
    let bytes = body::read(body, config.body_limit).await?;
    Ok(Json(hacp::negotiate(&bytes)?.stamp()).into_response())
}

async fn schemas(headers: HeaderMap) -> Result<Response, HacpFailure> {
    let names: Vec<_> = registry::names(version_of(&headers)?).collect();
    Ok(Json(names).into_response())
}

async fn schema(
    PathParam(name): PathParam<String>,
    headers: HeaderMap,
) -> Result<Response, HacpFailure> {
    let version = version_of(&headers)?;
    let schema = registry::schema(&name, version);
    let schema = schema.map_err(|error| HacpFailure::from(error).in_version(version));
    Ok(Json(schema?).into_response())
}

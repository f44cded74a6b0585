//! A2H v1alpha1 and the API of HumanLayer's SDKs: the same routes under `/a2h/v1` and
//! `/humanlayer/v1`.
//!
//! | file | route |
//! |---|---|
//! | `calls` | `POST`, `GET` of `function_calls`, `human_contacts`, `contact_requests`; `agent/…/pending`; `POST agent/…/{call_id}/respond`, `…/escalate_email` |
//! | `messages`, `schema` | `POST /messages`, `GET /messages/{uid}`, `GET /conversations`, `GET /conversations/{uid}` |
//! | `humans` | `/humans`, `/humans/search`, `/humans/{id}` |
//! | this one | `GET /channels`, `POST /channels/validate`, `GET /project`, `GET /status`, `GET /version` |
//!
//! Agents authenticate with an agent key, administrators of people with their own token. Every
//! response is JSON, because some clients read the body before they check the status (A2H-008).

mod calls;
mod error;
mod humans;
mod messages;
mod schema;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use channels::ChannelRegistry;
use dialects::a2h::{self, A2hWireError, CallKind, Medium};
use gateway::Gateway;
use gateway::auth::Denied;
use gateway::receipts::Receipts;
use kernel::audit::Digest;
use kernel::command::NewAsk;
use kernel::{Actor, Ask, AskCommand, AskId, ProjectId};
use notify::people::contact_methods::ContactMethods;
use serde_json::json;
use store::Idempotency;
use tower::ServiceExt;

use crate::config::Config;
use crate::http::callers::Callers;
use crate::http::{AppState, body};

pub use error::A2hError;

/// The base paths: the dialect's own, and the one the SDKs append to a bare URL (A2H-001 to
/// A2H-003).
const BASES: [&str; 2] = ["/a2h/v1", "/humanlayer/v1"];

type A2hResult = Result<Response, A2hError>;

/// The same routes under each base path.
pub fn routes() -> Router<AppState> {
    let all = BASES.into_iter().map(under).fold(Router::new(), Router::merge);
    all.route("/version", get(version))
}

fn under(base: &str) -> Router<AppState> {
    let at = |path: &str| format!("{base}{path}");
    Router::new()
        .route(&at("/function_calls"), post(calls::create_function_call))
        .route(&at("/function_calls/{call_id}"), get(calls::function_call))
        .route(&at("/human_contacts"), post(calls::create_human_contact))
        .route(&at("/human_contacts/{call_id}"), get(calls::human_contact))
        .route(&at("/contact_requests"), post(calls::create_human_contact))
        .route(&at("/contact_requests/{call_id}"), get(calls::human_contact))
        .route(&at("/agent/function_calls/pending"), get(calls::pending_function_calls))
        .route(&at("/agent/human_contacts/pending"), get(calls::pending_human_contacts))
        .route(&at("/agent/function_calls/{call_id}"), get(calls::function_call))
        .route(&at("/agent/human_contacts/{call_id}"), get(calls::human_contact))
        .route(&at("/agent/function_calls/{call_id}/respond"), post(calls::respond_function_call))
        .route(&at("/agent/human_contacts/{call_id}/respond"), post(calls::respond_human_contact))
        .route(
            &at("/agent/function_calls/{call_id}/escalate_email"),
            post(calls::escalate_function_call),
        )
        .route(
            &at("/agent/human_contacts/{call_id}/escalate_email"),
            post(calls::escalate_human_contact),
        )
        .route(&at("/messages"), post(messages::create))
        .route(&at("/messages/{uid}"), get(messages::message))
        .route(&at("/conversations"), get(messages::conversations))
        .route(&at("/conversations/{uid}"), get(messages::conversation))
        .route(&at("/contact_channel/{id}"), get(messages::channel))
        .route(&at("/channels"), get(channels))
        .route(&at("/channels/validate"), post(validate))
        .route(&at("/humans"), get(humans::humans).post(humans::create))
        .route(&at("/humans/search"), get(humans::search))
        .route(&at("/humans/{id}"), get(humans::human).put(humans::replace).delete(humans::remove))
        .route(&at("/project"), get(project))
        .route(&at("/status"), get(status))
}

/// Whether a path belongs to this dialect.
pub fn is_a2h_path(path: &str) -> bool {
    let below = |base: &str| {
        path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    below("/a2h") || below("/humanlayer") || path == "/version"
}

/// A base URL that ends in a slash leads to two slashes in a row (A2H-004). Runs the request
/// without the repeated slashes, or returns it if that does not lead to this dialect.
pub async fn retry_without_repeated_slashes(
    app: &AppState,
    mut request: Request,
) -> Result<Response, Request> {
    let path = request.uri().path();
    let single = without_repeated_slashes(path);
    if single == path || !is_a2h_path(&single) {
        return Err(request);
    }
    let whole = match request.uri().query() {
        Some(query) => format!("{single}?{query}"),
        None => single,
    };
    let Ok(whole) = whole.parse::<PathAndQuery>() else { return Err(request) };
    *request.uri_mut() = Uri::from(whole);
    let again = routes().fallback(async || no_route());
    let again = again.method_not_allowed_fallback(async || wrong_method());
    let Ok(answer) = again.with_state(AppState::clone(app)).oneshot(request).await;
    Ok(answer)
}

fn without_repeated_slashes(path: &str) -> String {
    let mut single = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !single.ends_with('/') {
            single.push(c);
        }
    }
    single
}

/// The response for an unknown path of this dialect.
pub fn no_route() -> Response {
    A2hError::from(A2hWireError::no_route()).into_response()
}

/// The response for a method that a path does not support.
pub fn wrong_method() -> Response {
    A2hError::from(A2hWireError::method_not_allowed()).into_response()
}

/// The response for a request that a library rejected, or for a panic.
pub fn unreadable(broken: bool) -> Response {
    let error = if broken {
        A2hWireError::internal()
    } else {
        A2hWireError::field("", "a path, a query and headers that can be parsed")
    };
    A2hError::from(error).into_response()
}

/// The namespace of a call's name: one per kind and project (A2H-060).
fn name_space(kind: CallKind, project: &ProjectId) -> String {
    format!("a2h/{}/{project}", kind.as_str())
}

/// The lookup key of a call's name. The hash bounds its length and keeps the agent's text out of
/// the key.
fn key(call_id: &str) -> String {
    Digest::of(call_id.as_bytes()).to_string()
}

/// The command for an agent's call: a new ask, or a reply in a conversation (A2H-133).
fn ask_command(ask: NewAsk, conversation: Option<AskId>) -> AskCommand {
    match conversation {
        Some(conversation) => AskCommand::Reply(conversation, Box::new(ask)),
        None => AskCommand::Create(Box::new(ask)),
    }
}

/// An agent that presented a valid key.
struct A2hCaller {
    actor: Actor,
    project: ProjectId,
}

impl A2hCaller {
    /// The name under which a call is created and found again, for as long as the call exists
    /// (A2H-059).
    fn call_idempotency(&self, kind: CallKind, call_id: &str, fingerprint: Digest) -> Idempotency {
        let (scope, key) = (name_space(kind, &self.project), key(call_id));
        Idempotency { scope, key, fingerprint, lasting: true }
    }
}

/// Function calls, human contacts and messages of A2H.
pub struct A2hCalls {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) callers: Callers,
    pub(in crate::http) receipts: Receipts,
    pub(in crate::http) contacts: ContactMethods,
}

impl A2hCalls {
    fn agent(&self, headers: &HeaderMap) -> Result<A2hCaller, A2hError> {
        let actor = self.callers.agent(headers)?;
        let Actor::Agent { project, .. } = &actor else { return Err(Denied::Unknown.into()) };
        Ok(A2hCaller { project: project.clone(), actor })
    }

    /// Reads a body whose content type is JSON or absent.
    async fn body(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, A2hError> {
        let kind = headers.get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or_default());
        let kind =
            kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_lowercase());
        let json = |kind: &String| kind == "application/json" || kind.ends_with("+json");
        if !kind.as_ref().is_none_or(json) {
            return Err(A2hWireError::not_sent_as_json().into());
        }
        Ok(body::read(body, self.config.body_limit).await?)
    }

    /// The call with this name, if the caller may see it. An ask can also be found by its own id.
    async fn call(
        &self,
        caller: &A2hCaller,
        kind: CallKind,
        call_id: &str,
    ) -> Result<Arc<Ask>, A2hError> {
        let store = self.gateway.store();
        let (space, key) = (name_space(kind, &caller.project), key(call_id));
        let named = store.ask_by_idempotency_key(space, key, self.gateway.now()).await?;
        let id = named.or_else(|| a2h::ask_id(call_id)).ok_or_else(A2hWireError::no_call)?;
        let ask = self.gateway.ask(id).await?;
        let ask =
            ask.filter(|ask| ask.is_visible_to_key(&caller.actor) && CallKind::of(ask) == kind);
        Ok(ask.ok_or_else(A2hWireError::no_call)?)
    }
}

// `GET /project`, `GET /status`, `GET /version` (A2H-018, A2H-019).

/// The project of the key, under all names that clients read it by.
async fn project(State(calls): State<Arc<A2hCalls>>, headers: HeaderMap) -> A2hResult {
    let caller = calls.agent(&headers)?;
    let (project, organization) = (caller.project, calls.config.public_url.authority().to_owned());
    let body = json!({
        "name": project,
        "slug": project,
        "organization": organization,
        "project_slug": project,
        "org_slug": organization,
    });
    Ok(Json(body).into_response())
}

async fn status() -> Response {
    Json(json!({ "status": "ok" })).into_response()
}

async fn version() -> Response {
    Json(json!({ "version": env!("CARGO_PKG_VERSION") })).into_response()
}

// `GET /channels`, `POST /channels/validate`: the channels a call can name.

async fn channels(
    State(calls): State<Arc<A2hCalls>>,
    State(channels): State<Arc<ChannelRegistry>>,
    headers: HeaderMap,
) -> A2hResult {
    calls.agent(&headers)?;
    Ok(Json(a2h::channels(&a2h_media(&channels))).into_response())
}

async fn validate(
    State(calls): State<Arc<A2hCalls>>,
    State(channels): State<Arc<ChannelRegistry>>,
    headers: HeaderMap,
    body: Body,
) -> A2hResult {
    calls.agent(&headers)?;
    let bytes = calls.body(&headers, body).await?;
    Ok(Json(a2h::validate_channel(&bytes, &a2h_media(&channels))?).into_response())
}

/// The media this server delivers to. The inbox needs no name.
fn a2h_media(channels: &ChannelRegistry) -> Vec<Medium> {
    let there = |medium: &Medium| channels.named(medium.as_str()).is_some();
    Medium::ALL.into_iter().filter(there).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A2H-004.
    #[test]
    fn slashes_in_a_row_are_one() {
        for (path, single) in [
            ("/a2h/v1//function_calls", "/a2h/v1/function_calls"),
            ("//humanlayer///v1/status//", "/humanlayer/v1/status/"),
            ("/a2h/v1/humans", "/a2h/v1/humans"),
            ("/", "/"),
        ] {
            assert_eq!(without_repeated_slashes(path), single);
        }
        for (path, here) in [
            ("/a2h/v1/x", true),
            ("/humanlayer", true),
            ("/a2hx", false),
            ("/version", true),
            ("/versions", false),
        ] {
            assert_eq!(is_a2h_path(path), here, "{path}");
        }
    }
}

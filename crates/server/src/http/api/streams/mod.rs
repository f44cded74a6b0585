//! Events as server-sent events: `GET /api/v1/events` and `GET /api/v1/asks/{id}/events`.
//!
//! Each stream subscribes first and reads afterwards. An agent's stream is read from the store by
//! position, so it resumes exactly. A person's stream is live: after a gap, or if the client is too
//! slow, the server sends `reset` and the client reads the lists again.

mod agent;
mod ask;
mod person;

use std::sync::Arc;
use std::time::Duration;

use agent::OfAgent;
use ask::OfAsk;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dialects::native::EventView;
use gateway::auth::Denied;
use gateway::streams::{Held, Wire};
use gateway::wake::Waiter;
use gateway::{Gateway, REQUESTS};
use kernel::actor::Reach;
use kernel::event::HELD_ANSWER;
use kernel::{Actor, Ask, AskId};
use person::OfPerson;
use serde_json::json;
use store::{Change, Scope};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::AskViews;
use crate::http::api::asks::parse;
use crate::http::api::openapi::Left;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::services::Streaming;
use crate::http::stream_credential::StreamCredential;
use crate::http::{Shared, sse};

/// The interval of heartbeats on an idle stream.
const BEAT: Duration = Duration::from_secs(15);
/// How long a stream waits before it reads a store that was unavailable again.
const AGAIN: Duration = Duration::from_secs(1);
/// How many changes a stream reads at a time.
const BATCH: usize = 32;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(everything)).routes(routes!(one_ask))
}

type Pairs = Query<Vec<(String, String)>>;

/// Everything that happens to the caller's asks.
///
/// An agent's stream resumes exactly after the last event it was sent. A person's is live. A
/// comment every 15 seconds shows that the connection lives.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    operation_id = "streamEvents",
    tag = "streams",
    params(Left),
    responses(
        (
            status = 200,
            description = "`ready`, then one event for each change, its data an `Event`; `reset` \
                where more happened than can be told: list again",
            body = EventView<'static>,
            content_type = "text/event-stream",
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn everything(
    State(streams): State<Arc<AskStreams>>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let actor = streams.callers.anyone(&headers).await?;
    let credential = StreamCredential::new(&streams.callers, actor, &headers);
    let seen = last_seen(&headers, &pairs)?;
    let line = Line::open(streams, credential)?;
    match line.credential.actor.clone() {
        Actor::Agent { id, project, reach, .. } => {
            let scope = match reach {
                Reach::Agent => Scope::Agent(id),
                Reach::Project => Scope::Project(project),
            };
            Ok(sse::respond(OfAgent::begin(line, scope, seen).await?))
        }
        Actor::Human { id, .. } => Ok(sse::respond(OfPerson::begin(line, id, seen).await?)),
        Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } | Actor::System => {
            Err(Denied::Unknown.into())
        }
    }
}

/// One ask: where it stands, then each change until it is over.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/events",
    operation_id = "streamAsk",
    tag = "streams",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        Left,
    ),
    responses(
        (
            status = 200,
            description = "The envelope of the ask first, as the event `hxp`, where it has one; the \
                newest event, then each change, its data an `Event`; it ends when the ask is over",
            body = EventView<'static>,
            content_type = "text/event-stream",
        ),
        (status = 204, description = "It is over, and the caller has seen that"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn one_ask(
    State(streams): State<Arc<AskStreams>>,
    Named(id): Named<String>,
    headers: HeaderMap,
    Query(pairs): Pairs,
) -> Result<Response, Problem> {
    let actor = streams.callers.anyone(&headers).await?;
    let credential = StreamCredential::new(&streams.callers, actor, &headers);
    let id = parse(&id)?;
    let seen = last_seen(&headers, &pairs)?;
    let line = Line::open(streams, credential)?;
    match OfAsk::begin(line, id, seen).await? {
        Some(stream) => Ok(sse::respond(stream)),
        // 204 stops an `EventSource` from reconnecting.
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// The last event the caller received: `Last-Event-ID`, which clients send on their own, else
/// `?after=`.
fn last_seen(headers: &HeaderMap, pairs: &[(String, String)]) -> Result<Option<u64>, Problem> {
    let expected = "the id of an event: a whole number";
    let bad = |field: &str| {
        let detail = format!("{field}: expected {expected}");
        Problem::new(400, "invalid-field").detail(detail).field(field, expected)
    };
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits)
    };
    if let Some(value) = headers.get("last-event-id").filter(|value| !value.is_empty()) {
        let id = value.to_str().ok().and_then(number);
        return id.map(Some).ok_or_else(|| bad("Last-Event-ID"));
    }
    match pairs.iter().rfind(|(name, _)| name == "after") {
        Some((_, text)) => number(text).map(Some).ok_or_else(|| bad("after")),
        None => Ok(None),
    }
}

/// The dependencies of the native API's streams.
pub struct AskStreams {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) callers: Callers,
    pub(in crate::http) ask_views: Arc<AskViews>,
    pub(in crate::http) streaming: Streaming,
}

/// The state that all streams share: the credential, and the place in the count of open streams.
struct Line {
    streams: Arc<AskStreams>,
    credential: StreamCredential,
    _held: Held,
}

/// Why a wait ended.
enum Turn {
    /// Something changed.
    Woken,
    /// Nothing changed during [`BEAT`].
    Idle,
    /// The server stops, or the credential is no longer valid.
    Over,
}

impl Line {
    fn open(streams: Arc<AskStreams>, credential: StreamCredential) -> Result<Self, Problem> {
        let held = streams.streaming.streams.open_for(
            &streams.gateway,
            credential.counted(),
            Wire::Events,
        )?;
        Ok(Self { streams, credential, _held: held })
    }

    async fn wait(&self, waiter: &mut Waiter) -> Turn {
        tokio::select! {
            biased;
            () = self.streams.streaming.stop.cancelled() => Turn::Over,
            () = waiter.changed() => {
                if self.credential.holds(&self.streams.gateway) { Turn::Woken } else { Turn::Over }
            }
            () = tokio::time::sleep(BEAT) => {
                if self.credential.still_holds(&self.streams.gateway, &self.streams.callers).await { Turn::Idle } else { Turn::Over }
            }
        }
    }

    /// Waits before the store is read again. The client keeps its connection.
    async fn pause(&self, error: &store::StoreError) -> Option<()> {
        self.streams.gateway.database().failed(REQUESTS, error);
        tokio::select! {
            () = self.streams.streaming.stop.cancelled() => None,
            () = tokio::time::sleep(AGAIN) => Some(()),
        }
    }

    /// An ask for a stream of this ask alone. The ask's agent gets the secret answers.
    async fn told(&self, ask: Arc<Ask>) -> Result<Arc<Ask>, store::StoreError> {
        match &self.credential.actor {
            Actor::Agent { .. } => self.streams.gateway.told(ask).await,
            Actor::Human { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. }
            | Actor::System => Ok(ask),
        }
    }

    async fn frame(&self, change: &Change, ask: &Ask) -> Result<Bytes, store::StoreError> {
        let view = EventView {
            position: change.position,
            event: &change.what,
            at: change.at,
            version: change.seq,
            ask: self.streams.ask_views.view(ask, &self.credential.actor).await?,
        };
        Ok(sse::frame(change.position, &change.what, &view))
    }
}

/// Whether a change is about a held answer, which concerns only the person and the server while it
/// can be undone.
fn is_left_out(change: &Change) -> bool {
    HELD_ANSWER.contains(&change.what.as_str())
}

/// A `ready` or `reset` event, which contains only the position.
fn mark(position: u64, event: &str) -> Bytes {
    sse::frame(position, event, &json!({ "position": position }))
}

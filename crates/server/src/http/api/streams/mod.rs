//! Events as server-sent events: `GET /api/v1/events` and `GET /api/v1/asks/{id}/events`.
//!
//! Each stream subscribes first and reads afterwards. An agent's stream is read from the store by
//! position, so it resumes exactly. A person's stream is live: after a gap, or if the client is too
//! slow, the server sends `reset` and the client reads the lists again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dialects::native::EventView;
use gateway::auth::Denied;
use gateway::streams::{ConnectionKind, OpenStream};
use gateway::waiters::{Waiter, WakeTopic};
use gateway::{DATABASE_USER, Gateway};
use kernel::actor::KeyScope;
use kernel::event::HELD_ANSWER;
use kernel::{Actor, AgentId, Ask, AskId, AskState, HumanId, Subject};
use serde_json::json;
use store::{Change, ListScope};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::AskViews;
use crate::http::api::extractors::{AnyCaller, ask_id};
use crate::http::api::openapi::ResumePosition;
use crate::http::callers::Callers;
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;
use crate::http::services::Streaming;
use crate::http::sse::{self, HEARTBEAT, SseSource};
use crate::http::stream_credential::StreamCredential;
use crate::http::{AppState, envelope_headers};

/// The interval of heartbeats on an idle stream.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// How long a stream waits before it reads a store that was unavailable again.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How many changes a stream reads at a time.
const BATCH: usize = 32;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(everything)).routes(routes!(one_ask))
}

type Pairs = Query<Vec<(String, String)>>;

/// Stream the events of the caller's asks.
///
/// An agent's stream resumes exactly after the last received event. A person's stream is live only.
/// The server sends a comment every 15 seconds as a heartbeat.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    operation_id = "streamEvents",
    params(ResumePosition),
    responses(
        (
            status = 200,
            description = "`ready`, then one event per change with an `Event` as its data; \
                           `reset` if events were dropped, after which the client lists again",
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
    AnyCaller(actor): AnyCaller,
) -> Result<Response, ApiProblem> {
    let credential = StreamCredential::new(&streams.callers, actor, &headers);
    let seen = last_seen(&headers, &pairs)?;
    let line = StreamConnection::open(streams, credential)?;
    match line.credential.actor.clone() {
        Actor::Agent { id, project, scope, .. } => {
            let scope = match scope {
                KeyScope::Agent => ListScope::Agent(id),
                KeyScope::Project => ListScope::Project(project),
            };
            Ok(sse::respond(AgentStream::begin(line, scope, seen).await?))
        }
        Actor::Human { id, .. } => Ok(sse::respond(PersonStream::begin(line, id, seen).await?)),
        Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } | Actor::System => {
            Err(Denied::Unknown.into())
        }
    }
}

/// Stream one ask: its current state, then each change until it is closed.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/events",
    operation_id = "streamAsk",
    params(ResumePosition),
    responses(
        (
            status = 200,
            description = "First the envelope of the ask as the event `hxp`, if it has one; then \
                           the newest event, then each change with an `Event` as its data. The \
                           stream ends when the ask is closed",
            body = EventView<'static>,
            content_type = "text/event-stream",
        ),
        (status = 204, description = "The ask is closed, and the caller has already received that"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn one_ask(
    State(streams): State<Arc<AskStreams>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    Query(pairs): Pairs,
    AnyCaller(actor): AnyCaller,
) -> Result<Response, ApiProblem> {
    let credential = StreamCredential::new(&streams.callers, actor, &headers);
    let id = ask_id(&id)?;
    let seen = last_seen(&headers, &pairs)?;
    let line = StreamConnection::open(streams, credential)?;
    match AskStream::begin(line, id, seen).await? {
        Some(stream) => Ok(sse::respond(stream)),
        // 204 stops an `EventSource` from reconnecting.
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// The last event the caller received: `Last-Event-ID`, which clients send on their own, else
/// `?after=`.
fn last_seen(headers: &HeaderMap, pairs: &[(String, String)]) -> Result<Option<u64>, ApiProblem> {
    let expected = "the ID of an event, which is a whole number";
    let bad = |field: &str| {
        let detail = format!("{field}: expected {expected}");
        ApiProblem::new(400, "invalid-field").detail(detail).field(field, expected)
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
struct StreamConnection {
    streams: Arc<AskStreams>,
    credential: StreamCredential,
    _held: OpenStream,
}

/// Why a wait ended.
enum WaitEnd {
    /// A subscribed topic changed, and the credential is still valid.
    Woken,
    /// Nothing changed during [`HEARTBEAT_INTERVAL`].
    Idle,
    /// The server stops, or the credential is no longer valid.
    Over,
}

impl StreamConnection {
    fn open(streams: Arc<AskStreams>, credential: StreamCredential) -> Result<Self, ApiProblem> {
        let held = streams.streaming.streams.open_for(
            &streams.gateway,
            credential.stream_subject(),
            ConnectionKind::Events,
        )?;
        Ok(Self { streams, credential, _held: held })
    }

    async fn wait(&self, waiter: &mut Waiter) -> WaitEnd {
        tokio::select! {
            biased;
            () = self.streams.streaming.stop.cancelled() => WaitEnd::Over,
            () = waiter.changed() => {
                if self.credential.holds(&self.streams.gateway) { WaitEnd::Woken } else { WaitEnd::Over }
            }
            () = tokio::time::sleep(HEARTBEAT_INTERVAL) => {
                if self.credential.still_holds(&self.streams.gateway, &self.streams.callers).await { WaitEnd::Idle } else { WaitEnd::Over }
            }
        }
    }

    /// Waits before the store is read again. The client keeps its connection.
    async fn pause(&self, error: &store::StoreError) -> Option<()> {
        self.streams.gateway.database().failed(DATABASE_USER, error);
        tokio::select! {
            () = self.streams.streaming.stop.cancelled() => None,
            () = tokio::time::sleep(RETRY_DELAY) => Some(()),
        }
    }

    /// An ask for a stream of this ask alone. The ask's agent gets the secret answers.
    async fn ask_for_stream(&self, ask: Arc<Ask>) -> Result<Arc<Ask>, store::StoreError> {
        match &self.credential.actor {
            Actor::Agent { .. } => self.streams.gateway.with_secret_answers(ask).await,
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
fn is_held_answer_change(change: &Change) -> bool {
    HELD_ANSWER.contains(&change.what.as_str())
}

/// A `ready` or `reset` event, which contains only the position.
fn position_event(position: u64, event: &str) -> Bytes {
    sse::frame(position, event, &json!({ "position": position }))
}

// The stream of an agent.

/// The stream of the asks of an agent, or of its project, from a position on.
struct AgentStream {
    line: StreamConnection,
    waiter: Waiter,
    scope: ListScope,
    /// The last position that was sent.
    after: u64,
    marks: VecDeque<Bytes>,
    changes: VecDeque<Change>,
    /// Whether the store may have more.
    stale: bool,
}

impl AgentStream {
    async fn begin(
        line: StreamConnection,
        scope: ListScope,
        seen: Option<u64>,
    ) -> Result<Self, ApiProblem> {
        let list = WakeTopic::List(scope.clone());
        let waiter = line.streams.gateway.wake().subscribe(line.credential.topics().chain([list]));
        let last = line.streams.gateway.store().last_position().await?;
        // A position after the last one is from another store, so the server cannot know which
        // events were missed.
        let lost = seen.is_some_and(|seen| seen > last);
        let after = seen.unwrap_or(last).min(last);
        let mut marks = VecDeque::from([sse::first(&position_event(after, "ready"))]);
        marks.extend(lost.then(|| position_event(after, "reset")));
        let changes = VecDeque::new();
        Ok(Self { line, waiter, scope, after, marks, changes, stale: true })
    }

    /// The agents whose asks the stream covers.
    fn agents(&self) -> Vec<AgentId> {
        match &self.scope {
            ListScope::Project(project) => {
                let directory = self.line.streams.gateway.directory();
                let members = directory.agents().filter(|agent| agent.project == *project);
                members.map(|agent| agent.id.clone()).collect()
            }
            ListScope::Agent(id) => vec![id.clone()],
            ListScope::Human(_)
            | ListScope::Pool(..)
            | ListScope::Revoked
            | ListScope::Kind(_)
            | ListScope::By(_)
            | ListScope::Begun(_)
            | ListScope::Tasks(_)
            | ListScope::Runtime(_) => Vec::new(),
        }
    }
}

impl SseSource for AgentStream {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(mark) = self.marks.pop_front() {
                return Some(mark);
            }
            // The backlog may be long: nothing more of it is sent once the key is revoked.
            if !self.line.credential.holds(&self.line.streams.gateway) {
                return None;
            }
            let gateway = &self.line.streams.gateway;
            if let Some(change) = self.changes.front() {
                let Subject::Ask(id) = change.subject else { return None };
                if is_held_answer_change(change) {
                    self.after = change.position;
                    self.changes.pop_front();
                    continue;
                }
                let framed = match Box::pin(gateway.ask(id)).await {
                    Ok(Some(ask)) => Box::pin(self.line.frame(change, &ask)).await,
                    Ok(None) => return None,
                    Err(error) => Err(error),
                };
                match framed {
                    Ok(frame) => {
                        self.after = change.position;
                        self.changes.pop_front();
                        return Some(frame);
                    }
                    Err(error) => self.line.pause(&error).await?,
                }
            } else if self.stale {
                match gateway
                    .store()
                    .changes(store::FeedQuery::Agents(self.agents(), self.after), BATCH)
                    .await
                {
                    Ok(more) => {
                        self.stale = more.len() == BATCH;
                        self.changes = more.into();
                    }
                    Err(error) => self.line.pause(&error).await?,
                }
            } else {
                match self.line.wait(&mut self.waiter).await {
                    WaitEnd::Woken => self.stale = true,
                    WaitEnd::Idle => return Some(HEARTBEAT),
                    WaitEnd::Over => return None,
                }
            }
        }
    }
}

// The stream of one ask.

/// The stream of one ask until it is closed.
struct AskStream {
    line: StreamConnection,
    waiter: Waiter,
    id: AskId,
    /// The last version that was sent.
    seq: u64,
    first: Option<Bytes>,
    changes: VecDeque<Change>,
    stale: bool,
    over: bool,
}

impl AskStream {
    /// `None` if the ask is closed and the caller has received the last event.
    async fn begin(
        line: StreamConnection,
        id: AskId,
        seen: Option<u64>,
    ) -> Result<Option<Self>, ApiProblem> {
        let own = WakeTopic::Subject(Subject::Ask(id));
        let waiter = line.streams.gateway.wake().subscribe(line.credential.topics().chain([own]));
        let ask = line.streams.gateway.visible_ask(&line.credential.actor, id).await?;
        let mut before = ask.head.seq.saturating_sub(1);
        // Find the newest event that the stream sends. The first event of an ask is always sent.
        let newest = loop {
            let newest = line
                .streams
                .gateway
                .store()
                .changes(store::FeedQuery::Subject(Subject::Ask(id), before), 1)
                .await?;
            match newest.into_iter().next() {
                Some(newest) if is_held_answer_change(&newest) => before = before.saturating_sub(1),
                Some(newest) => break newest,
                None => {
                    let detail = "the history of this request is not available";
                    return Err(ApiProblem::new(500, "internal").detail(detail));
                }
            }
        };
        let over = decided(&ask, newest.seq);
        if over && seen.is_some_and(|seen| seen >= newest.position) {
            return Ok(None);
        }
        let ask = line.ask_for_stream(ask).await?;
        let prelude = envelope_headers::prelude_event(&ask).unwrap_or_default();
        let first = [prelude.as_bytes(), &line.frame(&newest, &ask).await?].concat();
        let first = Some(sse::first(&Bytes::from(first)));
        let (seq, changes) = (newest.seq, VecDeque::new());
        Ok(Some(Self { line, waiter, id, seq, first, changes, stale: true, over }))
    }
}

impl SseSource for AskStream {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(first) = self.first.take() {
                return Some(first);
            }
            if !self.line.credential.holds(&self.line.streams.gateway) {
                return None;
            }
            let gateway = &self.line.streams.gateway;
            if let Some(change) = self.changes.front() {
                if is_held_answer_change(change) {
                    self.seq = change.seq;
                    self.changes.pop_front();
                    continue;
                }
                let found = match Box::pin(gateway.ask(self.id)).await {
                    Ok(found) => found,
                    Err(error) => {
                        self.line.pause(&error).await?;
                        continue;
                    }
                };
                let actor = &self.line.credential.actor;
                let ask = found.filter(|ask| ask.is_visible_to(actor, &gateway.directory()))?;
                let ask = match Box::pin(self.line.ask_for_stream(ask)).await {
                    Ok(ask) => ask,
                    Err(error) => {
                        self.line.pause(&error).await?;
                        continue;
                    }
                };
                let frame = match Box::pin(self.line.frame(change, &ask)).await {
                    Ok(frame) => frame,
                    Err(error) => {
                        self.line.pause(&error).await?;
                        continue;
                    }
                };
                self.seq = change.seq;
                self.over = decided(&ask, change.seq);
                self.changes.pop_front();
                return Some(frame);
            }
            if self.over {
                return None;
            }
            if self.stale {
                match gateway
                    .store()
                    .changes(store::FeedQuery::Subject(Subject::Ask(self.id), self.seq), BATCH)
                    .await
                {
                    Ok(more) => {
                        self.stale = more.len() == BATCH;
                        self.changes = more.into();
                    }
                    Err(error) => self.line.pause(&error).await?,
                }
            } else {
                match self.line.wait(&mut self.waiter).await {
                    WaitEnd::Woken => self.stale = true,
                    WaitEnd::Idle => return Some(HEARTBEAT),
                    WaitEnd::Over => return None,
                }
            }
        }
    }
}

/// Whether an ask is closed, and this version or an earlier one closed it.
fn decided(ask: &Ask, version: u64) -> bool {
    matches!(&ask.state, AskState::Over { place, .. } if place.seq <= version)
}

// The stream of a person.

/// The live stream of the asks a person may see.
struct PersonStream {
    line: StreamConnection,
    waiter: Waiter,
    id: HumanId,
    scopes: Vec<ListScope>,
    marks: VecDeque<Bytes>,
    changes: VecDeque<Change>,
}

impl PersonStream {
    async fn begin(
        line: StreamConnection,
        id: HumanId,
        seen: Option<u64>,
    ) -> Result<Self, ApiProblem> {
        let scopes = scopes(&line.streams.gateway, &id);
        let waiter = listen(&line, &scopes);
        let last = line.streams.gateway.store().last_position().await?;
        let mut marks = VecDeque::from([sse::first(&position_event(last, "ready"))]);
        marks.extend(seen.filter(|seen| *seen != last).map(|_| position_event(last, "reset")));
        Ok(Self { line, waiter, id, scopes, marks, changes: VecDeque::new() })
    }

    /// Takes the changes from the waiter. `None` if the stream cannot continue.
    async fn take_changes(&mut self) -> Option<()> {
        let mut heard = self.waiter.take_changes();
        let about_me = |change: &Change| matches!(&change.subject, Subject::Human(_));
        let mut missed = heard.missed;
        if missed || heard.changes.iter().any(about_me) {
            let now = scopes(&self.line.streams.gateway, &self.id);
            // The person's lists changed, and the asks in the new lists were not sent.
            if now != self.scopes {
                missed = true;
                self.waiter = listen(&self.line, &now);
                self.scopes = now;
            }
        }
        let told = |change: &Change| {
            matches!(change.subject, Subject::Ask(_)) && !is_held_answer_change(change)
        };
        heard.changes.retain(told);
        self.changes.extend(heard.changes);
        if missed {
            self.changes.clear();
            let last = loop {
                match self.line.streams.gateway.store().last_position().await {
                    Ok(last) => break last,
                    Err(error) => self.line.pause(&error).await?,
                }
            };
            self.marks.push_back(position_event(last, "reset"));
        }
        Some(())
    }
}

fn scopes(gateway: &Gateway, id: &HumanId) -> Vec<ListScope> {
    gateway.directory().human(id).map(ListScope::inbox).unwrap_or_default()
}

fn listen(line: &StreamConnection, scopes: &[ListScope]) -> Waiter {
    let lists = scopes.iter().cloned().map(WakeTopic::List);
    line.streams.gateway.wake().subscribe_to_changes(line.credential.topics().chain(lists))
}

impl SseSource for PersonStream {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(mark) = self.marks.pop_front() {
                return Some(mark);
            }
            if !self.line.credential.holds(&self.line.streams.gateway) {
                return None;
            }
            if let Some(change) = self.changes.front() {
                let Subject::Ask(id) = change.subject else { return None };
                let found = match Box::pin(self.line.streams.gateway.ask(id)).await {
                    Ok(found) => found,
                    Err(error) => {
                        self.line.pause(&error).await?;
                        continue;
                    }
                };
                let directory = self.line.streams.gateway.directory();
                let admits = |ask: &Arc<Ask>| {
                    directory.human(&self.id).is_some_and(|h| ask.may_be_answered_by(h))
                };
                // A pool may contain asks that this person is not qualified to answer.
                let Some(ask) = found.filter(admits) else {
                    self.changes.pop_front();
                    continue;
                };
                match Box::pin(self.line.frame(change, &ask)).await {
                    Ok(frame) => {
                        self.changes.pop_front();
                        return Some(frame);
                    }
                    Err(error) => self.line.pause(&error).await?,
                }
            } else {
                match self.line.wait(&mut self.waiter).await {
                    WaitEnd::Woken => self.take_changes().await?,
                    WaitEnd::Idle => return Some(HEARTBEAT),
                    WaitEnd::Over => return None,
                }
            }
        }
    }
}

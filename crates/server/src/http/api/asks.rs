//! Asks: `POST /api/v1/asks`, `GET /api/v1/asks/{id}`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::hxp_experience::claims::{self, NotAnObject};
use dialects::native::{AskView, CallbacksView, CreateAsk, MessageView, MessagesView, Thread};
use gateway::waiters::WakeTopic;
use gateway::{CommandConditions, Gateway};
use kernel::{Actor, Ask, AskCommand, AskId, Refusal, Subject};
use notify::callbacks::Callbacks;
use store::{Message, MessageState, StoreError};
use url::Url;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::api::AskViews;
use crate::http::api::extractors::{AgentCaller, AnyCaller, VisibleAsk, ask_id};
use crate::http::api::openapi::{IdempotencyKey, IfNoneMatch, PreferWait};
use crate::http::api::webhooks::require_callable_url;
use crate::http::callers::Callers;
use crate::http::conditional_headers::{self, KnownVersions};
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;
use crate::http::services::Streaming;
use crate::http::stream_credential::StreamCredential;
use crate::http::{AppState, body, envelope_headers};

/// How long a long poll waits before it reads a store that was unavailable again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(create, super::lists::list))
        .routes(routes!(super::lists::count))
        .routes(routes!(show))
}

/// Create an ask: ask a person something.
///
/// With `Idempotency-Key`, repeated requests create it once. With `Prefer: wait=N`, the response
/// waits until something happens to the ask.
#[utoipa::path(
    post,
    path = "/api/v1/asks",
    operation_id = "createAsk",
    params(IdempotencyKey, PreferWait),
    request_body(
        content = CreateAsk,
        example = json!({
            "question": {
                "kind": "approve",
                "prompt": "Refund 40 EUR to Ada?",
                "details": { "order": 1042, "amount": "40.00 EUR" },
            },
            "priority": "high",
            "timeout_seconds": 3600,
            "on_expiry": { "report": "reject" },
        }),
    ),
    responses(
        (
            status = 201,
            description = "The new ask",
            body = AskView<'static>,
            headers(
                ("Location" = String, description = "The URL of the new object"),
                ("Idempotent-Replayed" = String, description = "`true` if the idempotency key was \
                     used before"),
                ("Preference-Applied" = String, description = "The granted wait"),
            ),
        ),
        (
            status = 403,
            description = "`default-forbidden`: the project does not allow a default on silence; \
                           `not-allowed`: not an agent key",
        ),
        (
            status = 404,
            description = "`not-found`: the ask in `follows`, or the conversation, does not exist",
        ),
        (
            status = 409,
            description = "`idempotency-mismatch`: the key was used with another body; `exists`: \
                           the ask in `follows` already has a follow-up",
        ),
        (
            status = 422,
            description = "`invalid-field`; `invalid-envelope`: the project is strict and `hxp` \
                           is not valid",
        ),
    ),
    security(("agent_key" = [])),
)]
async fn create(
    State(ask_views): State<Arc<AskViews>>,
    State(long_polls): State<Arc<LongPolls>>,
    State(config): State<Arc<Config>>,
    State(callbacks): State<Callbacks>,
    headers: HeaderMap,
    AgentCaller { actor, .. }: AgentCaller,
    body: Body,
) -> Result<Response, ApiProblem> {
    let wait = conditional_headers::prefer_wait(&headers);
    let bytes = body::read(body, config.body_limit).await?;
    let new: CreateAsk = super::parse(&bytes)?;
    if let Some(url) = &new.callback_url {
        require_callable_url(&callbacks, "callback_url", url)?;
    }
    let terms = CommandConditions {
        idempotency: conditional_headers::idempotency("native", &actor, &headers, &bytes)?,
        ..CommandConditions::default()
    };
    let conversation = new.conversation;
    let claims = match &new.hxp {
        Some(_) => claims::read_envelope(&bytes, &[claims::MEMBER]).map_err(no_envelope)?,
        None => None,
    };
    let new = Box::new(new.into_ask(envelope_headers::apply(claims, &headers)));
    let command = match conversation {
        Some(conversation) => AskCommand::Reply(conversation, new),
        None => AskCommand::Create(new),
    };
    let outcome = long_polls.gateway.run_with_conditions(terms, actor.clone(), command).await?;
    let mut ask = Arc::new(outcome.ask.ok_or(Refusal::NotFound { what: "request" })?);
    if outcome.replayed || wait.is_some() {
        let version = ask.version();
        ask = long_polls
            .ask_or_wait(&actor, &headers, ask.id, wait, |ask| ask.version() == version)
            .await?;
    }
    let mut answer = (StatusCode::CREATED, ask_views.shown(&ask, &actor).await?).into_response();
    if let Ok(place) = HeaderValue::from_str(&format!("/api/v1/asks/{}", ask.id)) {
        answer.headers_mut().insert(header::LOCATION, place);
    }
    conditional_headers::mark_replayed(&mut answer, outcome.replayed);
    mark_waited(&mut answer, wait);
    Ok(answer)
}

/// Read an ask.
///
/// With `If-None-Match`, the response has a body only if the ask changed. With `Prefer: wait=N`,
/// the response waits up to N seconds for a change. A closed ask is returned immediately.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}",
    operation_id = "getAsk",
    params(IfNoneMatch, PreferWait),
    responses(
        (
            status = 200,
            description = "The ask",
            body = AskView<'static>,
            headers(
                ("Preference-Applied" = String, description = "The granted wait"),
            ),
        ),
        (
            status = 304,
            description = "The caller already has this version",
            headers(("ETag" = String, description = "The version of the ask")),
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn show(
    State(ask_views): State<Arc<AskViews>>,
    State(long_polls): State<Arc<LongPolls>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    AnyCaller(actor): AnyCaller,
) -> Result<Response, ApiProblem> {
    let id = ask_id(&id)?;
    let (wait, seen) = (conditional_headers::prefer_wait(&headers), KnownVersions::read(&headers)?);
    let mut first = None;
    let known = |ask: &Ask| match &seen {
        KnownVersions::Unsaid | KnownVersions::Any => {
            *first.get_or_insert_with(|| ask.version()) == ask.version()
        }
        KnownVersions::Versions(_) => seen.has(ask.version()),
    };
    let ask = long_polls.ask_or_wait(&actor, &headers, id, wait, known).await?;
    let unchanged = match seen {
        // A caller that did not wait has the current version, whichever it is.
        KnownVersions::Any => first.is_none_or(|first| first == ask.version()),
        KnownVersions::Unsaid | KnownVersions::Versions(_) => seen.has(ask.version()),
    };
    // A caller that has this version already got the secret answers with it.
    let ask = match &actor {
        Actor::Agent { .. } if !unchanged => long_polls.gateway.with_secret_answers(ask).await?,
        _ => ask,
    };
    let mut answer = ask_views.shown(&ask, &actor).await?;
    if unchanged {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        *answer.body_mut() = Body::empty();
        answer.headers_mut().remove(header::CONTENT_TYPE);
    }
    mark_waited(&mut answer, wait);
    Ok(answer)
}

/// Waits for changes of an ask.
pub struct LongPolls {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) callers: Callers,
    pub(in crate::http) streaming: Streaming,
}

impl LongPolls {
    /// An ask the actor may see. Returns when the ask is closed or has a version the caller does
    /// not know, at the latest after `wait` seconds.
    async fn ask_or_wait(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
        id: AskId,
        wait: Option<u64>,
        known: impl FnMut(&Ask) -> bool,
    ) -> Result<Arc<Ask>, ApiProblem> {
        if let Some(seconds) = wait.filter(|seconds| *seconds > 0) {
            // Boxed, so that requests that do not wait carry no space for it.
            let credential = StreamCredential::new(&self.callers, actor.clone(), headers);
            Box::pin(self.wait(&credential, id, Duration::from_secs(seconds), known)).await?;
            // A credential that was revoked while it waited gets no answer.
            self.callers.anyone(headers).await?;
        }
        Ok(self.gateway.visible_ask(actor, id).await?)
    }

    /// Waits for such a change, or until the credential expires. The ask is read again each time
    /// instead of kept, because thousands of callers may wait.
    async fn wait(
        &self,
        credential: &StreamCredential,
        id: AskId,
        at_most: Duration,
        mut known: impl FnMut(&Ask) -> bool,
    ) -> Result<(), ApiProblem> {
        let own = WakeTopic::Subject(Subject::Ask(id));
        let mut waiter = self.gateway.wake().subscribe(credential.topics().chain([own]));
        let time_is_up = tokio::time::sleep(at_most);
        tokio::pin!(time_is_up);
        let mut begun = false;
        loop {
            let seen =
                self.gateway.visible_ask(&credential.actor, id).await.map_err(ApiProblem::from);
            let (waits, away) = match seen {
                Ok(ask) => (known(&ask) && ask.is_open(), false),
                // A caller that already waits keeps waiting: the store may be back in time.
                Err(problem) if begun && problem.is_temporary() => (true, true),
                Err(problem) => return Err(problem),
            };
            if !waits || !credential.holds(&self.gateway) {
                return Ok(());
            }
            begun = true;
            tokio::select! {
                // This may be the notification of a version the caller already has.
                () = waiter.changed() => {}
                () = tokio::time::sleep(RETRY_DELAY), if away => {}
                // The caller gets the current state.
                () = &mut time_is_up => return Ok(()),
                () = self.streaming.stop.cancelled() => return Ok(()),
            }
        }
    }
}

fn no_envelope(_: NotAnObject) -> ApiProblem {
    Refusal::Invalid { field: claims::MEMBER, expected: NotAnObject::EXPECTED }.into()
}

fn mark_waited(answer: &mut Response, wait: Option<u64>) {
    if let Some(seconds) = wait
        && let Ok(applied) = HeaderValue::from_str(&format!("wait={seconds}"))
    {
        answer.headers_mut().insert(PREFERENCE_APPLIED, applied);
    }
}

// `GET /api/v1/asks/{id}/thread`: the rounds of questions that follow each other.

/// The maximum number of rounds shown before the requested ask, and after it.
const MAX_ROUNDS: usize = 50;

pub(super) fn thread_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(thread))
}

/// Read the thread of an ask: the asks that it continues and those that continue it.
///
/// A thread grows when a person requests changes and the agent asks again with `follows`. The
/// rounds are listed oldest first, at most fifty before this ask and fifty after it, as far as the
/// caller can see them.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/thread",
    operation_id = "getThread",
    responses((status = 200, description = "All rounds, oldest first", body = Thread<'static>)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn thread(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    VisibleAsk { ask: here, actor }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    let mut asks = rounds(&gateway, &actor, here.follows, |ask| ask.follows).await?;
    asks.reverse();
    let later = rounds(&gateway, &actor, here.followed_by, |ask| ask.followed_by).await?;
    asks.push(Arc::unwrap_or_clone(here));
    asks.extend(later);
    let asks = ask_views.views(&asks, &actor).await?;
    Ok(Json(Thread { asks }).into_response())
}

/// The rounds in one direction, up to the first that the actor may not see.
pub(crate) async fn rounds(
    gateway: &Gateway,
    actor: &Actor,
    from: Option<AskId>,
    next: impl Fn(&Ask) -> Option<AskId>,
) -> Result<Vec<Ask>, StoreError> {
    let (mut found, mut at) = (Vec::new(), from);
    let directory = gateway.directory();
    while let Some(id) = at.filter(|_| found.len() < MAX_ROUNDS) {
        let ask = gateway.ask(id).await?;
        let Some(ask) = ask.filter(|ask| ask.is_visible_to(actor, &directory)) else { break };
        at = next(&ask);
        found.push(Arc::unwrap_or_clone(ask));
    }
    Ok(found)
}

// `/api/v1/asks/{id}/messages`: the notifications sent about an ask.

pub(super) fn messages_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(messages))
}

/// List the messages about an ask.
///
/// Shows the channel, the time and the delivery state of each message. Agents do not see recipients
/// and errors.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/messages",
    operation_id = "listMessages",
    responses((status = 200, description = "The messages", body = MessagesView)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn messages(
    State(gateway): State<Gateway>,
    VisibleAsk { ask, actor }: VisibleAsk,
) -> Result<Response, ApiProblem> {
    let person = matches!(actor, Actor::Human { .. });
    let found = gateway.store().messages(vec![ask.id]).await?;
    let messages = found.into_iter().map(|message| view(message, person)).collect();
    Ok(Json(MessagesView { messages }).into_response())
}

fn view(message: Message, person: bool) -> MessageView {
    let (state, error) = match message.standing {
        MessageState::Waiting { error } => ("waiting", Some(error)),
        MessageState::Sent => ("sent", None),
        MessageState::Delivered => ("delivered", None),
        MessageState::Read => ("read", None),
        MessageState::Failed { error } => ("failed", Some(error)),
    };
    MessageView {
        channel: message.medium,
        to: message.human.filter(|_| person),
        why: message.why,
        state: state.to_owned(),
        error: error.filter(|error| person && !error.is_empty()),
        at: message.at,
        updated_at: message.updated_at,
    }
}

// `/api/v1/asks/{id}/callbacks`: whether the callback of a closed ask was delivered to the agent,
// and sending it again.

pub(super) fn callbacks_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(callbacks, call_back))
}

/// List the callback attempts of an ask.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/callbacks",
    operation_id = "listCallbacks",
    responses((status = 200, description = "The attempts", body = CallbacksView<'static>)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn callbacks(VisibleAsk { ask, .. }: VisibleAsk) -> Result<Response, ApiProblem> {
    Ok(Json(callbacks_view(&ask)).into_response())
}

/// Send the callback of a closed ask again.
///
/// The server calls the callback URL soon, and again after 1, 5 and 30 seconds if the call fails.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/callbacks",
    operation_id = "callBack",
    responses(
        (status = 202, description = "The callback is scheduled", body = CallbacksView<'static>),
        (status = 403, description = "`not-allowed`: the ask has no `callback_url`, or was erased"),
        (status = 409, description = "`not-over`: the ask is still open"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn call_back(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    AnyCaller(actor): AnyCaller,
) -> Result<Response, ApiProblem> {
    let outcome = gateway.run(actor, AskCommand::CallBack(ask_id(&id)?)).await?;
    let ask = outcome.ask.ok_or(Refusal::NotFound { what: "request" })?;
    Ok((StatusCode::ACCEPTED, Json(callbacks_view(&ask))).into_response())
}

fn callbacks_view(ask: &Ask) -> CallbacksView<'_> {
    let url = ask.callback.as_ref().and_then(|callback| Url::parse(callback.url.value()?).ok());
    CallbacksView {
        to: url.map(|url| url.origin().ascii_serialization()),
        attempts: &ask.callbacks,
    }
}

//! Asks: `POST /api/v1/asks`, `GET /api/v1/asks/{id}`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::hxp_experience::claims::{self, NotAnObject};
use dialects::native::{AskView, CreateAsk, Viewer};
use gateway::Terms;
use gateway::wake::Topic;
use kernel::{Actor, Ask, AskCommand, AskId, Refusal, Subject};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::openapi::{IdempotencyKey, IfNoneMatch, Wait};
use crate::http::conditions::{self, Seen};
use crate::http::name::Named;
use crate::http::pass::Pass;
use crate::http::problem::Problem;
use crate::http::{App, Shared, body, bound};
use store::StoreError;

/// How soon a store that was away is asked again by whoever waits.
const AGAIN: Duration = Duration::from_secs(1);

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(create, super::lists::list))
        .routes(routes!(super::lists::count))
        .routes(routes!(show))
}

/// Ask a person something.
///
/// With `Idempotency-Key` it is asked once, however often it is sent; with `Prefer: wait=N` the
/// answer is held back until something happens to the ask.
#[utoipa::path(
    post,
    path = "/api/v1/asks",
    operation_id = "createAsk",
    tag = "asks",
    params(IdempotencyKey, Wait),
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
            description = "Asked",
            body = AskView<'static>,
            headers(
                ("ETag" = String, description = "Its version"),
                ("Location" = String, description = "Its address"),
                ("Idempotent-Replayed" = String, description = "`true` for a repeated key"),
                ("Preference-Applied" = String, description = "The wait that was granted"),
            ),
        ),
        (
            status = 403,
            description = "`default-forbidden`: the project allows no default on silence; \
                `not-allowed`: not an agent key",
        ),
        (
            status = 404,
            description = "`not-found`: the ask it follows, or the conversation, is not there",
        ),
        (
            status = 409,
            description = "`idempotency-mismatch`: the key came with another body; `exists`: what \
                it follows is followed already",
        ),
        (
            status = 422,
            description = "`invalid-field`; `invalid-envelope`: the project is strict and something is \
                wrong with `hxp`",
        ),
    ),
    security(("agent_key" = [])),
)]
async fn create(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.callers.only_agent(&headers).await?;
    let wait = conditions::wait(&headers);
    let bytes = body::read(body, app.config.body_limit).await?;
    let new: CreateAsk = super::parse(&bytes)?;
    if let Some(url) = &new.callback_url {
        app.callable("callback_url", url)?;
    }
    let terms = Terms {
        idempotency: conditions::idempotency("native", &actor, &headers, &bytes)?,
        ..Terms::default()
    };
    let conversation = new.conversation;
    let claims = match &new.hxp {
        Some(_) => claims::within(&bytes, &[claims::MEMBER]).map_err(no_envelope)?,
        None => None,
    };
    let new = Box::new(new.into_ask(bound::heard(claims, &headers)));
    let command = match conversation {
        Some(conversation) => AskCommand::Reply(conversation, new),
        None => AskCommand::Create(new),
    };
    let outcome = app.gateway.run_on(terms, actor.clone(), command).await?;
    let mut ask = Arc::new(outcome.ask.ok_or(Refusal::NotFound { what: "request" })?);
    if outcome.replayed || wait.is_some() {
        let version = ask.version();
        ask = app.held(&actor, &headers, ask.id, wait, |ask| ask.version() == version).await?;
    }
    let mut answer = (StatusCode::CREATED, app.shown(&ask, &actor).await?).into_response();
    if let Ok(place) = HeaderValue::from_str(&format!("/api/v1/asks/{}", ask.id)) {
        answer.headers_mut().insert(header::LOCATION, place);
    }
    conditions::say_replayed(&mut answer, outcome.replayed);
    say_waited(&mut answer, wait);
    Ok(answer)
}

/// Read an ask.
///
/// With `If-None-Match` only news; with `Prefer: wait=N` the answer is held back until there are
/// some, N seconds at most. What is over is told at once.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}",
    operation_id = "getAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
        IfNoneMatch,
        Wait,
    ),
    responses(
        (
            status = 200,
            description = "The ask",
            body = AskView<'static>,
            headers(
                ("ETag" = String, description = "Its version"),
                ("Preference-Applied" = String, description = "The wait that was granted"),
            ),
        ),
        (
            status = 304,
            description = "It is at the version the caller has",
            headers(("ETag" = String, description = "Its version")),
        ),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn show(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.callers.anyone(&headers).await?;
    let id = parse(&id)?;
    let (wait, seen) = (conditions::wait(&headers), Seen::read(&headers)?);
    let mut first = None;
    let known = |ask: &Ask| match &seen {
        Seen::Unsaid | Seen::Any => *first.get_or_insert_with(|| ask.version()) == ask.version(),
        Seen::Versions(_) => seen.has(ask.version()),
    };
    let ask = app.held(&actor, &headers, id, wait, known).await?;
    let unchanged = match seen {
        // Whoever did not wait has whichever it is.
        Seen::Any => first.is_none_or(|first| first == ask.version()),
        Seen::Unsaid | Seen::Versions(_) => seen.has(ask.version()),
    };
    // Whoever has this version already has what it says.
    let ask = match &actor {
        Actor::Agent { .. } if !unchanged => app.gateway.told(ask).await?,
        _ => ask,
    };
    let mut answer = app.shown(&ask, &actor).await?;
    if unchanged {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        *answer.body_mut() = Body::empty();
        answer.headers_mut().remove(header::CONTENT_TYPE);
    }
    say_waited(&mut answer, wait);
    Ok(answer)
}

impl App {
    /// An ask the actor may see, once it is open no longer or not what the caller knows; or after `wait` seconds.
    async fn held(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
        id: AskId,
        wait: Option<u64>,
        known: impl FnMut(&Ask) -> bool,
    ) -> Result<Arc<Ask>, Problem> {
        if let Some(seconds) = wait.filter(|seconds| *seconds > 0) {
            // Boxed, so that who does not wait carries no room for it.
            let pass = Pass::new(self, actor.clone(), headers);
            Box::pin(self.news(&pass, id, Duration::from_secs(seconds), known)).await?;
            // A credential that was revoked meanwhile learns nothing more.
            self.callers.anyone(headers).await?;
        }
        Ok(self.gateway.visible(actor, id).await?)
    }

    /// Waits for that, or for the end of the credential. The ask is read, not kept: thousands may wait.
    async fn news(
        &self,
        pass: &Pass,
        id: AskId,
        at_most: Duration,
        mut known: impl FnMut(&Ask) -> bool,
    ) -> Result<(), Problem> {
        let own = Topic::Subject(Subject::Ask(id));
        let mut waiter = self.gateway.wake().subscribe(pass.topics().chain([own]));
        let time_is_up = tokio::time::sleep(at_most);
        tokio::pin!(time_is_up);
        let mut begun = false;
        loop {
            let seen = self.gateway.visible(&pass.actor, id).await.map_err(Problem::from);
            let (waits, away) = match seen {
                Ok(ask) => (known(&ask) && ask.is_open(), false),
                // Whoever waits already goes on: the store may be back in time.
                Err(problem) if begun && problem.is_temporary() => (true, true),
                Err(problem) => return Err(problem),
            };
            if !waits || !pass.holds(self) {
                return Ok(());
            }
            begun = true;
            tokio::select! {
                // Perhaps only the news of what was seen already.
                () = waiter.changed() => {}
                () = tokio::time::sleep(AGAIN), if away => {}
                // The caller gets what there is.
                () = &mut time_is_up => return Ok(()),
                () = self.stop.cancelled() => return Ok(()),
            }
        }
    }

    /// One ask with its tag.
    pub(super) async fn shown(&self, ask: &Ask, actor: &Actor) -> Result<Response, Problem> {
        let mut answer = Json(self.view(ask, actor).await?).into_response();
        if let Ok(tag) = HeaderValue::from_str(&conditions::tag(ask)) {
            answer.headers_mut().insert(header::ETAG, tag);
        }
        bound::say(ask, answer.headers_mut());
        Ok(answer)
    }

    /// As whom an actor looks.
    pub(super) fn viewer(&self, actor: &Actor) -> Viewer<'_> {
        match actor {
            Actor::Agent { .. } | Actor::System => {
                Viewer::Agent(self.secrets.evidence.reveal().as_bytes())
            }
            Actor::Human { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. } => Viewer::Person,
        }
    }

    /// An ask as this actor sees it.
    pub(super) async fn view<'a>(
        &self,
        ask: &'a Ask,
        actor: &Actor,
    ) -> Result<AskView<'a>, StoreError> {
        let receipt = self.receipts.receipt_for(ask, actor).await?;
        Ok(AskView::of(ask, self.viewer(actor), self.config.public_url.as_str(), receipt))
    }

    /// Several asks as this actor sees them.
    pub(super) async fn views<'a>(
        &self,
        asks: &'a [Ask],
        actor: &Actor,
    ) -> Result<Vec<AskView<'a>>, StoreError> {
        let mut views = Vec::with_capacity(asks.len());
        for ask in asks {
            views.push(self.view(ask, actor).await?);
        }
        Ok(views)
    }
}

pub(super) fn parse(id: &str) -> Result<AskId, Problem> {
    id.parse().map_err(|_| Problem::from(Refusal::NotFound { what: "request" }))
}

fn no_envelope(_: NotAnObject) -> Problem {
    Refusal::Invalid { field: claims::MEMBER, expected: NotAnObject::EXPECTED }.into()
}

fn say_waited(answer: &mut Response, wait: Option<u64>) {
    if let Some(seconds) = wait
        && let Ok(applied) = HeaderValue::from_str(&format!("wait={seconds}"))
    {
        answer.headers_mut().insert(PREFERENCE_APPLIED, applied);
    }
}

//! Asks: `POST /api/v1/asks`, `GET /api/v1/asks/{id}`, and what may be done to one.

use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use dialects::native::{AskView, CreateAsk, Viewer};
use kernel::audit::Digest;
use kernel::question::{Answer, Reply};
use kernel::{Actor, Ask, AskId, Command, HumanId, Refusal, Time};
use serde::Deserialize;

use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::submitted::uploads_only_on_pages;
use crate::http::{App, Shared};

/// The longest a caller may have an answer held back.
const LONGEST_WAIT: u64 = 60;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/asks", post(create))
        .route("/api/v1/asks/{id}", get(show))
        .route("/api/v1/asks/{id}/answer", post(answer))
        .route("/api/v1/asks/{id}/cancel", post(cancel))
        .route("/api/v1/asks/{id}/claim", post(claim))
        .route("/api/v1/asks/{id}/assign", post(assign))
        .route("/api/v1/asks/{id}/extend", post(extend))
        .route("/api/v1/asks/{id}/files/{digest}", get(file))
}

async fn create(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.agent(&headers)?;
    let new: CreateAsk = app.json(body).await?;
    let outcome = app.gateway.run(actor.clone(), Command::Ask(Box::new(new.into()))).await?;
    Ok((StatusCode::CREATED, shown(outcome.ask.as_ref(), &actor)?).into_response())
}

/// With `Prefer: wait=N` the answer is held back until the ask changes, N seconds at most.
async fn show(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let id = parse(&id)?;
    let wait = wait(&headers);
    let mut waiter = app.gateway.subscribe(id);
    let mut ask = app.visible(&actor, id).await?;
    let seen = ask.head.seq;
    let time_is_up = tokio::time::sleep(Duration::from_secs(wait));
    tokio::pin!(time_is_up);
    while wait > 0 && ask.is_open() && ask.head.seq == seen {
        tokio::select! {
            // Perhaps only the news of what was seen already.
            () = waiter.changed() => ask = app.visible(&actor, id).await?,
            // The caller gets what there is.
            () = &mut time_is_up => break,
            () = app.stop.cancelled() => break,
        }
    }
    // A key that was revoked meanwhile learns nothing more.
    if wait > 0 {
        app.anyone(&headers).await?;
    }
    shown(Some(&ask), &actor)
}

async fn answer(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let reply: Reply = app.json(body).await?;
    uploads_only_on_pages(&reply)?;
    app.act(actor, &id, |id| Command::Answer(id, Box::new(reply))).await
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelBody {
    #[serde(default)]
    reason: Option<String>,
}

async fn cancel(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let CancelBody { reason } = app.json_if_any(body).await?;
    app.act(actor, &id, |id| Command::Cancel(id, reason)).await
}

async fn claim(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    app.act(actor, &id, Command::Claim).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssignBody {
    to: HumanId,
}

async fn assign(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let AssignBody { to } = app.json(body).await?;
    app.act(actor, &id, |id| Command::Assign(id, to, None)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtendBody {
    until: Time,
}

async fn extend(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let ExtendBody { until } = app.json(body).await?;
    app.act(actor, &id, |id| Command::Extend(id, until)).await
}

/// An uploaded file, for whoever may see the ask it answers.
async fn file(
    State(app): State<Shared>,
    Named((id, digest)): Named<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let ask = app.visible(&actor, parse(&id)?).await?;
    let missing = || Problem::new(404, "not-found").detail("this request has no such file");
    let digest: Digest = digest.parse().map_err(|_| missing())?;
    if !has_file(&ask, &digest) {
        return Err(missing());
    }
    let bytes = app.files.read(&digest).await.map_err(|error| {
        tracing::error!(error = format!("{error:#}"), ask.id = %ask.id, "cannot read an upload");
        Problem::new(500, "internal").detail("the file cannot be read")
    })?;
    // Whatever a person uploaded is handed over, never interpreted.
    let kind = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((kind, bytes.ok_or_else(missing)?).into_response())
}

fn has_file(ask: &Ask, digest: &Digest) -> bool {
    let Some(resolution) = ask.resolution() else { return false };
    let Some(Reply { answer: Answer::Provided { values }, .. }) = resolution.reply.value() else {
        return false;
    };
    let digest = digest.to_string();
    values.iter().any(|(_, value)| value.get("sha256").is_some_and(|sha256| *sha256 == *digest))
}

impl App {
    /// An ask the actor may see.
    pub(crate) async fn visible(&self, actor: &Actor, id: AskId) -> Result<Ask, Problem> {
        let directory = self.gateway.directory();
        let found = self.gateway.ask(id).await?.filter(|ask| ask.is_shown_to(actor, &directory));
        Ok(found.ok_or(Refusal::NotFound { what: "request" })?)
    }

    async fn act(
        &self,
        actor: Actor,
        id: &str,
        command: impl FnOnce(AskId) -> Command,
    ) -> Result<Response, Problem> {
        let outcome = self.gateway.run(actor.clone(), command(parse(id)?)).await?;
        shown(outcome.ask.as_ref(), &actor)
    }
}

fn parse(id: &str) -> Result<AskId, Problem> {
    id.parse().map_err(|_| Problem::from(Refusal::NotFound { what: "request" }))
}

fn shown(ask: Option<&Ask>, actor: &Actor) -> Result<Response, Problem> {
    let ask = ask.ok_or(Refusal::NotFound { what: "request" })?;
    let viewer = match actor {
        Actor::Agent { .. } | Actor::System => Viewer::Agent,
        Actor::Human { .. } => Viewer::Person,
    };
    let mut answer = Json(AskView::of(ask, viewer)).into_response();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", ask.head.seq)) {
        answer.headers_mut().insert(header::ETAG, tag);
    }
    Ok(answer)
}

/// `Prefer: wait=N`, in seconds.
fn wait(headers: &HeaderMap) -> u64 {
    headers
        .get_all("prefer")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .find_map(|part| part.trim().strip_prefix("wait=")?.parse().ok())
        .unwrap_or(0)
        .min(LONGEST_WAIT)
}

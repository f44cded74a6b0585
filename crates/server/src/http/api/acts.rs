//! What may be done to an ask: `POST /api/v1/asks/{id}/…`. Each takes `If-Match`, judged in the same
//! transaction as the act itself.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::post;
use kernel::question::Reply;
use kernel::{Actor, AskId, Command, HumanId, Refusal, Time};
use serde::Deserialize;

use crate::gateway::Terms;
use crate::http::api::asks::parse;
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::submitted::uploads_only_on_pages;
use crate::http::{App, Shared, conditions};

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/asks/{id}/answer", post(answer))
        .route("/api/v1/asks/{id}/cancel", post(cancel))
        .route("/api/v1/asks/{id}/claim", post(claim))
        .route("/api/v1/asks/{id}/assign", post(assign))
        .route("/api/v1/asks/{id}/extend", post(extend))
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
    app.act(actor, &headers, &id, |id| Command::Answer(id, Box::new(reply))).await
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
    app.act(actor, &headers, &id, |id| Command::Cancel(id, reason)).await
}

async fn claim(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    app.act(actor, &headers, &id, Command::Claim).await
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
    app.act(actor, &headers, &id, |id| Command::Assign(id, to, None)).await
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
    app.act(actor, &headers, &id, |id| Command::Extend(id, until)).await
}

impl App {
    /// Does it if the ask is at the version the caller has seen, and shows the ask.
    pub(super) async fn act(
        &self,
        actor: Actor,
        headers: &HeaderMap,
        id: &str,
        command: impl FnOnce(AskId) -> Command,
    ) -> Result<Response, Problem> {
        let terms = Terms { idempotency: None, expected: conditions::expected(headers)? };
        let outcome = self.gateway.run_on(terms, actor.clone(), command(parse(id)?)).await?;
        let ask = outcome.ask.ok_or(Refusal::NotFound { what: "request" })?;
        Ok(self.shown(&ask, &actor))
    }
}

//! What may be done to an ask: `POST /api/v1/asks/{id}/…`. Each takes `If-Match`, judged in the same
//! transaction as the act itself.

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use dialects::native::{AssignBody, CancelBody, CommentBody, CommentView, ExtendBody};
use kernel::question::Reply;
use kernel::{Actor, AskId, Command, Refusal};
use serde_json::json;

use crate::gateway::Terms;
use crate::http::api::asks::{parse, viewer};
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{App, Shared, conditions};

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/asks/{id}/answer", post(answer))
        .route("/api/v1/asks/{id}/cancel", post(cancel))
        .route("/api/v1/asks/{id}/claim", post(claim))
        .route("/api/v1/asks/{id}/assign", post(assign))
        .route("/api/v1/asks/{id}/extend", post(extend))
        .route("/api/v1/asks/{id}/comments", get(comments).post(comment))
}

async fn answer(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let reply: Reply = app.json(body).await?;
    let reply = app.redeemed(reply, parse(&id)?, &actor)?;
    app.act(actor, &headers, &id, |id| Command::Answer(id, Box::new(reply))).await
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

async fn assign(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let AssignBody { to, note } = app.json(body).await?;
    app.act(actor, &headers, &id, |id| Command::Assign(id, to, note)).await
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

async fn comment(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let CommentBody { text } = app.json(body).await?;
    app.act(actor, &headers, &id, |id| Command::Comment(id, text)).await
}

async fn comments(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.anyone(&headers).await?;
    let ask = app.visible(&actor, parse(&id)?).await?;
    Ok(Json(json!({ "comments": CommentView::all(&ask, viewer(&actor)) })).into_response())
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

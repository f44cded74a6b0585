//! A person's own delegation rules: `/api/v1/rules`.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get};
use axum::{Json, Router};
use dialects::native::{RuleBody, RuleView};
use kernel::{Actor, Command, Refusal, RuleId};
use serde_json::json;

use crate::auth::Denied;
use crate::http::Shared;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/rules", get(rules).post(add_rule))
        .route("/api/v1/rules/{id}", delete(remove_rule))
}

/// All of them, in the order in which they are tried; there are 1000 at most.
async fn rules(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let Actor::Human { id, .. } = app.person(&headers).await? else {
        return Err(Denied::Unknown.into());
    };
    let directory = app.gateway.directory();
    let shown: Vec<_> = directory.rules_of(&id).map(RuleView::from).collect();
    Ok(Json(json!({ "rules": shown })).into_response())
}

async fn add_rule(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let body: RuleBody = app.json(body).await?;
    let id = RuleId::new(app.gateway.ids().ulid());
    app.gateway.run(actor, Command::AddRules(vec![(id, body.try_into()?)])).await?;
    let directory = app.gateway.directory();
    let rule = directory.rule(id).ok_or(Refusal::NotFound { what: "rule" })?;
    Ok((StatusCode::CREATED, Json(RuleView::from(rule))).into_response())
}

async fn remove_rule(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = app.person(&headers).await?;
    let id: RuleId = id.parse().map_err(|_| Refusal::NotFound { what: "rule" })?;
    app.gateway.run(actor, Command::RemoveRule(id)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

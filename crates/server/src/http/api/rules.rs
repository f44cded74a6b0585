//! A person's own delegation rules: `/api/v1/rules`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::{RuleBody, RuleView, Rules};
use gateway::Gateway;
use gateway::auth::Denied;
use kernel::{Actor, DirectoryCommand, Refusal, RuleId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::Config;
use crate::http::Shared;
use crate::http::api::json;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(rules, add_rule)).routes(routes!(remove_rule))
}

/// List my delegation rules, in the order in which they are tried.
#[utoipa::path(
    get,
    path = "/api/v1/rules",
    operation_id = "listRules",
    tag = "keys",
    responses((status = 200, description = "All of them", body = Rules<'static>)),
    security(("human_token" = [])),
)]
async fn rules(
    State(callers): State<Callers>,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Actor::Human { id, .. } = callers.person(&headers).await? else {
        return Err(Denied::Unknown.into());
    };
    let directory = gateway.directory();
    let rules = directory.rules_of(&id).map(RuleView::from).collect();
    Ok(Json(Rules { rules }).into_response())
}

/// Add a rule: what matches and is put to a delegate of mine goes to somebody else.
#[utoipa::path(
    post,
    path = "/api/v1/rules",
    operation_id = "createRule",
    tag = "keys",
    request_body(
        content = RuleBody,
        example = json!({ "kinds": ["approve"], "tag": "finance", "delegate_to": "user_dev_2" }),
    ),
    responses((status = 201, description = "Added", body = RuleView<'static>)),
    security(("human_token" = [])),
)]
async fn add_rule(
    State(gateway): State<Gateway>,
    State(config): State<Arc<Config>>,
    State(callers): State<Callers>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let actor = callers.person(&headers).await?;
    let body: RuleBody = json(&config, body).await?;
    let id = RuleId::new(gateway.ids().ulid());
    gateway.run(actor, DirectoryCommand::AddRules(vec![(id, body.try_into()?)])).await?;
    let directory = gateway.directory();
    let rule = directory.rule(id).ok_or(Refusal::NotFound { what: "rule" })?;
    Ok((StatusCode::CREATED, Json(RuleView::from(rule))).into_response())
}

/// Remove a rule of mine.
#[utoipa::path(
    delete,
    path = "/api/v1/rules/{id}",
    operation_id = "removeRule",
    tag = "keys",
    params(
        (
            "id" = RuleId,
            Path,
            description = "The rule",
            example = "rule_01JZ3V5Q8N6M4K2H0G9F7E5D3C",
        ),
    ),
    responses((status = 204, description = "Removed")),
    security(("human_token" = [])),
)]
async fn remove_rule(
    State(callers): State<Callers>,
    State(gateway): State<Gateway>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = callers.person(&headers).await?;
    let id: RuleId = id.parse().map_err(|_| Refusal::NotFound { what: "rule" })?;
    gateway.run(actor, DirectoryCommand::RemoveRule(id)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

//! A person's own delegation rules: `/api/v1/rules`.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dialects::native::{RuleBody, RuleListView, RuleView};
use gateway::Gateway;
use kernel::{DirectoryCommand, Refusal, RuleId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::{JsonBody, PersonCaller};
use crate::http::path_param::PathParam;
use crate::http::problem::ApiProblem;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(rules, add_rule)).routes(routes!(remove_rule))
}

/// List the caller's delegation rules, in the order in which the server applies them.
#[utoipa::path(
    get,
    path = "/api/v1/rules",
    operation_id = "listRules",
    responses((status = 200, description = "The whole list", body = RuleListView<'static>)),
)]
async fn rules(
    State(gateway): State<Gateway>,
    PersonCaller { id, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let directory = gateway.directory();
    let rules = directory.rules_of(&id).map(RuleView::from).collect();
    Ok(Json(RuleListView { rules }).into_response())
}

/// Add a delegation rule: matching asks for a delegate go to another person.
#[utoipa::path(
    post,
    path = "/api/v1/rules",
    operation_id = "createRule",
    request_body(
        content = RuleBody,
        example = json!({ "kinds": ["approve"], "tag": "finance", "delegate_to": "user_dev_2" }),
    ),
    responses((status = 201, description = "Added", body = RuleView<'static>)),
)]
async fn add_rule(
    State(gateway): State<Gateway>,
    PersonCaller { actor, .. }: PersonCaller,
    JsonBody(body): JsonBody<RuleBody>,
) -> Result<Response, ApiProblem> {
    let id = RuleId::new(gateway.ids().ulid());
    gateway.run(actor, DirectoryCommand::AddRules(vec![(id, body.try_into()?)])).await?;
    let directory = gateway.directory();
    let rule = directory.rule(id).ok_or(Refusal::NotFound { what: "rule" })?;
    Ok((StatusCode::CREATED, Json(RuleView::from(rule))).into_response())
}

/// Remove a delegation rule.
#[utoipa::path(
    delete,
    path = "/api/v1/rules/{id}",
    operation_id = "removeRule",
    responses((status = 204, description = "Removed")),
)]
async fn remove_rule(
    State(gateway): State<Gateway>,
    PathParam(id): PathParam<String>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let id: RuleId = id.parse().map_err(|_| Refusal::NotFound { what: "rule" })?;
    gateway.run(actor, DirectoryCommand::RemoveRule(id)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

//! `POST /api/v1/asks/{id}/acknowledge`: the agent confirms that it has read the secret answer.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use gateway::Gateway;
use kernel::{Actor, AskId, Refusal};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Shared;
use crate::http::api::asks::parse;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(acknowledge))
}

/// Say that the secret values of an answer have arrived: they are gone then, for everybody.
///
/// Values of sensitive fields are shown to the agent until it says this, or until ten minutes after it
/// first read them; afterwards a commitment stands in their place. Nothing else changes, and saying it
/// again does no harm.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/acknowledge",
    operation_id = "acknowledgeSecrets",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses(
        (status = 204, description = "Gone, there before or not"),
        (status = 403, description = "`not-allowed`: for the agent that asked"),
        (status = 409, description = "`not-over`: nothing was answered yet"),
    ),
    security(("agent_key" = [])),
)]
async fn acknowledge(
    State(callers): State<Callers>,
    State(gateway): State<Gateway>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let actor = callers.anyone(&headers).await?;
    let ask = gateway.visible(&actor, parse(&id)?).await?;
    if !matches!(actor, Actor::Agent { .. }) {
        return Err(Refusal::NotAllowed { why: "only the agent that asked has its secrets" }.into());
    }
    if ask.is_open() {
        let detail = "nothing was answered yet";
        return Err(Problem::new(409, "not-over").detail(detail));
    }
    gateway.store().delete_secrets(ask.id, None).await?;
    Ok(StatusCode::NO_CONTENT)
}

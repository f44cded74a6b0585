//! Which people are viewing an ask right now: `/api/v1/asks/{id}/looking`, `/api/v1/looking`.

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dialects::native::{PresenceView, PresentPerson};
use gateway::Gateway;
use kernel::{AskId, Time};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::{PersonAndAsk, PersonCaller};
use crate::http::api::paging::{ListParams, bad_parameter};
use crate::http::problem::ApiProblem;

/// How many seconds a person counts as viewing an ask after their last call.
pub(crate) const VIEWING_SECONDS: u64 = 60;
/// The maximum number of asks in one query: a page.
const MAX_QUERIED_ASKS: usize = 100;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(look, leave)).routes(routes!(looking))
}

/// Report that the caller is viewing an ask, for a minute.
///
/// Others see it on their lists. Repeat the call while viewing; the server does not store it
/// permanently.
#[utoipa::path(
    put,
    path = "/api/v1/asks/{id}/looking",
    operation_id = "lookAtAsk",
    responses((status = 200, description = "The people who are viewing", body = PresenceView)),
)]
async fn look(
    State(gateway): State<Gateway>,
    PersonAndAsk { human, ask: id }: PersonAndAsk,
) -> Result<Response, ApiProblem> {
    let until = gateway.now().plus_seconds(VIEWING_SECONDS);
    gateway.store().view(id, human, Some(until)).await?;
    Ok(Json(viewers(&gateway, vec![id]).await?).into_response())
}

/// Report that the caller no longer views an ask.
#[utoipa::path(
    delete,
    path = "/api/v1/asks/{id}/looking",
    operation_id = "leaveAsk",
    responses((status = 204, description = "Deleted, or did not exist")),
)]
async fn leave(
    State(gateway): State<Gateway>,
    PersonAndAsk { human, ask: id }: PersonAndAsk,
) -> Result<Response, ApiProblem> {
    gateway.store().view(id, human, None).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// List who is viewing asks.
///
/// The response covers only asks that the caller can see.
#[utoipa::path(
    get,
    path = "/api/v1/looking",
    operation_id = "listLookers",
    params(("ask" = Vec<AskId>, Query, description = "The ID of an ask. Can be repeated, at most \
                                                      a hundred times")),
    responses((status = 200, description = "The people who are viewing", body = PresenceView)),
)]
async fn looking(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &["ask"])?;
    let asks: Option<Vec<AskId>> = params.all("ask").map(|id| id.parse().ok()).collect();
    let asks = asks.filter(|asks| (1..=MAX_QUERIED_ASKS).contains(&asks.len()));
    let asks = asks.ok_or_else(|| bad_parameter("ask", "1 to 100 IDs of asks"))?;
    let (directory, mut seen) = (gateway.directory(), Vec::new());
    for id in asks {
        let ask = gateway.store().ask(id).await?;
        seen.extend(ask.filter(|ask| ask.is_visible_to(&actor, &directory)).map(|ask| ask.id));
    }
    Ok(Json(viewers(&gateway, seen).await?).into_response())
}

async fn viewers(gateway: &Gateway, asks: Vec<AskId>) -> Result<PresenceView, ApiProblem> {
    let now: Time = gateway.now();
    let found = gateway.store().viewers(asks, now).await?;
    let looking = found.into_iter().map(|(ask, human)| PresentPerson { ask, human }).collect();
    Ok(PresenceView { looking })
}

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

/// Say that one looks at an ask, for a minute.
///
/// Others see it on their lists. Whoever goes on looking says so again; it is kept nowhere for
/// good.
#[utoipa::path(
    put,
    path = "/api/v1/asks/{id}/looking",
    operation_id = "lookAtAsk",
    responses((status = 200, description = "Who looks now", body = PresenceView)),
)]
async fn look(
    State(gateway): State<Gateway>,
    PersonAndAsk { human, ask: id }: PersonAndAsk,
) -> Result<Response, ApiProblem> {
    let until = gateway.now().plus_seconds(VIEWING_SECONDS);
    gateway.store().view(id, human, Some(until)).await?;
    Ok(Json(viewers(&gateway, vec![id]).await?).into_response())
}

/// Say that one looks at an ask no longer.
#[utoipa::path(
    delete,
    path = "/api/v1/asks/{id}/looking",
    operation_id = "leaveAsk",
    responses((status = 204, description = "Gone, there before or not")),
)]
async fn leave(
    State(gateway): State<Gateway>,
    PersonAndAsk { human, ask: id }: PersonAndAsk,
) -> Result<Response, ApiProblem> {
    gateway.store().view(id, human, None).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Who looks at asks.
///
/// Of those asked about only what the caller may see is told.
#[utoipa::path(
    get,
    path = "/api/v1/looking",
    operation_id = "listLookers",
    params(("ask" = Vec<AskId>, Query, description = "Which; a hundred at most, repeated")),
    responses((status = 200, description = "Who looks now", body = PresenceView)),
)]
async fn looking(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &["ask"])?;
    let asks: Option<Vec<AskId>> = params.all("ask").map(|id| id.parse().ok()).collect();
    let asks = asks.filter(|asks| (1..=MAX_QUERIED_ASKS).contains(&asks.len()));
    let asks = asks.ok_or_else(|| bad_parameter("ask", "1 to 100 ids of asks"))?;
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

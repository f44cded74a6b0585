//! `GET /api/v1/asks/{id}/thread`: the rounds of questions that follow each other.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use dialects::native::Thread;
use gateway::Gateway;
use kernel::{Actor, Ask, AskId};
use store::StoreError;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Shared;
use crate::http::api::AskViews;
use crate::http::api::asks::parse;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

/// The maximum number of rounds shown before the requested ask, and after it.
const ROUNDS: usize = 50;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(thread))
}

/// Read the thread of an ask: what it continues and what continues it.
///
/// Somebody asked for changes, the agent asked again with `follows`: each such round, oldest first,
/// fifty before this one and fifty after it at most, as far as the caller may see them.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/thread",
    operation_id = "getThread",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 200, description = "Every round, oldest first", body = Thread<'static>)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn thread(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    State(callers): State<Callers>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = callers.anyone(&headers).await?;
    let here = gateway.visible(&actor, parse(&id)?).await?;
    let mut asks = rounds(&gateway, &actor, here.follows, |ask| ask.follows).await?;
    asks.reverse();
    let later = rounds(&gateway, &actor, here.followed_by, |ask| ask.followed_by).await?;
    asks.push(Arc::unwrap_or_clone(here));
    asks.extend(later);
    let asks = ask_views.views(&asks, &actor).await?;
    Ok(Json(Thread { asks }).into_response())
}

/// The rounds in one direction, up to the first that the actor may not see.
pub(crate) async fn rounds(
    gateway: &Gateway,
    actor: &Actor,
    from: Option<AskId>,
    next: impl Fn(&Ask) -> Option<AskId>,
) -> Result<Vec<Ask>, StoreError> {
    let (mut found, mut at) = (Vec::new(), from);
    let directory = gateway.directory();
    while let Some(id) = at.filter(|_| found.len() < ROUNDS) {
        let ask = gateway.ask(id).await?;
        let Some(ask) = ask.filter(|ask| ask.is_shown_to(actor, &directory)) else { break };
        at = next(&ask);
        found.push(Arc::unwrap_or_clone(ask));
    }
    Ok(found)
}

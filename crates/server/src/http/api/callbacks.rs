//! `/api/v1/asks/{id}/callbacks`: whether the callback of a closed ask was delivered to the agent,
//! and sending it again.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::CallbacksView;
use gateway::Gateway;
use kernel::{Ask, AskCommand, AskId, Refusal};
use url::Url;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Shared;
use crate::http::api::asks::parse;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(callbacks, call_back))
}

/// The attempts to tell the agent that its ask is over.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/callbacks",
    operation_id = "listCallbacks",
    tag = "callbacks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 200, description = "What came of each", body = CallbacksView<'static>)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn callbacks(
    State(callers): State<Callers>,
    State(gateway): State<Gateway>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = callers.anyone(&headers).await?;
    let ask = gateway.visible(&actor, parse(&id)?).await?;
    Ok(Json(view(&ask)).into_response())
}

/// Tell the agent once more that its ask is over.
///
/// It is called soon, and again after 1, 5 and 30 seconds if nobody takes it.
#[utoipa::path(
    post,
    path = "/api/v1/asks/{id}/callbacks",
    operation_id = "callBack",
    tag = "callbacks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses(
        (status = 202, description = "It will be", body = CallbacksView<'static>),
        (status = 403, description = "`not-allowed`: it names no address, or was erased"),
        (status = 409, description = "`not-over`: it is called back once it is over"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn call_back(
    State(callers): State<Callers>,
    State(gateway): State<Gateway>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = callers.anyone(&headers).await?;
    let outcome = gateway.run(actor, AskCommand::CallBack(parse(&id)?)).await?;
    let ask = outcome.ask.ok_or(Refusal::NotFound { what: "request" })?;
    Ok((StatusCode::ACCEPTED, Json(view(&ask))).into_response())
}

fn view(ask: &Ask) -> CallbacksView<'_> {
    let url = ask.callback.as_ref().and_then(|callback| Url::parse(callback.url.value()?).ok());
    CallbacksView {
        to: url.map(|url| url.origin().ascii_serialization()),
        attempts: &ask.callbacks,
    }
}

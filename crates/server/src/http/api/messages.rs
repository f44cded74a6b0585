//! `/api/v1/asks/{id}/messages`: the notifications sent about an ask.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use dialects::native::{MessageView, MessagesView};
use gateway::Gateway;
use kernel::{Actor, AskId};
use store::{Message, Sent};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::Shared;
use crate::http::api::asks::parse;
use crate::http::callers::Callers;
use crate::http::name::Named;
use crate::http::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(messages))
}

/// How people were told of an ask.
///
/// By which means, when, and whether it arrived. Agents are not told whom, nor what went wrong.
#[utoipa::path(
    get,
    path = "/api/v1/asks/{id}/messages",
    operation_id = "listMessages",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 200, description = "What went out", body = MessagesView)),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn messages(
    State(callers): State<Callers>,
    State(gateway): State<Gateway>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let actor = callers.anyone(&headers).await?;
    let ask = gateway.visible(&actor, parse(&id)?).await?;
    let person = matches!(actor, Actor::Human { .. });
    let found = gateway.store().messages(vec![ask.id]).await?;
    let messages = found.into_iter().map(|message| view(message, person)).collect();
    Ok(Json(MessagesView { messages }).into_response())
}

fn view(message: Message, person: bool) -> MessageView {
    let (state, error) = match message.standing {
        Sent::Waiting { error } => ("waiting", Some(error)),
        Sent::Sent => ("sent", None),
        Sent::Delivered => ("delivered", None),
        Sent::Read => ("read", None),
        Sent::Failed { error } => ("failed", Some(error)),
    };
    MessageView {
        channel: message.medium,
        to: message.human.filter(|_| person),
        why: message.why,
        state: state.to_owned(),
        error: error.filter(|error| person && !error.is_empty()),
        at: message.at,
        updated_at: message.updated_at,
    }
}

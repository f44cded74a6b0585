//! A person hides an ask from their own lists for a while: `/api/v1/asks/{id}/snooze`,
//! `/api/v1/snoozed`. Nothing changes for other people.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dialects::native::{SnoozeBody, Snoozed, SnoozedAsk};
use gateway::Gateway;
use kernel::Refusal;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::AskViews;
use crate::http::api::extractors::{JsonBody, PersonAndAsk, PersonCaller};
use crate::http::problem::ApiProblem;

/// The longest an ask can be hidden: ten years.
pub(in crate::http) const MAX_SNOOZE_SECONDS: u64 = 10 * 366 * 24 * 60 * 60;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(snooze, wake)).routes(routes!(snoozed))
}

/// Snooze an ask until a time.
///
/// Until then, the ask is hidden in `mine`, `groups` and `inbox` of the caller. Nothing changes for
/// others, and the ask can still be answered.
#[utoipa::path(
    put,
    path = "/api/v1/asks/{id}/snooze",
    operation_id = "snoozeAsk",
    request_body(content = SnoozeBody, example = json!({ "until": "2030-01-31T12:00:00Z" })),
    responses(
        (status = 204, description = "Snoozed"),
        (
            status = 422,
            description = "`invalid-field`: a time in the past or more than ten years away, or \
                           the person already has 500 snoozed asks",
        ),
    ),
)]
async fn snooze(
    State(gateway): State<Gateway>,
    PersonAndAsk { human, ask: id }: PersonAndAsk,
    JsonBody(SnoozeBody { until }): JsonBody<SnoozeBody>,
) -> Result<Response, ApiProblem> {
    let now = gateway.now();
    if until <= now || until > now.plus_seconds(MAX_SNOOZE_SECONDS) {
        let expected = "a time within the next ten years";
        return Err(Refusal::Invalid { field: "until", expected }.into());
    }
    if gateway.store().snooze(human, id, Some(until)).await? {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let expected = "at most 500 snoozed requests at the same time";
    Err(Refusal::Invalid { field: "until", expected }.into())
}

/// End the snooze of an ask.
#[utoipa::path(
    delete,
    path = "/api/v1/asks/{id}/snooze",
    operation_id = "unsnoozeAsk",
    responses((status = 204, description = "No longer snoozed")),
)]
async fn wake(
    State(gateway): State<Gateway>,
    PersonAndAsk { human, ask: id }: PersonAndAsk,
) -> Result<Response, ApiProblem> {
    gateway.store().snooze(human, id, None).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// List the caller's snoozed asks.
#[utoipa::path(
    get,
    path = "/api/v1/snoozed",
    operation_id = "listSnoozed",
    responses((status = 200, description = "All snoozed asks, soonest \
                                            first", body = Snoozed<'static>)),
)]
async fn snoozed(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    PersonCaller { id, actor }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let hidden = gateway.store().snoozed(id, gateway.now()).await?;
    let directory = gateway.directory();
    let mut asks = Vec::with_capacity(hidden.len());
    for (id, until) in hidden {
        let ask = gateway.ask(id).await?;
        let seen = ask.filter(|ask| ask.is_open() && ask.is_visible_to(&actor, &directory));
        asks.extend(seen.map(|ask| (ask, until)));
    }
    let mut snoozed = Vec::with_capacity(asks.len());
    for (ask, until) in &asks {
        snoozed.push(SnoozedAsk { until: *until, ask: ask_views.view(ask, &actor).await? });
    }
    Ok(Json(Snoozed { snoozed }).into_response())
}

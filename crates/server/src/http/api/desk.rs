//! What a person does to their own desk: `…/snooze` hides an ask from it for a while, `…/looking` says
//! that they are at it. Neither is an act on the ask.

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use dialects::native::{Looker, Lookers, SnoozeBody, Snoozed, SnoozedAsk};
use kernel::{Actor, AskId, HumanId, Refusal, Time};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::api::asks::parse;
use crate::http::api::page::{Params, bad};
use crate::http::name::Named;
use crate::http::problem::Problem;
use crate::http::{App, Shared};

/// How long somebody counts as looking who does not say so again.
pub(crate) const LEASE: u64 = 60;
/// The longest an ask can be hidden: ten years.
pub(in crate::http) const LONGEST: u64 = 10 * 366 * 24 * 60 * 60;
/// How many asks one may ask about at once: a page.
const MOST: usize = 100;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(snooze, wake))
        .routes(routes!(snoozed))
        .routes(routes!(look, leave))
        .routes(routes!(looking))
}

/// Hide an ask from one's own lists until a moment.
///
/// Only from `mine`, `groups` and `inbox` of this person, and only until then; for everybody else
/// nothing changes, and it can be answered all the time.
#[utoipa::path(
    put,
    path = "/api/v1/asks/{id}/snooze",
    operation_id = "snoozeAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    request_body(content = SnoozeBody, example = json!({ "until": "2030-01-31T12:00:00Z" })),
    responses(
        (status = 204, description = "Hidden"),
        (
            status = 422,
            description = "`invalid-field`: a moment that has passed or is more than ten years away; or \
                500 are hidden already",
        ),
    ),
    security(("human_token" = [])),
)]
async fn snooze(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (human, id) = app.at_desk(&headers, &id).await?;
    let SnoozeBody { until } = app.json(body).await?;
    let now = app.gateway.now();
    if until <= now || until > now.plus_seconds(LONGEST) {
        let expected = "a moment within the next ten years";
        return Err(Refusal::Invalid { field: "until", expected }.into());
    }
    if app.gateway.store().snooze(human, id, Some(until)).await? {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let expected = "no more than 500 requests hidden at once";
    Err(Refusal::Invalid { field: "until", expected }.into())
}

/// Show an ask again in one's own lists.
#[utoipa::path(
    delete,
    path = "/api/v1/asks/{id}/snooze",
    operation_id = "unsnoozeAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 204, description = "Shown, hidden before or not")),
    security(("human_token" = [])),
)]
async fn wake(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (human, id) = app.at_desk(&headers, &id).await?;
    app.gateway.store().snooze(human, id, None).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// List what one has hidden, and when it comes back.
#[utoipa::path(
    get,
    path = "/api/v1/snoozed",
    operation_id = "listSnoozed",
    tag = "asks",
    responses((status = 200, description = "All of it, soonest first", body = Snoozed<'static>)),
    security(("human_token" = [])),
)]
async fn snoozed(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let actor = app.callers.person(&headers).await?;
    let hidden = app.gateway.store().snoozed(own(&actor)?, app.gateway.now()).await?;
    let directory = app.gateway.directory();
    let mut asks = Vec::with_capacity(hidden.len());
    for (id, until) in hidden {
        let ask = app.gateway.ask(id).await?;
        let seen = ask.filter(|ask| ask.is_open() && ask.is_shown_to(&actor, &directory));
        asks.extend(seen.map(|ask| (ask, until)));
    }
    let mut snoozed = Vec::with_capacity(asks.len());
    for (ask, until) in &asks {
        snoozed.push(SnoozedAsk { until: *until, ask: app.view(ask, &actor).await? });
    }
    Ok(Json(Snoozed { snoozed }).into_response())
}

/// Say that one looks at an ask, for a minute.
///
/// Others see it on their lists. Whoever goes on looking says so again; it is kept nowhere for good.
#[utoipa::path(
    put,
    path = "/api/v1/asks/{id}/looking",
    operation_id = "lookAtAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 200, description = "Who looks now", body = Lookers)),
    security(("human_token" = [])),
)]
async fn look(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (human, id) = app.at_desk(&headers, &id).await?;
    let until = app.gateway.now().plus_seconds(LEASE);
    app.gateway.store().view(id, human, Some(until)).await?;
    Ok(Json(app.lookers(vec![id]).await?).into_response())
}

/// Say that one looks at an ask no longer.
#[utoipa::path(
    delete,
    path = "/api/v1/asks/{id}/looking",
    operation_id = "leaveAsk",
    tag = "asks",
    params(
        ("id" = AskId, Path, description = "The ask", example = "ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C"),
    ),
    responses((status = 204, description = "Gone, there before or not")),
    security(("human_token" = [])),
)]
async fn leave(
    State(app): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (human, id) = app.at_desk(&headers, &id).await?;
    app.gateway.store().view(id, human, None).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Who looks at asks.
///
/// Of those asked about only what the caller may see is told.
#[utoipa::path(
    get,
    path = "/api/v1/looking",
    operation_id = "listLookers",
    tag = "asks",
    params(("ask" = Vec<AskId>, Query, description = "Which; a hundred at most, repeated")),
    responses((status = 200, description = "Who looks now", body = Lookers)),
    security(("human_token" = [])),
)]
async fn looking(
    State(app): State<Shared>,
    headers: HeaderMap,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Result<Response, Problem> {
    let actor = app.callers.person(&headers).await?;
    let params = Params::new(pairs, &["ask"])?;
    let asks: Option<Vec<AskId>> = params.all("ask").map(|id| id.parse().ok()).collect();
    let asks = asks.filter(|asks| (1..=MOST).contains(&asks.len()));
    let asks = asks.ok_or_else(|| bad("ask", "1 to 100 ids of asks"))?;
    let (directory, mut seen) = (app.gateway.directory(), Vec::new());
    for id in asks {
        let ask = app.gateway.store().ask(id).await?;
        seen.extend(ask.filter(|ask| ask.is_shown_to(&actor, &directory)).map(|ask| ask.id));
    }
    Ok(Json(app.lookers(seen).await?).into_response())
}

impl App {
    /// The person, and an ask they may see.
    async fn at_desk(&self, headers: &HeaderMap, id: &str) -> Result<(HumanId, AskId), Problem> {
        let actor = self.callers.person(headers).await?;
        let ask = self.gateway.visible(&actor, parse(id)?).await?;
        Ok((own(&actor)?, ask.id))
    }

    async fn lookers(&self, asks: Vec<AskId>) -> Result<Lookers, Problem> {
        let now: Time = self.gateway.now();
        let found = self.gateway.store().viewers(asks, now).await?;
        let looking = found.into_iter().map(|(ask, human)| Looker { ask, human }).collect();
        Ok(Lookers { looking })
    }
}

fn own(actor: &Actor) -> Result<HumanId, Problem> {
    match actor {
        Actor::Human { id, .. } => Ok(id.clone()),
        Actor::Agent { .. }
        | Actor::LinkHolder { .. }
        | Actor::Relay { .. }
        | Actor::Guest { .. }
        | Actor::System => Err(Refusal::NotAllowed { why: "only people have a desk" }.into()),
    }
}

//! For testing agents, with `--dev` only: `/api/v1/dev/clock` moves the server's time,
//! `/api/v1/dev/script` lists the scripted people and their actions.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{FromRef, FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use gateway::Gateway;
use gateway::clock::MovableClock;
use kernel::Time;
use kernel::time::LONGEST_TIMEOUT;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::{AnyCaller, JsonBody};
use crate::http::api::paging::invalid_parameter;
use crate::http::problem::ApiProblem;
use crate::script::{Script, ScriptedAction, ScriptedPeople, duration};
use crate::workers::timers;

/// The parts that exist only with `--dev`.
#[derive(Clone)]
pub struct DevServices {
    pub clock: Arc<MovableClock>,
    /// Scripted people; empty until a script is loaded.
    pub players: Arc<ScriptedPeople>,
}

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(clock, move_clock)).routes(routes!(script, replace_script))
}

/// The server's time.
#[derive(Serialize, ToSchema)]
#[schema(as = Clock)]
struct ClockView {
    /// The current time of the server.
    now: Time,
}

/// Read the server's time.
#[utoipa::path(
    get,
    path = "/api/v1/dev/clock",
    operation_id = "getClock",
    responses(
        (status = 200, description = "The current time", body = ClockView),
        (status = 404, description = "`not-found`: the server was not started with `--dev`"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn clock(State(gateway): State<Gateway>, _: DevServices) -> Result<Response, ApiProblem> {
    Ok(clock_response(gateway.now()))
}

/// How far to move the clock.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MoveClock)]
struct MoveClock {
    /// A duration such as `90s`, `1h 30m` or `PT5M`: forward only, at most 100 years.
    #[serde(deserialize_with = "duration")]
    #[schema(value_type = String)]
    advance: Duration,
}

/// Move the server's clock forward.
///
/// When the response arrives, everything that was due has happened: deadlines, reminders, scripted
/// answers.
#[utoipa::path(
    post,
    path = "/api/v1/dev/clock",
    operation_id = "moveClock",
    request_body(content = MoveClock, example = json!({ "advance": "1s" })),
    responses(
        (status = 200, description = "Then", body = ClockView),
        (status = 404, description = "`not-found`: the server was not started with `--dev`"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn move_clock(
    State(gateway): State<Gateway>,
    dev: DevServices,
    JsonBody(MoveClock { advance }): JsonBody<MoveClock>,
) -> Result<Response, ApiProblem> {
    // A clock past the last representable time would stand still.
    if advance.as_secs() > LONGEST_TIMEOUT {
        return Err(invalid_parameter("advance", "at most 100 years"));
    }
    dev.clock.advance(advance);
    // Scripted answers may come before a deadline and make further timers due.
    dev.players.run_due(&gateway).await?;
    timers::run_due(&gateway).await?;
    dev.players.run_due(&gateway).await?;
    Ok(clock_response(gateway.now()))
}

/// Read the script and the actions of scripted people.
#[utoipa::path(
    get,
    path = "/api/v1/dev/script",
    operation_id = "getScript",
    responses(
        (status = 200, description = "The rules and their use", body = ScriptReport),
        (status = 404, description = "`not-found`: the server was not started with `--dev`"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn script(State(gateway): State<Gateway>, dev: DevServices) -> Result<Response, ApiProblem> {
    dev.players.run_due(&gateway).await?;
    Ok(report(&dev.players))
}

/// Replace the script of scripted people.
///
/// `docs/testing.md` describes scripts.
#[utoipa::path(
    put,
    path = "/api/v1/dev/script",
    operation_id = "putScript",
    request_body(content = Script, example = json!({ "rule": [{ "answer": "yes", "after": "2s" }] })),
    responses(
        (status = 200, description = "The rules of the script, not used yet", body = ScriptReport),
        (status = 404, description = "`not-found`: the server was not started with `--dev`"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn replace_script(
    State(gateway): State<Gateway>,
    dev: DevServices,
    JsonBody(script): JsonBody<Script>,
) -> Result<Response, ApiProblem> {
    script
        .check()
        .map_err(|error| ApiProblem::new(422, "invalid-field").detail(format!("{error:#}")))?;
    // Asks from before the new script belong to the old one.
    dev.players.run_due(&gateway).await?;
    dev.players.replace(script, gateway.store().last_position().await?);
    Ok(report(&dev.players))
}

impl FromRequestParts<AppState> for DevServices {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, shared: &AppState) -> Result<Self, ApiProblem> {
        AnyCaller::from_request_parts(parts, shared).await?;
        Option::<Self>::from_ref(shared).ok_or_else(|| {
            ApiProblem::new(404, "not-found").detail("only a server started with --dev has this")
        })
    }
}

fn clock_response(now: Time) -> Response {
    Json(ClockView { now }).into_response()
}

/// The rules of a script and their use.
#[derive(Serialize, ToSchema)]
#[schema(as = ScriptReport)]
struct ScriptReport {
    /// The rules, in the order in which they are tried.
    rules: Vec<ScriptRuleUse>,
    /// The latest actions, oldest first.
    played: Vec<ScriptedAction>,
}

/// A rule and how often it was used.
#[derive(Serialize, ToSchema)]
#[schema(as = ScriptRuleUse)]
struct ScriptRuleUse {
    /// The name of the rule, or its position.
    rule: String,
    /// The number of asks.
    used: u32,
}

fn report(players: &ScriptedPeople) -> Response {
    let (rules, played) = players.report();
    let rules = rules.into_iter().map(|(rule, used)| ScriptRuleUse { rule, used }).collect();
    Json(ScriptReport { rules, played }).into_response()
}

//! For testing agents, with `--dev` only: `/api/v1/dev/clock` moves the server's time,
//! `/api/v1/dev/script` says which scripted people there are and what they did.

use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use kernel::Time;
use serde::Deserialize;
use serde_json::json;

use crate::clock::MovableClock;
use crate::http::problem::Problem;
use crate::http::{App, Shared};
use crate::script::{Players, Script, duration};
use crate::workers::timers;

/// What only development mode has.
pub struct Dev {
    /// The server's time.
    pub clock: std::sync::Arc<MovableClock>,
    /// Scripted people; nobody until a script is given.
    pub players: std::sync::Arc<Players>,
}

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/dev/clock", get(clock).post(move_clock))
        .route("/api/v1/dev/script", get(script).put(replace_script))
}

async fn clock(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    app.dev(&headers).await?;
    Ok(told(app.gateway.now()))
}

/// `{"advance": "1h"}`. Time only goes forward. What is due by then has happened when the answer
/// comes: deadlines, reminders, scripted answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Move {
    #[serde(deserialize_with = "duration")]
    advance: Duration,
}

async fn move_clock(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let dev = app.dev(&headers).await?;
    let Move { advance } = app.json(body).await?;
    dev.clock.advance(advance);
    // Scripted answers may come before a deadline and make new things due.
    dev.players.play(&app.gateway).await?;
    timers::run_due(&app.gateway).await?;
    dev.players.play(&app.gateway).await?;
    Ok(told(app.gateway.now()))
}

async fn script(State(app): State<Shared>, headers: HeaderMap) -> Result<Response, Problem> {
    let dev = app.dev(&headers).await?;
    dev.players.play(&app.gateway).await?;
    Ok(report(&dev.players))
}

/// Another script from now on, as JSON: `{"rule": [{"answer": "yes"}]}`.
async fn replace_script(
    State(app): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let dev = app.dev(&headers).await?;
    let script: Script = app.json(body).await?;
    script
        .check()
        .map_err(|error| Problem::new(422, "invalid-field").detail(format!("{error:#}")))?;
    // What was asked before belongs to the old script.
    dev.players.play(&app.gateway).await?;
    dev.players.replace(script, app.gateway.store().last_position().await?);
    Ok(report(&dev.players))
}

impl App {
    async fn dev(&self, headers: &HeaderMap) -> Result<&Dev, Problem> {
        self.anyone(headers).await?;
        self.dev.as_ref().ok_or_else(|| {
            Problem::new(404, "not-found").detail("only a server started with --dev has this")
        })
    }
}

fn told(now: Time) -> Response {
    Json(json!({ "now": now })).into_response()
}

fn report(players: &Players) -> Response {
    let (rules, played) = players.report();
    let rules: Vec<_> =
        rules.into_iter().map(|(rule, used)| json!({ "rule": rule, "used": used })).collect();
    Json(json!({ "rules": rules, "played": played })).into_response()
}

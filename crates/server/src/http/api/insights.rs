//! `GET /api/v1/insights`: the numbers of `/insights`.

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use dialects::native::{AgentInsights, InsightsView};
use gateway::Gateway;
use gateway::insights::{self, InsightsError};
use kernel::insight::Day;
use kernel::insight::access::{InsightsQuery, LONGEST_DAYS};
use kernel::{AgentId, ProjectId, Time};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::extractors::AnyCaller;
use crate::http::api::paging::{ListParams, bad_parameter, invalid_parameter};
use crate::http::problem::ApiProblem;

const KNOWN_PARAMS: [&str; 4] = ["project", "agent", "from", "to"];
/// The number of days covered if the query names none.
const DEFAULT_DAYS: u16 = 30;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(insights))
}

/// Get figures about the claims of agents and the decisions of people.
///
/// They cover intents, confidence, load, refusals, actions, response times, outcomes, how often
/// recommendations are changed or overruled, and whether there was enough time to read. Days are in
/// UTC. People see their projects and the agents they are responsible for, administrators see
/// everything, and an agent key sees what it can read. The figures lag by a few seconds.
#[utoipa::path(
    get,
    path = "/api/v1/insights",
    operation_id = "getInsights",
    params(
        ("project" = Option<ProjectId>, Query, description = "Only of this project"),
        ("agent" = Option<AgentId>, Query, description = "Only of this agent"),
        (
            "from" = Option<String>, Query, format = Date, example = "2026-02-01",
            description = "The first day; by default 30 days including the last day",
        ),
        (
            "to" = Option<String>, Query, format = Date, example = "2026-02-28",
            description = "The last day, inclusive; today by default",
        ),
    ),
    responses(
        (status = 200, description = "The figures", body = InsightsView),
        (status = 404, description = "`not-found`: the project or agent does not exist, or the \
                                      caller cannot see it"),
        (status = 422, description = "`invalid-field`: more than 400 days, or less than one"),
    ),
    security(("agent_key" = []), ("human_token" = [])),
)]
async fn insights(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    AnyCaller(actor): AnyCaller,
) -> Result<Response, ApiProblem> {
    let wanted = parse_query(&ListParams::new(pairs, &KNOWN_PARAMS)?, gateway.now())?;
    let found = match insights::read(&**gateway.store(), &wanted, &actor).await {
        Ok(found) => found,
        Err(InsightsError::Refused(refusal)) => return Err(refusal.into()),
        Err(InsightsError::Store(error)) => return Err(error.into()),
    };
    let agents = found.agents.into_iter();
    let shown = InsightsView {
        project: wanted.project,
        agent: wanted.agent,
        agents: agents.map(|(of, id, summary)| AgentInsights::of(of, id, &summary)).collect(),
        ..InsightsView::of(&found.summary, wanted.from, wanted.to)
    };
    Ok(Json(shown).into_response())
}

fn parse_query(params: &ListParams, now: Time) -> Result<InsightsQuery, ApiProblem> {
    let day = |name: &'static str| -> Result<Option<Day>, ApiProblem> {
        let Some(text) = params.one(name)? else { return Ok(None) };
        let expected = "a date such as 2026-02-28";
        text.parse().map(Some).map_err(|_| bad_parameter(name, expected))
    };
    let name = "an ID: 1 to 64 characters of A-Z, a-z, 0-9, _ - . : and @, starting with a letter \
                or digit";
    let project = params.one("project")?.map(str::parse).transpose();
    let agent = params.one("agent")?.map(str::parse).transpose();
    let to = day("to")?.unwrap_or_else(|| Day::of(now));
    let from = day("from")?.unwrap_or_else(|| to.before(DEFAULT_DAYS - 1));
    let days = to.number() - from.number() + 1;
    if !(1..=LONGEST_DAYS).contains(&days) {
        return Err(invalid_parameter("from", "a day at most 400 days before `to`"));
    }
    Ok(InsightsQuery {
        project: project.map_err(|_| bad_parameter("project", name))?,
        agent: agent.map_err(|_| bad_parameter("agent", name))?,
        from,
        to,
    })
}

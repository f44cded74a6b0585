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

/// Numbers about what agents claim and what people do with it.
///
/// Intents, confidence, load, refusals, actions, how long people take, how requests end, how often
/// recommendations are changed or overruled, and whether there was time to read. Days are in UTC.
/// People see their projects and the agents they answer for, administrators everything, an agent
/// key what it may read. The numbers are a moment behind.
#[utoipa::path(
    get,
    path = "/api/v1/insights",
    operation_id = "getInsights",
    params(
        ("project" = Option<ProjectId>, Query, description = "Only of this project"),
        ("agent" = Option<AgentId>, Query, description = "Only of this agent"),
        (
            "from" = Option<String>, Query, format = Date, example = "2026-02-01",
            description = "The first day; 30 days with the last one when nothing is said",
        ),
        (
            "to" = Option<String>, Query, format = Date, example = "2026-02-28",
            description = "The last day, which counts too; today when nothing is said",
        ),
    ),
    responses(
        (status = 200, description = "The numbers", body = InsightsView),
        (status = 404, description = "`not-found`: no such project or agent, or not to be seen"),
        (status = 422, description = "`invalid-field`: more than 400 days, or none"),
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
        let expected = "a day such as 2026-02-28";
        text.parse().map(Some).map_err(|_| bad_parameter(name, expected))
    };
    let name = "the name of one";
    let project = params.one("project")?.map(str::parse).transpose();
    let agent = params.one("agent")?.map(str::parse).transpose();
    let to = day("to")?.unwrap_or_else(|| Day::of(now));
    let from = day("from")?.unwrap_or_else(|| to.before(DEFAULT_DAYS - 1));
    let days = to.number() - from.number() + 1;
    if !(1..=LONGEST_DAYS).contains(&days) {
        return Err(invalid_parameter("from", "a day up to 400 days before the last one"));
    }
    Ok(InsightsQuery {
        project: project.map_err(|_| bad_parameter("project", name))?,
        agent: agent.map_err(|_| bad_parameter("agent", name))?,
        from,
        to,
    })
}

//! `GET /api/v1/search`: the newest asks that contain the given words.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use dialects::native::SearchResults;
use gateway::Gateway;
use kernel::question::QuestionKind;
use kernel::{Actor, AgentId, HumanId, ProjectId, Refusal};
use serde::Deserialize;
use store::SearchQuery;
use store::search::MAX_RESULTS;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::AskViews;
use crate::http::api::extractors::PersonCaller;
use crate::http::api::lists::{ListOwner, PersonList, filter, named};
use crate::http::api::paging::{ListParams, bad_parameter, enum_name};
use crate::http::problem::ApiProblem;

const KNOWN_PARAMS: [&str; 7] = ["q", "view", "state", "kind", "project", "agent", "by"];
/// The maximum length of a query, in characters.
const MAX_QUERY_LENGTH: usize = 500;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(search))
}

/// The states of the asks to search.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SearchedState)]
pub(super) enum SearchedState {
    /// Open asks.
    Open,
    /// Closed asks: answered, cancelled or expired.
    Over,
    /// Both.
    #[default]
    All,
}

/// Search asks by their text.
///
/// Returns the newest 200 asks that contain every word; the last word matches as a prefix. The
/// search covers the question, its context and details, the IDs of agent and project, and comments,
/// but no provided values. It finds only asks that the caller can see. The index lags by a few
/// seconds.
#[utoipa::path(
    get,
    path = "/api/v1/search",
    operation_id = "searchAsks",
    params(
        ("q" = String, Query, description = "The words to search for", example = "refund ada", min_length = 1),
        ("view" = Option<PersonList>, Query, description = "The list of the person"),
        ("state" = Option<SearchedState>, Query, description = "The state; `all` by default"),
        ("kind" = Option<Vec<QuestionKind>>, Query, description = "The kind of question. Can be \
                     repeated"),
        ("project" = Option<ProjectId>, Query, description = "Only of this project"),
        ("agent" = Option<AgentId>, Query, description = "Only of this agent"),
        ("by" = Option<HumanId>, Query, description = "Only those answered or cancelled by this \
                                                       person"),
    ),
    responses((status = 200, description = "The matches", body = SearchResults<'static>)),
)]
async fn search(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let params = ListParams::new(pairs, &KNOWN_PARAMS)?;
    let expected = "words to search for, at most 500 characters";
    let fits = |q: &&str| !q.trim().is_empty() && q.chars().count() <= MAX_QUERY_LENGTH;
    let words = params.one("q")?.filter(fits);
    let words = words.ok_or_else(|| bad_parameter("q", expected))?.to_owned();
    let Actor::Human { id, .. } = &actor else {
        let why = "the search is for people; this is an agent key";
        return Err(Refusal::NotAllowed { why }.into());
    };
    let whose = ListOwner::Person(id.clone(), PersonList::parse_view(&params)?.unwrap_or_default());
    let mut filter = filter(&params)?;
    filter.project = named(&params, "project")?;
    filter.agent = named(&params, "agent")?;
    filter.by = named(&params, "by")?;
    let state = match params.one("state")? {
        Some(name) => enum_name("state", name, &["open", "over", "all"])?,
        None => SearchedState::default(),
    };
    let open = match state {
        SearchedState::Open => Some(true),
        SearchedState::Over => Some(false),
        SearchedState::All => None,
    };
    let directory = gateway.directory();
    let whole = whose.open(&directory)?;
    let scopes = whole.is_filtered().then(|| whole.scopes.clone());
    let wanted = SearchQuery { words, scopes, filter, open, limit: MAX_RESULTS };
    let mut asks = gateway.search(wanted).await?;
    let most = asks.len() == MAX_RESULTS;
    asks.retain(|ask| whole.shows(ask) && open.is_none_or(|open| ask.is_open() == open));
    let asks = ask_views.views(&asks, &actor).await?;
    Ok(Json(SearchResults { asks, more: most }).into_response())
}

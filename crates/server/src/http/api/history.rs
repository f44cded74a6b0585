//! `GET /api/v1/history`: all closed asks, newest first, and their export as CSV or JSON Lines.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dialects::native::{AskOutcome, AskPage};
use futures_util::stream;
use gateway::{Gateway, csv_export};
use kernel::ask::Priority;
use kernel::directory::Directory;
use kernel::question::QuestionKind;
use kernel::spelling::listed;
use kernel::{Actor, AgentId, Ask, HumanId, Phase, ProjectId, Refusal, Time};
use serde::Deserialize;
use store::{AskListPage, AskListQuery, Cursor, Order, StoreError};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::api::AskViews;
use crate::http::api::extractors::PersonCaller;
use crate::http::api::lists::{ListOwner, PersonList, filtered_list, named, page_of, parse_cursor};
use crate::http::api::openapi::ListPageParams;
use crate::http::api::paging::{ListParams, bad_parameter, enum_name};
use crate::http::problem::ApiProblem;

const PATH: &str = "/api/v1/history";
const KNOWN_PARAMS: [&str; 7] = ["view", "outcome", "by", "project", "agent", "kind", "priority"];
/// How many asks an export reads at a time.
const CHUNK: usize = 100;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(history)).routes(routes!(export))
}

/// List closed asks, newest first.
///
/// A person gets the asks that they can see; `view` selects a list. The filters `by`, `project`,
/// `agent` and `kind` can be combined.
#[utoipa::path(
    get,
    path = "/api/v1/history",
    operation_id = "listHistory",
    params(
        ("view" = Option<PersonList>, Query, description = "The list of the person"),
        ("outcome" = Option<Vec<AskOutcome>>, Query, description = "The outcome. Can be repeated"),
        ("by" = Option<HumanId>, Query, description = "Only those answered or cancelled by this \
                                                       person"),
        ("project" = Option<ProjectId>, Query, description = "Only of this project"),
        ("agent" = Option<AgentId>, Query, description = "Only of this agent"),
        ("kind" = Option<Vec<QuestionKind>>, Query, description = "The kind of question. Can be \
                     repeated"),
        ("priority" = Option<Priority>, Query, description = "Only of this priority"),
        ListPageParams,
    ),
    responses((status = 200, description = "A page", body = AskPage<'static>)),
)]
async fn history(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let known: Vec<&str> = KNOWN_PARAMS.into_iter().chain(["limit", "cursor"]).collect();
    let params = ListParams::new(pairs, &known)?;
    let (whose, list) = parse_query(&params, &actor)?;
    let directory = gateway.directory();
    let whole = whose.open(&directory)?;
    let name = format!("history/{}/{:?}/{:?}", whose.name(), list.phases, list.filter);
    let after = params.cursor(&name, parse_cursor)?;
    let list = AskListQuery { scopes: whole.scopes.clone(), after, ..list };
    let page = page_of(&gateway, &whole, list).await?;
    let shown = ask_views.shown_page(&page, &name, &actor).await?;
    let next = shown.next.clone();
    Ok(params.page(PATH, &shown, next.as_deref()))
}

/// Export closed asks as CSV or JSON Lines.
///
/// The server streams all pages of the list. CSV has no provided values. JSON Lines have the asks
/// as the list shows them, without secret values. An incomplete export ends with an aborted
/// transfer.
#[utoipa::path(
    get,
    path = "/api/v1/history/export",
    operation_id = "exportHistory",
    params(
        ("format" = Option<ExportFormat>, Query, description = "The format; `jsonl` by default"),
        ("view" = Option<PersonList>, Query, description = "The list of the person"),
        ("outcome" = Option<Vec<AskOutcome>>, Query, description = "The outcome. Can be repeated"),
        ("by" = Option<HumanId>, Query, description = "Only those answered or cancelled by this \
                                                       person"),
        ("project" = Option<ProjectId>, Query, description = "Only of this project"),
        ("agent" = Option<AgentId>, Query, description = "Only of this agent"),
        ("kind" = Option<Vec<QuestionKind>>, Query, description = "The kind of question. Can be \
                     repeated"),
        ("priority" = Option<Priority>, Query, description = "Only of this priority"),
    ),
    responses(
        (
            status = 200,
            description = "One line per ask",
            content(
                (String = "application/x-ndjson"),
                (String = "text/csv"),
            ),
        ),
    ),
)]
async fn export(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    PersonCaller { actor, .. }: PersonCaller,
) -> Result<Response, ApiProblem> {
    let known: Vec<&str> = KNOWN_PARAMS.into_iter().chain(["format"]).collect();
    let params = ListParams::new(pairs, &known)?;
    let format = match params.one("format")? {
        Some(name) => enum_name("format", name, &["csv", "jsonl"])?,
        None => ExportFormat::Jsonl,
    };
    let (whose, list) = parse_query(&params, &actor)?;
    Ok(export_list(gateway, ask_views, actor, whose, list, None, format))
}

/// Exports a whole list, newest first, back to `since` if it is set.
pub(in crate::http) fn export_list(
    gateway: Gateway,
    ask_views: Arc<AskViews>,
    actor: Actor,
    whose: ListOwner,
    list: AskListQuery,
    since: Option<Time>,
    format: ExportFormat,
) -> Response {
    let begun = Some(ExportPosition { list: AskListQuery { limit: CHUNK, ..list }, first: true });
    let lines = stream::try_unfold(begun, move |going| {
        let (gateway, ask_views) = (gateway.clone(), Arc::clone(&ask_views));
        let (actor, whose) = (actor.clone(), whose.clone());
        async move {
            let Some(mut going) = going else { return Ok(None) };
            // Each page uses the current directory: a person who loses access gets no further page.
            let directory = gateway.directory();
            let whole = open(&whose, &directory)?;
            let list = AskListQuery { scopes: whole.scopes.clone(), ..going.list.clone() };
            let page = page_of(&gateway, &whole, list).await.map_err(|_| incomplete_export())?;
            let (asks, next) = not_before(page, since);
            let mut text = String::new();
            if going.first && format == ExportFormat::Csv {
                text.push_str(&csv_export::header());
            }
            for ask in &asks {
                let shown = ask_views.view(ask, &actor).await?;
                let shown = serde_json::to_value(shown).unwrap_or_default();
                match format {
                    ExportFormat::Csv => text.push_str(&csv_export::row(&shown)),
                    ExportFormat::Jsonl => {
                        text.push_str(&shown.to_string());
                        text.push('\n');
                    }
                }
            }
            (going.first, going.list.after) = (false, next);
            let next = next.map(|_| going);
            Ok::<_, StoreError>(Some((Bytes::from(text), next)))
        }
    });
    let (kind, name) = match format {
        ExportFormat::Csv => ("text/csv; charset=utf-8", "countersign-history.csv"),
        ExportFormat::Jsonl => ("application/x-ndjson", "countersign-history.jsonl"),
    };
    let kind = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    (kind, Body::from_stream(lines)).into_response()
}

/// The asks of a page that were created at or after `since`, and the cursor of the next page if
/// there can be more of them. The page is ordered by age.
pub(in crate::http) fn not_before(
    page: AskListPage,
    since: Option<Time>,
) -> (Vec<Ask>, Option<Cursor>) {
    let AskListPage { mut asks, mut next } = page;
    let all = asks.len();
    asks.retain(|ask| since.is_none_or(|since| ask.created_at >= since));
    if asks.len() < all {
        next = None;
    }
    (asks, next)
}

/// The position of an export.
struct ExportPosition {
    list: AskListQuery,
    first: bool,
}

fn open<'d>(
    whose: &ListOwner,
    directory: &'d Directory,
) -> Result<super::lists::ListScopes<'d>, StoreError> {
    whose.open(directory).map_err(|_| incomplete_export())
}

/// The error ends the transfer early, so the reader can detect that the export is incomplete.
fn incomplete_export() -> StoreError {
    tracing::error!("a history export ended early");
    StoreError::Unavailable("the export ended early".into())
}

/// How an export is written.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ExportFormat)]
pub(in crate::http) enum ExportFormat {
    /// CSV, for spreadsheets.
    Csv,
    /// One JSON object on each line.
    Jsonl,
}

fn parse_query(
    params: &ListParams,
    actor: &Actor,
) -> Result<(ListOwner, AskListQuery), ApiProblem> {
    let Actor::Human { id, .. } = actor else {
        let why = "the history is for people; this is an agent key";
        return Err(Refusal::NotAllowed { why }.into());
    };
    let whose = ListOwner::Person(id.clone(), PersonList::parse_view(params)?.unwrap_or_default());
    let mut list = filtered_list(params, Vec::new(), phases(params)?, Order::Age)?;
    list.filter.by = named(params, "by")?;
    list.filter.project = named(params, "project")?;
    list.filter.agent = named(params, "agent")?;
    Ok((whose, list))
}

fn phases(params: &ListParams) -> Result<Vec<Phase>, ApiProblem> {
    let phase = |name: &str| {
        let over = Phase::ALL.into_iter().filter(|phase| !Phase::OPEN.contains(phase));
        over.into_iter().find(|phase| phase.as_str() == name)
    };
    let names = ["completed", "expired", "cancelled", "failed"];
    let read =
        |given: &str| phase(given).ok_or_else(|| bad_parameter("outcome", &listed(&names, given)));
    let mut phases: Vec<Phase> = params.all("outcome").map(read).collect::<Result<_, _>>()?;
    if phases.is_empty() {
        phases.extend(Phase::ALL.into_iter().filter(|phase| !Phase::OPEN.contains(phase)));
    }
    phases.sort_unstable();
    phases.dedup();
    Ok(phases)
}

//! The history: `GET /history`, and its export as a file.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use dialects::hxp_execution::HxpCursor;
use dialects::proof::jws;
use gateway::Gateway;
use gateway::receipts::Receipts;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use kernel::directory::Human;
use kernel::question::QuestionKind;
use kernel::seal::Block;
use kernel::{AgentId, AskId, HumanId, Phase, ProjectId, Time};
use store::search::MAX_RESULTS;
use store::{AskListQuery, Filter, Order, SearchQuery, StoreError};
use ulid::Ulid;
use views::components::query::PageQuery as Narrowed;
use views::history::{self, AuditLogStatus, HistoryPage, QUERY_PARAMETERS};
use views::inbox::SearchCount;
use views::site::paths;

use super::{PageResult, html};
use crate::http::api::AskViews;
use crate::http::api::history::{ExportFormat, export_list, not_before};
use crate::http::api::lists::{ListOwner, PersonList, enum_value, page_of};
use crate::http::pages::visitor::Visitor;

/// The number of rows per page.
const PAGE: usize = 50;

/// The filters of the page.
struct HistoryFilter {
    query: Narrowed,
    view: PersonList,
    list: AskListQuery,
    /// Excludes requests that were created before this moment.
    since: Option<Time>,
    words: Option<String>,
    after: Option<String>,
}

impl HistoryFilter {
    fn from_query(pairs: &[(String, String)], human: &Human) -> Self {
        let mut query = Narrowed::of(pairs, &QUERY_PARAMETERS);
        let view =
            query.take("view", |name| (name == "all" && human.admin).then_some(PersonList::All));
        let over = || Phase::ALL.into_iter().filter(|phase| !Phase::OPEN.contains(phase));
        let outcome = query.take("outcome", |name| over().find(|phase| phase.as_str() == name));
        let filter = Filter {
            kinds: query.take("kind", enum_value::<QuestionKind>).into_iter().collect(),
            by: query.parsed::<HumanId>("by"),
            project: query.parsed::<ProjectId>("project"),
            agent: query.parsed::<AgentId>("agent"),
            ..Filter::default()
        };
        let since = query.take("since", |day| midnight(day, 0));
        let before = query.take("until", |day| midnight(day, 1));
        let after = pairs.iter().rfind(|(name, _)| name == "after").map(|(_, text)| text.clone());
        let words = query.get("q").map(str::to_owned);
        let place = after.as_deref().and_then(|text| text.parse::<HxpCursor>().ok());
        let place = place.map(|at| store::Cursor { rank: at.rank, ask: at.ask });
        let list = AskListQuery {
            scopes: Vec::new(),
            phases: outcome.map_or_else(|| over().collect(), |phase| vec![phase]),
            order: Order::Age,
            filter,
            after: place.or_else(|| before.map(just_before)),
            limit: PAGE,
        };
        Self { query, view: view.unwrap_or_default(), list, since, words, after }
    }
}

/// The first moment of a day, `more` days later.
fn midnight(day: &str, more: i64) -> Option<Time> {
    let day: Date = day.parse().ok()?;
    let day = day.checked_add(jiff::Span::new().try_days(more).ok()?).ok()?;
    Some(Time::new(day.to_zoned(TimeZone::UTC).ok()?.timestamp()))
}

/// The cursor, in a list by age, behind all requests that were created at this moment or later.
fn just_before(at: Time) -> store::Cursor {
    let millis = u64::try_from(at.millis()).unwrap_or_default();
    store::Cursor { rank: 0, ask: AskId::new(Ulid::from_parts(millis, 0)) }
}

pub(super) async fn show(
    State(gateway): State<Gateway>,
    State(receipts): State<Receipts>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let wanted = HistoryFilter::from_query(&pairs, &visitor.human);
    let whole = wanted.view.list_scopes(&visitor.human);
    let (asks, next, found) = if let Some(words) = wanted.words.clone() {
        let search = SearchQuery {
            words,
            scopes: whole.is_filtered().then(|| whole.scopes.clone()),
            filter: wanted.list.filter.clone(),
            open: Some(false),
            limit: MAX_RESULTS,
        };
        let mut asks = gateway.search(search).await?;
        let more = asks.len() == MAX_RESULTS;
        let until = wanted.list.after.filter(|_| wanted.query.get("until").is_some());
        asks.retain(|ask| {
            !ask.is_open()
                && whole.shows(ask)
                && wanted.list.phases.contains(&ask.phase())
                && wanted.since.is_none_or(|since| ask.created_at >= since)
                && until.is_none_or(|until| ask.id < until.ask)
        });
        let n = asks.len();
        let from = wanted.after.as_deref().and_then(|text| text.parse().ok());
        let from: usize = from.unwrap_or_default();
        let end = from.saturating_add(PAGE);
        let asks = asks.into_iter().skip(from).take(PAGE).collect();
        (asks, (end < n).then(|| end.to_string()), Some(SearchCount { n, more }))
    } else {
        let list = AskListQuery { scopes: whole.scopes.clone(), ..wanted.list.clone() };
        let page = page_of(&gateway, &whole, list).await?;
        let (asks, next) = not_before(page, wanted.since);
        let next = next.map(|at| HxpCursor { rank: at.rank, ask: at.ask }.to_string());
        (asks, next, None)
    };
    let chain = audit_chain(&gateway, &receipts).await?;
    let next = next.map(|at| wanted.query.with("after", at).href(paths::HISTORY));
    let directory = gateway.directory();
    let shown = HistoryPage {
        me: &visitor.human,
        directory: &directory,
        query: &wanted.query,
        asks: &asks,
        found,
        next: next.as_deref(),
        later_page: wanted.after.is_some(),
        chain: &chain,
    };
    Ok(html(StatusCode::OK, history::page(&visitor.frame, &shown)))
}

/// `GET /history/export`: the whole filtered history as a file.
pub(super) async fn export(
    State(ask_views): State<Arc<AskViews>>,
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let wanted = HistoryFilter::from_query(&pairs, &visitor.human);
    let format = pairs.iter().rfind(|(name, _)| name == "format");
    let format =
        format.and_then(|(_, name)| enum_value::<ExportFormat>(name)).unwrap_or(ExportFormat::Csv);
    let whose = ListOwner::Person(visitor.human.id.clone(), wanted.view);
    Ok(export_list(gateway, ask_views, visitor.actor, whose, wanted.list, wanted.since, format))
}

/// The state of the audit log's chain, with the newest signature checked.
async fn audit_chain(gateway: &Gateway, receipts: &Receipts) -> Result<AuditLogStatus, StoreError> {
    let store = gateway.store();
    let last = store.last_position().await?;
    let Some(sealed) = store.block(store::BlockQuery::Last).await? else {
        return Ok(AuditLogStatus { sealed: None, waiting: last });
    };
    let block = &sealed.block;
    let signed = jws::open::<Block>(&sealed.jws, Block::TYP, &receipts.signer().ever());
    let holds = signed.is_ok_and(|signed| signed == *block);
    let waiting = (last + 1).saturating_sub(block.end());
    Ok(AuditLogStatus { sealed: Some((block.n, block.at, holds)), waiting })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_stretch_of_the_list() {
        let start = midnight("2026-03-01", 0).unwrap();
        let end = midnight("2026-03-01", 1).unwrap();
        assert_eq!(end.seconds_since(start), 86_400);
        let asked = |at: Time| {
            AskId::new(Ulid::from_parts(u64::try_from(at.millis()).unwrap_or_default(), 7))
        };
        let place = just_before(end).ask;
        assert!(asked(end) > place && asked(Time::from_millis(end.millis() - 1)) < place);
        assert!(midnight("yesterday", 0).is_none() && midnight("9999-12-31", 1).is_none());
    }
}

//! The inbox: `GET /`. The address holds the list, its filters and the position of the page, so
//! that every page can be bookmarked and shared.

pub(crate) mod actions;
pub(crate) mod list;
mod live;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use gateway::Gateway;
use kernel::directory::{Directory, Human};
use kernel::{Ask, AskId, HumanId, Phase, Time};
use store::{AskListQuery, Count, Filter, ListScope, Order, StoreError};
use views::PageContext;
use views::banner::ActionOutcome;
use views::components::query;
use views::inbox::{self, InboxPage, Tab};
use views::site::paths;

use self::list::{InboxFilter, InboxListPage};
use super::{PageResult, Visitor, html, undo};
use crate::http::AppState;
use crate::http::api::lists::count_of;
use crate::http::pages::inbox::list::{listed, snoozed_by};
use crate::http::pages::undo::answered_notice;

/// The routes of the inbox.
pub(super) fn routes() -> Router<AppState> {
    Router::new()
        .route(paths::INBOX, get(show))
        .route("/inbox/live", get(live::follow))
        .route("/inbox/answer", get(back).post(actions::answer))
        .route(paths::INBOX_UNDO, get(back).post(undo::undo_from_list))
        .route(paths::INBOX_SENT, get(undo::sent))
        .route("/inbox/aside", get(actions::show_snooze))
        .route("/inbox/snooze", get(back).post(actions::snooze))
        .route("/inbox/wake", get(back).post(actions::wake))
        .route("/inbox/hand", get(back).post(actions::reassign))
        .route("/inbox/bulk", get(actions::show).post(actions::confirm))
        .route("/inbox/bulk/answer", get(back).post(actions::answer_all))
}

/// The number of recently closed requests below the list.
const RECENTLY_CLOSED_SHOWN: usize = 10;

/// `GET /`
async fn show(
    State(gateway): State<Gateway>,
    Query(pairs): Query<Vec<(String, String)>>,
    visitor: Visitor,
) -> PageResult {
    let wanted = InboxFilter::from_query(&pairs, &visitor.human);
    let mut notice = action_notice(&pairs);
    let sent = pairs.iter().rfind(|(name, _)| name == "sent");
    if let Some(id) = sent.and_then(|(_, id)| id.parse::<AskId>().ok()) {
        let directory = gateway.directory();
        let shown = |ask: &Arc<Ask>| ask.is_visible_to(&visitor.actor, &directory);
        if let Some(ask) = gateway.ask(id).await?.filter(shown) {
            let list = wanted.query.text();
            notice = answered_notice(&gateway, &visitor, &ask, Some(&list)).await?;
        }
    }
    Ok(inbox_page(&gateway, &visitor, &wanted, notice.as_ref(), StatusCode::OK).await?)
}

/// A browser that reloads the address of a form gets the list.
async fn back() -> Response {
    Redirect::to(paths::INBOX).into_response()
}

/// The result of the last action, from the address of the redirect after it.
fn action_notice(pairs: &[(String, String)]) -> Option<ActionOutcome> {
    let value = |name: &str| pairs.iter().rfind(|(key, _)| key == name).map(|(_, value)| value);
    if let Some(until) = value("aside").and_then(|text| text.parse().ok()) {
        return Some(ActionOutcome::Aside(Time::from_millis(until)));
    }
    if let Some(to) = value("handed").and_then(|text| text.parse::<HumanId>().ok()) {
        return Some(ActionOutcome::Handed(to));
    }
    let count = |name| value(name).and_then(|text| text.parse::<usize>().ok());
    if let Some(undone) = count("undone") {
        return Some(ActionOutcome::Undone(undone, count("late").unwrap_or_default()));
    }
    value("woken").map(|_| ActionOutcome::Back)
}

/// All data of an inbox page at one moment.
pub(super) struct InboxState {
    counts: Vec<(Tab, String)>,
    total: String,
    listed: InboxListPage,
    next: Option<String>,
    live: String,
}

impl InboxState {
    /// The view that the template renders.
    pub(super) fn page_view<'a>(
        &'a self,
        wanted: &'a InboxFilter,
        me: &'a Human,
        directory: &'a Directory,
    ) -> InboxPage<'a> {
        InboxPage {
            me,
            directory,
            tab: wanted.tab,
            query: &wanted.query,
            counts: &self.counts,
            total: &self.total,
            found: self.listed.found,
            items: &self.listed.items,
            next: self.next.as_deref(),
            later_page: wanted.after.is_some(),
            live: &self.live,
            recent: &[],
            notice: None,
        }
    }
}

/// A page of the inbox.
pub(super) async fn inbox_page(
    gateway: &Gateway,
    visitor: &Visitor,
    wanted: &InboxFilter,
    notice: Option<&ActionOutcome>,
    status: StatusCode,
) -> Result<Response, StoreError> {
    let now = inbox_state(gateway, &visitor.human, wanted).await?;
    let fresh = wanted.tab == Tab::Inbox && wanted.after.is_none();
    let plain = !inbox::is_filtered(&wanted.query);
    let recent =
        if fresh && plain { recently_closed(gateway, &visitor.human).await? } else { Vec::new() };
    let directory = gateway.directory();
    let frame = PageContext { now: gateway.now(), ..visitor.frame.clone() };
    let inbox =
        InboxPage { recent: &recent, notice, ..now.page_view(wanted, &visitor.human, &directory) };
    Ok(html(status, inbox::page(&frame, &inbox)))
}

/// Reads the data of an inbox page.
pub(super) async fn inbox_state(
    gateway: &Gateway,
    human: &Human,
    wanted: &InboxFilter,
) -> Result<InboxState, StoreError> {
    let listed = listed(gateway, human, wanted).await?;
    let mut counts = Vec::new();
    for tab in [Tab::Inbox, Tab::Mine, Tab::Groups, Tab::Everyone] {
        if tab == Tab::Everyone && !human.admin {
            continue;
        }
        let whole = InboxFilter::view(tab).list_scopes(human);
        let list = AskListQuery { filter: Filter::default(), ..wanted.open(&whole) };
        counts.push((tab, count_text(count_of(gateway, &whole, list).await?)));
    }
    counts.push((Tab::Aside, snoozed_by(gateway, human).await?.len().to_string()));
    let of_tab = counts.iter().find(|(tab, _)| *tab == wanted.tab);
    let total = match (listed.known, of_tab) {
        (Some(n), _) => n.to_string(),
        (None, Some((_, count))) if wanted.query.without(&["view"]).is_empty() => count.clone(),
        // Requests that expire soon are not counted beyond the page.
        (None, _) if wanted.query.get("within").is_some() => {
            format!("{}+", listed.items.len())
        }
        (None, _) => {
            let whole = InboxFilter::view(wanted.tab).list_scopes(human);
            count_text(count_of(gateway, &whole, wanted.open(&whole)).await?)
        }
    };
    let from = |at: &str, path: &str| {
        let query = wanted.query.with("after", at);
        query.href(path)
    };
    let next = listed.next.as_deref().map(|at| from(at, paths::INBOX));
    let live = match &wanted.after {
        Some(at) => from(at, paths::LIVE),
        None => wanted.query.href(paths::LIVE),
    };
    Ok(InboxState { counts, total, listed, next, live })
}

/// The requests that were closed recently.
async fn recently_closed(gateway: &Gateway, human: &Human) -> Result<Vec<Ask>, StoreError> {
    let over = AskListQuery {
        scopes: ListScope::inbox(human),
        phases: Phase::ALL.into_iter().filter(|phase| !Phase::OPEN.contains(phase)).collect(),
        order: Order::Age,
        filter: Filter::default(),
        after: None,
        limit: RECENTLY_CLOSED_SHOWN,
    };
    Ok(gateway.inbox(human, over).await?.asks)
}

/// The count as text.
fn count_text(count: Count) -> String {
    if count.exact { count.n.to_string() } else { format!("{}+", store::listing::MAX_EXAMINED) }
}

/// Redirects to the list that the form came from, with the result of the action.
pub(super) fn return_to(back: Option<&str>, told: (&'static str, String)) -> Response {
    let query = query::PageQuery::read(back.unwrap_or_default(), &inbox::QUERY_PARAMETERS);
    Redirect::to(&query.with(told.0, told.1).href(paths::INBOX)).into_response()
}

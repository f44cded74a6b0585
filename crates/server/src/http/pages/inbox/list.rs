//! The filters of an inbox list, and one page of it, read from the store.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use dialects::hxp_execution::HxpCursor;
use gateway::Gateway;
use kernel::ask::SimilarityKey;
use kernel::directory::Human;
use kernel::question::QuestionKind;
use kernel::{AgentId, Ask, AskId, HumanId, Phase, ProjectId, Time};
use store::search::MAX_RESULTS;
use store::{AskListQuery, ExpiringQuery, Filter, Order, SearchQuery, StoreError};
use views::components::query::PageQuery;
use views::inbox::row::{EXPIRING_SOON, InboxEntry};
use views::inbox::{QUERY_PARAMETERS, SearchCount, Tab};

use crate::http::api::lists::{ListScopes, PersonList, enum_value, page_of};

/// The number of rows per page.
pub(super) const PAGE: usize = 50;
/// The most reads for one page: similar requests share a row, so one read may not fill it.
const MAX_READS_PER_PAGE: usize = 5;

/// The filters and the position of a page.
#[derive(Debug, Clone)]
pub(crate) struct InboxFilter {
    /// The query of the address without the position.
    pub(crate) query: PageQuery,
    pub(super) tab: Tab,
    pub(super) filter: Filter,
    within: Option<u64>,
    words: Option<String>,
    /// The position of the page, as the previous page's link gives it.
    pub(super) after: Option<String>,
}

/// One page of a list.
pub(crate) struct InboxListPage {
    pub(crate) items: Vec<InboxEntry>,
    /// The position of the next page.
    pub(super) next: Option<String>,
    pub(super) found: Option<SearchCount>,
    /// The number of all requests in the list, if reading the page counted them.
    pub(super) known: Option<usize>,
}

impl InboxFilter {
    /// Reads a query. Invalid filters are ignored, because a list should always render.
    pub(crate) fn from_query(pairs: &[(String, String)], human: &Human) -> Self {
        let mut query = PageQuery::of(pairs, &QUERY_PARAMETERS);
        let tab = query.take("view", |name| {
            Tab::named(name).filter(|tab| match tab {
                Tab::Everyone => human.admin,
                Tab::Inbox => false,
                Tab::Mine | Tab::Groups | Tab::Aside => true,
            })
        });
        let tab = tab.unwrap_or_default();
        let agent: Option<AgentId> = query.parsed("agent");
        let fold = query
            .take("fold", |text| text.parse::<SimilarityKey>().ok().filter(|_| agent.is_some()));
        let filter = Filter {
            project: query.parsed::<ProjectId>("project"),
            kinds: query.take("kind", enum_value::<QuestionKind>).into_iter().collect(),
            agent,
            fold,
            ..Filter::default()
        };
        let within = query.take("within", |text| text.parse().ok().filter(|n| *n <= 31_536_000));
        let words = query.get("q").map(str::to_owned);
        let after = pairs.iter().rfind(|(name, _)| name == "after").map(|(_, text)| text.clone());
        Self { query, tab, filter, within, words, after }
    }

    /// The view that the API uses for the same list.
    pub(super) fn view(tab: Tab) -> PersonList {
        match tab {
            Tab::Inbox | Tab::Aside => PersonList::Inbox,
            Tab::Mine => PersonList::Mine,
            Tab::Groups => PersonList::Groups,
            Tab::Everyone => PersonList::All,
        }
    }

    /// The open requests of a list.
    pub(super) fn open(&self, whole: &ListScopes<'_>) -> AskListQuery {
        AskListQuery {
            scopes: whole.scopes.clone(),
            phases: Phase::OPEN.to_vec(),
            order: Order::Urgency,
            filter: self.filter.clone(),
            after: None,
            limit: PAGE,
        }
    }

    fn skipped(&self) -> usize {
        self.after.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default()
    }
}

/// This page of a list.
pub(crate) async fn listed(
    gateway: &Gateway,
    human: &Human,
    wanted: &InboxFilter,
) -> Result<InboxListPage, StoreError> {
    let whole = InboxFilter::view(wanted.tab).list_scopes(human);
    let mut listed = if wanted.tab == Tab::Aside {
        snoozed_page(gateway, human, wanted).await?
    } else if wanted.words.is_some() {
        search_results(gateway, &whole, wanted).await?
    } else if let Some(within) = wanted.within {
        expiring_page(gateway, &whole, wanted, within).await?
    } else {
        by_urgency(gateway, human, &whole, wanted).await?
    };
    let asks: Vec<AskId> =
        listed.items.iter().filter_map(|item| item.asks.first()).map(|ask| ask.id).collect();
    let mut lookers: HashMap<AskId, Vec<HumanId>> = HashMap::new();
    for (ask, who) in gateway.store().viewers(asks, gateway.now()).await? {
        if who != human.id {
            lookers.entry(ask).or_default().push(who);
        }
    }
    for item in &mut listed.items {
        let Some(ask) = item.asks.first() else { continue };
        item.lookers = lookers.remove(&ask.id).unwrap_or_default();
    }
    Ok(listed)
}

/// First the requests that are due within 15 minutes, soonest first, whatever happens at their
/// deadline. Then the others by priority; within one priority the newest first. Similar requests
/// share a row. Both parts are ranges of an index, never a scan.
async fn by_urgency(
    gateway: &Gateway,
    human: &Human,
    whole: &ListScopes<'_>,
    wanted: &InboxFilter,
) -> Result<InboxListPage, StoreError> {
    let now = gateway.now();
    let place = wanted.after.as_deref().and_then(|text| ListPosition::read(text, now));
    let ListPosition { until, mut part } = place.unwrap_or_else(|| ListPosition::first(now));
    let mut rows = RowCollector::new(human, wanted.filter.fold.is_none());
    for _ in 0..MAX_READS_PER_PAGE {
        let limit = PAGE.saturating_sub(rows.items.len());
        if limit == 0 {
            break;
        }
        match part {
            ListSection::Expiring(after) => {
                let (asks, next) = expiring_by(gateway, whole, wanted, until, after, limit).await?;
                for ask in asks {
                    rows.add(ask, true);
                }
                part = next.map_or(ListSection::Others(None), |at| ListSection::Expiring(Some(at)));
            }
            ListSection::Others(after) => {
                let list = AskListQuery { after, limit, ..wanted.open(whole) };
                let page = page_of(gateway, whole, list).await?;
                // The first part lists these already.
                let others = page.asks.into_iter().filter(|ask| !is_due_soon(ask, until));
                others.for_each(|ask| rows.add(ask, false));
                match page.next {
                    Some(next) => part = ListSection::Others(Some(next)),
                    None => return Ok(rows.listed(None)),
                }
            }
        }
    }
    Ok(rows.listed(Some(ListPosition { until, part })))
}

/// Requests of a list that are due by `until`, soonest first, from the deadline index.
async fn expiring_by(
    gateway: &Gateway,
    whole: &ListScopes<'_>,
    wanted: &InboxFilter,
    until: Time,
    after: Option<(Time, AskId)>,
    limit: usize,
) -> Result<(Vec<Ask>, Option<(Time, AskId)>), StoreError> {
    let scopes = whole.scopes.clone();
    let hidden = match whole.tidied_for() {
        Some(human) => gateway.snoozed(human).await?,
        None => HashSet::new(),
    };
    let shows = |ask: &Ask| whole.shows(ask) && !hidden.contains(&ask.id);
    let soon = ExpiringQuery { scopes, until, after, limit };
    gateway.expiring(soon, &wanted.filter, shows).await
}

/// The requests that expire soon, soonest first.
async fn expiring_page(
    gateway: &Gateway,
    whole: &ListScopes<'_>,
    wanted: &InboxFilter,
    within: u64,
) -> Result<InboxListPage, StoreError> {
    let after = wanted.after.as_deref().and_then(|text| {
        let (at, ask) = text.split_once('.')?;
        Some((Time::from_millis(at.parse().ok()?), ask.parse().ok()?))
    });
    let until = gateway.now().plus_seconds(within);
    let (asks, next) = expiring_by(gateway, whole, wanted, until, after, PAGE).await?;
    let known = (after.is_none() && next.is_none()).then_some(asks.len());
    let next = next.map(|(at, ask)| format!("{}.{ask}", at.millis()));
    let items = asks.into_iter().map(InboxEntry::one).collect();
    Ok(InboxListPage { items, next, found: None, known })
}

/// The requests that match a search, newest first, one page at a time, up to a limit.
async fn search_results(
    gateway: &Gateway,
    whole: &ListScopes<'_>,
    wanted: &InboxFilter,
) -> Result<InboxListPage, StoreError> {
    let search = SearchQuery {
        words: wanted.words.clone().unwrap_or_default(),
        scopes: whole.is_filtered().then(|| whole.scopes.clone()),
        filter: wanted.filter.clone(),
        open: Some(true),
        limit: MAX_RESULTS,
    };
    let mut asks = gateway.search(search).await?;
    let more = asks.len() == MAX_RESULTS;
    asks.retain(|ask| ask.is_open() && whole.shows(ask));
    let n = asks.len();
    let (items, next) = page_in_memory(asks.into_iter().map(InboxEntry::one), n, wanted.skipped());
    Ok(InboxListPage { items, next, found: Some(SearchCount { n, more }), known: Some(n) })
}

/// One page of the requests that this person snoozes.
async fn snoozed_page(
    gateway: &Gateway,
    human: &Human,
    wanted: &InboxFilter,
) -> Result<InboxListPage, StoreError> {
    let hidden = snoozed_by(gateway, human).await?;
    let n = hidden.len();
    let row = |(ask, until)| InboxEntry { aside_until: Some(until), ..InboxEntry::one(ask) };
    let (items, next) = page_in_memory(hidden.into_iter().map(row), n, wanted.skipped());
    Ok(InboxListPage { items, next, found: None, known: Some(n) })
}

/// The open requests that this person snoozes, soonest return first; a few hundred at most.
pub(super) async fn snoozed_by(
    gateway: &Gateway,
    human: &Human,
) -> Result<Vec<(Ask, Time)>, StoreError> {
    let hidden = gateway.store().snoozed(human.id.clone(), gateway.now()).await?;
    let mut aside = Vec::with_capacity(hidden.len());
    for (id, until) in hidden {
        let ask = gateway.ask(id).await?;
        let ask = ask.filter(|ask| ask.is_open() && ask.may_be_answered_by(human));
        aside.extend(ask.map(|ask| (Arc::unwrap_or_clone(ask), until)));
    }
    Ok(aside)
}

/// Whether a request is due within the 15 minutes that end at `until`. A request that stayed open
/// past its deadline is not: it is listed by its priority.
fn is_due_soon(ask: &Ask, until: Time) -> bool {
    let begin = until.millis() - i64::try_from(EXPIRING_SOON * 1000).unwrap_or_default();
    ask.due_at().is_some_and(|at| at <= until && at.millis() > begin)
}

/// One page of a list in memory, and the position of the next page.
fn page_in_memory<T>(
    all: impl Iterator<Item = T>,
    n: usize,
    skipped: usize,
) -> (Vec<T>, Option<String>) {
    let end = skipped.saturating_add(PAGE);
    (all.skip(skipped).take(PAGE).collect(), (end < n).then(|| end.to_string()))
}

/// The position of a page in the list by urgency. The first page fixes `until`, so that a request
/// whose deadline approaches while a person turns pages is neither skipped nor listed twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ListPosition {
    /// Requests that are due by this moment come first.
    until: Time,
    part: ListSection,
}

/// The part of the list that a page begins in, and after which request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListSection {
    /// Requests that are due soon, soonest first.
    Expiring(Option<(Time, AskId)>),
    /// The others, by priority and age.
    Others(Option<store::Cursor>),
}

impl ListPosition {
    fn first(now: Time) -> Self {
        Self { until: now.plus_seconds(EXPIRING_SOON), part: ListSection::Expiring(None) }
    }

    /// Parses a written [`ListPosition`]. Addresses of earlier versions have no `until`.
    fn read(text: &str, now: Time) -> Option<Self> {
        let cursor = |text: &str| {
            let at = text.parse::<HxpCursor>().ok()?;
            Some(ListSection::Others(Some(store::Cursor { rank: at.rank, ask: at.ask })))
        };
        let Some((until, place)) = text.split_once('~') else {
            return Some(Self { part: cursor(text)?, ..Self::first(now) });
        };
        let part = match place.strip_prefix('e') {
            Some("") => ListSection::Expiring(None),
            Some(after) => {
                let (at, ask) = after.split_once('.')?;
                ListSection::Expiring(Some((
                    Time::from_millis(at.parse().ok()?),
                    ask.parse().ok()?,
                )))
            }
            None if place.is_empty() => ListSection::Others(None),
            None => cursor(place)?,
        };
        Some(Self { until: Time::from_millis(until.parse().ok()?), part })
    }
}

impl fmt::Display for ListPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}~", self.until.millis())?;
        match self.part {
            ListSection::Expiring(None) => f.write_str("e"),
            ListSection::Expiring(Some((at, ask))) => write!(f, "e{}.{ask}", at.millis()),
            ListSection::Others(None) => Ok(()),
            ListSection::Others(Some(at)) => {
                write!(f, "{}", HxpCursor { rank: at.rank, ask: at.ask })
            }
        }
    }
}

/// Collects the rows of a page. Similar requests share a row, but a request that is due soon never
/// shares one with a request that is not.
struct RowCollector<'a> {
    human: &'a Human,
    folds: bool,
    items: Vec<InboxEntry>,
    keys: HashMap<(AgentId, SimilarityKey, u8, bool), usize>,
}

impl<'a> RowCollector<'a> {
    fn new(human: &'a Human, folds: bool) -> Self {
        Self { human, folds, items: Vec::new(), keys: HashMap::new() }
    }

    fn add(&mut self, ask: Ask, soon: bool) {
        let key = similarity_key(&ask, self.human).filter(|_| self.folds);
        let key = key.map(|(agent, fold, rank)| (agent, fold, rank, soon));
        let row = key.as_ref().and_then(|key| self.keys.get(key));
        if let Some(item) = row.and_then(|n| self.items.get_mut(*n)) {
            item.asks.push(ask);
        } else {
            self.keys.extend(key.map(|key| (key, self.items.len())));
            self.items.push(InboxEntry::one(ask));
        }
    }

    fn listed(mut self, next: Option<ListPosition>) -> InboxListPage {
        for item in self.items.iter_mut().filter(|item| item.asks.len() > 1) {
            item.open_ended = next.is_some();
        }
        let next = next.map(|next| next.to_string());
        InboxListPage { items: self.items, next, found: None, known: None }
    }
}

/// The similarity key of a request; `None` if a person must look at it by itself.
fn similarity_key(ask: &Ask, human: &Human) -> Option<(AgentId, SimilarityKey, u8)> {
    let free = ask.claim.is_none()
        && ask.held.is_none()
        && ask.allows_bulk().is_ok()
        && ask.may_be_answered_by(human);
    let fold = ask.similarity_key().filter(|_| free)?;
    Some((ask.agent.clone(), fold, ask.priority.rank()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_back_and_old_addresses_still_lead_somewhere() {
        let now = Time::from_millis(1_770_372_000_000);
        let (until, ask) = (now.plus_seconds(900), AskId::new(ulid::Ulid::from(7_u128)));
        let cursor = store::Cursor { rank: 2, ask };
        for part in [
            ListSection::Expiring(None),
            ListSection::Expiring(Some((now, ask))),
            ListSection::Others(None),
            ListSection::Others(Some(cursor)),
        ] {
            let place = ListPosition { until, part };
            assert_eq!(ListPosition::read(&place.to_string(), now), Some(place), "{place}");
        }
        let old = HxpCursor { rank: 2, ask }.to_string();
        let part = ListSection::Others(Some(cursor));
        assert_eq!(ListPosition::read(&old, now), Some(ListPosition { until, part }));
        for nonsense in ["", "x", "~", "1~x", "1~e5", "x~e", "1~e1.x"] {
            assert_eq!(ListPosition::read(nonsense, now), None, "{nonsense}");
        }
    }

    #[test]
    fn pages_of_what_is_found_follow_each_other() {
        let page = |skipped| page_in_memory(0..120, 120, skipped);
        assert_eq!((page(0).0.len(), page(0).1.as_deref()), (50, Some("50")));
        assert_eq!((page(100).0.len(), page(100).1), (20, None));
        assert_eq!((page(usize::MAX).0.len(), page(usize::MAX).1), (0, None));
    }
}

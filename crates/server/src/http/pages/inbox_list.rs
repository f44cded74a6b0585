//! What a list of the inbox is narrowed to, and this page of it, read from the store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dialects::hxp_execution::Cursor;
use kernel::ask::Fold;
use kernel::directory::Human;
use kernel::question::Kind;
use kernel::{AgentId, Ask, AskId, HumanId, Phase, ProjectId, Time};
use store::search::FOUND;
use store::{Expiring, Filter, List, Order, Search, StoreError};

use crate::http::App;
use crate::http::api::narrowing::{View, Whole, word};
use crate::web::inbox::{Found, KNOWN, Tab};
use crate::web::inbox_row::Item;
use crate::web::query::Query;

/// How many rows a page shows.
pub(super) const PAGE: usize = 50;
/// How often a page that folded much into few rows is read on.
const ROUNDS: usize = 4;

/// What somebody wants to see.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// What the address says, without where the page begins.
    pub(super) query: Query,
    pub(super) tab: Tab,
    pub(super) filter: Filter,
    within: Option<u64>,
    words: Option<String>,
    /// Where the page begins, as the page before said it.
    pub(super) after: Option<String>,
}

/// This page of it.
pub(super) struct Listed {
    pub(super) items: Vec<Item>,
    /// Where the next page begins.
    pub(super) next: Option<String>,
    pub(super) found: Option<Found>,
    /// How many there are, where reading the page told it.
    pub(super) known: Option<usize>,
}

impl Wanted {
    /// Reads an address. What means nothing there is left out; lists are there to be looked at.
    pub(super) fn of(pairs: &[(String, String)], human: &Human) -> Self {
        let mut query = Query::of(pairs, &KNOWN);
        let tab = query.take("view", |name| {
            Tab::named(name).filter(|tab| match tab {
                Tab::Everyone => human.admin,
                Tab::Inbox => false,
                Tab::Mine | Tab::Groups | Tab::Aside => true,
            })
        });
        let tab = tab.unwrap_or_default();
        let agent: Option<AgentId> = query.parsed("agent");
        let fold = query.take("fold", |text| text.parse::<Fold>().ok().filter(|_| agent.is_some()));
        let filter = Filter {
            project: query.parsed::<ProjectId>("project"),
            kinds: query.take("kind", word::<Kind>).into_iter().collect(),
            agent,
            fold,
            ..Filter::default()
        };
        let within = query.take("within", |text| text.parse().ok().filter(|n| *n <= 31_536_000));
        let words = query.get("q").map(str::to_owned);
        let after = pairs.iter().rfind(|(name, _)| name == "after").map(|(_, text)| text.clone());
        Self { query, tab, filter, within, words, after }
    }

    /// The same lists as our own API has them.
    pub(super) fn view(tab: Tab) -> View {
        match tab {
            Tab::Inbox | Tab::Aside => View::Inbox,
            Tab::Mine => View::Mine,
            Tab::Groups => View::Groups,
            Tab::Everyone => View::All,
        }
    }

    /// The open requests of a list.
    pub(super) fn open(&self, whole: &Whole<'_>) -> List {
        List {
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

impl App {
    /// This page of a list.
    pub(super) async fn listed(
        &self,
        human: &Human,
        wanted: &Wanted,
    ) -> Result<Listed, StoreError> {
        let whole = Wanted::view(wanted.tab).whole(human);
        let mut listed = if wanted.tab == Tab::Aside {
            self.put_aside(human, wanted).await?
        } else if wanted.words.is_some() {
            self.found(&whole, wanted).await?
        } else if let Some(within) = wanted.within {
            self.running_out(&whole, wanted, within).await?
        } else {
            self.by_urgency(human, &whole, wanted).await?
        };
        let asks: Vec<AskId> =
            listed.items.iter().filter_map(|item| item.asks.first()).map(|ask| ask.id).collect();
        let mut lookers: HashMap<AskId, Vec<HumanId>> = HashMap::new();
        for (ask, who) in self.gateway.store().lookers(asks, self.gateway.now()).await? {
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

    /// Most urgent first, with what is nearly the same in one row.
    async fn by_urgency(
        &self,
        human: &Human,
        whole: &Whole<'_>,
        wanted: &Wanted,
    ) -> Result<Listed, StoreError> {
        let mut items: Vec<Item> = Vec::new();
        let mut keys: HashMap<(AgentId, Fold, u8), usize> = HashMap::new();
        let after = wanted.after.as_deref().and_then(|text| text.parse::<Cursor>().ok());
        let mut after = after.map(|at| store::Cursor { rank: at.rank, ask: at.ask });
        for _ in 0..ROUNDS {
            let limit = PAGE - items.len();
            let page = self.page_of(whole, List { after, limit, ..wanted.open(whole) }).await?;
            for ask in page.asks {
                let key = fold_key(&ask, human).filter(|_| wanted.filter.fold.is_none());
                let row = key.as_ref().and_then(|key| keys.get(key));
                if let Some(item) = row.and_then(|n| items.get_mut(*n)) {
                    item.asks.push(ask);
                } else {
                    keys.extend(key.map(|key| (key, items.len())));
                    items.push(Item::one(ask));
                }
            }
            after = page.next;
            if after.is_none() || items.len() >= PAGE {
                break;
            }
        }
        for item in items.iter_mut().filter(|item| item.asks.len() > 1) {
            item.open_ended = after.is_some();
        }
        let next = after.map(|at| Cursor { rank: at.rank, ask: at.ask }.to_string());
        Ok(Listed { items, next, found: None, known: None })
    }

    /// What runs out soon, soonest first.
    async fn running_out(
        &self,
        whole: &Whole<'_>,
        wanted: &Wanted,
        within: u64,
    ) -> Result<Listed, StoreError> {
        let after = wanted.after.as_deref().and_then(|text| {
            let (at, ask) = text.split_once('.')?;
            Some((Time::from_millis(at.parse().ok()?), ask.parse().ok()?))
        });
        let until = self.gateway.now().plus_seconds(within);
        let scopes = whole.scopes.clone();
        let soon = Expiring { scopes, until, after, limit: PAGE };
        let hidden = match whole.tidied() {
            Some(human) => self.gateway.hidden(human).await?,
            None => HashSet::new(),
        };
        let shows = |ask: &Ask| whole.shows(ask) && !hidden.contains(&ask.id);
        let (asks, next) = self.gateway.expiring(soon, &wanted.filter, shows).await?;
        let known = (after.is_none() && next.is_none()).then_some(asks.len());
        let next = next.map(|(at, ask)| format!("{}.{ask}", at.millis()));
        let items = asks.into_iter().map(Item::one).collect();
        Ok(Listed { items, next, found: None, known })
    }

    /// What is found by its words, newest first: the newest so many, a page at a time.
    async fn found(&self, whole: &Whole<'_>, wanted: &Wanted) -> Result<Listed, StoreError> {
        let search = Search {
            words: wanted.words.clone().unwrap_or_default(),
            scopes: whole.is_part().then(|| whole.scopes.clone()),
            filter: wanted.filter.clone(),
            open: Some(true),
            limit: FOUND,
        };
        let mut asks = self.gateway.search(search).await?;
        let more = asks.len() == FOUND;
        asks.retain(|ask| ask.is_open() && whole.shows(ask));
        let n = asks.len();
        let (items, next) = stretch(asks.into_iter().map(Item::one), n, wanted.skipped());
        Ok(Listed { items, next, found: Some(Found { n, more }), known: Some(n) })
    }

    /// This page of what this person has put aside.
    async fn put_aside(&self, human: &Human, wanted: &Wanted) -> Result<Listed, StoreError> {
        let hidden = self.aside_of(human).await?;
        let n = hidden.len();
        let row = |(ask, until)| Item { aside_until: Some(until), ..Item::one(ask) };
        let (items, next) = stretch(hidden.into_iter().map(row), n, wanted.skipped());
        Ok(Listed { items, next, found: None, known: Some(n) })
    }

    /// What this person has put aside and still waits, what comes back soonest first; a few hundred
    /// at most.
    pub(super) async fn aside_of(&self, human: &Human) -> Result<Vec<(Ask, Time)>, StoreError> {
        let hidden = self.gateway.store().snoozed(human.id.clone(), self.gateway.now()).await?;
        let mut aside = Vec::with_capacity(hidden.len());
        for (id, until) in hidden {
            let ask = self.gateway.ask(id).await?;
            let ask = ask.filter(|ask| ask.is_open() && ask.admits(human));
            aside.extend(ask.map(|ask| (Arc::unwrap_or_clone(ask), until)));
        }
        Ok(aside)
    }
}

/// A page of what is there in full, and where the next begins.
fn stretch<T>(all: impl Iterator<Item = T>, n: usize, skipped: usize) -> (Vec<T>, Option<String>) {
    let end = skipped.saturating_add(PAGE);
    (all.skip(skipped).take(PAGE).collect(), (end < n).then(|| end.to_string()))
}

/// What requests of one row have in common; none for one that must be looked at by itself.
fn fold_key(ask: &Ask, human: &Human) -> Option<(AgentId, Fold, u8)> {
    let free =
        ask.claim.is_none() && ask.held.is_none() && ask.allows_bulk().is_ok() && ask.admits(human);
    let fold = ask.fold().filter(|_| free)?;
    Some((ask.agent.clone(), fold, ask.priority.rank()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_what_is_found_follow_each_other() {
        let page = |skipped| stretch(0..120, 120, skipped);
        assert_eq!((page(0).0.len(), page(0).1.as_deref()), (50, Some("50")));
        assert_eq!((page(100).0.len(), page(100).1), (20, None));
        assert_eq!((page(usize::MAX).0.len(), page(usize::MAX).1), (0, None));
    }
}

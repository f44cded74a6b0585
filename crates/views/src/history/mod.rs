//! The closed requests: who answered them, how and when; and the state of the audit log.

use askama::Template;
use kernel::ask::Ending;
use kernel::directory::{Directory, Human};
use kernel::{Ask, Time};

use crate::answer::outcome::OutcomeView;
use crate::components::query::{FilterField, PageQuery};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::inbox::{SearchCount, common_filters};
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The query parameters of the history, in the order of its form.
pub const QUERY_PARAMETERS: [&str; 9] =
    ["view", "q", "by", "project", "agent", "kind", "outcome", "since", "until"];

/// The input of the history page.
#[derive(Debug, Clone, Copy)]
pub struct HistoryPage<'a> {
    /// The person who views the page.
    pub me: &'a Human,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The filter of the list.
    pub query: &'a PageQuery,
    /// This page of the list, newest first.
    pub asks: &'a [Ask],
    /// The result of a text search, if there was one.
    pub found: Option<SearchCount>,
    /// The path of the next page.
    pub next: Option<&'a str>,
    /// Whether this is not the first page.
    pub later_page: bool,
    pub chain: &'a AuditLogStatus,
}

/// The state of the audit log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditLogStatus {
    /// The newest block: its number, when it was sealed, and whether its signature is valid.
    pub sealed: Option<(u64, Time, bool)>,
    /// How many events are not in a block yet.
    pub waiting: u64,
}

/// Renders the page as HTML.
pub fn page(frame: &PageContext, history: &HistoryPage<'_>) -> String {
    let &HistoryPage { me, directory, query, asks, found, next, later_page, chain } = history;
    let row = |ask: &Ask| HistoryRow::new(ask, directory, frame.now);
    let exported = query.without(&["q"]);
    let narrowed = query.pairs().iter().any(|(name, _)| *name != "view");
    render(&HistoryTemplate {
        frame,
        rows: asks.iter().filter_map(row).collect(),
        searched: VisibleText::of(query.get("q").unwrap_or_default()),
        pickers: filter_fields(me, directory, query),
        since: query.get("since").unwrap_or_default().to_owned(),
        until: query.get("until").unwrap_or_default().to_owned(),
        filtered: query.pairs().iter().any(|(name, _)| !["view", "q"].contains(name)),
        narrowed,
        everyone: me.admin.then(|| query.get("view") == Some("all")),
        mine_href: query.without(&["view"]).href(paths::HISTORY),
        everyone_href: query.with("view", "all").href(paths::HISTORY),
        plain_href: PageQuery::default().href(paths::HISTORY),
        first_href: query.href(paths::HISTORY),
        inbox_href: query.without(&["view", "by", "outcome", "since", "until"]).href(paths::INBOX),
        csv_href: exported.with("format", "csv").href(paths::EXPORT),
        jsonl_href: exported.with("format", "jsonl").href(paths::EXPORT),
        seal: chain.sealed.map(|(n, at, holds)| (n, RelativeTime::new(at, frame.now), holds)),
        unsealed: chain.waiting,
        found,
        next,
        later_page,
    })
}

#[derive(Template)]
#[template(path = "history/history.html")]
struct HistoryTemplate<'a> {
    frame: &'a PageContext,
    rows: Vec<HistoryRow>,
    searched: VisibleText,
    pickers: Vec<FilterField>,
    since: String,
    until: String,
    filtered: bool,
    narrowed: bool,
    everyone: Option<bool>,
    mine_href: String,
    everyone_href: String,
    plain_href: String,
    first_href: String,
    inbox_href: String,
    csv_href: String,
    jsonl_href: String,
    seal: Option<(u64, RelativeTime, bool)>,
    unsealed: u64,
    found: Option<SearchCount>,
    next: Option<&'a str>,
    later_page: bool,
}

/// A closed request.
struct HistoryRow {
    href: String,
    receipt: Option<String>,
    prompt: VisibleText,
    agent: String,
    project: String,
    /// How the answer arrived; empty if nobody answered.
    how: String,
    /// The changes of an approval with edits, because the question shows the old values.
    changes: Option<String>,
    outcome: OutcomeView,
}

impl HistoryRow {
    fn new(ask: &Ask, directory: &Directory, now: Time) -> Option<Self> {
        let question = ask.question.value();
        let prompt = question.map(|question| VisibleText::beginning(question.prompt(), 160));
        let outcome = OutcomeView::of(ask, directory, now)?;
        Some(Self {
            href: paths::request(ask.id),
            receipt: question.map(|_| paths::receipt(ask.id)),
            prompt: prompt.unwrap_or_else(wording::erased),
            agent: ask.agent.to_string(),
            project: ask.project.to_string(),
            how: match ask.ending()? {
                Ending::Completed(resolution) => wording::channel_name(resolution.via),
                Ending::Expired { .. } | Ending::Failed { .. } | Ending::Cancelled { .. } => {
                    String::new()
                }
            },
            changes: outcome.changes(),
            outcome,
        })
    }
}

fn filter_fields(me: &Human, directory: &Directory, query: &PageQuery) -> Vec<FilterField> {
    let met = |human: &&Human| {
        me.admin || human.id == me.id || human.projects.intersection(&me.projects).next().is_some()
    };
    let people = directory
        .humans()
        .filter(met)
        .map(|human| (human.id.to_string(), wording::person_name(directory, &human.id)));
    let outcomes = [
        ("completed", t!("history-answered")),
        ("expired", t!("history-expired")),
        ("failed", t!("history-failed")),
        ("cancelled", t!("history-withdrawn")),
    ];
    let outcomes = outcomes.into_iter().map(|(value, label)| (value.to_owned(), label));
    let mut pickers =
        vec![FilterField::new(("by", t!("filter-ended-by"), t!("filter-anybody")), people, query)];
    pickers.extend(common_filters(me, directory, query));
    pickers.push(FilterField::new(
        ("outcome", t!("filter-outcome"), t!("filter-every-outcome")),
        outcomes,
        query,
    ));
    pickers
}

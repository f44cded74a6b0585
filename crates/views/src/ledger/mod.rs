//! Ledgers: the recorded knowledge of projects, teams and the whole organisation, key by key, with
//! every entry.

use askama::Template;
use kernel::Time;
use kernel::directory::{Directory, Human};
use kernel::task::{Entry, LedgerScope};

use crate::components::facts::{Fact, FactValue, fact};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::VisibleText;
use crate::site::{assets, paths};
use crate::{PageContext, render, tasks};

/// The ledger of the whole organisation, which everyone can find; the others are named.
pub const ORGANIZATION_LEDGER: &str = "org:all";

/// The ledgers that a person finds without knowing their names.
pub fn listed_ledgers(me: &Human, directory: &Directory) -> Vec<LedgerScope> {
    let projects = tasks::projects_of(me, directory);
    let projects = projects.iter().map(|id| format!("project:{id}"));
    let teams = me.groups.iter().map(|id| format!("team:{id}"));
    let all = projects.chain(teams).chain([ORGANIZATION_LEDGER.to_owned()]);
    all.filter_map(|scope| scope.parse().ok()).collect()
}

/// One ledger in the list.
#[derive(Debug, Clone)]
pub struct LedgerSummary {
    pub scope: LedgerScope,
    /// Whether it has any entry.
    pub written: bool,
}

/// Renders the list of ledgers as HTML; `wrong` says that the entered name is invalid.
pub fn list(frame: &PageContext, listed: &[LedgerSummary], wrong: bool) -> String {
    let row = |one: &LedgerSummary| {
        let (kind, name) = one.scope.parts();
        let what = match kind {
            "project" => t!("common-project"),
            "team" => t!("ledgers-team"),
            _ => t!("ledgers-organisation"),
        };
        (paths::ledger(&one.scope), what, name.to_owned(), one.written)
    };
    render(&LedgerListPage { frame, rows: listed.iter().map(row).collect(), wrong })
}

#[derive(Template)]
#[template(path = "ledger/ledgers.html")]
struct LedgerListPage<'a> {
    frame: &'a PageContext,
    rows: Vec<(String, String, String, bool)>,
    wrong: bool,
}

/// Renders the keys of one ledger as HTML.
pub fn page(
    frame: &PageContext,
    scope: &LedgerScope,
    entries: &[Entry],
    next: Option<&str>,
    later_page: bool,
) -> String {
    let rows = entries.iter().enumerate().map(|(n, entry)| LedgerRow::new(entry, n, frame.now));
    render(&LedgerPage {
        frame,
        scope: scope.to_string(),
        here: paths::ledger(scope),
        key: None,
        rows: rows.collect(),
        next,
        later_page,
    })
}

/// Renders all entries of one key as HTML, newest first.
pub fn history(
    frame: &PageContext,
    scope: &LedgerScope,
    key: &str,
    entries: &[Entry],
    next: Option<&str>,
) -> String {
    let rows = entries.iter().enumerate().map(|(n, entry)| LedgerRow::new(entry, n, frame.now));
    render(&LedgerPage {
        frame,
        scope: scope.to_string(),
        here: paths::ledger(scope),
        key: Some(VisibleText::of(key)),
        rows: rows.collect(),
        next,
        later_page: false,
    })
}

#[derive(Template)]
#[template(path = "ledger/ledger.html")]
struct LedgerPage<'a> {
    frame: &'a PageContext,
    scope: String,
    here: String,
    key: Option<VisibleText>,
    rows: Vec<LedgerRow>,
    next: Option<&'a str>,
    later_page: bool,
}

/// One entry of a key.
struct LedgerRow {
    href: String,
    key: VisibleText,
    value: Fact,
    revision: u64,
    by: String,
    task: String,
    at: RelativeTime,
}

impl LedgerRow {
    fn new(entry: &Entry, n: usize, now: Time) -> Self {
        let value = match entry.value.value() {
            Some(value) => fact(&t!("ledger-value"), value, &format!("value-{n}")),
            None => Fact {
                key: VisibleText::of(&t!("ledger-value")),
                value: FactValue::Line(crate::components::wording::erased()),
            },
        };
        Self {
            href: paths::ledger_key(&entry.scope, &entry.key),
            key: VisibleText::of(&entry.key),
            value,
            revision: entry.head.seq,
            by: paths::task(entry.by),
            task: entry.by.to_string(),
            at: RelativeTime::new(entry.written_at, now),
        }
    }
}

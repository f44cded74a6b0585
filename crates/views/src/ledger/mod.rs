//! Ledgers: the recorded knowledge of projects, teams and the whole organisation, key by key, with
//! every entry.

use askama::Template;
use kernel::Time;
use kernel::directory::{Directory, Human};
use kernel::task::{Entry, Scope};

use crate::components::facts::{Fact, Shown, fact};
use crate::components::when::When;
use crate::components::words::Words;
use crate::site::{assets, paths};
use crate::{Frame, render, tasks};

/// The ledger of the whole organisation, which everyone can find; the others are named.
pub const EVERYBODY: &str = "org:all";

/// The ledgers that a person finds without knowing their names.
pub fn known(me: &Human, directory: &Directory) -> Vec<Scope> {
    let projects = tasks::projects_of(me, directory);
    let projects = projects.iter().map(|id| format!("project:{id}"));
    let teams = me.groups.iter().map(|id| format!("team:{id}"));
    let all = projects.chain(teams).chain([EVERYBODY.to_owned()]);
    all.filter_map(|scope| scope.parse().ok()).collect()
}

/// One ledger in the list.
#[derive(Debug, Clone)]
pub struct Listed {
    pub scope: Scope,
    /// Whether it has any entry.
    pub written: bool,
}

/// Renders the list of ledgers as HTML; `wrong` says that the entered name is invalid.
pub fn list(frame: &Frame, listed: &[Listed], wrong: bool) -> String {
    let row = |one: &Listed| {
        let (kind, name) = one.scope.parts();
        let what = match kind {
            "project" => "Project",
            "team" => "Team",
            _ => "Organisation",
        };
        (paths::ledger(&one.scope), what, name.to_owned(), one.written)
    };
    render(&ListPage { frame, rows: listed.iter().map(row).collect(), wrong })
}

#[derive(Template)]
#[template(path = "ledger/ledgers.html")]
struct ListPage<'a> {
    frame: &'a Frame,
    rows: Vec<(String, &'static str, String, bool)>,
    wrong: bool,
}

/// Renders the keys of one ledger as HTML.
pub fn page(
    frame: &Frame,
    scope: &Scope,
    entries: &[Entry],
    next: Option<&str>,
    later_page: bool,
) -> String {
    let rows = entries.iter().enumerate().map(|(n, entry)| Row::new(entry, n, frame.now));
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
    frame: &Frame,
    scope: &Scope,
    key: &str,
    entries: &[Entry],
    next: Option<&str>,
) -> String {
    let rows = entries.iter().enumerate().map(|(n, entry)| Row::new(entry, n, frame.now));
    render(&LedgerPage {
        frame,
        scope: scope.to_string(),
        here: paths::ledger(scope),
        key: Some(Words::of(key)),
        rows: rows.collect(),
        next,
        later_page: false,
    })
}

#[derive(Template)]
#[template(path = "ledger/ledger.html")]
struct LedgerPage<'a> {
    frame: &'a Frame,
    scope: String,
    here: String,
    key: Option<Words>,
    rows: Vec<Row>,
    next: Option<&'a str>,
    later_page: bool,
}

/// One entry of a key.
struct Row {
    href: String,
    key: Words,
    value: Fact,
    revision: u64,
    by: String,
    task: String,
    at: When,
}

impl Row {
    fn new(entry: &Entry, n: usize, now: Time) -> Self {
        let value = match entry.value.value() {
            Some(value) => fact("Value", value, &format!("value-{n}")),
            None => Fact {
                key: Words::of("Value"),
                value: Shown::Line(crate::components::words::erased()),
            },
        };
        Self {
            href: paths::ledger_key(&entry.scope, &entry.key),
            key: Words::of(&entry.key),
            value,
            revision: entry.head.seq,
            by: paths::task(entry.by),
            task: entry.by.to_string(),
            at: When::new(entry.written_at, now),
        }
    }
}

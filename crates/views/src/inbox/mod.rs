//! The requests that wait for one person, most urgent first, and the ones answered recently.
//!
//! A [`InboxList`] is the part of the page that changes while it is open: the page renders it, and
//! the page's event stream sends the differences.

pub mod bulk;
pub mod row;
pub mod snooze;

use askama::Template;
use kernel::Ask;
use kernel::audit::Digest;
use kernel::directory::{Directory, Human};
use kernel::question::QuestionKind;

use crate::answer::outcome::OutcomeView;
use crate::banner::{ActionOutcome, Banner};
use crate::components::query::{FilterField, PageQuery};
use crate::components::wording::{self, VisibleText};
use crate::inbox::row::{InboxEntry, InboxRow, RowContext};
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The query parameters of the inbox, in the order of its form.
pub const QUERY_PARAMETERS: [&str; 7] = ["view", "q", "project", "agent", "kind", "within", "fold"];
/// The parameters that filter a list; `view` selects the list.
pub const FILTER_PARAMETERS: [&str; 6] = ["q", "project", "agent", "kind", "within", "fold"];

/// One of a person's lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tab {
    /// All requests that wait for them.
    #[default]
    Inbox,
    /// Requests that are assigned to them or that they own.
    Mine,
    /// Requests to the pools they belong to.
    Groups,
    /// For administrators: the requests that wait for anyone.
    Everyone,
    /// Requests they have snoozed.
    Aside,
}

impl Tab {
    /// Every tab, in the order of the page.
    pub const ALL: [Self; 5] = [Self::Inbox, Self::Mine, Self::Groups, Self::Everyone, Self::Aside];

    /// The name in the URL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Mine => "mine",
            Self::Groups => "groups",
            Self::Everyone => "all",
            Self::Aside => "aside",
        }
    }

    /// The tab with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tab| tab.name() == name)
    }

    fn label(self) -> String {
        match self {
            Self::Inbox => t!("inbox-tab-all"),
            Self::Mine => t!("inbox-tab-mine"),
            Self::Groups => t!("inbox-tab-groups"),
            Self::Everyone => t!("inbox-tab-everyone"),
            Self::Aside => t!("inbox-tab-snoozed"),
        }
    }
}

/// The result of a text search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchCount {
    /// The number of results.
    pub n: usize,
    /// Whether there are more results than the page shows.
    pub more: bool,
}

/// The input of the inbox page.
#[derive(Debug, Clone, Copy)]
pub struct InboxPage<'a> {
    /// The person who views the page.
    pub me: &'a Human,
    /// Looks up display names.
    pub directory: &'a Directory,
    pub tab: Tab,
    /// The filter of the list.
    pub query: &'a PageQuery,
    /// The available lists, with the number of requests in each as text: `12`, or `10000+` above
    /// the counting limit.
    pub counts: &'a [(Tab, String)],
    /// The number of requests in this list with the filter, as text.
    pub total: &'a str,
    /// The result of a text search, if there was one.
    pub found: Option<SearchCount>,
    /// This page of the list.
    pub items: &'a [InboxEntry],
    /// The path of the next page.
    pub next: Option<&'a str>,
    /// Whether this is not the first page.
    pub later_page: bool,
    /// The path of the event stream.
    pub live: &'a str,
    /// The requests that closed recently, newest first.
    pub recent: &'a [Ask],
    /// The result of the person's last action.
    pub notice: Option<&'a ActionOutcome>,
}

/// Renders the page as HTML.
pub fn page(frame: &PageContext, inbox: &InboxPage<'_>) -> String {
    let now = frame.now;
    let past = |ask: &Ask| ClosedRequestRow::new(ask, inbox.directory, frame);
    let past: Vec<ClosedRequestRow> = inbox.recent.iter().filter_map(past).collect();
    let board = InboxList::new(frame, inbox);
    render(&InboxTemplate {
        frame,
        digest: board.digest(),
        tab: inbox.tab,
        query: inbox.query,
        tabs: tabs(inbox),
        searched: VisibleText::of(inbox.query.get("q").unwrap_or_default()),
        pickers: filter_fields(inbox),
        here: inbox.query.text(),
        plain_href: inbox.query.without(&FILTER_PARAMETERS).href(paths::INBOX),
        history_href: inbox.query.without(&["view", "within", "fold"]).href(paths::HISTORY),
        first_href: inbox.query.href(paths::INBOX),
        together_href: inbox.query.href(paths::BULK),
        found: inbox.found,
        past,
        next: inbox.next,
        later_page: inbox.later_page,
        live: inbox.live,
        banner: inbox.notice.map(|notice| notice.banner(inbox.directory, now, None)),
        admin: inbox.me.admin,
        write: inbox.directory.agents_open_to(inbox.me).next().map(|_| paths::WRITE),
        first_key: inbox.me.admin || inbox.directory.agents_of(&inbox.me.id).next().is_some(),
        board,
    })
}

#[derive(Template)]
#[template(path = "inbox/inbox.html")]
struct InboxTemplate<'a> {
    frame: &'a PageContext,
    board: InboxList,
    digest: u64,
    tab: Tab,
    query: &'a PageQuery,
    tabs: Vec<TabLink>,
    searched: VisibleText,
    pickers: Vec<FilterField>,
    here: String,
    plain_href: String,
    history_href: String,
    first_href: String,
    together_href: String,
    found: Option<SearchCount>,
    past: Vec<ClosedRequestRow>,
    next: Option<&'a str>,
    later_page: bool,
    live: &'a str,
    banner: Option<Banner>,
    admin: bool,
    /// The path to write to an agent, if there is one.
    write: Option<&'static str>,
    first_key: bool,
}

impl InboxTemplate<'_> {
    fn narrowed(&self) -> bool {
        is_filtered(self.query)
    }

    /// Whether a filter other than the text search is set.
    fn filtered(&self) -> bool {
        self.query.pairs().iter().any(|(name, _)| !["view", "q"].contains(name))
    }

    fn folded(&self) -> bool {
        self.query.get("fold").is_some()
    }

    fn aside(&self) -> bool {
        self.tab == Tab::Aside
    }

    /// Whether this is the first page of the unfiltered inbox.
    fn fresh(&self) -> bool {
        self.tab == Tab::Inbox && !self.narrowed() && !self.later_page
    }
}

/// Whether a list is filtered.
pub fn is_filtered(query: &PageQuery) -> bool {
    query.pairs().iter().any(|(name, _)| FILTER_PARAMETERS.contains(name))
}

struct TabLink {
    name: &'static str,
    label: String,
    href: String,
    count: String,
    here: bool,
}

fn tabs(inbox: &InboxPage<'_>) -> Vec<TabLink> {
    let link = |(tab, count): &(Tab, String)| TabLink {
        name: tab.name(),
        label: tab.label(),
        href: match tab {
            Tab::Inbox => inbox.query.without(&["view", "fold"]).href(paths::INBOX),
            Tab::Aside => PageQuery::default().with("view", tab.name()).href(paths::INBOX),
            Tab::Mine | Tab::Groups | Tab::Everyone => {
                inbox.query.without(&["fold"]).with("view", tab.name()).href(paths::INBOX)
            }
        },
        count: count.clone(),
        here: *tab == inbox.tab,
    };
    inbox.counts.iter().map(link).collect()
}

fn filter_fields(inbox: &InboxPage<'_>) -> Vec<FilterField> {
    let (query, directory) = (inbox.query, inbox.directory);
    let mut pickers = common_filters(inbox.me, directory, query);
    let within = [("3600", t!("filter-within-an-hour")), ("86400", t!("filter-within-a-day"))];
    let within = within.into_iter().map(|(value, label)| (value.to_owned(), label));
    pickers.push(FilterField::new(
        ("within", t!("filter-expires"), t!("filter-any-time")),
        within,
        query,
    ));
    pickers
}

/// The filters of every list: the projects and agents that this person may see, and kinds.
pub(crate) fn common_filters(
    me: &Human,
    directory: &Directory,
    query: &PageQuery,
) -> Vec<FilterField> {
    let mine = |project: &kernel::ProjectId| me.admin || me.projects.contains(project);
    let twice = |name: String| (name.clone(), name);
    let projects = directory.projects().map(|project| &project.id).filter(|id| mine(id));
    let agents = directory.agents().filter(|one| one.owner == me.id || mine(&one.project));
    let kinds =
        QuestionKind::ALL.into_iter().map(|kind| (kind.as_str().to_owned(), wording::kind(kind)));
    vec![
        FilterField::new(
            ("project", t!("common-project"), t!("filter-every-project")),
            projects.map(|id| twice(id.to_string())),
            query,
        ),
        FilterField::new(
            ("agent", t!("common-agent"), t!("filter-every-agent")),
            agents.map(|agent| twice(agent.id.to_string())),
            query,
        ),
        FilterField::new(("kind", t!("filter-kind"), t!("filter-every-kind")), kinds, query),
    ]
}

/// The part of the page that changes while it is open.
pub struct InboxList {
    pub heading: String,
    /// The title of the browser tab, without the product name.
    pub title: String,
    /// The names of the lists with the number of requests in each.
    pub counts: Vec<(&'static str, String)>,
    pub rows: Vec<InboxRow>,
}

impl InboxList {
    /// The board of this page of the list.
    pub fn new(frame: &PageContext, inbox: &InboxPage<'_>) -> Self {
        let around =
            RowContext { frame, me: inbox.me, directory: inbox.directory, query: inbox.query };
        let mine = inbox.counts.iter().find(|(tab, _)| *tab == Tab::Inbox);
        let mine = mine.map(|(_, count)| count.as_str()).filter(|count| *count != "0");
        let count = mine.map(|count| format!("({count}) ")).unwrap_or_default();
        let place = match inbox.tab {
            Tab::Inbox => t!("nav-inbox"),
            Tab::Mine | Tab::Groups | Tab::Everyone | Tab::Aside => inbox.tab.label(),
        };
        Self {
            heading: heading(inbox),
            title: format!("{count}{place}"),
            counts: inbox.counts.iter().map(|(tab, count)| (tab.name(), count.clone())).collect(),
            rows: inbox.items.iter().filter_map(|item| InboxRow::new(item, around)).collect(),
        }
    }

    /// Identifies a version of the board; relative times do not count.
    pub fn digest(&self) -> u64 {
        let mut all = format!("{}\0{}\0{:?}", self.heading, self.title, self.counts);
        for row in &self.rows {
            all.push('\0');
            all.push_str(&row.key);
            all.push_str(&row.version);
        }
        let digest = Digest::of(all.as_bytes());
        digest.0.first_chunk().copied().map(u64::from_be_bytes).unwrap_or_default()
    }

    fn critical(&self) -> usize {
        self.rows.iter().filter(|row| row.urgency.class == "critical").count()
    }
}

fn heading(inbox: &InboxPage<'_>) -> String {
    let n = inbox.total;
    let none = n == "0";
    if inbox.query.get("q").is_some() {
        return match inbox.found {
            Some(SearchCount { n: 0, .. }) | None => t!("inbox-no-match"),
            Some(SearchCount { n, more: true }) => t!("inbox-more-matches", n = n),
            Some(SearchCount { n, more: false }) => t!("inbox-matches", n = n),
        };
    }
    // A count with a plus sign is a text, and takes the plural.
    let number: Option<u64> = n.parse().ok();
    if inbox.query.get("fold").is_some() {
        return match number {
            Some(0) => t!("inbox-none-similar"),
            Some(n) => t!("row-similar", n = n),
            None => t!("row-similar", n = n),
        };
    }
    if is_filtered(inbox.query) {
        return match number {
            Some(0) => t!("inbox-no-match"),
            Some(n) => t!("inbox-matches", n = n),
            None => t!("inbox-matches", n = n),
        };
    }
    match inbox.tab {
        Tab::Aside if none => t!("inbox-nothing-snoozed"),
        Tab::Aside => t!("inbox-snoozed", n = n),
        Tab::Inbox | Tab::Mine | Tab::Groups | Tab::Everyone if none => t!("inbox-caught-up"),
        Tab::Inbox | Tab::Mine | Tab::Groups | Tab::Everyone => t!("inbox-waiting", n = n),
    }
}

/// A closed request.
struct ClosedRequestRow {
    href: String,
    prompt: VisibleText,
    agent: String,
    /// The changes of an approval with edits, because the question shows the old values.
    changes: Option<String>,
    outcome: OutcomeView,
}

impl ClosedRequestRow {
    fn new(ask: &Ask, directory: &Directory, frame: &PageContext) -> Option<Self> {
        let outcome = OutcomeView::of(ask, directory, frame.now)?;
        let prompt = ask.question.value().map(|q| VisibleText::beginning(q.prompt(), 120));
        let prompt = prompt.unwrap_or_else(wording::erased);
        let changes = outcome.changes();
        Some(Self {
            changes,
            href: paths::request(ask.id),
            prompt,
            agent: ask.agent.to_string(),
            outcome,
        })
    }
}

/// Three ways to send the first question.
#[derive(Debug, Clone)]
pub struct QuickStart {
    /// A command for curl.
    pub curl: String,
    /// A script that needs only Python's standard library.
    pub python: String,
    /// A call of the `countersign` command.
    pub cli: String,
}

impl QuickStart {
    /// The three ways, with the server's address and a key filled in.
    pub fn with(server_url: &str, key: &str) -> Self {
        let url = server_url.trim_end_matches('/');
        let body = r#"{"action": "APPROVE", "payload": {"item": "Deploy v2.1.0 to production"}}"#;
        Self {
            curl: format!(
                "curl {url}/hxp/v1/requests \\\n  -H 'Authorization: Bearer {key}' \\\n  \
                 -H 'Content-Type: application/json' \\\n  -d '{body}'"
            ),
            python: format!(
                "import json, urllib.request\n\nbody = {body}\nrequest = urllib.request.Request(\n    \
                 \"{url}/hxp/v1/requests\",\n    json.dumps(body).encode(),\n    \
                 {{\"Authorization\": \"Bearer {key}\", \"Content-Type\": \
                 \"application/json\"}},\n)\nprint(urllib.request.urlopen(request).read().decode())"
            ),
            cli: format!(
                "export COUNTERSIGN_URL={url} COUNTERSIGN_API_KEY={key}\n\
                 countersign ask \"Deploy v2.1.0 to production?\" --wait"
            ),
        }
    }
}

//! Everything that waits for one person, most urgent first, and what was answered lately.

use askama::Template;
use kernel::Ask;
use kernel::directory::{Directory, Human};
use kernel::question::{Body, Pick, Question};
use kernel::text::is_hidden;

use super::facts::{Facts, Shown};
use super::notices::{Banner, Notice};
use super::outcome::Outcome;
use super::when::When;
use super::words::{self, Urgency, Words};
use super::{Frame, assets, paths, render};

/// The longest question that is answered from the list.
const QUICK: usize = 140;
/// How much of a longer one the list shows.
const BEGINNING: usize = 220;

/// What the inbox is made from.
#[derive(Debug, Clone, Copy)]
pub struct Inbox<'a> {
    /// Who looks.
    pub me: &'a Human,
    /// For names.
    pub directory: &'a Directory,
    /// What waits, most urgent first; this page of it.
    pub waiting: &'a [Ask],
    /// How many wait in all, as words: `12`, or `10000+` where nobody counted further.
    pub total: &'a str,
    /// Where the next page is.
    pub next: Option<&'a str>,
    /// Whether this is not the first page.
    pub later_page: bool,
    /// What ended lately, newest first.
    pub recent: &'a [Ask],
    /// What just happened.
    pub notice: Option<&'a Notice>,
}

/// The page as HTML.
pub fn page(frame: &Frame, inbox: &Inbox<'_>) -> String {
    let now = frame.now;
    let row = |ask: &Ask| Row::new(ask, inbox, frame);
    let past = |ask: &Ask| Past::new(ask, inbox.directory, frame);
    render(&InboxPage {
        frame,
        rows: inbox.waiting.iter().map(row).collect(),
        past: inbox.recent.iter().filter_map(past).collect(),
        total: inbox.total,
        next: inbox.next,
        later_page: inbox.later_page,
        banner: inbox.notice.map(|notice| notice.banner(inbox.directory, now, None)),
        admin: inbox.me.admin,
        first_key: inbox.me.admin || inbox.directory.agents_of(&inbox.me.id).next().is_some(),
    })
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxPage<'a> {
    frame: &'a Frame,
    rows: Vec<Row>,
    past: Vec<Past>,
    total: &'a str,
    next: Option<&'a str>,
    later_page: bool,
    banner: Option<Banner>,
    admin: bool,
    first_key: bool,
}

impl InboxPage<'_> {
    fn heading(&self) -> String {
        match self.total {
            "0" => "Nothing waits for you".to_owned(),
            "1" => "1 request waits for you".to_owned(),
            n => format!("{n} requests wait for you"),
        }
    }

    fn critical(&self) -> usize {
        self.rows.iter().filter(|row| row.urgency.class == "critical").count()
    }

    fn title(&self) -> String {
        let count = if self.total == "0" { String::new() } else { format!("({}) ", self.total) };
        format!("{count}Inbox")
    }
}

/// One waiting request.
struct Row {
    href: String,
    answer_href: String,
    prompt: Words,
    kind: &'static str,
    agent: String,
    project: String,
    urgency: Urgency,
    asked: When,
    deadline: Option<When>,
    held_by: Option<String>,
    mine: bool,
    quick: Option<Quick>,
}

/// An answer from the list: only where the whole question is in the row.
struct Quick {
    facts: Facts,
    buttons: Vec<QuickButton>,
}

struct QuickButton {
    tone: &'static str,
    name: &'static str,
    value: String,
    verb: &'static str,
    /// Said by screen readers; sighted people have it right above.
    object: Words,
    /// Whether the object is drawn.
    shown: bool,
}

impl Row {
    fn new(ask: &Ask, inbox: &Inbox<'_>, frame: &Frame) -> Self {
        let question = ask.question.value();
        let prompt = question.map(|q| q.prompt().trim()).unwrap_or_default();
        let holder = ask.claim.as_ref().map(|claim| &claim.human);
        let mine = holder.is_some_and(|holder| *holder == inbox.me.id);
        let held_by = holder.filter(|_| !mine).map(|id| words::person(inbox.directory, id));
        let due = Outcome::of(ask, inbox.directory, frame.now).is_some();
        let quick = question.filter(|_| held_by.is_none() && !due).and_then(quick);
        let shown = match question {
            Some(_) => Words::beginning(prompt, BEGINNING),
            None => super::outcome::erased(),
        };
        Self {
            href: paths::request(ask.id),
            answer_href: paths::answer(ask.id),
            prompt: shown,
            kind: words::kind(ask.kind),
            agent: ask.agent.to_string(),
            project: ask.project.to_string(),
            urgency: ask.priority.into(),
            asked: When::new(ask.created_at, frame.now),
            deadline: ask.expires_at.map(|at| When::new(at, frame.now)),
            held_by,
            mine,
            quick,
        }
    }
}

/// The buttons of a question that fits into a row whole; `None` sends the person to its page.
fn quick(question: &Question) -> Option<Quick> {
    let short = |text: &str, most: usize| {
        text.chars().count() <= most && !text.contains('\n') && !text.contains(is_hidden)
    };
    if question.context().is_some_and(|text| !text.trim().is_empty())
        || !short(question.prompt().trim(), QUICK)
    {
        return None;
    }
    let button = |tone, value: &str, verb| QuickButton {
        tone,
        name: "action",
        value: value.to_owned(),
        verb,
        object: words::subject(question.prompt()).unwrap_or_else(|| Words::of("this request")),
        shown: false,
    };
    match question.body() {
        Body::Approve { details, reject_requires_reason: false, .. } => {
            let facts = Facts::of(details, "row");
            let buttons =
                vec![button("yes", "approve", "Approve"), button("no", "reject", "Reject")];
            facts.is_short().then_some(Quick { facts, buttons })
        }
        Body::Choose { options, pick: Pick::One, .. } if options.choices().len() <= 3 => {
            let all = options.choices();
            let fits = all.iter().all(|c| short(&c.label, 24) && c.description.is_none());
            let buttons = all.iter().map(|choice| QuickButton {
                tone: "plain",
                name: "choose",
                value: choice.id.clone(),
                verb: "Choose",
                object: Words::of(&choice.label),
                shown: true,
            });
            fits.then(|| Quick { facts: Facts::default(), buttons: buttons.collect() })
        }
        Body::Approve { .. }
        | Body::Choose { .. }
        | Body::Provide { .. }
        | Body::Confirm { .. }
        | Body::Escalate { .. }
        | Body::Converse => None,
    }
}

/// One request that is over.
struct Past {
    href: String,
    prompt: Words,
    agent: String,
    outcome: Outcome,
}

impl Past {
    fn new(ask: &Ask, directory: &Directory, frame: &Frame) -> Option<Self> {
        let outcome = Outcome::of(ask, directory, frame.now)?;
        let prompt = ask.question.value().map(|q| Words::beginning(q.prompt(), 120));
        let prompt = prompt.unwrap_or_else(super::outcome::erased);
        Some(Self { href: paths::request(ask.id), prompt, agent: ask.agent.to_string(), outcome })
    }
}

/// Three ways to send the first question.
#[derive(Debug, Clone)]
pub struct Teach {
    /// With curl.
    pub curl: String,
    /// With Python and nothing else.
    pub python: String,
    /// With our own command.
    pub cli: String,
}

impl Teach {
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

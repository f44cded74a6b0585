//! The settings: every page is a list of [`Block`]s in one frame, with the same way around.
//!
//! | module | what it holds |
//! |---|---|
//! | [`controls`] | fields of forms, with what was entered kept and what was wrong said |
//! | [`profile`] | what I say of myself; whether I am away |
//! | [`devices`] | where I am told that something waits |
//! | [`told`] | by which means I am told, and how often of what can wait |
//! | [`people`] | people and groups |
//! | [`agents`] | agents and their keys; the first key |
//! | [`projects`] | the rules of a project |
//! | [`rules`] | which of my requests go to somebody else |
//! | [`webhooks`] | endpoints that are told what happens |
//! | [`signing`] | the keys receipts are signed with |

pub mod agents;
pub mod controls;
pub mod devices;

pub mod people;
pub mod profile;
pub mod projects;
pub mod rules;
pub mod signing;
pub mod told;
pub mod webhooks;

use askama::Template;

use crate::answer_form::fields::{Control, FieldView, Mark};
use crate::answer_form::problem::FormProblem;
use crate::components::words::Words;
use crate::site::{assets, paths};
use crate::{Frame, render};

/// How many entries a list shows, and the most one can choose from.
pub const PAGE: usize = 50;
/// The most one can choose from; whoever has more uses the API or the command.
pub const CHOICES: usize = 500;

/// One page of the settings.
#[derive(Debug, Clone, Default)]
pub struct SettingsPage {
    /// Which address it has, to mark the way here.
    pub at: &'static str,
    /// Its heading.
    pub title: String,
    /// What it is for.
    pub lead: String,
    /// What just happened, in a sentence.
    pub done: Option<String>,
    /// What is on it.
    pub blocks: Vec<Block>,
    /// What was wrong with the form that was sent.
    pub problems: FormProblem,
    /// A script of its own.
    pub script: Option<&'static str>,
}

/// One part of a page.
#[derive(Debug, Clone)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A list.
    Rows(Vec<Row>),
    /// A form.
    Form(FormView),
    /// Something to copy into a terminal or a file.
    Code {
        /// What it is.
        label: String,
        /// The text.
        text: String,
    },
    /// Something that is shown this once.
    Secret {
        /// What it is.
        label: String,
        /// The secret.
        value: String,
    },
    /// The button that has this device told.
    Enrol {
        /// What browsers must know to let us in.
        key: String,
        /// Whether it is told already.
        again: bool,
    },
    /// A way to go on.
    Link {
        /// Where to.
        href: String,
        /// In words.
        label: String,
    },
}

/// One entry of a list.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it is called.
    pub title: Words,
    /// Where it leads, if anywhere.
    pub href: Option<String>,
    /// One or two words beside the name.
    pub mark: Option<&'static str>,
    /// What there is to know.
    pub facts: Words,
    /// What can be done with it.
    pub act: Option<Act>,
}

/// A button or a link beside an entry.
#[derive(Debug, Clone)]
pub enum Act {
    /// A link to where it is done.
    Go {
        /// Where to.
        href: String,
        /// In words.
        label: &'static str,
    },
    /// A button that does it.
    Post {
        /// Where to.
        action: String,
        /// The name and value of the button.
        sends: (&'static str, String),
        /// In words.
        label: &'static str,
    },
    /// Several buttons, each of which does something else.
    Posts {
        /// Where to.
        action: String,
        /// The name and value of each button, and its words.
        buttons: Vec<(&'static str, String, &'static str)>,
    },
}

/// A form.
#[derive(Debug, Clone)]
pub struct FormView {
    /// Its heading.
    pub heading: Option<String>,
    /// Where it goes.
    pub action: String,
    /// What it carries unseen.
    pub hidden: Vec<(&'static str, String)>,
    /// Its fields.
    pub fields: Vec<FieldView>,
    /// Its buttons: style, name and value if it has them, words.
    pub buttons: Vec<Button>,
}

/// A button of a form.
#[derive(Debug, Clone)]
pub struct Button {
    /// The name of the style: `yes`, `plain`, `no`.
    pub tone: &'static str,
    /// The name and value it sends.
    pub sends: Option<(&'static str, &'static str)>,
    /// In words.
    pub label: String,
}

impl FormView {
    /// A form with one button.
    pub fn new(action: impl Into<String>, fields: Vec<FieldView>, button: &str) -> Self {
        let button = Button { tone: "yes", sends: None, label: button.to_owned() };
        let (action, buttons) = (action.into(), vec![button]);
        Self { heading: None, action, hidden: Vec::new(), fields, buttons }
    }

    /// The same under a heading.
    #[must_use]
    pub fn titled(mut self, heading: &str) -> Self {
        self.heading = Some(heading.to_owned());
        self
    }
}

/// The page as HTML. Only administrators are shown the way to what is theirs to change.
pub fn page(frame: &Frame, admin: bool, page: &SettingsPage) -> String {
    let ways = WAYS.iter().filter(|way| admin || !way.admin);
    render(&SettingsTemplate { frame, page, ways: ways.collect() })
}

struct Way {
    href: &'static str,
    label: &'static str,
    about: &'static str,
    admin: bool,
}

const fn way(href: &'static str, label: &'static str, about: &'static str, admin: bool) -> Way {
    Way { href, label, about, admin }
}

const WAYS: &[Way] = &[
    way(paths::PROFILE, "My profile", "Name, time zone, language, quiet hours", false),
    way(paths::AWAY, "Away or back", "When you are away, and who is asked instead", false),
    way(paths::NOTICES, "How I am told", "Devices and mail, in which order, and digests", false),
    way(paths::DEVICES, "My devices", "Where you are told that a request waits", false),
    way(paths::RULES, "My delegation rules", "Which requests go to somebody else", false),
    way(paths::AGENTS, "Agents and keys", "Who may ask, and with which keys", false),
    way(paths::WEBHOOKS, "Webhooks", "Who else is told what happens, in signed calls", false),
    way(paths::PEOPLE, "People", "Who answers, and what they may do", true),
    way(paths::GROUPS, "Groups", "Who takes requests from a common pool", true),
    way(paths::PROJECTS, "Projects", "Reminders, escalation, and what silence means", true),
    way(paths::SIGNING, "Signing keys", "What receipts are signed with", true),
    way(paths::SESSIONS, "Where you are signed in", "Browsers that can answer as you", false),
    way(paths::TOKENS, "Token for your terminal", "For the countersign command", false),
];

/// What there is to set, for somebody.
pub fn overview(admin: bool) -> SettingsPage {
    let row = |way: &Way| Row {
        title: Words::of(way.label),
        href: Some(way.href.to_owned()),
        mark: None,
        facts: Words::of(way.about),
        act: None,
    };
    let rows = WAYS.iter().filter(|way| admin || !way.admin).map(row).collect();
    SettingsPage {
        at: paths::SETTINGS,
        title: "Settings".to_owned(),
        lead: "Everything here can also be done over the API and with the countersign command."
            .to_owned(),
        blocks: vec![Block::Rows(rows)],
        ..SettingsPage::default()
    }
}

#[derive(Template)]
#[template(path = "settings/settings.html")]
struct SettingsTemplate<'a> {
    frame: &'a Frame,
    page: &'a SettingsPage,
    ways: Vec<&'a Way>,
}

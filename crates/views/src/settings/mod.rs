//! The settings: every page is a list of [`SettingsBlock`]s with the same navigation.
//!
//! | module | contents |
//! |---|---|
//! | [`controls`] | form fields that keep the entered values and show their problems |
//! | [`profile`] | a person's profile and absence |
//! | [`devices`] | devices with push notifications |
//! | [`notifications`] | contact methods, their order, and the digest |
//! | [`people`] | people and groups |
//! | [`agents`] | agents and their keys; the first key |
//! | [`projects`] | the rules of a project |
//! | [`rules`] | delegation rules |
//! | [`webhooks`] | webhook endpoints and deliveries |
//! | [`signing`] | the keys that sign receipts |

pub mod agents;
pub mod controls;
pub mod devices;

pub mod notifications;
pub mod people;
pub mod profile;
pub mod projects;
pub mod rules;
pub mod signing;
pub mod webhooks;

use askama::Template;

use crate::answer_form::fields::{Control, FieldView, RequirementMark};
use crate::answer_form::problem::FormProblems;
use crate::components::wording::VisibleText;
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// The number of entries per page of a list.
pub const PAGE_SIZE: usize = 50;
/// The maximum number of options in a list. With more, the person uses the API or the command.
pub const MAX_LIST_OPTIONS: usize = 500;

#[derive(Debug, Clone, Default)]
pub struct SettingsPage {
    /// Its path, to mark it in the navigation.
    pub at: &'static str,
    pub title: String,
    /// Its purpose, below the heading.
    pub lead: String,
    /// The result of the last action, in a sentence.
    pub done: Option<String>,
    pub blocks: Vec<SettingsBlock>,
    /// The problems of the submitted form.
    pub problems: FormProblems,
    /// The path of an additional script.
    pub script: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub enum SettingsBlock {
    Heading(String),
    Text(String),
    Rows(Vec<SettingsRow>),
    Form(FormView),
    /// Text to copy into a terminal or a file.
    Code {
        label: String,
        text: String,
    },
    /// A secret that is shown only once.
    Secret {
        label: String,
        value: String,
    },
    /// The button that turns on push notifications on this device.
    Enrol {
        /// The server's VAPID key.
        key: String,
        /// Whether they are already on.
        again: bool,
    },
    Link {
        href: String,
        label: String,
    },
}

#[derive(Debug, Clone)]
pub struct SettingsRow {
    pub title: VisibleText,
    /// Its page, if it has one.
    pub href: Option<String>,
    /// One or two words beside the title.
    pub mark: Option<&'static str>,
    /// Further details, on one line.
    pub facts: VisibleText,
    /// The action of the entry.
    pub act: Option<RowAction>,
}

/// A button or a link beside an entry.
#[derive(Debug, Clone)]
pub enum RowAction {
    /// A link to another page.
    Go {
        /// The path of that page.
        href: String,
        label: &'static str,
    },
    /// A button that posts.
    Post {
        /// The path to post to.
        action: String,
        /// The name and value of the button.
        sends: (&'static str, String),
        label: &'static str,
    },
    /// Several buttons that post.
    Posts {
        /// The path to post to.
        action: String,
        /// The name, value and label of each button.
        buttons: Vec<(&'static str, String, &'static str)>,
    },
}

#[derive(Debug, Clone)]
pub struct FormView {
    pub heading: Option<String>,
    /// The path to post to.
    pub action: String,
    /// The hidden inputs.
    pub hidden: Vec<(&'static str, String)>,
    pub fields: Vec<FieldView>,
    pub buttons: Vec<FormButton>,
}

#[derive(Debug, Clone)]
pub struct FormButton {
    /// The style class: `yes`, `plain`, `no`.
    pub tone: &'static str,
    /// The name and value of the button.
    pub sends: Option<(&'static str, &'static str)>,
    pub label: String,
}

impl FormView {
    /// A form with one button.
    pub fn new(action: impl Into<String>, fields: Vec<FieldView>, button: &str) -> Self {
        let button = FormButton { tone: "yes", sends: None, label: button.to_owned() };
        let (action, buttons) = (action.into(), vec![button]);
        Self { heading: None, action, hidden: Vec::new(), fields, buttons }
    }

    /// The same form with a heading.
    #[must_use]
    pub fn titled(mut self, heading: &str) -> Self {
        self.heading = Some(heading.to_owned());
        self
    }
}

/// Renders the page as HTML. The navigation shows administrative pages only to administrators.
pub fn page(frame: &PageContext, admin: bool, page: &SettingsPage) -> String {
    let ways = SETTINGS_LINKS.iter().filter(|way| admin || !way.admin);
    render(&SettingsTemplate { frame, page, ways: ways.collect() })
}

struct SettingsLink {
    href: &'static str,
    label: &'static str,
    about: &'static str,
    admin: bool,
}

const fn settings_link(
    href: &'static str,
    label: &'static str,
    about: &'static str,
    admin: bool,
) -> SettingsLink {
    SettingsLink { href, label, about, admin }
}

const SETTINGS_LINKS: &[SettingsLink] = &[
    settings_link(paths::PROFILE, "My profile", "Name, time zone, language, quiet hours", false),
    settings_link(
        paths::AWAY,
        "Away or back",
        "When you are away, and who is asked instead",
        false,
    ),
    settings_link(
        paths::NOTIFICATION_SETTINGS,
        "How I am told",
        "Devices and mail, in which order, and digests",
        false,
    ),
    settings_link(paths::DEVICES, "My devices", "Where you are told that a request waits", false),
    settings_link(paths::RULES, "My delegation rules", "Which requests go to somebody else", false),
    settings_link(paths::AGENTS, "Agents and keys", "Who may ask, and with which keys", false),
    settings_link(
        paths::WEBHOOKS,
        "Webhooks",
        "Who else is told what happens, in signed calls",
        false,
    ),
    settings_link(paths::PEOPLE, "People", "Who answers, and what they may do", true),
    settings_link(paths::GROUPS, "Groups", "Who takes requests from a common pool", true),
    settings_link(
        paths::PROJECTS,
        "Projects",
        "Reminders, escalation, and what silence means",
        true,
    ),
    settings_link(paths::SIGNING, "Signing keys", "What receipts are signed with", true),
    settings_link(
        paths::SESSIONS,
        "Where you are signed in",
        "Browsers that can answer as you",
        false,
    ),
    settings_link(paths::TOKENS, "Token for your terminal", "For the countersign command", false),
];

/// The overview of the settings that this person can open.
pub fn overview(admin: bool) -> SettingsPage {
    let row = |way: &SettingsLink| SettingsRow {
        title: VisibleText::of(way.label),
        href: Some(way.href.to_owned()),
        mark: None,
        facts: VisibleText::of(way.about),
        act: None,
    };
    let rows = SETTINGS_LINKS.iter().filter(|way| admin || !way.admin).map(row).collect();
    SettingsPage {
        at: paths::SETTINGS,
        title: "Settings".to_owned(),
        lead: "Everything here can also be done over the API and with the countersign command."
            .to_owned(),
        blocks: vec![SettingsBlock::Rows(rows)],
        ..SettingsPage::default()
    }
}

#[derive(Template)]
#[template(path = "settings/settings.html")]
struct SettingsTemplate<'a> {
    frame: &'a PageContext,
    page: &'a SettingsPage,
    ways: Vec<&'a SettingsLink>,
}

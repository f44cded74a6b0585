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
//! | [`time_zones`] | the field that selects a time zone |

pub mod agents;
pub mod controls;
pub mod devices;
pub mod notifications;
pub mod people;
pub mod profile;
pub mod projects;
pub mod rules;
pub mod signing;
pub mod time_zones;
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
    pub mark: Option<String>,
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
        label: String,
    },
    /// A button that posts.
    Post {
        /// The path to post to.
        action: String,
        /// The name and value of the button.
        sends: (&'static str, String),
        label: String,
    },
    /// Several buttons that post.
    Posts {
        /// The path to post to.
        action: String,
        /// The name, value and label of each button.
        buttons: Vec<(&'static str, String, String)>,
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
    pub fn new(
        action: impl Into<String>,
        fields: Vec<FieldView>,
        button: impl Into<String>,
    ) -> Self {
        let button = FormButton { tone: "yes", sends: None, label: button.into() };
        let (action, buttons) = (action.into(), vec![button]);
        Self { heading: None, action, hidden: Vec::new(), fields, buttons }
    }

    /// The same form with a heading.
    #[must_use]
    pub fn titled(mut self, heading: impl Into<String>) -> Self {
        self.heading = Some(heading.into());
        self
    }
}

/// Renders the page as HTML. The navigation shows administrative pages only to administrators.
pub fn page(frame: &PageContext, admin: bool, page: &SettingsPage) -> String {
    render(&SettingsTemplate { frame, page, ways: settings_links(admin) })
}

struct SettingsLink {
    href: &'static str,
    label: String,
    about: String,
    admin: bool,
}

/// The pages of the settings, in the order of the navigation.
fn settings_links(admin: bool) -> Vec<SettingsLink> {
    let everyone = |href, label, about| SettingsLink { href, label, about, admin: false };
    let admins = |href, label, about| SettingsLink { href, label, about, admin: true };
    let mut links = vec![
        everyone(paths::PROFILE, t!("settings-profile"), t!("settings-profile-about")),
        everyone(paths::AWAY, t!("settings-away"), t!("settings-away-about")),
        everyone(
            paths::NOTIFICATION_SETTINGS,
            t!("settings-notifications"),
            t!("settings-notifications-about"),
        ),
        everyone(paths::DEVICES, t!("settings-devices"), t!("settings-devices-about")),
        everyone(paths::RULES, t!("settings-rules"), t!("settings-rules-about")),
        everyone(paths::AGENTS, t!("settings-agents"), t!("settings-agents-about")),
        everyone(paths::WEBHOOKS, t!("settings-webhooks"), t!("settings-webhooks-about")),
        admins(paths::PEOPLE, t!("settings-people"), t!("settings-people-about")),
        admins(paths::GROUPS, t!("settings-groups"), t!("settings-groups-about")),
        admins(paths::PROJECTS, t!("settings-projects"), t!("settings-projects-about")),
        admins(paths::SIGNING, t!("settings-signing"), t!("settings-signing-about")),
        everyone(paths::SESSIONS, t!("settings-sessions"), t!("settings-sessions-about")),
        everyone(paths::TOKENS, t!("settings-tokens"), t!("settings-tokens-about")),
    ];
    links.retain(|link| admin || !link.admin);
    links
}

/// The overview of the settings that this person can open.
pub fn overview(admin: bool) -> SettingsPage {
    let row = |way: SettingsLink| SettingsRow {
        title: VisibleText::of(&way.label),
        href: Some(way.href.to_owned()),
        mark: None,
        facts: VisibleText::of(&way.about),
        act: None,
    };
    SettingsPage {
        at: paths::SETTINGS,
        title: t!("settings-title"),
        lead: t!("settings-lead"),
        blocks: vec![SettingsBlock::Rows(settings_links(admin).into_iter().map(row).collect())],
        ..SettingsPage::default()
    }
}

#[derive(Template)]
#[template(path = "settings/settings.html")]
struct SettingsTemplate<'a> {
    frame: &'a PageContext,
    page: &'a SettingsPage,
    ways: Vec<SettingsLink>,
}

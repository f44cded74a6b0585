//! What people read: pages that the server renders and that work without JavaScript, emails, push
//! notifications and messages on other platforms.
//!
//! Everything here is pure. A handler fills a view, calls its `page` function and gets HTML; what a
//! browser posts comes back through [`answer_form::submitted`] as a kernel reply or as problems to show
//! again. Nothing in this crate waits, reads a clock or decides.
//!
//! A folder holds one page or one part of pages: its views and, beside them, their templates.
//!
//! | folder | what it holds |
//! |---|---|
//! | [`inbox`] | everything that waits for one person; one row of it, bulk answers, snoozing |
//! | [`request`] | one request in every state: its claim, timeline, receipt, notifications, related requests |
//! | [`review`] | the same for people who hold its link, and what they entered and did not send |
//! | [`question`] | the question as it is shown on every page |
//! | [`answer`] | an answer in words: how a request ended, and what was changed |
//! | [`banner`] | notes on top of a page: what just happened, and what can be done now |
//! | [`answer_form`] | the form that answers it: fields, edits, steps, the second step, proofs, what was submitted |
//! | [`tasks`], [`ledger`] | the board of tasks, a new task, the room of one; what projects and teams remember |
//! | [`conversation`] | writing to an agent, and what was said since |
//! | [`history`], [`insights`] | requests that are closed and the state of the audit log; numbers about agents and people |
//! | [`sign_in`] | signing in, sessions, passkeys |
//! | [`settings`] | people, groups, agents, keys, projects, rules, and a person's own settings |
//! | [`docs`], [`envelope`] | the API reference and the error codes; a message with an HXP eXperience envelope |
//! | [`message_page`] | pages that say one thing: not found, unavailable, a token shown once |
//! | [`message_card`] | what a message says about a request, before a platform renders it |
//! | [`email`], [`push_notification`], [`terminal_line`] | the same as an email, on a device, in the terminal |
//! | [`components`] | parts that several pages share: names, times, facts, charts, differences, Markdown |
//! | [`site`] | the frame of every page, paths, assets, icons, security headers |
//! | [`web_app`] | the web app manifest and the service worker |
//!
//! Text of an agent passes through [`components::words::Words`], which makes hidden characters visible,
//! and through askama's escaping, which makes markup text.

pub mod answer;
pub mod answer_form;
pub mod banner;
pub mod components;
pub mod conversation;
pub mod docs;
pub mod email;
pub mod envelope;
pub mod history;
pub mod inbox;
pub mod insights;
pub mod ledger;
pub mod message_card;
pub mod message_page;
pub mod push_notification;
pub mod question;
pub mod request;
pub mod review;
pub mod settings;
pub mod sign_in;
pub mod site;
pub mod tasks;
pub mod terminal_line;
pub mod web_app;

use kernel::Time;

pub use answer_form::problem::{Draft, FormProblem};
pub use answer_form::submitted::Submitted;
pub use banner::Notice;

/// What every page knows about the visit.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The moment the page is made; all relative times count from here.
    pub now: Time,
    /// The signed-in person's name; `None` on pages for everyone.
    pub person: Option<String>,
    /// Carried by every form of a signed-in person.
    pub csrf: String,
    /// How many requests wait for them, for the title and the way back to the inbox.
    pub waiting: Option<u64>,
    /// On a page for whoever holds a link: what the page's script is known by.
    pub nonce: Option<String>,
}

impl Frame {
    /// A frame for a visitor we do not know.
    pub fn anonymous(now: Time) -> Self {
        Self { now, person: None, csrf: String::new(), waiting: None, nonce: None }
    }

    /// The icon of the tab: with how many wait, if any do.
    pub fn icon(&self) -> String {
        match self.waiting {
            Some(n) if n > 0 => site::paths::icon(n),
            Some(_) | None => site::assets::icon().to_owned(),
        }
    }

    /// A frame for whoever holds a link.
    pub fn guest(now: Time, nonce: String) -> Self {
        Self { nonce: Some(nonce), ..Self::anonymous(now) }
    }
}

/// Renders a template. Writing to a string cannot fail, and no view of ours refuses to be shown;
/// should one ever, the person gets a sentence and not a blank page.
pub fn render(template: &impl askama::Template) -> String {
    template.render().unwrap_or_else(|_| {
        "<!doctype html><meta charset=\"utf-8\"><title>Countersign</title>\
         <p>This page could not be shown. Please load it again."
            .to_owned()
    })
}

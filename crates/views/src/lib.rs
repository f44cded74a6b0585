//! Everything people read: server-rendered pages that work without JavaScript, emails, push
//! notifications and messages on other platforms.
//!
//! Everything here is pure. A handler fills a view, calls its `page` function and gets HTML.
//! [`answer_form::submitted`] turns a posted form into a kernel reply or into problems to show.
//! Nothing in this crate waits, reads a clock or decides.
//!
//! A folder holds one page or one part of pages: its views and their templates.
//!
//! | folder | contents |
//! |---|---|
//! | [`inbox`] | the requests that wait for one person: rows, bulk answers, snoozing |
//! | [`request`] | one request in every state: its claim, timeline, receipt, notifications, related requests |
//! | [`review`] | the same for people who hold a review link, and their unsent drafts |
//! | [`question`] | the question, as every page shows it |
//! | [`answer`] | an answer in words: how a request ended, and its changes |
//! | [`banner`] | notes on top of a page: the result of the last action, and the next steps |
//! | [`answer_form`] | the form that answers it: fields, edits, steps, the second step, proofs, submissions |
//! | [`tasks`], [`ledger`] | the task board, a new task, the room of one task; the ledgers of projects and teams |
//! | [`conversation`] | messages between people and agents |
//! | [`history`], [`insights`] | closed requests and the state of the audit log; statistics about agents and people |
//! | [`sign_in`] | signing in, sessions, passkeys |
//! | [`cli_login`] | signing in on the command line |
//! | [`settings`] | people, groups, agents, keys, projects, rules, and a person's own settings |
//! | [`docs`], [`envelope`] | the documentation, its search and the API reference; a message with an HXP eXperience envelope |
//! | [`message_page`] | pages with a single message: not found, unavailable, a token shown once |
//! | [`message_card`] | the text of a message about a request, before a platform renders it |
//! | [`email`], [`push_notification`], [`terminal_line`] | the same as an email, on a device, in the terminal |
//! | [`components`] | parts that several pages share: names, times, facts, charts, differences, Markdown |
//! | [`locale`] | the catalogs of texts, one for each language; numbers and dates for the reader |
//! | [`site`] | the base template of every page, paths, assets, icons, security headers |
//! | [`web_app`] | the web app manifest and the service worker |
//!
//! Agent text passes through [`components::wording::VisibleText`], which makes hidden characters
//! visible, and through askama's escaping, which turns markup into plain text.

#[macro_use]
pub mod locale;

pub mod answer;
pub mod answer_form;
pub mod banner;
pub mod cli_login;
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

pub use answer_form::problem::{AnswerDraft, FormProblems};
pub use answer_form::submitted::SubmittedForm;
pub use banner::ActionOutcome;

/// The values that every page needs: the time, the person, the CSRF token and the CSP nonce.
#[derive(Debug, Clone)]
pub struct PageContext {
    /// When the page is rendered; all relative times count from here.
    pub now: Time,
    /// The signed-in person's name; `None` on pages for everyone.
    pub person: Option<String>,
    /// The CSRF token in every form of a signed-in person.
    pub csrf: String,
    /// The number of requests that wait for the person, for the title and the link to the inbox.
    pub waiting: Option<u64>,
    /// The CSP nonce of the page's script, on a page that is opened with a review link.
    pub nonce: Option<String>,
}

impl PageContext {
    /// The context of a page for an unknown visitor.
    pub fn anonymous(now: Time) -> Self {
        Self { now, person: None, csrf: String::new(), waiting: None, nonce: None }
    }

    /// The icon of the tab, with the number of waiting requests if there are any.
    pub fn icon(&self) -> String {
        match self.waiting {
            Some(n) if n > 0 => site::paths::icon(n),
            Some(_) | None => site::assets::icon().to_owned(),
        }
    }

    /// The context of a page for the holder of a review link.
    pub fn guest(now: Time, nonce: String) -> Self {
        Self { nonce: Some(nonce), ..Self::anonymous(now) }
    }
}

/// Renders a template. Writing to a string cannot fail, and none of these views returns an error.
/// If one ever did, the person would get a sentence instead of a blank page.
pub fn render(template: &impl askama::Template) -> String {
    template.render().unwrap_or_else(|_| {
        let sorry = t!("page-cannot-be-shown");
        format!("<!doctype html><meta charset=\"utf-8\"><title>Countersign</title><p>{sorry}")
    })
}

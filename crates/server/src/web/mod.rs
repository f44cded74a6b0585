//! What people see: pages made on the server, which work without JavaScript.
//!
//! Everything here is pure. A handler fills a view, calls its `page` function and gets HTML; what a
//! browser posts comes back through [`form_body`] as a kernel reply or as problems to show again.
//! Nothing in this module waits, reads a clock or decides.
//!
//! | module | what it holds |
//! |---|---|
//! | [`inbox`], [`inbox_row`] | everything that waits for one person, and what was answered lately; one row of it |
//! | [`inbox_bulk`], [`inbox_aside`] | many answered at once; put aside, or handed over |
//! | [`amounts`] | the total of several requests |
//! | [`history`] | everything that is over, and the state of the record |
//! | [`insights`], [`charts`] | numbers about agents and people, and how they are drawn |
//! | [`query`] | what a list is narrowed to, as an address and as a form |
//! | [`request`] | one request in every state, with its answer card |
//! | [`request_around`], [`request_told`], [`request_trail`], [`request_receipt`] | what stands around it: rounds, people, requests like it; how people were told; its record; its receipt |
//! | [`tasks`], [`task_new`], [`task`] | the board of tasks; writing one down; the room of one |
//! | [`task_versions`], [`task_review`], [`task_acts`], [`task_trail`] | what it delivered; verdicts; what can be done to it; its record |
//! | [`task_words`], [`lines`], [`markdown`] | tasks in plain words; texts line by line, side by side; how Markdown reads |
//! | [`ledger`] | what projects and teams remember |
//! | [`mod@write`], [`conversation`] | writing to an agent; what was said since |
//! | [`request_changes`] | what a person changed in an agent's proposal |
//! | [`second_step`] | the confirmation before an answer that cannot be undone, is critical or changes values |
//! | [`request_claim`] | who has claimed a request |
//! | [`review`], [`kept`] | the same for whoever holds its link; what they entered and did not send |
//! | [`paper`] | the question as it is put before whoever looks at it |
//! | [`card`], [`fields`], [`edits`] | the answer card by kind of question; form fields; values to change |
//! | [`steps`], [`conditions`] | forms one step at a time; when a field applies |
//! | [`confirm`] | the step in which somebody shows that they are a person |
//! | [`outcome`] | how a request ended, in words |
//! | [`answered`], [`prefill`] | what is said after an answer, with Undo; the form of an answer that was undone |
//! | [`notices`] | every other page: sign-in, not found, unavailable, a token shown once |
//! | [`sign_in`], [`sessions`], [`browser`] | signing in; where a person is signed in; what a browser is called |
//! | [`passkeys`] | a person's passkeys, and confirming an answer with one |
//! | [`settings`] | people, groups, agents and keys, projects, rules, and what one says of oneself |
//! | [`docs`] | what our own API is |
//! | [`error_pages`] | what error codes mean and what to do |
//! | [`envelope`] | a message with an HXP eXperience envelope, and what was found in it |
//! | [`form_body`] | what a browser posted, as a reply to the question |
//! | [`problem`] | what was wrong with it, field by field, with the person's values kept |
//! | [`facts`], [`words`], [`when`] | agents' words made safe and readable, names, times |
//! | [`install`] | what makes an app of the pages |
//! | [`assets`], [`headers`], [`paths`] | stylesheet and script, security headers, addresses |
//!
//! Whatever an agent wrote passes through [`words::Words`], so that hidden characters show
//! themselves, and through askama's escaping, so that markup is text.

pub mod amounts;
pub mod answered;
pub mod assets;
pub mod browser;
pub mod card;
pub mod charts;
pub mod claims;
pub mod conditions;
pub mod confirm;
pub mod conversation;
pub mod docs;
pub mod edits;
pub mod envelope;
pub mod error_pages;
pub mod facts;
pub mod fields;
pub mod form_body;
pub mod headers;
pub mod history;
pub mod inbox;
pub mod inbox_aside;
pub mod inbox_bulk;
pub mod inbox_row;
pub mod insights;
pub mod install;
pub mod kept;
pub mod ledger;
pub mod lines;
pub mod markdown;
pub mod notices;
pub mod outcome;
pub mod paper;
pub mod passkeys;
pub mod paths;
pub mod prefill;
pub mod problem;
pub mod query;
pub mod request;
pub mod request_answering;
pub mod request_around;
pub mod request_changes;
pub mod request_claim;
pub mod request_receipt;
pub mod request_told;
pub mod request_trail;
pub mod review;
pub mod second_step;
pub mod sessions;
pub mod settings;
pub mod sign_in;
pub mod steps;
pub mod task;
pub mod task_acts;
pub mod task_new;
pub mod task_review;
pub mod task_trail;
pub mod task_versions;
pub mod task_words;
pub mod tasks;
pub mod when;
pub mod words;
pub mod write;

use kernel::Time;

pub use form_body::Submitted;
pub use notices::Notice;
pub use problem::{Draft, FormProblem};

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
            Some(n) if n > 0 => paths::icon(n),
            Some(_) | None => assets::icon().to_owned(),
        }
    }

    /// A frame for whoever holds a link.
    pub fn guest(now: Time, nonce: String) -> Self {
        Self { nonce: Some(nonce), ..Self::anonymous(now) }
    }
}

/// Renders a template. Writing to a string cannot fail, and no view of ours refuses to be shown;
/// should one ever, the person gets a sentence and not a blank page.
pub(crate) fn render(template: &impl askama::Template) -> String {
    template.render().unwrap_or_else(|_| {
        "<!doctype html><meta charset=\"utf-8\"><title>Countersign</title>\
         <p>This page could not be shown. Please load it again."
            .to_owned()
    })
}

//! Emails: their subjects, texts and pages. The channel `email` sends them.
//!
//! | file | what it holds |
//! |---|---|
//! | [`notification`] | a request waits |
//! | [`digest`] | all low-priority requests that wait |
//! | [`verification_code`] | the code that verifies an address |
//! | [`sign_in`] | a sign-in link |
//! | [`security`] | a change to how a person signs in |

pub mod digest;
pub mod notification;
pub mod security;
pub mod sign_in;
pub mod verification_code;

use dialects::a2h::EmailWish;
use kernel::Time;
use kernel::text::reveal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The line above which a reply is written. What is below it in a reply is quoted, not answered.
pub const SEPARATOR: &str = "Reply above this line";

/// What is sent to one person. The same email twice is the same to their email client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Email {
    /// What stands before the `@` of its `Message-ID`.
    #[serde(skip)]
    pub id: String,
    /// The address.
    #[serde(skip)]
    pub to: String,
    /// What it belongs to: email clients show emails of one thread together.
    pub thread: Option<String>,
    /// Who else gets it, and whose thread it joins, as an agent wants.
    pub wish: EmailWish,
    /// Where a reply goes, if one is accepted.
    pub reply_to: Option<String>,
    /// The subject.
    pub subject: String,
    /// When it was written; absent, when it is sent.
    pub at: Option<Time>,
    /// The text.
    pub text: String,
    /// A page that says the same.
    pub html: String,
}

/// An email as an agent laid it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPage {
    /// HTML that can be put into a larger page. It leads nowhere but to the request.
    pub html: String,
    /// Text that says the same, without the links.
    pub text: String,
}

impl Email {
    /// An email that belongs to no thread and takes no reply; whom it is for is added.
    pub fn new(subject: String, text: String, html: String) -> Self {
        Self {
            id: String::new(),
            to: String::new(),
            thread: None,
            wish: EmailWish::default(),
            reply_to: None,
            subject,
            at: None,
            text,
            html,
        }
    }

    /// An email of a few words.
    pub fn plain(subject: String, text: String) -> Self {
        let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('\n', "<br>\n");
        let html = format!("<!doctype html>\n<html lang=\"en\"><body><p>{html}</p></body></html>");
        Self::new(subject, text, html)
    }

    /// What the channel `email` sends; the id and the address are given beside it.
    pub fn message(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The subject of a reply to an email with this subject.
pub fn reply_subject(subject: &str) -> String {
    let answers = subject.get(..3).is_some_and(|begins| begins.eq_ignore_ascii_case("re:"));
    if answers { subject.to_owned() } else { format!("Re: {subject}") }
}

/// Agent text in an email: email clients make links of what looks like one, and nothing in an email of the
/// server may lead where an agent wants.
pub fn without_links(text: &str) -> String {
    reveal(text).replace("://", "[://]").replace("www.", "www[.]").replace("WWW.", "WWW[.]")
}

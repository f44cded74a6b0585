//! Emails: their subjects, texts and HTML. The `email` channel sends them.
//!
//! | file | contents |
//! |---|---|
//! | [`notification`] | the notification about a waiting request |
//! | [`digest`] | all waiting low-priority requests |
//! | [`verification_code`] | the code that verifies an address |
//! | [`sign_in`] | a sign-in link |
//! | [`security`] | a change to how a person signs in |

pub mod digest;
pub mod notification;
pub mod security;
pub mod sign_in;
pub mod verification_code;

use dialects::a2h::EmailOptions;
use kernel::Time;
use kernel::text::reveal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::locale::{self, Language, ReaderLocale};

/// The line above which people write their reply. Text below it in a reply is quoted and not part
/// of the answer.
pub fn separator() -> String {
    t!("email-separator")
}

/// Whether a line is the separator, in any language: the email may have been sent before its reader
/// changed their language.
pub fn is_separator(line: &str) -> bool {
    let line = line.to_lowercase();
    Language::ALL.into_iter().any(|language| {
        let reader = ReaderLocale { language, time_zone: None };
        line.contains(&locale::with(reader, separator).to_lowercase())
    })
}

/// An email to one person. Its id makes sending it twice idempotent for email clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Email {
    /// The part before the `@` of its `Message-ID`.
    #[serde(skip)]
    pub id: String,
    #[serde(skip)]
    pub to: String,
    /// The thread, so that email clients group emails about the same subject.
    pub thread: Option<String>,
    /// Further recipients and the thread to join, as the agent requests.
    pub wish: EmailOptions,
    /// The address for replies, if they are accepted.
    pub reply_to: Option<String>,
    pub subject: String,
    /// The date of the email; if absent, the time of sending.
    pub at: Option<Time>,
    /// The plain-text part.
    pub text: String,
    /// The HTML part with the same content.
    pub html: String,
}

/// An email body that an agent designed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentEmailBody {
    /// HTML that can be embedded in a larger page. Its links lead only to the request.
    pub html: String,
    /// Plain text with the same content, without links.
    pub text: String,
}

impl Email {
    /// An email without a thread, a reply address or a recipient.
    pub fn new(subject: String, text: String, html: String) -> Self {
        Self {
            id: String::new(),
            to: String::new(),
            thread: None,
            wish: EmailOptions::default(),
            reply_to: None,
            subject,
            at: None,
            text,
            html,
        }
    }

    /// An email with only plain text.
    pub fn plain(subject: String, text: String) -> Self {
        let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('\n', "<br>\n");
        let html = format!(
            "<!doctype html>\n<html lang=\"{}\"><body><p>{html}</p></body></html>",
            locale::current().language.tag()
        );
        Self::new(subject, text, html)
    }

    /// The message for the `email` channel; the id and the address are passed separately.
    pub fn message(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// The subject of a reply to an email with this subject.
pub fn reply_subject(subject: &str) -> String {
    let answers = subject.get(..3).is_some_and(|begins| begins.eq_ignore_ascii_case("re:"));
    if answers { subject.to_owned() } else { format!("Re: {subject}") }
}

/// Defangs URLs in agent text. Email clients turn URLs into links, and no link in the server's
/// emails may lead to a target that the agent chose.
pub fn without_links(text: &str) -> String {
    reveal(text).replace("://", "[://]").replace("www.", "www[.]").replace("WWW.", "WWW[.]")
}

//! What a letter says: an answer, the beginning of a conversation, that a letter of ours did not arrive,
//! or nothing.
//!
//! **`From:` is not trusted.** Anybody can write anything there. What counts is the address a letter was
//! sent to: it is signed, and was shown to one person ([`Replies`]). Whoever `From:` names is
//! passed on as a claim, for the record and for whoever wants to compare.
//!
//! What a machine wrote is never an answer: out-of-office notes, lists, our own letters.

use std::fmt;

use kernel::Time;
use kernel::audit::Digest;
use kernel::directory::Means;
use kernel::text::reveal;
use mail_parser::{Message, MessageParser, MimeHeaders, PartType};
use serde_json::{Value, json};

use super::address::{Addressed, Replies, Reply};
use super::bounce::{self, Report};
use super::html;
use super::quotes::{answer, unflow};
use crate::heard::{About, Heard, What};

/// How many attachments are mentioned.
const MENTIONED: usize = 20;
/// How much of an attachment's name and of a subject is.
const SHOWN: usize = 200;
/// How much of whatever names a letter is taken.
const LONGEST_ID: usize = 500;

/// Reads letters.
#[derive(Debug, Clone)]
pub struct Reader {
    replies: Replies,
    /// Addresses our letters come from, in lower case.
    own: Vec<String>,
}

/// What a letter came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// Something to hear.
    Heard(Box<Heard>),
    /// Nothing, and why.
    Ignored(Ignored),
}

/// Why a letter says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// It is no letter at all.
    Unreadable,
    /// It was sent to no address we gave to anybody.
    NoAddress,
    /// It does not say whom it is from.
    NoSender,
    /// A machine wrote it.
    Automatic,
    /// We wrote it.
    Own,
    /// A mail server is still trying to deliver a letter of ours.
    Delayed,
    /// There is nothing in it besides what was quoted.
    Empty,
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "it cannot be read as a letter",
            Self::NoAddress => "it was sent to no address that was given to somebody",
            Self::NoSender => "it does not say whom it is from",
            Self::Automatic => "a machine wrote it",
            Self::Own => "it is one of ours",
            Self::Delayed => "a letter is late, and still on its way",
            Self::Empty => "there is nothing in it",
        })
    }
}

impl Reader {
    /// Reads answers to these addresses; letters from `own` addresses are ours.
    pub fn new(replies: Replies, own: impl IntoIterator<Item = String>) -> Self {
        Self { replies, own: own.into_iter().map(|address| address.to_lowercase()).collect() }
    }

    /// The addresses it knows.
    pub fn replies(&self) -> &Replies {
        &self.replies
    }

    /// What a letter says. `to` is whom it was delivered to, where whoever brought it said so outside of
    /// the letter: then nothing in it counts as its address.
    pub fn read(&self, raw: &[u8], to: Option<&str>) -> Read {
        match self.heard(raw, to) {
            Ok(heard) => Read::Heard(Box::new(heard)),
            Err(why) => Read::Ignored(why),
        }
    }

    fn heard(&self, raw: &[u8], to: Option<&str>) -> Result<Heard, Ignored> {
        // Without a body is without the work of reading it: most of what robots send ends here.
        let headers = MessageParser::new().parse_headers(raw).ok_or(Ignored::Unreadable)?;
        let token = match to {
            Some(to) => self.replies.token_of(to),
            None => self.token_in(&headers),
        };
        let token = token.ok_or(Ignored::NoAddress)?;
        let said = self.replies.open(&token).ok_or(Ignored::NoAddress)?;
        let message = MessageParser::default().parse(raw).ok_or(Ignored::Unreadable)?;
        let known = Known { id: id(&message, raw, &token), token, at: at(&message) };
        let from = message.from().and_then(|from| from.first());
        let address = from.and_then(|from| from.address()).ok_or(Ignored::NoSender)?;
        if let Some(report) = bounce::report(&message) {
            // No letter of ours is from where somebody writes to an agent: nothing comes back there.
            let Addressed::Reply(reply) = said else { return Err(Ignored::Automatic) };
            return known.failed(reply, report, address).ok_or(Ignored::Delayed);
        }
        if self.replies.is_ours(address) || self.own.contains(&address.to_lowercase()) {
            return Err(Ignored::Own);
        }
        if is_automatic(&message) {
            return Err(Ignored::Automatic);
        }
        let text = written(&message);
        // Whoever begins may say all of it in the subject.
        let named = matches!(said, Addressed::Invitation(_))
            && message.subject().is_some_and(|subject| !subject.trim().is_empty());
        if text.is_empty() && !named {
            return Err(Ignored::Empty);
        }
        let name = from.and_then(|from| from.name()).map(|name| beginning(&reveal(name)));
        Ok(known.wrote(Means::email(address), name, place(&message, address), text))
    }

    /// The token of the address it was sent to, as the letter says: what was added on delivery first.
    fn token_in(&self, message: &Message<'_>) -> Option<String> {
        const NAMES: [&str; 7] = [
            "delivered-to",
            "x-original-to",
            "envelope-to",
            "x-envelope-to",
            "x-delivered-to",
            "to",
            "cc",
        ];
        NAMES.iter().find_map(|name| {
            let named = message.headers_raw().filter(|(key, _)| key.eq_ignore_ascii_case(name));
            named.flat_map(|(_, value)| addresses(value)).find_map(|at| self.replies.token_of(at))
        })
    }
}

/// Whatever in a header may be an address: that it is one of ours is shown by its signature.
fn addresses(value: &str) -> impl Iterator<Item = &str> {
    let apart = |c: char| c.is_whitespace() || "<>(),;:\"'[]".contains(c);
    value.split(apart).filter(|part| part.contains('@'))
}

struct Known {
    id: String,
    token: String,
    at: Option<Time>,
}

impl Known {
    fn wrote(self, from: Means, name: Option<String>, place: Value, text: String) -> Heard {
        let what = What::Wrote { text, about: About::Token(self.token) };
        Heard { id: self.id, from, name, place, what, at: self.at }
    }

    /// That a letter of ours came to nothing, told by whom it did not reach, or by whoever reports it if
    /// they do not say. It is known by its own id, and where the report has none, by the ask; which ask
    /// and whose letter it is for certain, the address says.
    fn failed(self, reply: Reply, report: Report, reporter: &str) -> Option<Heard> {
        let state = report.state?;
        let Reply { ask, whom } = reply;
        let from = Means::email(report.recipient.as_deref().unwrap_or(reporter));
        let posted = report.posted.unwrap_or_else(|| ask.to_string());
        let place = json!({ "ask": ask.to_string(), "whom": whom.to_string() });
        let what = What::Became { posted, state };
        Some(Heard { id: self.id, from, name: None, place, what, at: self.at })
    }
}

/// The same however often the letter comes; another where it was sent to two of our addresses.
fn id(message: &Message<'_>, raw: &[u8], token: &str) -> String {
    let named = message.message_id().filter(|id| !id.is_empty() && id.len() <= LONGEST_ID);
    let letter = named.map_or_else(|| Digest::of(raw).to_string(), reveal);
    let to = Digest::of(token.as_bytes()).to_string();
    format!("{letter} {}", to.get(..16).unwrap_or_default())
}

fn at(message: &Message<'_>) -> Option<Time> {
    let date = message.date().filter(|date| date.is_valid())?;
    Some(Time::from_millis(date.to_timestamp().saturating_mul(1000)))
}

/// Where an answer goes: to whoever wrote, in the same thread. What was attached is not taken, and
/// mentioned here.
fn place(message: &Message<'_>, from: &str) -> Value {
    let names: Vec<String> = message
        .attachments()
        .take(MENTIONED)
        .map(|part| beginning(&reveal(part.attachment_name().unwrap_or("without a name"))))
        .collect();
    json!({
        "to": from,
        "subject": message.subject().map(|subject| beginning(&reveal(subject))),
        "message_id": message.message_id().filter(|id| id.len() <= LONGEST_ID),
        "attachments": names,
    })
}

fn beginning(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// What they wrote: as text, or where there is only a page, that as text.
fn written(message: &Message<'_>) -> String {
    let mut text = String::new();
    for part in message.text_bodies() {
        match &part.body {
            PartType::Html(page) => text.push_str(&html::to_text(page)),
            PartType::Text(words) => text.push_str(&plain(part, words)),
            _ => {}
        }
        text.push('\n');
    }
    let text = answer(&text);
    if !text.is_empty() {
        return text;
    }
    // Some programs send an empty text beside the page.
    let pages = message.html_bodies().filter_map(|part| match &part.body {
        PartType::Html(page) => Some(html::to_text(page)),
        _ => None,
    });
    answer(&pages.collect::<Vec<_>>().join("\n"))
}

fn plain(part: &mail_parser::MessagePart<'_>, words: &str) -> String {
    let says = |name: &str, value: &str| {
        let kind = part.content_type();
        kind.and_then(|kind| kind.attribute(name)).is_some_and(|is| is.eq_ignore_ascii_case(value))
    };
    if says("format", "flowed") { unflow(words, says("delsp", "yes")) } else { words.to_owned() }
}

/// Whether a machine wrote it: as the standard says it (RFC 3834), and as those say it who do not.
fn is_automatic(message: &Message<'_>) -> bool {
    const MARKS: [&str; 7] = [
        "x-autoreply",
        "x-autorespond",
        "x-autoresponder",
        "x-auto-response-suppress",
        "x-autogenerated",
        "x-mail-autoreply",
        "x-ms-exchange-inbox-rules-loop",
    ];
    const SUBJECTS: [&str; 14] = [
        "automatic reply:",
        "auto reply:",
        "auto:",
        "autoreply:",
        "out of office",
        "out of the office",
        "automatische antwort:",
        "abwesenheitsnotiz",
        "abwesend:",
        "réponse automatique",
        "respuesta automática",
        "risposta automatica",
        "automatisch antwoord",
        "resposta automática",
    ];
    let subject = message.subject().unwrap_or_default().trim().to_lowercase();
    let says = |(name, value): (&str, &str)| {
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_ascii_lowercase());
        match name.as_str() {
            // There may be a comment or a parameter behind it.
            "auto-submitted" => {
                value.split([';', ' ', '(']).next().is_some_and(|value| value != "no")
            }
            "precedence" => {
                matches!(value.as_str(), "bulk" | "junk" | "list" | "auto_reply" | "auto-reply")
            }
            // Nobody who writes takes no answer.
            "return-path" => value == "<>",
            name => MARKS.contains(&name),
        }
    };
    message.headers_raw().any(says) || SUBJECTS.iter().any(|begins| subject.starts_with(begins))
}

#[cfg(test)]
mod tests;

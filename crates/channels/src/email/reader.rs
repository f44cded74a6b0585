//! What an email says: an answer, the beginning of a conversation, that an email of ours did not arrive,
//! or nothing.
//!
//! **`From:` is not trusted.** Anybody can write anything there. What counts is the address an email was
//! sent to: it is signed, and was shown to one person ([`ReplyAddresses`]). Whoever `From:` names is
//! passed on as a claim ([`SenderClaim`]), which the server verifies before it means more than that.
//!
//! What a machine wrote is never an answer: out-of-office notes, lists, our own emails.

use std::fmt;

use kernel::Time;
use kernel::audit::Digest;
use kernel::directory::Means;
use kernel::text::reveal;
use mail_parser::{Message, MessageParser, MimeHeaders, PartType};
use serde_json::{Value, json};

use super::bounce::{self, BounceReport};
use super::html;
use super::quotes::{answer, unflow};
use super::reply_address::{OpenedAddress, ReplyAddress, ReplyAddresses};
use crate::inbound::{InReplyTo, InboundContent, InboundMessage};
use crate::sender_claim::SenderClaim;

/// How many attachments are mentioned.
const MENTIONED: usize = 20;
/// How much of an attachment's name and of a subject is.
const SHOWN: usize = 200;
/// How much of whatever names an email is taken.
const LONGEST_ID: usize = 500;

/// Reads emails.
#[derive(Debug, Clone)]
pub struct EmailReader {
    replies: ReplyAddresses,
    /// Addresses our emails come from, in lower case.
    own: Vec<String>,
}

/// What an email came to.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadEmail {
    /// A message.
    Inbound(Box<InboundMessage>),
    /// Nothing, and why.
    Ignored(Ignored),
}

/// Why an email says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// It is no email at all.
    Unreadable,
    /// It was sent to no address we gave to anybody.
    NoAddress,
    /// It does not say whom it is from.
    NoSender,
    /// A machine wrote it.
    Automatic,
    /// We wrote it.
    Own,
    /// A mail server is still trying to deliver an email of ours.
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

impl EmailReader {
    /// Reads answers to these addresses; emails from `own` addresses are ours.
    pub fn new(replies: ReplyAddresses, own: impl IntoIterator<Item = String>) -> Self {
        Self { replies, own: own.into_iter().map(|address| address.to_lowercase()).collect() }
    }

    /// The addresses it knows.
    pub fn replies(&self) -> &ReplyAddresses {
        &self.replies
    }

    /// What an email says. `to` is whom it was delivered to, where whoever brought it said so outside of
    /// the email: then nothing in it counts as its address.
    pub fn read(&self, raw: &[u8], to: Option<&str>) -> ReadEmail {
        match self.inbound(raw, to) {
            Ok(inbound) => ReadEmail::Inbound(Box::new(inbound)),
            Err(why) => ReadEmail::Ignored(why),
        }
    }

    fn inbound(&self, raw: &[u8], to: Option<&str>) -> Result<InboundMessage, Ignored> {
        // Without a body is without the work of reading it: most of what robots send ends here.
        let headers = MessageParser::new().parse_headers(raw).ok_or(Ignored::Unreadable)?;
        let token = match to {
            Some(to) => self.replies.token_of(to),
            None => self.token_in(&headers),
        };
        let token = token.ok_or(Ignored::NoAddress)?;
        let said = self.replies.open(&token).ok_or(Ignored::NoAddress)?;
        let message = MessageParser::default().parse(raw).ok_or(Ignored::Unreadable)?;
        let known = KnownEmail { id: id(&message, raw, &token), token, at: at(&message) };
        let from = message.from().and_then(|from| from.first());
        let address = from.and_then(|from| from.address()).ok_or(Ignored::NoSender)?;
        if let Some(report) = bounce::report(&message) {
            // No email of ours is from where somebody writes to an agent: nothing comes back there.
            let OpenedAddress::Reply(reply) = said else { return Err(Ignored::Automatic) };
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
        let named = matches!(said, OpenedAddress::Invitation(_))
            && message.subject().is_some_and(|subject| !subject.trim().is_empty());
        if text.is_empty() && !named {
            return Err(Ignored::Empty);
        }
        let name = from.and_then(|from| from.name()).map(|name| beginning(&reveal(name)));
        let sender = SenderClaim::read(raw, &self.replies, &known.token, address);
        let (from, place) = (Means::email(address), place(&message, address));
        let about = InReplyTo::Token { token: known.token.clone(), sender };
        Ok(known.wrote(from, name, place, InboundContent::Wrote { text, about }))
    }

    /// The token of the address it was sent to, as the email says: what was added on delivery first.
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

struct KnownEmail {
    id: String,
    token: String,
    at: Option<Time>,
}

impl KnownEmail {
    fn wrote(
        self,
        from: Means,
        name: Option<String>,
        place: Value,
        what: InboundContent,
    ) -> InboundMessage {
        InboundMessage { id: self.id, from, name, place, what, at: self.at }
    }

    /// That an email of ours came to nothing, told by whom it did not reach, or by whoever reports it if
    /// they do not say. It is known by its own id, and where the report has none, by the ask; which ask
    /// and whose email it is for certain, the address says.
    fn failed(
        self,
        reply: ReplyAddress,
        report: BounceReport,
        reporter: &str,
    ) -> Option<InboundMessage> {
        let state = report.state?;
        let ReplyAddress { ask, whom } = reply;
        let from = Means::email(report.recipient.as_deref().unwrap_or(reporter));
        let posted = report.posted.unwrap_or_else(|| ask.to_string());
        let place = json!({ "ask": ask.to_string(), "whom": whom.to_string() });
        let what = InboundContent::Became { posted, state };
        Some(InboundMessage { id: self.id, from, name: None, place, what, at: self.at })
    }
}

/// The same however often the email comes; another where it was sent to two of our addresses.
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

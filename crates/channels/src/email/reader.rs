//! Reads an email: an answer, the beginning of a conversation, a bounce, or nothing.
//!
//! **`From:` is not trusted.** Anyone can write anything there. The address that the email was sent
//! to counts: it is signed, and was shown to one person ([`ReplyAddresses`]). The sender in `From:`
//! is passed on as a claim ([`SenderClaim`]), which the server verifies before it relies on it.
//!
//! Automatic emails are never answers: out-of-office notes, mailing lists, the server's own emails.

use std::fmt;

use kernel::Time;
use kernel::audit::Digest;
use kernel::directory::ContactMethod;
use kernel::text::reveal;
use mail_parser::{Message, MessageParser, MimeHeaders, PartType};
use serde_json::{Value, json};

use super::bounce::{self, BounceReport};
use super::html;
use super::quotes::{answer, unflow};
use super::reply_address::{OpenedAddress, ReplyAddress, ReplyAddresses};
use crate::inbound::{InReplyTo, InboundContent, InboundMessage};
use crate::sender_claim::SenderClaim;

/// The most attachments that are listed.
const MENTIONED: usize = 20;
/// The longest shown name of an attachment, and the longest shown subject.
const SHOWN: usize = 200;
/// The longest accepted Message-ID.
const LONGEST_ID: usize = 500;

/// Reads inbound emails into messages.
#[derive(Debug, Clone)]
pub struct EmailReader {
    replies: ReplyAddresses,
    /// The addresses that the server sends from, in lower case.
    own: Vec<String>,
}

/// The result of reading an email.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadEmail {
    /// The email is a message from a person, or a bounce.
    Inbound(Box<InboundMessage>),
    /// The email was ignored, for this reason.
    Ignored(IgnoredEmail),
}

/// Why an email was ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IgnoredEmail {
    /// It is not an email.
    Unreadable,
    /// It was sent to no address that this server issued.
    NoAddress,
    /// It names no sender.
    NoSender,
    /// A program wrote it.
    Automatic,
    /// This server sent it.
    Own,
    /// A mail server is still trying to deliver one of the server's emails.
    Delayed,
    /// It contains nothing but quotations.
    Empty,
}

impl fmt::Display for IgnoredEmail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "it cannot be parsed as an email",
            Self::NoAddress => "its recipient is not a reply address of this server",
            Self::NoSender => "it has no sender",
            Self::Automatic => "it is an automatic message",
            Self::Own => "this server sent it",
            Self::Delayed => "it is a delay notification",
            Self::Empty => "it has no text",
        })
    }
}

impl EmailReader {
    /// A reader for emails to these addresses. Emails from `own` addresses are the server's own.
    pub fn new(replies: ReplyAddresses, own: impl IntoIterator<Item = String>) -> Self {
        Self { replies, own: own.into_iter().map(|address| address.to_lowercase()).collect() }
    }

    /// The reply addresses that it recognises.
    pub fn replies(&self) -> &ReplyAddresses {
        &self.replies
    }

    /// Reads an email. `to` is the envelope recipient, if it is known. Then the addresses in the
    /// email itself do not count.
    pub fn read(&self, raw: &[u8], to: Option<&str>) -> ReadEmail {
        match self.inbound(raw, to) {
            Ok(inbound) => ReadEmail::Inbound(Box::new(inbound)),
            Err(why) => ReadEmail::Ignored(why),
        }
    }

    fn inbound(&self, raw: &[u8], to: Option<&str>) -> Result<InboundMessage, IgnoredEmail> {
        // Unwanted emails rarely name a valid reply address, so their bodies are not even parsed.
        let headers = MessageParser::new().parse_headers(raw).ok_or(IgnoredEmail::Unreadable)?;
        let token = match to {
            Some(to) => self.replies.token_of(to),
            None => self.token_in(&headers),
        };
        let token = token.ok_or(IgnoredEmail::NoAddress)?;
        let said = self.replies.open(&token).ok_or(IgnoredEmail::NoAddress)?;
        let message = MessageParser::default().parse(raw).ok_or(IgnoredEmail::Unreadable)?;
        let known = KnownEmail { id: id(&message, raw, &token), token, at: at(&message) };
        let from = message.from().and_then(|from| from.first());
        let address = from.and_then(|from| from.address()).ok_or(IgnoredEmail::NoSender)?;
        if let Some(report) = bounce::report(&message) {
            // The server never sends from an invitation address, so a bounce to it is not genuine.
            let OpenedAddress::Reply(reply) = said else { return Err(IgnoredEmail::Automatic) };
            return known.into_bounce(reply, report, address).ok_or(IgnoredEmail::Delayed);
        }
        if self.replies.is_ours(address) || self.own.contains(&address.to_lowercase()) {
            return Err(IgnoredEmail::Own);
        }
        if is_automatic(&message) {
            return Err(IgnoredEmail::Automatic);
        }
        let text = written(&message);
        // The first email of a conversation may consist of its subject.
        let named = matches!(said, OpenedAddress::Invitation(_))
            && message.subject().is_some_and(|subject| !subject.trim().is_empty());
        if text.is_empty() && !named {
            return Err(IgnoredEmail::Empty);
        }
        let name = from.and_then(|from| from.name()).map(|name| beginning(&reveal(name)));
        let sender = SenderClaim::read(raw, &self.replies, &known.token, address);
        let (from, place) = (ContactMethod::email(address), place(&message, address));
        let about = InReplyTo::Token { token: known.token.clone(), sender };
        Ok(known.into_inbound(from, name, place, InboundContent::Wrote { text, about }))
    }

    /// The token of the recipient address in the headers. Headers that were added on
    /// delivery take precedence.
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

/// Every part of a header that may be an address. The signature shows which one this server issued.
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
    fn into_inbound(
        self,
        from: ContactMethod,
        name: Option<String>,
        place: Value,
        what: InboundContent,
    ) -> InboundMessage {
        InboundMessage { id: self.id, from, name, place, what, at: self.at }
    }

    /// A bounce of one of the server's emails. It names the address that was not reached, or else
    /// the reporter. The email is identified by its own id, or by the ask if the report has none.
    /// The reply address proves which ask and which person it was for.
    fn into_bounce(
        self,
        reply: ReplyAddress,
        report: BounceReport,
        reporter: &str,
    ) -> Option<InboundMessage> {
        let state = report.state?;
        let ReplyAddress { ask, whom } = reply;
        let from = ContactMethod::email(report.recipient.as_deref().unwrap_or(reporter));
        let posted = report.posted.unwrap_or_else(|| ask.to_string());
        let place = json!({ "ask": ask.to_string(), "whom": whom.to_string() });
        let what = InboundContent::Became { posted, state };
        Some(InboundMessage { id: self.id, from, name: None, place, what, at: self.at })
    }
}

/// The id of an inbound email. It is the same when the email arrives again, and differs for each
/// reply address it was sent to.
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

/// Where a reply goes: to the sender, in the same thread. Attachments are not accepted,
/// only listed here.
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

/// The text that the sender wrote, from the text part or else from the HTML part.
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
    // Some programs send an empty text part beside the HTML part.
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

/// Whether a program wrote the email, by the standard header (RFC 3834) or by other known headers.
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
            // A comment or a parameter may follow the value.
            "auto-submitted" => {
                value.split([';', ' ', '(']).next().is_some_and(|value| value != "no")
            }
            "precedence" => {
                matches!(value.as_str(), "bulk" | "junk" | "list" | "auto_reply" | "auto-reply")
            }
            // A person's email always has a return path.
            "return-path" => value == "<>",
            name => MARKS.contains(&name),
        }
    };
    message.headers_raw().any(says) || SUBJECTS.iter().any(|begins| subject.starts_with(begins))
}

#[cfg(test)]
mod tests;

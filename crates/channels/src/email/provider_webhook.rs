//! Emails that a provider posts to us, under the name `inbound`: Mailgun's routes and Postmark's inbound
//! streams, both with the email as it came; or anybody's program, signed as Standard Webhooks have it.
//!
//! That it was the provider who called is checked first. That somebody may answer is shown by the
//! address the email was sent to, however it came.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use kernel::Time;
use mail_parser::{MessageParser, MimeHeaders};
use percent_encoding::percent_decode;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::reader::{EmailReader, ReadEmail};
use crate::inbound::ParsedCall;
use crate::standard::WebhookKey;
use crate::{ForgedCall, Secret, UnreadableCall, WebhookCall};

/// How far the clock of whoever calls may be from ours, in milliseconds.
const WINDOW: u64 = 5 * 60 * 1000;

/// Who posts emails.
#[derive(Debug, Clone)]
pub enum EmailProvider {
    /// A route of Mailgun that forwards to an address which ends in `mime`.
    Mailgun {
        /// The HTTP webhook signing key of the account.
        signing_key: Secret,
    },
    /// An inbound stream of Postmark, with the raw content in its JSON.
    Postmark {
        /// Stands before the `:` in the webhook's address.
        user: String,
        /// Stands behind it.
        password: Secret,
    },
    /// A program that posts `message/rfc822` with the headers of Standard Webhooks.
    Signed {
        /// `whsec_…`
        secret: Secret,
    },
}

/// Takes emails that are posted.
pub struct ProviderWebhook {
    provider: EmailProvider,
    reader: EmailReader,
    /// What Standard Webhooks are signed with.
    key: Option<WebhookKey>,
}

impl ProviderWebhook {
    /// Takes emails from this provider.
    pub fn new(provider: EmailProvider, reader: EmailReader) -> Result<Self, String> {
        let mut key = None;
        match &provider {
            EmailProvider::Mailgun { signing_key } if signing_key.reveal().is_empty() => {
                return Err("the HTTP webhook signing key of Mailgun is not set".to_owned());
            }
            EmailProvider::Postmark { user, password }
                if user.is_empty() || user.contains(':') || password.reveal().is_empty() =>
            {
                return Err("Postmark needs a user, without a colon, and a password".to_owned());
            }
            EmailProvider::Signed { secret } => {
                let expected = "expected a secret as Standard Webhooks has it: whsec_ and 24 to 64 \
                                bytes in base64";
                key = Some(WebhookKey::read(secret).ok_or(expected)?);
            }
            EmailProvider::Mailgun { .. } | EmailProvider::Postmark { .. } => {}
        }
        Ok(Self { provider, reader, key })
    }

    /// Whether the provider called, and not long ago.
    pub fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        match &self.provider {
            EmailProvider::Mailgun { signing_key } => mailgun(signing_key, call),
            EmailProvider::Postmark { user, password } => postmark(user, password, call),
            EmailProvider::Signed { .. } => {
                self.key.as_ref().map_or(Err(WRONG), |key| key.verify(call))
            }
        }
    }

    /// What the email says, to each of our addresses it was sent to.
    pub fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        let unread = |expected: &str| UnreadableCall(expected.to_owned());
        let (letter, to): (Cow<'_, [u8]>, Vec<String>) = match &self.provider {
            EmailProvider::Mailgun { .. } => {
                let fields = form(call).ok_or_else(|| unread("expected a form"))?;
                let letter = one(&fields, "body-mime").ok_or_else(|| {
                    unread("expected body-mime: the address of the route must end in mime")
                })?;
                let to = one(&fields, "recipient").unwrap_or_default();
                let to =
                    String::from_utf8_lossy(to).split(',').map(|to| to.trim().to_owned()).collect();
                (Cow::Owned(letter.to_vec()), to)
            }
            EmailProvider::Postmark { .. } => {
                let call: PostmarkCall = serde_json::from_slice(call.body).map_err(|error| {
                    UnreadableCall(format!("expected Postmark's JSON: {error}"))
                })?;
                let letter = call.raw_email.ok_or_else(|| {
                    unread("expected RawEmail: turn on that the raw content is included")
                })?;
                let to = call.original_recipient.into_iter().collect();
                (Cow::Owned(letter.into_bytes()), to)
            }
            EmailProvider::Signed { .. } => {
                let kind = call.header("content-type").unwrap_or_default();
                let kind = kind.split(';').next().unwrap_or_default().trim();
                if !kind.eq_ignore_ascii_case("message/rfc822") {
                    return Err(unread("expected the content type message/rfc822"));
                }
                (Cow::Borrowed(call.body), Vec::new())
            }
        };
        let replies = self.reader.replies();
        let ours: Vec<&String> = to.iter().filter(|to| replies.read(to).is_some()).collect();
        let reads = match ours.as_slice() {
            // A provider that was forwarded to knows its own address only: the email knows ours.
            [] => vec![self.reader.read(&letter, None)],
            ours => ours.iter().map(|to| self.reader.read(&letter, Some(to))).collect(),
        };
        Ok(ParsedCall::of(reads.into_iter().filter_map(inbound).collect()))
    }
}

impl fmt::Debug for ProviderWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbound").field("provider", &self.provider).finish_non_exhaustive()
    }
}

const WRONG: ForgedCall = ForgedCall("the signature is not right");

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PostmarkCall {
    raw_email: Option<String>,
    original_recipient: Option<String>,
}

fn inbound(read: ReadEmail) -> Option<crate::InboundMessage> {
    match read {
        ReadEmail::Inbound(inbound) => Some(*inbound),
        ReadEmail::Ignored(why) => {
            tracing::info!("a letter says nothing: {why}");
            None
        }
    }
}

/// The signature is over a moment and a random text, and stands beside the email.
fn mailgun(key: &Secret, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
    let fields = form(call).ok_or(ForgedCall("this is no form"))?;
    let field = |name| one(&fields, name).ok_or(ForgedCall("a field of the signature is missing"));
    let (at, token, signature) = (field("timestamp")?, field("token")?, field("signature")?);
    let at_text = std::str::from_utf8(at).map_err(|_| WRONG)?;
    recent(at_text, call.now)?;
    let given = hex::decode(signature).map_err(|_| WRONG)?;
    let expected = hmac(key.reveal().as_bytes(), &[at, token]);
    if expected.ct_eq(given.as_slice()).into() { Ok(()) } else { Err(WRONG) }
}

/// A user and a password, as a browser would send them.
fn postmark(user: &str, password: &Secret, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
    let given = call.header("authorization").ok_or(ForgedCall("no password was given"))?;
    let given = given.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let given = given.and_then(|(_, text)| BASE64_STANDARD.decode(text.trim()).ok());
    let expected = format!("{user}:{}", password.reveal());
    // As hashes they are of one length, so that not even that is told by time.
    let same = Sha256::digest(given.unwrap_or_default()).ct_eq(&Sha256::digest(expected));
    if same.into() { Ok(()) } else { Err(ForgedCall("the password is not right")) }
}

fn recent(at: &str, now: Time) -> Result<(), ForgedCall> {
    let at: i64 = at.parse().map_err(|_| ForgedCall("this is no moment"))?;
    let apart = now.millis().abs_diff(at.saturating_mul(1000));
    if apart <= WINDOW { Ok(()) } else { Err(ForgedCall("this was signed too long ago")) }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC takes keys of any length, so there is always one.
    Hmac::<Sha256>::new_from_slice(key)
        .map(|mut mac| {
            for part in parts {
                mac.update(part);
            }
            mac.finalize().into_bytes().to_vec()
        })
        .unwrap_or_default()
}

type Fields = Vec<(String, Vec<u8>)>;

/// A field; nothing if it is there twice.
fn one<'a>(fields: &'a Fields, name: &str) -> Option<&'a [u8]> {
    let mut found = fields.iter().filter(|(key, _)| key == name);
    let (_, value) = found.next()?;
    found.next().is_none().then_some(value)
}

/// The fields of a form, whichever way it is written. Values are bytes: an email may be in any charset.
fn form(call: &WebhookCall<'_>) -> Option<Fields> {
    let kind = call.header("content-type")?;
    let bare = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match bare.as_str() {
        "application/x-www-form-urlencoded" => Some(urlencoded(call.body)),
        "multipart/form-data" => multipart(kind, call.body),
        _ => None,
    }
}

fn urlencoded(body: &[u8]) -> Fields {
    let decoded = |text: &[u8]| -> Vec<u8> {
        let spaced: Vec<u8> = text.iter().map(|b| if *b == b'+' { b' ' } else { *b }).collect();
        percent_decode(&spaced).collect()
    };
    let pairs = body.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let name = decoded(halves.next().unwrap_or_default());
            let value = decoded(halves.next().unwrap_or_default());
            (String::from_utf8_lossy(&name).into_owned(), value)
        })
        .collect()
}

/// A form in parts is written like an email with attachments, and read as one.
fn multipart(kind: &str, body: &[u8]) -> Option<Fields> {
    let mut letter = format!("MIME-Version: 1.0\r\nContent-Type: {kind}\r\n\r\n").into_bytes();
    letter.extend_from_slice(body);
    let message = MessageParser::default().parse(&letter)?;
    let fields = message.parts.iter().filter_map(|part| {
        let name = part.content_disposition()?.attribute("name")?.to_owned();
        let (from, to) = (part.raw_body_offset() as usize, part.raw_end_offset() as usize);
        Some((name, letter.get(from..to)?.to_vec()))
    });
    Some(fields.collect())
}

#[cfg(test)]
mod tests;

//! Emails that a provider posts to the webhook `inbound`: Mailgun's routes and Postmark's inbound
//! streams, both with the raw email, or any program that signs with Standard Webhooks.
//!
//! The channel first verifies that the provider made the call. The address that the email was sent
//! to then shows whether the person may answer, as with every other way in.

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
use crate::standard_webhooks::WebhookKey;
use crate::{ForgedCall, SecretString, UnreadableCall, WebhookCall};

/// The largest accepted difference between the caller's clock and the server's, in milliseconds.
const WINDOW: u64 = 5 * 60 * 1000;

/// The provider that posts emails.
#[derive(Debug, Clone)]
pub enum EmailProvider {
    /// A Mailgun route that forwards to a URL that ends in `mime`.
    Mailgun {
        /// The account's HTTP webhook signing key.
        signing_key: SecretString,
    },
    /// A Postmark inbound stream, with the raw content in its JSON.
    Postmark {
        /// The user name in the webhook's URL.
        user: String,
        /// The password in the webhook's URL.
        password: SecretString,
    },
    /// A program that posts `message/rfc822` with the headers of Standard Webhooks.
    Signed {
        /// The signing secret, `whsec_…`.
        secret: SecretString,
    },
}

/// Accepts posted emails.
pub struct ProviderWebhook {
    provider: EmailProvider,
    reader: EmailReader,
    /// The key for Standard Webhooks.
    key: Option<WebhookKey>,
}

impl ProviderWebhook {
    /// Accepts emails from this provider.
    pub fn new(provider: EmailProvider, reader: EmailReader) -> Result<Self, String> {
        let mut key = None;
        match &provider {
            EmailProvider::Mailgun { signing_key } if signing_key.reveal().is_empty() => {
                return Err("the Mailgun HTTP webhook signing key is not set".to_owned());
            }
            EmailProvider::Postmark { user, password }
                if user.is_empty() || user.contains(':') || password.reveal().is_empty() =>
            {
                return Err("Postmark requires a user name without a colon, and a \
                            password"
                    .to_owned());
            }
            EmailProvider::Signed { secret } => {
                let expected = "expected a Standard Webhooks secret: whsec_ followed by 24 to 64 \
                                bytes in base64";
                key = Some(WebhookKey::read(secret).ok_or(expected)?);
            }
            EmailProvider::Mailgun { .. } | EmailProvider::Postmark { .. } => {}
        }
        Ok(Self { provider, reader, key })
    }

    /// Verifies that the provider made the call, within the accepted time.
    pub fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        match &self.provider {
            EmailProvider::Mailgun { signing_key } => mailgun(signing_key, call),
            EmailProvider::Postmark { user, password } => postmark(user, password, call),
            EmailProvider::Signed { .. } => {
                self.key.as_ref().map_or(Err(WRONG), |key| key.verify(call))
            }
        }
    }

    /// Reads the email, once for each reply address it was sent to.
    pub fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        let unread = |expected: &str| UnreadableCall(expected.to_owned());
        let (letter, to): (Cow<'_, [u8]>, Vec<String>) = match &self.provider {
            EmailProvider::Mailgun { .. } => {
                let fields = form(call).ok_or_else(|| unread("expected a form"))?;
                let letter = one(&fields, "body-mime").ok_or_else(|| {
                    unread("expected the field body-mime; the URL of the route must end in mime")
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
                    unread(
                        "expected the field RawEmail; turn on “Include raw email content” in \
                         Postmark",
                    )
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
            // A provider that got the email by forwarding knows only its own address. The email
            // itself names the reply address.
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

const WRONG: ForgedCall = ForgedCall("the signature is not valid");

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
            tracing::info!("ignored an email: {why}");
            None
        }
    }
}

/// Mailgun signs a timestamp and a random token, which are beside the email.
fn mailgun(key: &SecretString, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
    let fields = form(call).ok_or(ForgedCall("the body is not a form"))?;
    let field = |name| one(&fields, name).ok_or(ForgedCall("a field of the signature is missing"));
    let (at, token, signature) = (field("timestamp")?, field("token")?, field("signature")?);
    let at_text = std::str::from_utf8(at).map_err(|_| WRONG)?;
    recent(at_text, call.now)?;
    let given = hex::decode(signature).map_err(|_| WRONG)?;
    let expected = hmac(key.reveal().as_bytes(), &[at, token]);
    if expected.ct_eq(given.as_slice()).into() { Ok(()) } else { Err(WRONG) }
}

/// Postmark sends HTTP basic authentication.
fn postmark(user: &str, password: &SecretString, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
    let given = call.header("authorization").ok_or(ForgedCall("the password is missing"))?;
    let given = given.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let given = given.and_then(|(_, text)| BASE64_STANDARD.decode(text.trim()).ok());
    let expected = format!("{user}:{}", password.reveal());
    // Hashes have equal lengths, so the comparison takes the same time for every password length.
    let same = Sha256::digest(given.unwrap_or_default()).ct_eq(&Sha256::digest(expected));
    if same.into() { Ok(()) } else { Err(ForgedCall("the password is wrong")) }
}

fn recent(at: &str, now: Time) -> Result<(), ForgedCall> {
    let at: i64 = at.parse().map_err(|_| ForgedCall("the timestamp is not valid"))?;
    let apart = now.millis().abs_diff(at.saturating_mul(1000));
    if apart <= WINDOW { Ok(()) } else { Err(ForgedCall("the signature is too old")) }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC takes keys of any length, so this never fails.
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

/// A field. Returns `None` if it occurs twice.
fn one<'a>(fields: &'a Fields, name: &str) -> Option<&'a [u8]> {
    let mut found = fields.iter().filter(|(key, _)| key == name);
    let (_, value) = found.next()?;
    found.next().is_none().then_some(value)
}

/// The fields of a form in either encoding. Values are bytes, because an email may be
/// in any charset.
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

/// A multipart form has the structure of an email with attachments, so the email parser reads it.
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

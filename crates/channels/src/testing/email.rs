//! Signed calls of providers that post emails.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use kernel::Time;
use sha2::Sha256;

/// A call with its headers and body.
#[derive(Debug, Clone)]
pub struct Call {
    /// Pairs of lower-case name and value.
    pub headers: Vec<(String, String)>,
    /// The exact bytes.
    pub body: Vec<u8>,
}

impl Call {
    /// A call with these headers.
    pub fn new(headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self { headers: headers.iter().map(owned).collect(), body: body.into() }
    }
}

/// The call of a Mailgun route to a URL that ends in `mime`.
pub fn mailgun(key: &str, to: &str, letter: &str, now: Time) -> Call {
    let (at, token) = (seconds(now), "c0ffee".repeat(8));
    let signature = hex::encode(signed(key.as_bytes(), format!("{at}{token}").as_bytes()));
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("recipient", to)
        .append_pair("sender", "somebody@example.org")
        .append_pair("body-mime", letter)
        .append_pair("timestamp", &at)
        .append_pair("token", &token)
        .append_pair("signature", &signature);
    Call::new(&[("content-type", "application/x-www-form-urlencoded")], form.finish())
}

/// The call of a Postmark inbound stream with the raw content.
pub fn postmark(user: &str, password: &str, to: &str, letter: &str) -> Call {
    let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
    let body = serde_json::json!({
        "FromName": "",
        "OriginalRecipient": to,
        "MessageStream": "inbound",
        "RawEmail": letter,
        "TextBody": "whatever Postmark makes of it",
    });
    let headers = [("content-type", "application/json"), ("authorization", basic.as_str())];
    Call::new(&headers, body.to_string())
}

/// The call of a program that signs with Standard Webhooks.
pub fn webhook(secret: &str, id: &str, letter: &str, now: Time) -> Call {
    let at = seconds(now);
    let key = secret.strip_prefix("whsec_").unwrap_or(secret);
    let key = BASE64_STANDARD.decode(key).unwrap_or_default();
    let signature = signed(&key, format!("{id}.{at}.{letter}").as_bytes());
    let signature = format!("v1,{}", BASE64_STANDARD.encode(signature));
    let headers = [
        ("content-type", "message/rfc822"),
        ("webhook-id", id),
        ("webhook-timestamp", at.as_str()),
        ("webhook-signature", signature.as_str()),
    ];
    Call::new(&headers, letter)
}

fn seconds(at: Time) -> String {
    at.millis().div_euclid(1000).to_string()
}

fn signed(key: &[u8], text: &[u8]) -> Vec<u8> {
    // HMAC takes keys of any length, so this never fails.
    Hmac::<Sha256>::new_from_slice(key)
        .map(|mut mac| {
            mac.update(text);
            mac.finalize().into_bytes().to_vec()
        })
        .unwrap_or_default()
}

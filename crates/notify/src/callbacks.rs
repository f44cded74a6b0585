//! HTTP calls to URLs that agents and operators named: callbacks (HITL 0.7 §9) and webhooks.
//!
//! The URLs are hostile until shown otherwise: the SSRF guard ([`gateway::ssrf_guard`]) says where
//! a call may go, redirects are not followed, and only the beginning of a response is read.

use std::sync::Arc;

use gateway::secrets::ServerSecrets;
use gateway::ssrf_guard::OutboundPolicy;
use hmac::{Hmac, KeyInit, Mac};
use jiff::fmt::rfc2822;
use kernel::ask::CallbackResult;
use kernel::{KeyId, Time};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use sha2::Sha256;
use url::Url;

use crate::guarded_http;

/// How much of a response is read, so that the connection can be reused.
const MAX_RESPONSE_BYTES: usize = 16 * 1024;
/// How much of the response is kept if the receiver did not accept the call.
const MAX_STORED_RESPONSE: usize = 300;

/// With `--dev` the secret is public, as every credential is.
const DEV_SECRET: &str = "dev-callback-secret";

/// HMAC-SHA256 of the body, as `sha256=` and hex.
pub const SIGNATURE: &str = "x-hitl-signature";
/// The case that the call is about; the same in every attempt.
pub const EVENT_ID: &str = "x-hitl-event-id";
/// When the attempt was made, in seconds since 1970.
pub const TIMESTAMP: &str = "x-hitl-timestamp";

/// Makes the calls, and has the secret that signs them. Clones share the client.
#[derive(Clone)]
pub struct Callbacks {
    http: reqwest::Client,
    policy: Arc<OutboundPolicy>,
    secrets: Arc<ServerSecrets>,
}

/// One HTTP call to a callback or webhook URL.
pub struct OutgoingCall<'a> {
    /// The URL of the receiver.
    pub url: &'a str,
    /// Id, time and signature.
    pub headers: Vec<(&'static str, String)>,
    /// The exact bytes that are sent and signed.
    pub body: Vec<u8>,
    /// When the call is made.
    pub at: Time,
}

/// How the receiver answered a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResponse {
    /// Whether the receiver accepted the call.
    pub result: CallbackResult,
    /// The receiver asked for no further attempt before this time.
    pub not_before: Option<Time>,
    /// The beginning of the response, if the receiver did not accept the call.
    pub words: Option<String>,
}

impl CallResponse {
    /// The call did not reach the receiver.
    pub fn unreached(error: &str) -> Self {
        let result = CallbackResult::Unreached { error: error.to_owned() };
        Self { result, not_before: None, words: None }
    }

    /// The reason of a failure; `None` if the receiver accepted the call.
    pub fn error(&self) -> Option<String> {
        match &self.result {
            CallbackResult::Taken { .. } => None,
            CallbackResult::Refused { status } => Some(format!("HTTP status {status}")),
            CallbackResult::Unreached { error } => Some(error.clone()),
        }
    }
}

impl Callbacks {
    /// Calls only URLs that the policy permits.
    pub fn new(policy: OutboundPolicy, secrets: Arc<ServerSecrets>) -> anyhow::Result<Self> {
        let policy = Arc::new(policy);
        Ok(Self { http: guarded_http::client(&policy)?, policy, secrets })
    }

    /// The secret that signs the callbacks of cases created with this key.
    pub fn secret(&self, key: KeyId) -> String {
        if self.policy.dev { DEV_SECRET.to_owned() } else { self.secrets.callback_secret(key) }
    }

    /// The URL, if calls may go there; otherwise the description of allowed URLs.
    pub fn address(&self, text: &str) -> Result<Url, &'static str> {
        self.policy.address(text)
    }

    /// Makes one attempt.
    pub async fn call(&self, call: OutgoingCall<'_>) -> CallResponse {
        // Checked again: the settings may have changed since the URL was accepted.
        let Ok(url) = self.policy.address(call.url) else {
            return CallResponse::unreached("outgoing calls to this URL are not allowed");
        };
        let request = self.http.post(url).header(CONTENT_TYPE, "application/json");
        let request = call
            .headers
            .into_iter()
            .fold(request, |request, (name, value)| request.header(name, value));
        match request.body(call.body).send().await {
            Ok(answer) => response_of(answer, call.at).await,
            Err(error) => CallResponse::unreached(guarded_http::reason(&error)),
        }
    }
}

async fn response_of(mut answer: reqwest::Response, now: Time) -> CallResponse {
    let (taken, status) = (answer.status().is_success(), answer.status().as_u16());
    let not_before = retry_after(answer.headers(), now);
    let mut read = Vec::new();
    // Only the status decides; a body that breaks off changes nothing.
    while read.len() < MAX_RESPONSE_BYTES
        && let Ok(Some(more)) = answer.chunk().await
    {
        read.extend_from_slice(&more);
    }
    if taken {
        let result = CallbackResult::Taken { status };
        return CallResponse { result, not_before: None, words: None };
    }
    read.truncate(MAX_STORED_RESPONSE);
    let words = (!read.is_empty()).then(|| String::from_utf8_lossy(&read).into_owned());
    CallResponse { result: CallbackResult::Refused { status }, not_before, words }
}

/// RFC 9110 §10.2.3: a number of seconds, or a time.
fn retry_after(headers: &HeaderMap, now: Time) -> Option<Time> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse::<u64>() {
        Ok(seconds) => Some(now.plus_seconds(seconds)),
        Err(_) => Some(Time::new(rfc2822::parse(text).ok()?.timestamp())),
    }
}

/// Whether another attempt may succeed: the receiver has a problem, or was not reached.
pub fn is_retryable(result: &CallbackResult) -> bool {
    match result {
        CallbackResult::Taken { .. } => false,
        CallbackResult::Refused { status } => *status >= 500 || matches!(status, 408 | 425 | 429),
        CallbackResult::Unreached { .. } => true,
    }
}

/// The headers of a HITL callback.
pub fn headers(
    secret: &str,
    event_id: String,
    at: Time,
    body: &[u8],
) -> Vec<(&'static str, String)> {
    let seconds = at.millis().div_euclid(1000).to_string();
    vec![(SIGNATURE, sign(secret, body)), (EVENT_ID, event_id), (TIMESTAMP, seconds)]
}

/// HITL-182: `sha256=` and lower-case hex of the HMAC over the raw body.
pub fn sign(secret: &str, body: &[u8]) -> String {
    // HMAC accepts keys of any length, so there is always a signature.
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map(|mut mac| {
        mac.update(body);
        mac.finalize().into_bytes()
    });
    format!("sha256={}", mac.map(hex::encode).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// HITL-182, with the vector of RFC 4231 §4.3.
    #[test]
    fn signed_as_everybody_signs() {
        let signed = sign("Jefe", b"what do ya want for nothing?");
        let known = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(signed, format!("sha256={known}"));
    }

    /// HITL-184: 5xx and timeouts are retried; a permanent refusal is not.
    #[test]
    fn what_may_help() {
        for (status, again) in [
            (500, true),
            (503, true),
            (429, true),
            (408, true),
            (400, false),
            (404, false),
            (302, false),
        ] {
            assert_eq!(is_retryable(&CallbackResult::Refused { status }), again, "{status}");
        }
        assert!(is_retryable(&CallbackResult::Unreached { error: String::new() }));
        assert!(!is_retryable(&CallbackResult::Taken { status: 200 }));
    }

    #[test]
    fn when_to_call_again_is_a_span_or_a_moment() {
        let now: Time = "2026-03-01T09:00:00Z".parse().unwrap();
        for (text, at) in [
            ("120", Some(now.plus_seconds(120))),
            ("Sun, 01 Mar 2026 10:00:00 GMT", Some(now.plus_seconds(3600))),
            ("soon", None),
            ("-1", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            assert_eq!(retry_after(&headers, now), at, "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}

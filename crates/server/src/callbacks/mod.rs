//! Calls to agents: one POST to an address they named. HITL 0.7 §9, and everything of
//! [`webhooks`](crate::webhooks).
//!
//! The address is the agent's, so it is hostile until shown otherwise: [`ssrf_guard`](gateway::ssrf_guard) says where a call may
//! go, nobody is followed anywhere else, and of an answer only the beginning is read.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use gateway::ssrf_guard::{Forbidden, Policy, Resolver};
use hmac::{Hmac, KeyInit, Mac};
use jiff::fmt::rfc2822;
use kernel::Time;
use kernel::ask::CallbackResult;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy as Redirects;
use sha2::Sha256;
use url::Url;

/// How long a call may take from beginning to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long finding the other side may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How much of an answer is read, so that the connection can be used again.
const READ: usize = 16 * 1024;
/// How much of it is kept, if the call was not taken.
const KEPT: usize = 300;

/// HMAC-SHA256 of the body, as `sha256=` and hex.
pub const SIGNATURE: &str = "x-hitl-signature";
/// What the call is about; the same each time it is tried.
pub const EVENT_ID: &str = "x-hitl-event-id";
/// When this attempt was made, in seconds since 1970.
pub const TIMESTAMP: &str = "x-hitl-timestamp";

/// Makes the calls.
pub struct Callbacks {
    http: reqwest::Client,
    policy: Arc<Policy>,
}

/// One call.
pub struct Call<'a> {
    /// Where to.
    pub url: &'a str,
    /// What says who calls, and about what.
    pub headers: Vec<(&'static str, String)>,
    /// Exactly what is sent and signed.
    pub body: Vec<u8>,
    /// The moment.
    pub at: Time,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Whether it was taken.
    pub result: CallbackResult,
    /// Before when the other side does not want to be called again.
    pub not_before: Option<Time>,
    /// The beginning of what it answered, if it did not take the call.
    pub words: Option<String>,
}

impl Answered {
    /// Nobody was reached.
    pub fn unreached(error: &str) -> Self {
        let result = CallbackResult::Unreached { error: error.to_owned() };
        Self { result, not_before: None, words: None }
    }

    /// What went wrong, in a few words; nothing, if it was taken.
    pub fn error(&self) -> Option<String> {
        match &self.result {
            CallbackResult::Taken { .. } => None,
            CallbackResult::Refused { status } => Some(format!("HTTP status {status}")),
            CallbackResult::Unreached { error } => Some(error.clone()),
        }
    }
}

impl Callbacks {
    /// A client that goes nowhere but where the policy lets it, and follows nobody.
    pub fn new(policy: Policy) -> anyhow::Result<Self> {
        let policy = Arc::new(policy);
        Ok(Self { http: guarded(&policy)?, policy })
    }

    /// The address, if calls may go there; else what would have been accepted.
    pub fn address(&self, text: &str) -> Result<Url, &'static str> {
        self.policy.address(text)
    }

    /// Calls once.
    pub async fn call(&self, call: Call<'_>) -> Answered {
        // Asked again: the settings may have changed since the address was given.
        let Ok(url) = self.policy.address(call.url) else {
            return Answered::unreached("calls may not go to this address");
        };
        let request = self.http.post(url).header(CONTENT_TYPE, "application/json");
        let request = call
            .headers
            .into_iter()
            .fold(request, |request, (name, value)| request.header(name, value));
        match request.body(call.body).send().await {
            Ok(answer) => heard(answer, call.at).await,
            Err(error) => Answered::unreached(why(&error)),
        }
    }
}

/// A client that goes nowhere but where the policy lets it, and follows nobody.
pub(crate) fn guarded(policy: &Arc<Policy>) -> anyhow::Result<reqwest::Client> {
    reqwest::Client::builder()
        .http1_only()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .redirect(Redirects::none())
        // A proxy would resolve the name by itself, and the guard would guard nothing.
        .no_proxy()
        .dns_resolver(Arc::new(Resolver(Arc::clone(policy))))
        .connect_timeout(CONNECT)
        .timeout(PATIENCE)
        .build()
        .context("cannot make a client for calls to addresses of others")
}

async fn heard(mut answer: reqwest::Response, now: Time) -> Answered {
    let (taken, status) = (answer.status().is_success(), answer.status().as_u16());
    let not_before = retry_after(answer.headers(), now);
    let mut read = Vec::new();
    // What the other side says beside its status decides nothing; how it ends neither.
    while read.len() < READ
        && let Ok(Some(more)) = answer.chunk().await
    {
        read.extend_from_slice(&more);
    }
    if taken {
        let result = CallbackResult::Taken { status };
        return Answered { result, not_before: None, words: None };
    }
    read.truncate(KEPT);
    let words = (!read.is_empty()).then(|| String::from_utf8_lossy(&read).into_owned());
    Answered { result: CallbackResult::Refused { status }, not_before, words }
}

/// RFC 9110 §10.2.3: so many seconds, or a moment.
pub(crate) fn retry_after(headers: &HeaderMap, now: Time) -> Option<Time> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse::<u64>() {
        Ok(seconds) => Some(now.plus_seconds(seconds)),
        Err(_) => Some(Time::new(rfc2822::parse(text).ok()?.timestamp())),
    }
}

/// What went wrong, in a few words of ours: an error of the library may hold the address.
pub(crate) fn why(error: &reqwest::Error) -> &'static str {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<Forbidden>() {
            return "the name leads to addresses calls may not go to";
        }
        cause = error.source();
    }
    if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "cannot connect"
    } else {
        "the call broke off"
    }
}

/// Whether trying again may help: the other side is in trouble, or nobody was there.
pub fn may_help(result: &CallbackResult) -> bool {
    match result {
        CallbackResult::Taken { .. } => false,
        CallbackResult::Refused { status } => *status >= 500 || matches!(status, 408 | 425 | 429),
        CallbackResult::Unreached { .. } => true,
    }
}

/// What a call of HITL says of itself.
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
    // HMAC takes keys of any length, so there is always a signature.
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

    /// HITL-184: 5xx and time-outs are tried again; what was refused for good is not.
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
            assert_eq!(may_help(&CallbackResult::Refused { status }), again, "{status}");
        }
        assert!(may_help(&CallbackResult::Unreached { error: String::new() }));
        assert!(!may_help(&CallbackResult::Taken { status: 200 }));
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

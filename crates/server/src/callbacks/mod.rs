//! Telling an agent that its ask is over: one signed POST to the address it named. HITL 0.7 §9.
//!
//! The address is the agent's, so it is hostile until shown otherwise: [`guard`] says where a call may
//! go. The signature covers the body's bytes; the id and the moment of the call stand beside it in
//! headers, for whoever wants to tell a repetition.

pub mod guard;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use hmac::{Hmac, KeyInit, Mac};
use kernel::Time;
use kernel::ask::CallbackResult;
use reqwest::redirect::Policy as Redirects;
use sha2::Sha256;
use url::Url;

use guard::Resolver;
pub use guard::{Policy, Range};

/// How long a call may take from beginning to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long finding the other side may take.
const CONNECT: Duration = Duration::from_secs(5);

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
    /// Its id.
    pub event_id: &'a str,
    /// Exactly what is sent and signed.
    pub body: Vec<u8>,
    /// What it is signed with.
    pub secret: &'a str,
    /// The moment.
    pub at: Time,
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
    pub async fn call(&self, call: Call<'_>) -> CallbackResult {
        let unreached = |error: &str| CallbackResult::Unreached { error: error.to_owned() };
        // Asked again: the settings may have changed since the case was made.
        let Ok(url) = self.policy.address(call.url) else {
            return unreached("calls may not go to this address");
        };
        let sent = self
            .http
            .post(url)
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .header(SIGNATURE, sign(call.secret, &call.body))
            .header(EVENT_ID, call.event_id)
            .header(TIMESTAMP, call.at.millis().div_euclid(1000))
            .body(call.body)
            .send()
            .await;
        match sent {
            Ok(answer) if answer.status().is_success() => {
                CallbackResult::Taken { status: answer.status().as_u16() }
            }
            Ok(answer) => CallbackResult::Refused { status: answer.status().as_u16() },
            Err(error) => unreached(why(&error)),
        }
    }
}

/// A client that goes nowhere but where the policy lets it, and follows nobody.
pub(crate) fn guarded(policy: &Arc<Policy>) -> anyhow::Result<reqwest::Client> {
    reqwest::Client::builder()
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

/// What went wrong, in a few words of ours: an error of the library may hold the address.
pub(crate) fn why(error: &reqwest::Error) -> &'static str {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<guard::Forbidden>() {
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
}

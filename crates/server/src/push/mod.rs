//! Web Push: telling people's devices, through the push services of their browsers, that something
//! waits. What is carried is encrypted for the device; a push service learns that something was sent,
//! to whom, and how urgent it is.
//!
//! | module | what it holds |
//! |---|---|
//! | [`devices`] | which devices there are, and how to reach them |
//! | [`notice`] | what a device shows |
//! | [`deliver`] | one notice on its way |
//! | `encrypt`, `vapid` | RFC 8291 and RFC 8292 |

pub mod deliver;
pub mod devices;
mod encrypt;
pub mod notice;
mod vapid;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use kernel::Time;
use kernel::ask::Priority;
use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use store::outage::Outage;
use url::Url;

use crate::callbacks::{self, Policy, guarded, why};
use crate::secrets::Secrets;
use devices::Address;
use vapid::Vapid;

/// The longest a push service is told to keep something for a device that is off, in seconds.
pub const KEPT: u64 = 24 * 60 * 60;
/// The longest we wait because a push service says so, in seconds.
const LONGEST_WAIT: u64 = 24 * 60 * 60;

/// Talks to push services.
pub struct Push {
    http: reqwest::Client,
    policy: Arc<Policy>,
    vapid: Vapid,
    outage: Outage,
}

/// What is sent.
pub struct Message {
    /// What the device is given.
    pub words: Vec<u8>,
    /// For how many seconds a push service keeps it for a device that is off.
    pub keep: u64,
    /// How urgent it is.
    pub priority: Priority,
    /// Of two with the same topic a device that was off gets the later.
    pub topic: Option<[u8; 24]>,
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Sent {
    /// The push service has it.
    Taken,
    /// There is no such device any more.
    Gone,
    /// Not now; later may help, and not before this moment if it said one.
    Later {
        /// The moment.
        at: Option<Time>,
        /// What went wrong.
        error: String,
    },
    /// Never.
    Refused {
        /// What went wrong.
        error: String,
    },
}

impl Push {
    /// Goes nowhere but where the policy lets it. `contact` is whom a push service may write to.
    pub fn new(policy: Policy, secrets: &Secrets, contact: String) -> anyhow::Result<Self> {
        let policy = Arc::new(policy);
        let vapid =
            Vapid::new(secrets, contact).context("cannot derive a key for push services")?;
        let outage = Outage::new("push services");
        Ok(Self { http: guarded(&policy)?, policy, vapid, outage })
    }

    /// What browsers must know to let us in.
    pub fn key(&self) -> &str {
        self.vapid.public()
    }

    /// The address, if it may be called; else what would have been accepted.
    pub fn address(&self, text: &str) -> Result<Url, &'static str> {
        self.policy.address(text)
    }

    /// Sends once. `now` is the server's time, by which it says when to try again; `signed_at` is the time push
    /// services go by.
    pub async fn send(&self, to: &Address, message: &Message, now: Time, signed_at: Time) -> Sent {
        let refused = |error: &str| Sent::Refused { error: error.to_owned() };
        // Asked again: the settings may have changed since the device was added.
        let Ok(url) = self.policy.address(&to.endpoint) else {
            return refused("calls may not go to this address");
        };
        let closed = to.recipient().and_then(|to| encrypt::encrypt(&to, &message.words));
        let Some(closed) = closed else { return refused("it cannot be encrypted") };
        let mut call = self
            .http
            .post(url.clone())
            .header(AUTHORIZATION, self.vapid.authorization(&url, signed_at))
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("ttl", message.keep)
            .header("urgency", urgency(message.priority));
        if let Some(topic) = &message.topic {
            call = call.header("topic", BASE64.encode(topic));
        }
        let sent = match call.body(closed).send().await {
            Ok(answer) => judged(answer.status(), answer.headers(), now),
            Err(error) => Sent::Later { at: None, error: why(&error).to_owned() },
        };
        // Each push service by itself: browsers use different ones.
        let service = url.host_str().unwrap_or_default();
        match &sent {
            Sent::Taken | Sent::Gone | Sent::Refused { .. } => self.outage.worked(service),
            Sent::Later { error, .. } => self.outage.failed(service, error),
        }
        sent
    }
}

fn judged(status: StatusCode, headers: &HeaderMap, now: Time) -> Sent {
    let error = format!("HTTP status {}", status.as_u16());
    match status.as_u16() {
        200..300 => Sent::Taken,
        404 | 410 => Sent::Gone,
        408 | 425 | 429 | 500.. => Sent::Later { at: retry_after(headers, now), error },
        _ => Sent::Refused { error },
    }
}

/// When we may come back; not before now, and not as late as somebody may say.
fn retry_after(headers: &HeaderMap, now: Time) -> Option<Time> {
    let at = callbacks::retry_after(headers, now)?;
    Some(at.clamp(now, now.plus_seconds(LONGEST_WAIT)))
}

/// RFC 8030, section 5.3.
fn urgency(priority: Priority) -> &'static str {
    match priority {
        Priority::Critical | Priority::High => "high",
        Priority::Normal => "normal",
        Priority::Low => "low",
    }
}

/// The time from one moment to a later one, in whole seconds.
fn seconds_until(at: Time, now: Time) -> u64 {
    let millis = u64::try_from(at.millis().saturating_sub(now.millis())).unwrap_or(0);
    Duration::from_millis(millis).as_secs()
}

#[cfg(test)]
mod tests {
    use reqwest::header::RETRY_AFTER;

    use super::*;

    #[test]
    fn what_an_answer_means() {
        let now = Time::from_millis(1_000_000);
        let none = HeaderMap::new();
        for status in [200, 201, 202, 204] {
            assert_eq!(judged(StatusCode::from_u16(status).unwrap(), &none, now), Sent::Taken);
        }
        for status in [404, 410] {
            assert_eq!(judged(StatusCode::from_u16(status).unwrap(), &none, now), Sent::Gone);
        }
        for status in [408, 425, 429, 500, 502, 503, 599] {
            let sent = judged(StatusCode::from_u16(status).unwrap(), &none, now);
            assert!(matches!(sent, Sent::Later { at: None, .. }), "{status}");
        }
        for status in [301, 307, 400, 401, 403, 413] {
            let sent = judged(StatusCode::from_u16(status).unwrap(), &none, now);
            assert!(matches!(sent, Sent::Refused { .. }), "{status}");
        }
    }

    #[test]
    fn a_push_service_says_when_to_come_back() {
        let now: Time = "2026-11-15T08:00:00Z".parse().unwrap();
        for (said, expected) in [
            ("120", Some("2026-11-15T08:02:00Z")),
            ("0", Some("2026-11-15T08:00:00Z")),
            ("Sun, 15 Nov 2026 09:30:00 GMT", Some("2026-11-15T09:30:00Z")),
            ("Sun, 15 Nov 2020 09:30:00 GMT", Some("2026-11-15T08:00:00Z")),
            ("99999999999", Some("2026-11-16T08:00:00Z")),
            ("soon", None),
            ("-5", None),
            ("", None),
        ] {
            let headers = [(RETRY_AFTER, said.parse().unwrap())].into_iter().collect();
            let expected = expected.map(|at| at.parse().unwrap());
            assert_eq!(retry_after(&headers, now), expected, "{said}");
        }
    }
}

//! Web Push: notifications on people's devices, through the push services of their browsers.
//! Messages are encrypted for the device. A push service learns only that a message was sent, to
//! which device, and its urgency.
//!
//! | module | contents |
//! |---|---|
//! | [`subscription`] | the subscription of a device |
//! | `encrypt`, `vapid` | RFC 8291 and RFC 8292 |

mod encrypt;
pub mod subscription;
mod vapid;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use jiff::fmt::rfc2822;
use kernel::Time;
use kernel::ask::Priority;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use url::Url;
use views::message_card::MessageCard;
use views::push_notification::PushNotification;

use crate::channel::{Channel, OutboundMessage, PostedMessage};
use crate::errors::DeliveryError;
use crate::setup::{ChannelContext, ChannelSetup, ClockFn, OutageLog};
pub use subscription::{InvalidSubscription, PushSubscription};
use vapid::Vapid;

/// The name of the channel.
pub const NAME: &str = "push";
/// The longest time that a push service keeps a message for an offline device, in seconds.
pub const MAX_TTL_SECONDS: u64 = 24 * 60 * 60;
/// The longest accepted `Retry-After` of a push service, in seconds.
const LONGEST_WAIT: u64 = 24 * 60 * 60;

/// Calls to URLs that browsers name. The server decides which hosts they may reach.
pub trait GuardedHttp: Send + Sync {
    /// A client that connects only to allowed hosts.
    fn client(&self) -> Client;

    /// The URL, if it may be called. The error names the accepted form.
    fn url(&self, text: &str) -> Result<Url, &'static str>;

    /// Why a call failed, in a few words that do not contain the URL.
    fn describe_error(&self, error: &reqwest::Error) -> &'static str;
}

/// The settings of the channel.
#[derive(Clone)]
pub struct PushSettings {
    /// The HTTP client for push services.
    pub http: Arc<dyn GuardedHttp>,
    /// Candidates for the key that identifies this server to push services. The first
    /// valid key counts.
    pub keys: Vec<[u8; 32]>,
    /// The contact for operators of push services: an email address or a page.
    pub contact: String,
}

/// Leaves out the keys.
impl fmt::Debug for PushSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushSettings").field("contact", &self.contact).finish_non_exhaustive()
    }
}

impl ChannelSetup for PushSettings {
    type Channel = WebPush;

    const NAME: &'static str = NAME;
    const TAKES_ADDRESS: bool = false;

    fn open(self, context: &ChannelContext) -> Result<Arc<WebPush>, String> {
        let vapid =
            Vapid::new(&self.keys, self.contact).ok_or("cannot derive a key for push services")?;
        Ok(Arc::new(WebPush {
            client: self.http.client(),
            http: self.http,
            vapid,
            clock: Arc::clone(&context.wall_clock),
            outage: context.outages.open("push services"),
        }))
    }
}

/// The Web Push channel.
pub struct WebPush {
    client: Client,
    http: Arc<dyn GuardedHttp>,
    vapid: Vapid,
    /// The real clock, which push services also use.
    clock: ClockFn,
    outage: Box<dyn OutageLog>,
}

/// A message to a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushMessage {
    /// The notification, as the service worker reads it.
    pub words: String,
    /// How many seconds a push service keeps it for an offline device.
    pub keep: u64,
    /// The priority, from which the urgency follows.
    pub priority: Priority,
    /// Of two messages with the same topic, an offline device gets only the later one.
    pub topic: Option<[u8; 24]>,
}

impl PushMessage {
    /// A message without a topic.
    pub fn new(notification: &PushNotification, keep: u64, priority: Priority) -> Self {
        Self { words: notification.json(), keep, priority, topic: None }
    }

    /// The message in the format that the channel `push` sends.
    pub fn message(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl WebPush {
    /// The public key that browsers need to accept messages from this server.
    pub fn key(&self) -> &str {
        self.vapid.public()
    }

    async fn send(
        &self,
        to: &PushSubscription,
        message: &PushMessage,
        now: Time,
    ) -> Result<(), DeliveryError> {
        // Checked again, because the settings may have changed since the device was added.
        let url = self.http.url(&to.endpoint);
        let url =
            url.map_err(|_| DeliveryError::never("outgoing calls to this URL are not allowed"))?;
        let closed = to.recipient().and_then(|to| encrypt::encrypt(&to, message.words.as_bytes()));
        let closed = closed.ok_or_else(|| DeliveryError::never("it cannot be encrypted"))?;
        let mut call = self
            .client
            .post(url.clone())
            .header(AUTHORIZATION, self.vapid.authorization(&url, (self.clock)()))
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("ttl", message.keep)
            .header("urgency", urgency(message.priority));
        if let Some(topic) = &message.topic {
            call = call.header("topic", BASE64.encode(topic));
        }
        let sent = match call.body(closed).send().await {
            Ok(answer) => check_status(answer.status(), answer.headers(), now),
            Err(error) => Err(DeliveryError::later(self.http.describe_error(&error))),
        };
        // Outages are logged per push service, because browsers use different ones.
        let service = url.host_str().unwrap_or_default();
        match &sent {
            Ok(()) | Err(DeliveryError::Gone { .. } | DeliveryError::Never { .. }) => {
                self.outage.worked(service);
            }
            Err(DeliveryError::Later { why, .. }) => self.outage.failed(service, why),
        }
        sent
    }
}

#[async_trait]
impl Channel for WebPush {
    fn name(&self) -> &'static str {
        NAME
    }

    /// Renders a card without a way to answer. Notifications about requests have
    /// [their own view](PushNotification::waiting_request).
    fn render(&self, card: &MessageCard) -> Value {
        let priority = if card.urgent { Priority::Critical } else { Priority::Normal };
        PushMessage::new(&PushNotification::of_card(card), MAX_TTL_SECONDS, priority).message()
    }

    /// The address is a [`PushSubscription`] as JSON.
    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let to: PushSubscription = serde_json::from_str(outbound.to)
            .map_err(|_| DeliveryError::never("this is not a browser's push subscription"))?;
        let message: PushMessage =
            serde_json::from_value(outbound.message.clone()).map_err(|error| {
                DeliveryError::never(format!("this is not a push message: {error}"))
            })?;
        self.send(&to, &message, outbound.now).await?;
        Ok(PostedMessage::new(outbound.key))
    }
}

fn check_status(status: StatusCode, headers: &HeaderMap, now: Time) -> Result<(), DeliveryError> {
    let why = format!("HTTP status {}", status.as_u16());
    match status.as_u16() {
        200..300 => Ok(()),
        404 | 410 => Err(DeliveryError::Gone { why }),
        408 | 425 | 429 | 500.. => {
            Err(DeliveryError::Later { why, after: retry_after(headers, now) })
        }
        _ => Err(DeliveryError::Never { why }),
    }
}

/// The delay that a push service asks for, up to a limit.
fn retry_after(headers: &HeaderMap, now: Time) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = if let Ok(seconds) = text.parse::<u64>() {
        seconds
    } else {
        let at = Time::new(rfc2822::parse(text).ok()?.timestamp());
        let millis = at.millis().saturating_sub(now.millis());
        u64::try_from(millis).unwrap_or(0).div_ceil(1000)
    };
    Some(Duration::from_secs(seconds.min(LONGEST_WAIT)))
}

/// The urgency of RFC 8030, section 5.3.
fn urgency(priority: Priority) -> &'static str {
    match priority {
        Priority::Critical | Priority::High => "high",
        Priority::Normal => "normal",
        Priority::Low => "low",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_means() {
        let now = Time::from_millis(1_000_000);
        let judge = |status: u16| {
            check_status(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), now)
        };
        for status in [200, 201, 202, 204] {
            assert_eq!(judge(status), Ok(()));
        }
        for status in [404, 410] {
            assert!(matches!(judge(status), Err(DeliveryError::Gone { .. })), "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 599] {
            let later = judge(status);
            assert!(matches!(later, Err(DeliveryError::Later { after: None, .. })), "{status}");
        }
        for status in [301, 307, 400, 401, 403, 413] {
            assert!(matches!(judge(status), Err(DeliveryError::Never { .. })), "{status}");
        }
    }

    #[test]
    fn a_push_service_says_when_to_come_back() {
        let now: Time = "2026-11-15T08:00:00Z".parse().unwrap();
        for (said, seconds) in [
            ("120", Some(120)),
            ("0", Some(0)),
            ("Sun, 15 Nov 2026 09:30:00 GMT", Some(5400)),
            ("Sun, 15 Nov 2020 09:30:00 GMT", Some(0)),
            ("99999999999", Some(86_400)),
            ("soon", None),
            ("-5", None),
            ("", None),
        ] {
            let headers = [(RETRY_AFTER, said.parse().unwrap())].into_iter().collect();
            assert_eq!(retry_after(&headers, now), seconds.map(Duration::from_secs), "{said}");
        }
    }
}

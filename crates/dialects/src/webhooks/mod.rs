//! Webhook bodies, byte for byte. [`format()`] is the only function that turns an event into a
//! body.
//!
//! | module | receiver |
//! |---|---|
//! | this module | receivers of Standard Webhooks: a type, a timestamp, and the ask as our own API shows it or the runtime's event as HACP shows it |
//! | [`humanlayer`] | programs built with `HumanLayer`'s SDKs |
//!
//! A body never holds secret answers: only the agent reads them, once.

pub mod humanlayer;

use humanlayer::{HumanlayerEnvelope, HumanlayerVersion};
use kernel::directory::WebhookFormat;
use kernel::follow_up::WebhookMessage;
use kernel::{Ask, Time};
use serde::Serialize;

use crate::conversation_origin::{EmailOrigin, SlackOrigin};
use crate::hacp::runtime::HarnessEvent;
use crate::native::{AskView, Viewer};

/// The event type of a test delivery.
pub const TEST: &str = "webhook.test";

/// An event to deliver.
#[derive(Clone)]
pub struct WebhookEvent<'a> {
    /// The event and its time.
    pub told: &'a WebhookMessage,
    /// The ask in its current state; `None` in a test.
    pub ask: Option<&'a Ask>,
    /// The event for an agent's runtime, if this is one.
    pub duty: Option<HarnessEvent>,
    /// The viewer of the ask: the agent.
    pub viewer: Viewer<'a>,
    /// The server's base URL.
    pub base: &'a str,
    /// The display name of the person who answered, if the agent may know it.
    pub name: Option<String>,
    /// The signed receipt, once the ask has ended.
    pub receipt: Option<String>,
    /// The timestamp of the Slack message that asks the question.
    pub slack_message_ts: Option<String>,
}

impl WebhookEvent<'_> {
    /// Whether this is a test delivery.
    pub fn is_test(&self) -> bool {
        self.told.topic.is_none()
    }
}

/// The body for an endpoint of this format; `None` if this event has no body in it.
pub fn format(format: WebhookFormat, news: WebhookEvent<'_>) -> Option<Vec<u8>> {
    let body = match format {
        WebhookFormat::Standard => serde_json::to_vec(&StandardPayload::of(news)),
        WebhookFormat::Humanlayer => {
            serde_json::to_vec(&HumanlayerEnvelope::of(news, HumanlayerVersion::Beta2)?)
        }
        WebhookFormat::HumanlayerV1beta1 => {
            serde_json::to_vec(&HumanlayerEnvelope::of(news, HumanlayerVersion::Beta2)?.event)
        }
        WebhookFormat::HumanlayerV1beta3 => {
            serde_json::to_vec(&HumanlayerEnvelope::of(news, HumanlayerVersion::Beta3)?)
        }
    };
    // Our own types have string keys and finite numbers only, so this cannot fail.
    body.ok()
}

// Standard Webhooks, §Payload: `type`, `timestamp` and `data`.

/// The body of a webhook.
#[derive(Debug, Clone, Serialize)]
pub struct StandardPayload<'a> {
    /// The event type.
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: Time,
    /// The ask or the runtime event.
    data: StandardPayloadBody<'a>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum StandardPayloadBody<'a> {
    /// An ask changed.
    Ask {
        /// The ask at the time of sending, with the receipt once it has ended; `null` in a test.
        ask: Option<Box<AskView<'a>>>,
    },
    /// An agent's runtime has an event to process.
    Duty {
        /// The event, as `runtime.peek` shows it.
        event: Box<HarnessEvent>,
    },
}

impl<'a> StandardPayload<'a> {
    /// The body for an event.
    pub fn of(news: WebhookEvent<'a>) -> Self {
        let WebhookEvent { told, ask, duty, viewer, base, receipt, .. } = news;
        let data = match duty {
            Some(event) => StandardPayloadBody::Duty { event: Box::new(event) },
            None => StandardPayloadBody::Ask {
                ask: ask.map(|ask| Box::new(AskView::of(ask, viewer, base, receipt))),
            },
        };
        Self { kind: told.topic.map_or(TEST, kernel::Topic::as_str), timestamp: told.at, data }
    }
}

// `HumanLayer`'s objects for a message that a person sent by email or in Slack (A2H-113, A2H-114),
// as its SDKs read them.

#[derive(Debug, Clone, Serialize)]
struct EmailPayload {
    from_address: String,
    to_address: String,
    subject: String,
    body: String,
    message_id: String,
    previous_thread: [(); 0],
    raw_email: String,
    is_test: bool,
}

impl EmailPayload {
    /// Quoted text is not passed on, so `previous_thread` stays empty.
    fn of(letter: EmailOrigin, words: &str, is_test: bool) -> Self {
        let body = letter.body(words).to_owned();
        let raw_email = raw(&letter, &body);
        let EmailOrigin { from, to, subject, message_id } = letter;
        Self {
            from_address: from,
            to_address: to,
            subject,
            body,
            message_id,
            previous_thread: [],
            raw_email,
            is_test,
        }
    }
}

/// Rebuilds an email from the fields that the agent may see. The original names the inbound address
/// that identifies its sender, and that address lets its holder write as them.
fn raw(letter: &EmailOrigin, body: &str) -> String {
    let EmailOrigin { from, to, subject, message_id } = letter;
    let head = [("From", from), ("To", to), ("Subject", subject), ("Message-ID", message_id)];
    let line = |(name, value): &(&str, &String)| {
        format!("{name}: {}\r\n", value.replace(['\r', '\n'], " "))
    };
    let head = head.iter().map(line).collect::<Vec<_>>().concat();
    let body = body.replace("\r\n", "\n").replace('\n', "\r\n");
    format!("{head}Content-Type: text/plain; charset=utf-8\r\n\r\n{body}\r\n")
}

/// A Slack thread, which the person's message begins.
#[derive(Debug, Clone, Serialize)]
struct SlackThread {
    thread_ts: String,
    channel_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    team_id: Option<String>,
    events: [SlackMessage; 1],
}

#[derive(Debug, Clone, Serialize)]
struct SlackMessage {
    from_user_id: String,
    channel_id: String,
    content: String,
    message_id: String,
    message_ts: String,
}

impl SlackThread {
    fn of(post: SlackOrigin, words: &str) -> Self {
        let SlackOrigin { team, channel, user, ts } = post;
        let message = SlackMessage {
            from_user_id: user,
            channel_id: channel.clone(),
            content: words.to_owned(),
            message_id: ts.clone(),
            message_ts: ts.clone(),
        };
        Self { thread_ts: ts, channel_id: channel, team_id: team, events: [message] }
    }
}

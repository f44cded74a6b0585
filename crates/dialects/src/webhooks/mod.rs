//! Webhook bodies, byte for byte. [`format()`] is the only function that turns an event into a
//! body.
//!
//! | module | receiver |
//! |---|---|
//! | [`standard`] | receivers of Standard Webhooks: a type, a timestamp, and the ask as our own API shows it or the runtime's event as HACP shows it |
//! | [`humanlayer`] | programs built with `HumanLayer`'s SDKs |
//!
//! A body never holds secret answers: only the agent reads them, once.

pub mod humanlayer;
mod received;
pub mod standard;

use kernel::Ask;
use kernel::directory::Format;
use kernel::follow_up::WebhookMessage;

use crate::hacp::runtime::HarnessEvent;
use crate::native::Viewer;
use humanlayer::{Envelope, Version};

/// The event type of a test delivery.
pub const TEST: &str = "webhook.test";

/// An event to deliver.
#[derive(Clone)]
pub struct News<'a> {
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

impl News<'_> {
    /// Whether this is a test delivery.
    pub fn is_test(&self) -> bool {
        self.told.topic.is_none()
    }
}

/// The body for an endpoint of this format; `None` if this event has no body in it.
pub fn format(format: Format, news: News<'_>) -> Option<Vec<u8>> {
    let body = match format {
        Format::Standard => serde_json::to_vec(&standard::Message::of(news)),
        Format::Humanlayer => serde_json::to_vec(&Envelope::of(news, Version::Beta2)?),
        Format::HumanlayerV1beta1 => serde_json::to_vec(&Envelope::of(news, Version::Beta2)?.event),
        Format::HumanlayerV1beta3 => serde_json::to_vec(&Envelope::of(news, Version::Beta3)?),
    };
    // Our own types have string keys and finite numbers only, so this cannot fail.
    body.ok()
}

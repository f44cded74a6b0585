//! What endpoints are told, byte for byte: [`format()`] is the one way from an event to a body.
//!
//! | module | who expects it |
//! |---|---|
//! | [`standard`] | whoever knows Standard Webhooks: a type, a moment, and the ask as our own API shows it, or what a runtime has to do as HACP says it |
//! | [`humanlayer`] | what was built with `HumanLayer`'s SDKs |
//!
//! A body never holds what was given in confidence: the agent reads that, once.

pub mod humanlayer;
mod received;
pub mod standard;

use kernel::Ask;
use kernel::directory::Format;
use kernel::effect::Told;

use crate::hacp::runtime::HarnessEvent;
use crate::native::Viewer;
use humanlayer::{Envelope, Version};

/// The name of what happened to nothing.
pub const TEST: &str = "webhook.test";

/// Something to be told.
#[derive(Clone)]
pub struct News<'a> {
    /// What happened, and when.
    pub told: &'a Told,
    /// To which ask, as it is now; none in a test.
    pub ask: Option<&'a Ask>,
    /// Or what the runtime of an agent has to do.
    pub duty: Option<HarnessEvent>,
    /// As whom the endpoint looks: as the agent.
    pub viewer: Viewer<'a>,
    /// The server's address.
    pub base: &'a str,
    /// What whoever answered is called, where the agent may learn it.
    pub name: Option<String>,
    /// The signed proof of how it ended, once it has.
    pub receipt: Option<String>,
    /// The message in Slack that asks it.
    pub slack_message_ts: Option<String>,
}

impl News<'_> {
    /// Whether it is only to see whether it arrives.
    pub fn is_test(&self) -> bool {
        self.told.topic.is_none()
    }
}

/// The body an endpoint of this format is sent; none, if there is nothing to tell in it.
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

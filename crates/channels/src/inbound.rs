//! Inbound messages: what platforms say that people did, and what became of messages.

use kernel::Time;
use kernel::directory::Means;
use serde_json::{Map, Value};

use crate::sender_claim::{SenderClaim, UnverifiedSender};

/// One message from a platform.
#[derive(Debug, Clone, PartialEq)]
pub struct InboundMessage {
    /// The same however often the platform says it.
    pub id: String,
    /// Who, as the platform knows them, and only what it vouches for.
    pub from: Means,
    /// What they are called there, in their own words.
    pub name: Option<String>,
    /// Where an answer to it goes; means something to the channel alone. Nothing secret that outlives
    /// the hour.
    pub place: Value,
    /// What.
    pub what: InboundContent,
    /// When, as the platform says.
    pub at: Option<Time>,
}

/// What an inbound message says.
#[derive(Debug, Clone, PartialEq)]
pub enum InboundContent {
    /// A person pressed a button.
    Pressed {
        /// What the button carries.
        token: String,
        /// The message it is on, by the `id` of its `PostedMessage`.
        posted: Option<String>,
    },
    /// A person submitted a form.
    Submitted {
        /// What the form carries.
        token: String,
        /// What they filled in, by the key of the field.
        values: Map<String, Value>,
    },
    /// A person wrote.
    Wrote {
        /// The text, without what was quoted.
        text: String,
        /// What it answers.
        about: InReplyTo,
    },
    /// A message got somewhere, or did not.
    Became {
        /// Which, by the `id` of its `PostedMessage`.
        posted: String,
        /// What became of it.
        state: DeliveryReport,
    },
    /// They want nothing more from us here.
    Stopped,
    /// They want to hear from us again.
    Resumed,
}

/// What a text that a person wrote answers.
#[derive(Debug, Clone, PartialEq)]
pub enum InReplyTo {
    /// A message, or the thread below it, by the `id` of its `PostedMessage`.
    Posted(String),
    /// What the address it was sent to says.
    Token {
        /// The part of the address that was given to one person.
        token: String,
        /// The sender, as far as it can be verified that it is them, or why it cannot.
        sender: Result<SenderClaim, UnverifiedSender>,
    },
    /// Nothing that can be told; perhaps it begins with a code.
    Nothing,
    /// Nothing: they called us where others talk.
    Mention,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryReport {
    /// It reached a device.
    Delivered,
    /// It was looked at.
    Read,
    /// It did not arrive.
    Failed {
        /// Why, as the platform says.
        why: String,
        /// Whether nothing will ever arrive there.
        forever: bool,
    },
}

/// What a call from a platform comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedCall {
    /// The messages, in order.
    pub inbound: Vec<InboundMessage>,
    /// What the platform is answered at once: a type and a text. Nothing is an empty 200.
    pub answer: Option<(&'static str, String)>,
}

impl ParsedCall {
    /// A call with these messages, which is answered with an empty 200.
    pub fn of(inbound: Vec<InboundMessage>) -> Self {
        Self { inbound, answer: None }
    }
}

//! Inbound messages: what people did on a platform, and delivery reports.

use kernel::Time;
use kernel::directory::ContactMethod;
use serde_json::{Map, Value};

use crate::sender_claim::{SenderClaim, UnverifiedSender};

/// One message from a platform.
#[derive(Debug, Clone, PartialEq)]
pub struct InboundMessage {
    /// Stays the same when the platform repeats the message.
    pub id: String,
    /// The sender, as the platform identifies them. Contains only what the platform vouches for.
    pub from: ContactMethod,
    /// The display name that the sender chose on the platform.
    pub name: Option<String>,
    /// Where a reply goes. Only the channel itself reads this. It contains no secret that is valid
    /// for longer than an hour.
    pub place: Value,
    /// What the person did, or a delivery report.
    pub what: InboundContent,
    /// The time that the platform reports.
    pub at: Option<Time>,
}

/// The content of an inbound message.
#[derive(Debug, Clone, PartialEq)]
pub enum InboundContent {
    /// A person pressed a button.
    Pressed {
        /// The token that the button carries.
        token: String,
        /// The message with the button, by the `id` of its `PostedMessage`.
        posted: Option<String>,
    },
    /// A person submitted a form.
    Submitted {
        /// The token that the form carries.
        token: String,
        /// The entered values, by the key of the field.
        values: Map<String, Value>,
    },
    /// A person wrote a text.
    Wrote {
        /// The text, without quotations.
        text: String,
        /// The message that the text replies to.
        about: InReplyTo,
    },
    /// The platform reports on a message that the server sent.
    Became {
        /// The message, by the `id` of its `PostedMessage`.
        posted: String,
        /// The reported state.
        state: DeliveryReport,
    },
    /// The person unsubscribed from messages of this channel.
    Stopped,
    /// The person subscribed again.
    Resumed,
}

/// What a text from a person replies to.
#[derive(Debug, Clone, PartialEq)]
pub enum InReplyTo {
    /// A message, or the thread below it, by the `id` of its `PostedMessage`.
    Posted(String),
    /// The request that the recipient address names.
    Token {
        /// The part of the address that was issued to one person.
        token: String,
        /// The claimed sender, which can still be verified, or why it cannot be.
        sender: Result<SenderClaim, UnverifiedSender>,
    },
    /// Unknown. The text may begin with a code.
    Nothing,
    /// No message: the text mentions the bot in a conversation with others.
    Mention,
}

/// The delivery state of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryReport {
    /// It reached a device.
    Delivered,
    /// The person opened it.
    Read,
    /// It did not arrive.
    Failed {
        /// The reason, as the platform gives it.
        why: String,
        /// Whether every later delivery to this address fails too.
        forever: bool,
    },
}

/// The result of reading a webhook call.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedCall {
    /// The messages, in order.
    pub inbound: Vec<InboundMessage>,
    /// The immediate answer to the platform: content type and text. Absent for an empty 200.
    pub answer: Option<(&'static str, String)>,
}

impl ParsedCall {
    /// A call with these messages, answered with an empty 200.
    pub fn of(inbound: Vec<InboundMessage>) -> Self {
        Self { inbound, answer: None }
    }
}

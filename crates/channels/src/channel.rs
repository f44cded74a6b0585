//! The trait every channel implements, and the messages it sends.

use async_trait::async_trait;
use kernel::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use views::message_card::{DialogError, FormDialog, MessageCard};

use crate::errors::{DeliveryError, ForgedCall, UnreadableCall};
use crate::inbound::{InboundMessage, ParsedCall};
use crate::secret::SecretString;

/// One message on its way to one address.
#[derive(Debug, Clone, Copy)]
pub struct OutboundMessage<'a> {
    /// The address, as the platform knows it: an id, a number, a subscription.
    pub to: &'a str,
    /// The message, as [`Channel::render`] or a view of this channel produced it.
    pub message: &'a Value,
    /// Stays the same when the same message is sent again. Platforms that support idempotency keys
    /// use it to drop the repetition.
    pub key: &'a str,
    /// The message to reply under, on platforms that have threads.
    pub thread: Option<&'a str>,
    /// A bot token that the agent gave for this one request. The channel sends the message with it
    /// instead of the token from the settings.
    pub token: Option<&'a SecretString>,
    /// The time of sending.
    pub now: Time,
}

impl<'a> OutboundMessage<'a> {
    /// A message in no thread, sent with the token from the settings.
    pub fn new(to: &'a str, message: &'a Value, key: &'a str, now: Time) -> Self {
        Self { to, message, key, thread: None, token: None, now }
    }
}

/// Where a message is on its platform: enough to recognise inbound messages about it, and
/// to update it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostedMessage {
    /// The id of the message on its platform. Inbound messages about it name the same id.
    pub id: String,
    /// The thread id that replies in the thread name. Absent if it is the id of the message itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Further data that the channel needs to update the message. Contains no secret.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub place: Value,
}

impl PostedMessage {
    /// A message in no thread that cannot be updated.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), thread: None, place: Value::Null }
    }
}

/// A webhook call from a platform, as the server received it.
#[derive(Debug, Clone, Copy)]
pub struct WebhookCall<'a> {
    /// The full URL that the platform called, with its query.
    pub url: &'a str,
    /// The part of the path after the channel's own name, such as `events`.
    pub name: &'a str,
    /// Pairs of lower-case name and value.
    pub headers: &'a [(String, String)],
    /// The exact bytes of the body, as signatures cover them.
    pub body: &'a [u8],
    /// The time at which the call arrived.
    pub now: Time,
}

impl<'a> WebhookCall<'a> {
    /// Looks up a header by its lower-case name. Returns nothing if the header occurs twice,
    /// because it is ambiguous which one counts.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value)
    }
}

/// A service that sends messages to a person. A message may be delivered more than once, so a
/// channel must tolerate repetitions.
///
/// A channel has a name, renders and delivers. All other methods are abilities that not every
/// platform has. Their defaults say that this channel does not have them.
#[async_trait]
pub trait Channel: Send + Sync {
    /// The name of the channel in settings, URLs, metrics and the delivery log.
    fn name(&self) -> &'static str;

    /// Renders a request as a message in the platform's format. Pure. The agent's text never acts
    /// as markup. Buttons appear only where the whole question fits.
    fn render(&self, card: &MessageCard) -> Value;

    /// Sends a message.
    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError>;

    /// Updates a message that was sent. By default, messages stay as they were sent.
    async fn update(
        &self,
        _posted: &PostedMessage,
        _message: &Value,
        _token: Option<&SecretString>,
    ) -> Result<(), DeliveryError> {
        Ok(())
    }

    /// Verifies that a webhook call is from the platform: by its signature over the bytes, and
    /// by its age.
    fn verify(&self, _call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        Err(ForgedCall("this channel receives no calls"))
    }

    /// Reads a verified call.
    fn parse(&self, _call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        Err(UnreadableCall("this channel receives no calls".to_owned()))
    }

    /// Replies to the sender of an inbound message, visible to that person alone where the platform
    /// supports it. Every button press gets a reply, if necessary an empty one, because some
    /// platforms wait for it.
    async fn reply(&self, _inbound: &InboundMessage, _words: &str) -> Result<(), DeliveryError> {
        Err(DeliveryError::never("this channel receives no messages, so it cannot reply"))
    }

    /// Shows a form to the person who pressed a button, on platforms that have forms.
    async fn open_form(
        &self,
        _inbound: &InboundMessage,
        _dialog: &FormDialog,
    ) -> Result<(), DeliveryError> {
        Err(DeliveryError::never("this platform has no forms"))
    }

    /// The immediate answer to a submitted form that keeps the form open and shows its errors.
    /// Absent where the platform does not support this.
    fn correct_form(&self, _wrong: &[DialogError]) -> Option<Value> {
        None
    }

    /// The sender's email address, if the platform has verified it.
    async fn verified_email(
        &self,
        _inbound: &InboundMessage,
    ) -> Result<Option<String>, DeliveryError> {
        Ok(None)
    }

    /// Fetches inbound messages from platforms that cannot call the server, until the future is
    /// dropped. A message is acknowledged to the platform only after the handler has accepted it.
    async fn listen(&self, _handler: &dyn InboundHandler) -> Result<(), DeliveryError> {
        std::future::pending().await
    }

    /// Checks that the platform accepts the settings. Returns a sentence about the finding,
    /// or the error.
    async fn check(&self) -> Result<String, DeliveryError> {
        Ok("no check available".to_owned())
    }
}

/// Accepts inbound messages.
#[async_trait]
pub trait InboundHandler: Send + Sync {
    /// Handles a message. An error means that the message was not accepted and must be delivered
    /// again. Returns the answer to the platform, if the platform waits for one.
    async fn handle(&self, inbound: InboundMessage) -> Result<Option<Value>, DeliveryError>;
}

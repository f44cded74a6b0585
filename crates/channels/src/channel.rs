//! The trait every channel implements, and the messages it sends.

use async_trait::async_trait;
use kernel::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use views::message_card::{DialogError, FormDialog, MessageCard};

use crate::errors::{DeliveryError, ForgedCall, UnreadableCall};
use crate::inbound::{InboundMessage, ParsedCall};
use crate::secret::Secret;

/// One message on its way to one address.
#[derive(Debug, Clone, Copy)]
pub struct OutboundMessage<'a> {
    /// The address, as the platform knows it: an id, a number, a subscription.
    pub to: &'a str,
    /// What [`Channel::render`] made, or a view made for this channel.
    pub message: &'a Value,
    /// The same whenever the same message is sent again: where a platform can, it takes the second for
    /// a repetition.
    pub key: &'a str,
    /// The message it belongs under, where the platform has threads.
    pub thread: Option<&'a str>,
    /// A token that the agent gave for this one request: the message is sent with it instead of the token
    /// of the settings.
    pub token: Option<&'a Secret>,
    /// The moment.
    pub now: Time,
}

impl<'a> OutboundMessage<'a> {
    /// A message in no thread, sent with the token of the settings.
    pub fn new(to: &'a str, message: &'a Value, key: &'a str, now: Time) -> Self {
        Self { to, message, key, thread: None, token: None, now }
    }
}

/// Where a message is on its platform: enough to find it by what comes back, and to change it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostedMessage {
    /// The id of the message on its platform. Inbound messages about it name the same id.
    pub id: String,
    /// The thread it is in, by what an answer in it names; absent, where that is the message itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// What else the channel needs to change it. Nothing secret.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub place: Value,
}

impl PostedMessage {
    /// A message in no thread that cannot be changed.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), thread: None, place: Value::Null }
    }
}

/// A call of a platform over HTTP, as it came in.
#[derive(Debug, Clone, Copy)]
pub struct WebhookCall<'a> {
    /// The whole URL that was called, as the platform knows it, with its query.
    pub url: &'a str,
    /// The part of the path behind the channel's own name, such as `events`.
    pub name: &'a str,
    /// Name in lower case, and value.
    pub headers: &'a [(String, String)],
    /// Byte by byte.
    pub body: &'a [u8],
    /// The moment.
    pub now: Time,
}

impl<'a> WebhookCall<'a> {
    /// A header by its name in lower case; absent if it is there twice, since nobody could say which
    /// one counts.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let mut found = self.headers.iter().filter(|(key, _)| key == name);
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value)
    }
}

/// A way to send something to a person. A message may be delivered more than once, so a channel must bear
/// a repetition.
///
/// A channel says what it is called, renders and delivers. Everything else is an ability that not every
/// platform has: its default says that this channel does not have it.
#[async_trait]
pub trait Channel: Send + Sync {
    /// What the channel is called in settings, URLs, metrics and the delivery log.
    fn name(&self) -> &'static str;

    /// What is said about a request, as the platform takes it. Pure; text of an agent drives no markup.
    /// Buttons only where the whole question fits.
    fn render(&self, card: &MessageCard) -> Value;

    /// Sends a message.
    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError>;

    /// Changes a message that was sent. By default, messages stay as they were sent.
    async fn update(
        &self,
        _posted: &PostedMessage,
        _message: &Value,
        _token: Option<&Secret>,
    ) -> Result<(), DeliveryError> {
        Ok(())
    }

    /// Whether a call over HTTP is from the platform: by its signature over the bytes, and made recently.
    fn verify(&self, _call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        Err(ForgedCall("this channel receives no calls"))
    }

    /// What a verified call says.
    fn parse(&self, _call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        Err(UnreadableCall("this channel receives no calls".to_owned()))
    }

    /// Replies to the person an inbound message is from, and to nobody else where the platform can do
    /// that. A press is always replied to, without words if there is nothing to say: some platforms wait
    /// for it.
    async fn reply(&self, _inbound: &InboundMessage, _words: &str) -> Result<(), DeliveryError> {
        Err(DeliveryError::never("this channel receives no messages, so nothing can be replied"))
    }

    /// Shows a form to the person who pressed, on platforms that have forms.
    async fn open_form(
        &self,
        _inbound: &InboundMessage,
        _dialog: &FormDialog,
    ) -> Result<(), DeliveryError> {
        Err(DeliveryError::never("this platform has no forms"))
    }

    /// The immediate answer to a submitted form that keeps it open and says what is wrong in it; absent
    /// where the platform has no way to do that.
    fn correct_form(&self, _wrong: &[DialogError]) -> Option<Value> {
        None
    }

    /// The email address that the platform has verified of the person an inbound message is from.
    async fn verified_email(
        &self,
        _inbound: &InboundMessage,
    ) -> Result<Option<String>, DeliveryError> {
        Ok(None)
    }

    /// Fetches inbound messages, for platforms that cannot call the server; until it is dropped. Only what
    /// the handler has taken is taken from the platform.
    async fn listen(&self, _handler: &dyn InboundHandler) -> Result<(), DeliveryError> {
        std::future::pending().await
    }

    /// Whether the platform accepts the settings: a sentence about what was found, or what is wrong.
    async fn check(&self) -> Result<String, DeliveryError> {
        Ok("there is nothing to check".to_owned())
    }
}

/// Takes inbound messages.
#[async_trait]
pub trait InboundHandler: Send + Sync {
    /// Takes a message; an error means that it was not taken and must come again. Returns what the
    /// platform is answered, if it waits for that.
    async fn handle(&self, inbound: InboundMessage) -> Result<Option<Value>, DeliveryError>;
}

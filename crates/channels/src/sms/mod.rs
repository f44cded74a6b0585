//! Text messages through Twilio. An answer begins with a code, because SMS has neither
//! threads nor buttons.
//!
//! | file | contents |
//! |---|---|
//! | `render.rs` | a message card as a text |
//! | `gsm.rs` | the length of a text in message segments |

mod gsm;
mod render;

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::Client;
use serde_json::Value;

use crate::inbound::{InReplyTo, ParsedCall};
use crate::setup::{ChannelContext, Setup};
use crate::twilio::inbound::{Form, sms, taken};
use crate::twilio::{Twilio, TwilioAccount};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundMessage, OutboundMessage, PostedMessage,
    UnreadableCall, WebhookCall,
};
use views::message_card::MessageCard;
use views::message_card::plain_text::{beginning, units};

/// The name of the channel.
pub const NAME: &str = "sms";

/// The longest text that Twilio accepts.
const LONGEST: usize = 1600;

/// The settings of the channel: a Twilio account.
#[derive(Debug, Clone)]
pub struct SmsSettings(pub TwilioAccount);

/// The SMS channel.
#[derive(Debug)]
pub struct Sms {
    twilio: Twilio,
}

impl Sms {
    /// Creates the channel, or says what is wrong with the account.
    pub fn new(account: TwilioAccount, client: Client) -> Result<Self, String> {
        Ok(Self { twilio: Twilio::new(account, client)? })
    }
}

impl Setup for SmsSettings {
    type Channel = Sms;

    const NAME: &'static str = NAME;

    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String> {
        Sms::new(self.0, context.http()?).map(Arc::new)
    }
}

#[async_trait]
impl Channel for Sms {
    fn name(&self) -> &'static str {
        NAME
    }

    fn render(&self, card: &MessageCard) -> Value {
        render::render(card)
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let body = outbound.message.get("body").and_then(Value::as_str).unwrap_or_default();
        let id = self.twilio.send("", outbound.to, &[("Body", body)]).await?;
        Ok(PostedMessage::new(id))
    }

    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        self.twilio.verify(call)
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        let form = Form::read(call);
        if let Some(status) = form.status(sms)? {
            return Ok(status);
        }
        Ok(match form.written(sms)? {
            Some(written) => form.said(written, None, InReplyTo::Nothing),
            None => taken(Vec::new()),
        })
    }

    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        let Some(to) = inbound.from.address().filter(|_| !words.is_empty()) else { return Ok(()) };
        let body = beginning(words, LONGEST, units);
        self.twilio.send("", to, &[("Body", body)]).await.map(|_| ())
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        self.twilio.name().await
    }
}

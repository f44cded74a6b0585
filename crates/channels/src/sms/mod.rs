//! Text messages, through Twilio. What is answered begins with a code, since phones have no threads and
//! nothing to press.
//!
//! | file | what |
//! |---|---|
//! | `render.rs` | a card as a text |
//! | `gsm.rs` | how long a text is for carriers |

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

/// What the channel is called.
pub const NAME: &str = "sms";

/// No text is longer at Twilio.
const LONGEST: usize = 1600;

/// What text messages need: an account at Twilio.
#[derive(Debug, Clone)]
pub struct SmsSettings(pub TwilioAccount);

/// Text messages.
#[derive(Debug)]
pub struct Sms {
    twilio: Twilio,
}

impl Sms {
    /// Text messages from this account, or what is wrong with it.
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

//! `WhatsApp` through Twilio. A message with buttons needs content that is created at Twilio for
//! this one message. The channel deletes the content when the request is closed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use kernel::Time;
use reqwest::Client;
use serde_json::{Map, Value, json};
use views::message_card::plain_text::{beginning, units};
use views::message_card::{AnswerOptions, CardButton, CardFact, CardStage, MessageCard};

use super::{NAME, Template, render, whatsapp_contact};
use crate::inbound::{InReplyTo, InboundContent, ParsedCall};
use crate::twilio::{TwilioAccount, TwilioClient, TwilioForm, acknowledge, inbound};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundMessage, OutboundMessage, PostedMessage,
    SecretString, UnreadableCall, WebhookCall,
};

/// The longest text that Twilio accepts.
const LONGEST: usize = 1600;
const PREFIX: &str = "whatsapp:";

/// `WhatsApp` through Twilio.
#[derive(Debug)]
pub struct TwilioWhatsapp {
    twilio: TwilioClient,
    template: Option<Template>,
    window: ReplyWindow,
}

impl TwilioWhatsapp {
    /// Creates the channel, or says what is wrong with the account.
    pub fn new(
        account: TwilioAccount,
        template: Option<Template>,
        client: Client,
    ) -> Result<Self, String> {
        if template.as_ref().is_some_and(|template| !template.name.starts_with("HX")) {
            return Err("a Twilio template is named by its content SID, which starts with \
                        HX"
            .to_owned());
        }
        Ok(Self {
            twilio: TwilioClient::new(account, client)?,
            template,
            window: ReplyWindow::default(),
        })
    }

    async fn send_free(
        &self,
        to: &str,
        message: &Value,
        key: &str,
    ) -> Result<PostedMessage, DeliveryError> {
        let Some(content) = content(message, key) else {
            let body = message.get("body").and_then(Value::as_str).unwrap_or_default();
            let id = self.twilio.send(PREFIX, to, &[("Body", body)]).await?;
            return Ok(PostedMessage { id, thread: None, place: Value::Null });
        };
        let sid = self.twilio.create_content(&content).await?;
        match self.twilio.send(PREFIX, to, &[("ContentSid", &sid)]).await {
            Ok(id) => Ok(PostedMessage { id, thread: None, place: json!({ "content": sid }) }),
            Err(failed) => {
                // The next attempt creates the content again.
                if let Err(error) = self.twilio.delete_content(&sid).await {
                    tracing::warn!(content.sid = sid, %error, "could not delete a content \
                     template at Twilio");
                }
                Err(failed)
            }
        }
    }

    async fn send_template(
        &self,
        template: &Template,
        to: &str,
        message: &Value,
    ) -> Result<PostedMessage, DeliveryError> {
        let places: Map<String, Value> = template
            .filled(message)
            .enumerate()
            .map(|(at, text)| ((at + 1).to_string(), Value::from(text)))
            .collect();
        let variables = Value::from(places).to_string();
        let what = [("ContentSid", template.name.as_str()), ("ContentVariables", &variables)];
        let id = self.twilio.send(PREFIX, to, &what).await?;
        Ok(PostedMessage { id, thread: None, place: Value::Null })
    }
}

/// Separates adjacent braces in a card, because Twilio reads two of them as a placeholder. This
/// happens before rendering, because it makes the text longer.
fn separate_braces(card: &MessageCard) -> MessageCard {
    fn text(text: &str) -> String {
        let mut apart = String::with_capacity(text.len());
        for c in text.chars() {
            if c == '{' && apart.ends_with('{') {
                apart.push(' ');
            }
            apart.push(c);
        }
        apart
    }
    let some = |words: &Option<String>| words.as_deref().map(text);
    let stage = match &card.stage {
        CardStage::Open(ways) => {
            let button =
                |button: &CardButton| CardButton { label: text(&button.label), ..button.clone() };
            CardStage::Open(AnswerOptions {
                buttons: ways.buttons.iter().map(button).collect(),
                ..ways.clone()
            })
        }
        CardStage::Closed { headline, at, comment } => {
            CardStage::Closed { headline: text(headline), at: at.clone(), comment: some(comment) }
        }
    };
    let fact = |fact: &CardFact| CardFact { name: text(&fact.name), value: text(&fact.value) };
    MessageCard {
        title: text(&card.title),
        words: text(&card.words),
        context: some(&card.context),
        facts: card.facts.iter().map(fact).collect(),
        stage,
        ..card.clone()
    }
}

/// The content to create, if the message has buttons.
fn content(message: &Value, key: &str) -> Option<Value> {
    let body = message.get("body");
    let list = |name: &str| message.get(name).and_then(Value::as_array);
    let types = if let Some(buttons) = list("buttons") {
        let action = |button: &Value| json!({ "type": "QUICK_REPLY", "title": button.get("title"), "id": button.get("id") });
        let actions: Vec<Value> = buttons.iter().map(action).collect();
        json!({ "twilio/quick-reply": { "body": body, "actions": actions } })
    } else {
        let item = |row: &Value| {
            let mut item = json!({ "item": row.get("title"), "id": row.get("id") });
            if let (Some(below), Value::Object(members)) = (row.get("description"), &mut item) {
                members.insert("description".to_owned(), below.clone());
            }
            item
        };
        let items: Vec<Value> = list("rows")?.iter().map(item).collect();
        json!({ "twilio/list-picker": { "body": body, "button": "Choose", "items": items } })
    };
    Some(json!({ "friendly_name": key, "language": "en", "types": types }))
}

#[async_trait]
impl Channel for TwilioWhatsapp {
    fn name(&self) -> &'static str {
        NAME
    }

    fn render(&self, card: &MessageCard) -> Value {
        render::render(&separate_braces(card), LONGEST)
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        let OutboundMessage { to, message, key, now, .. } = outbound;
        match self.template.as_ref().filter(|_| !self.window.is_open(to, now)) {
            Some(template) => self.send_template(template, to, message).await,
            None => self.send_free(to, message, key).await,
        }
    }

    /// The message stays as it was sent. Only its content at Twilio is deleted.
    async fn update(
        &self,
        posted: &PostedMessage,
        _: &Value,
        _: Option<&SecretString>,
    ) -> Result<(), DeliveryError> {
        match posted.place.get("content").and_then(Value::as_str) {
            Some(sid) => self.twilio.delete_content(sid).await,
            None => Ok(()),
        }
    }

    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        self.twilio.verify(call)
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        let form = TwilioForm::read(call);
        if let Some(status) = form.status(whatsapp_sender)? {
            return Ok(status);
        }
        let Some(written) = form.inbound_text(whatsapp_sender)? else {
            return Ok(acknowledge(Vec::new()));
        };
        if let Some(number) = written.from.address() {
            self.window.record_message(number, call.now);
        }
        let above = form.member("OriginalRepliedMessageSid").map(str::to_owned);
        let name = form.member("ProfileName");
        let Some(token) = form.member("ButtonPayload").or_else(|| form.member("ListId")) else {
            return Ok(form.parse_text(
                written,
                name,
                above.map_or(InReplyTo::Nothing, InReplyTo::Posted),
            ));
        };
        let what = InboundContent::Pressed { token: token.to_owned(), posted: above };
        let name = name.map(str::to_owned);
        Ok(acknowledge(vec![inbound(written.sid.to_owned(), written.from, name, what)]))
    }

    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        let Some(to) = inbound.from.address().filter(|_| !words.is_empty()) else { return Ok(()) };
        let body = beginning(words, LONGEST, units);
        self.twilio.send(PREFIX, to, &[("Body", body)]).await.map(|_| ())
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        self.twilio.account_name().await
    }
}

/// A `WhatsApp` sender. Text messages arrive at the same number.
fn whatsapp_sender(address: &str) -> Option<kernel::directory::ContactMethod> {
    address.strip_prefix(PREFIX).and_then(whatsapp_contact)
}

// Who wrote within the last day and can therefore receive messages without a template.

/// A day, less the time that a message takes to arrive.
const WINDOW_SECONDS: u64 = 24 * 60 * 60 - 5 * 60;
/// The most entries that are kept. People without an entry receive the template.
const MAX_NUMBERS: usize = 10_000;

/// The time of the last message from each number.
#[derive(Debug, Default)]
pub(super) struct ReplyWindow(Mutex<HashMap<String, Time>>);

impl ReplyWindow {
    /// Records a message from a number.
    pub(super) fn record_message(&self, number: &str, at: Time) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_NUMBERS && !known.contains_key(number) {
            known.retain(|_, wrote| is_open(*wrote, at));
            if known.len() >= MAX_NUMBERS {
                known.clear();
            }
        }
        let wrote = known.entry(number.to_owned()).or_insert(at);
        *wrote = at.max(*wrote);
    }

    /// Whether the number wrote within the last day, as far as is known.
    pub(super) fn is_open(&self, number: &str, now: Time) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(number).is_some_and(|wrote| is_open(*wrote, now))
    }
}

fn is_open(wrote: Time, now: Time) -> bool {
    now < wrote.plus_seconds(WINDOW_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_for_a_day_and_never_too_large() {
        let window = ReplyWindow::default();
        let begin = Time::from_millis(0);
        window.record_message("+1", begin.plus_seconds(10));
        window.record_message("+1", begin);
        assert!(window.is_open("+1", begin.plus_seconds(WINDOW_SECONDS + 9)));
        assert!(!window.is_open("+1", begin.plus_seconds(WINDOW_SECONDS + 10)));
        assert!(!window.is_open("+2", begin));
        for number in 0..MAX_NUMBERS {
            window.record_message(&number.to_string(), begin.plus_seconds(WINDOW_SECONDS + 10));
        }
        assert!(window.0.lock().unwrap().len() <= MAX_NUMBERS);
        assert!(!window.0.lock().unwrap().contains_key("+1"), "the oldest go first");
    }
}

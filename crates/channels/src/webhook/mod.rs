//! A program that the operator runs, for platforms this crate does not support. The server calls it
//! with messages, and the program calls back with people's answers.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use kernel::Time;
use kernel::directory::ContactMethod;
use kernel::directory::contact::is_webhook_address;
use reqwest::Client;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use url::Url;
use views::message_card::{ButtonTone, CardButton, CardFact, CardStage, MessageCard};

use crate::inbound::{DeliveryReport, InReplyTo, InboundContent, ParsedCall};
use crate::platform_http::{self, PlatformResponse};
use crate::setup::{ChannelContext, ChannelSetup, ClockFn};
use crate::standard_webhooks::WebhookKey;
use crate::{
    Channel, DeliveryError, ForgedCall, InboundMessage, OutboundMessage, PostedMessage,
    SecretString, UnreadableCall, WebhookCall,
};

/// The name of the channel.
pub const NAME: &str = "webhook";

/// The version of the call format.
const VERSION: u32 = 1;
const PLATFORM: &str = "the webhook's program";
/// The longest accepted message id.
const LONGEST_ID: usize = 200;

/// The settings of the channel.
#[derive(Debug, Clone)]
pub struct WebhookSettings {
    /// The URL of the program.
    pub url: Url,
    /// The secret that both sides sign with: `whsec_…`.
    pub secret: SecretString,
}

/// The channel to a program that the operator runs.
pub struct WebhookChannel {
    url: Url,
    key: WebhookKey,
    client: Client,
    clock: ClockFn,
}

impl fmt::Debug for WebhookChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("key", &self.key).finish_non_exhaustive()
    }
}

impl WebhookChannel {
    /// Creates the channel, or says what is wrong with its settings.
    pub fn new(settings: &WebhookSettings, client: Client, clock: ClockFn) -> Result<Self, String> {
        if !matches!(settings.url.scheme(), "http" | "https") {
            return Err("channel_webhook_url must start with https://".to_owned());
        }
        let key = WebhookKey::read(&settings.secret)
            .ok_or("channel_webhook_secret must be whsec_ followed by 24 to 64 bytes in base64")?;
        Ok(Self { url: settings.url.clone(), key, client, clock })
    }

    async fn call(
        &self,
        id: &str,
        at: Time,
        body: &Value,
    ) -> Result<PlatformResponse, DeliveryError> {
        let body = body.to_string().into_bytes();
        let mut call =
            self.client.post(self.url.clone()).header("content-type", "application/json");
        for (name, value) in self.key.headers(id, at, &body) {
            call = call.header(name, value);
        }
        let answer = platform_http::read_response(PLATFORM, call.body(body).send().await).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(answer.temporary_error(PLATFORM).unwrap_or_else(|| {
            DeliveryError::never(match answer.status.as_u16() {
                401 | 403 => {
                    "the webhook program refused the signature; use the same secret on both sides \
                     and check the clocks"
                        .to_owned()
                }
                404 | 410 => "there is no program at channel_webhook_url".to_owned(),
                status => format!("the webhook program refused the call ({status})"),
            })
        }))
    }
}

/// A call id that is the same for the same body about the same message.
fn repeatable_id(about: &str, body: &Value) -> String {
    let digest = hex::encode(Sha256::digest(body.to_string().as_bytes()));
    format!("{about}.{}", digest.get(..16).unwrap_or_default())
}

impl ChannelSetup for WebhookSettings {
    type Channel = WebhookChannel;

    const NAME: &'static str = NAME;

    fn open(self, context: &ChannelContext) -> Result<Arc<Self::Channel>, String> {
        let clock = Arc::clone(&context.wall_clock);
        WebhookChannel::new(&self, context.http()?, clock).map(Arc::new)
    }
}

#[async_trait]
impl Channel for WebhookChannel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn render(&self, card: &MessageCard) -> Value {
        render(card)
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        if !is_webhook_address(outbound.to) {
            return Err(DeliveryError::never(
                "a webhook recipient must be an ID of at most 200 bytes without spaces",
            ));
        }
        let body = json!({
            "version": VERSION,
            "type": "asked",
            "id": outbound.key,
            "to": outbound.to,
            "thread": outbound.thread,
            "card": outbound.message,
        });
        let answer = self.call(outbound.key, (self.clock)(), &body).await?;
        let given = answer.body.get("id").and_then(Value::as_str);
        let id =
            given.filter(|id| !id.is_empty() && id.len() <= LONGEST_ID).unwrap_or(outbound.key);
        Ok(PostedMessage { id: id.to_owned(), thread: None, place: json!({ "to": outbound.to }) })
    }

    async fn update(
        &self,
        posted: &PostedMessage,
        message: &Value,
        _: Option<&SecretString>,
    ) -> Result<(), DeliveryError> {
        let to = posted.place.get("to");
        let body = json!({ "version": VERSION, "type": "updated", "id": posted.id, "to": to, "card": message });
        self.call(&repeatable_id(&posted.id, &body), (self.clock)(), &body).await.map(|_| ())
    }

    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        self.key.verify(call)
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        let said: ProgramCall = serde_json::from_slice(call.body).map_err(|error| {
            UnreadableCall(format!("expected a person's action as JSON: {error}"))
        })?;
        Ok(ParsedCall::of(vec![said.inbound(call)?]))
    }

    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        if words.is_empty() {
            return Ok(());
        }
        let to = inbound.from.address();
        let body = json!({ "version": VERSION, "type": "said", "about": inbound.id, "to": to, "words": words });
        self.call(&repeatable_id(&inbound.id, &body), (self.clock)(), &body).await.map(|_| ())
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        let at = (self.clock)();
        let body = json!({ "version": VERSION, "type": "test" });
        self.call(&format!("test.{}", at.millis()), at, &body).await?;
        Ok("the webhook program accepts this server's signature".to_owned())
    }
}

// Reads calls from the operator's program.

/// A call. Exactly one of its content members is present.
#[derive(Debug, Deserialize)]
struct ProgramCall {
    id: Option<String>,
    from: String,
    name: Option<String>,
    at: Option<Time>,
    /// The message it is about, by the id that the program returned on delivery.
    about: Option<String>,
    pressed: Option<String>,
    submitted: Option<FormSubmission>,
    wrote: Option<String>,
    became: Option<ReportedState>,
    why: Option<String>,
    #[serde(default)]
    forever: bool,
    wants: Option<SubscriptionRequest>,
}

#[derive(Debug, Deserialize)]
struct FormSubmission {
    token: String,
    values: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReportedState {
    Delivered,
    Read,
    Failed,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SubscriptionRequest {
    Nothing,
    Notices,
}

impl ProgramCall {
    fn inbound(self, call: &WebhookCall<'_>) -> Result<InboundMessage, UnreadableCall> {
        if !is_webhook_address(&self.from) {
            let wrong = "expected `from` to be an ID of at most 200 bytes without spaces";
            return Err(UnreadableCall(wrong.to_owned()));
        }
        let id = self
            .id
            .filter(|id| !id.is_empty())
            .or_else(|| call.header("webhook-id").map(str::to_owned));
        let about = self.about;
        let what = match (self.pressed, self.submitted, self.wrote, self.became, self.wants) {
            (Some(token), None, None, None, None) => {
                InboundContent::Pressed { token, posted: about }
            }
            (None, Some(FormSubmission { token, values }), None, None, None) => {
                InboundContent::Submitted { token, values }
            }
            (None, None, Some(text), None, None) => InboundContent::Wrote {
                text,
                about: about.map_or(InReplyTo::Nothing, InReplyTo::Posted),
            },
            (None, None, None, Some(state), None) => {
                let posted = about.ok_or_else(|| {
                    UnreadableCall("expected `about` to be the ID of the message".to_owned())
                })?;
                let why =
                    self.why.unwrap_or_else(|| "no reason given by the webhook program".to_owned());
                let state = match state {
                    ReportedState::Delivered => DeliveryReport::Delivered,
                    ReportedState::Read => DeliveryReport::Read,
                    ReportedState::Failed => DeliveryReport::Failed { why, forever: self.forever },
                };
                InboundContent::Became { posted, state }
            }
            (None, None, None, None, Some(SubscriptionRequest::Nothing)) => InboundContent::Stopped,
            (None, None, None, None, Some(SubscriptionRequest::Notices)) => InboundContent::Resumed,
            _ => {
                let wrong = "expected one of pressed, submitted, wrote, became and wants";
                return Err(UnreadableCall(wrong.to_owned()));
            }
        };
        Ok(InboundMessage {
            id: id.unwrap_or_default(),
            from: ContactMethod::Webhook(self.from),
            name: self.name,
            place: Value::Null,
            what,
            at: self.at,
        })
    }
}

// A message card as JSON. It is complete: the channel has no length limit, and the program lays it
// out. `docs/channels/webhook.md` describes the format.

/// Renders a card. Empty members are left out.
fn render(card: &MessageCard) -> Value {
    let fact = |fact: &CardFact| json!({ "name": fact.name, "value": fact.value });
    let facts: Vec<Value> = card.facts.iter().map(fact).collect();
    let mut shown = json!({
        "title": card.title,
        "note": card.note,
        "words": card.words,
        "context": card.context,
        "facts": facts,
        "until": card.until,
        "link": card.link,
        "urgent": card.urgent,
    });
    let (name, stage) = match &card.stage {
        CardStage::Open(ways) => {
            let buttons: Vec<Value> = ways.buttons.iter().map(button).collect();
            let form =
                ways.form.as_ref().map(|(token, form)| json!({ "token": token, "form": form }));
            let open =
                json!({ "buttons": buttons, "form": form, "reply": ways.reply, "code": ways.code });
            ("open", open)
        }
        CardStage::Closed { headline, at, comment } => {
            ("over", json!({ "headline": headline, "at": at, "comment": comment }))
        }
    };
    if let Value::Object(members) = &mut shown {
        members.insert(name.to_owned(), without_nulls(stage));
    }
    without_nulls(shown)
}

fn button(button: &CardButton) -> Value {
    let tone = match button.tone {
        ButtonTone::Plain => "plain",
        ButtonTone::Yes => "yes",
        ButtonTone::Danger => "danger",
        ButtonTone::No => "no",
    };
    json!({
        "label": button.label,
        "token": button.token,
        "tone": tone,
        "word": button.word,
        "wants_words": button.wants_words,
    })
}

fn without_nulls(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample_cards;

    #[test]
    fn as_they_are_received() {
        for (name, card) in sample_cards::samples() {
            if name != "long" {
                insta::assert_json_snapshot!(name, render(&card));
            }
        }
        // Long text is not truncated.
        assert_eq!(render(&sample_cards::long())["words"], sample_cards::long().words);
    }
}

//! A program that the operator runs, for platforms this crate does not support. The server calls it
//! with messages, and the program calls back with people's answers.
//!
//! | file | contents |
//! |---|---|
//! | `render.rs` | a message card as JSON |
//! | `parse.rs` | reads the program's calls |

mod parse;
mod render;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use kernel::Time;
use kernel::directory::contact::is_webhook_address;
use reqwest::Client;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

use crate::inbound::ParsedCall;
use crate::setup::{ChannelContext, ClockFn, Setup};
use crate::standard::WebhookKey;
use crate::wire::{self, Answer};
use crate::{
    Channel, DeliveryError, ForgedCall, InboundMessage, OutboundMessage, PostedMessage, Secret,
    UnreadableCall, WebhookCall,
};
use views::message_card::MessageCard;

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
    pub secret: Secret,
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
            return Err("the webhook's address begins with https://".to_owned());
        }
        let key = WebhookKey::read(&settings.secret)
            .ok_or("the webhook's secret is whsec_ and 24 to 64 bytes in base64")?;
        Ok(Self { url: settings.url.clone(), key, client, clock })
    }

    async fn call(&self, id: &str, at: Time, body: &Value) -> Result<Answer, DeliveryError> {
        let body = body.to_string().into_bytes();
        let mut call =
            self.client.post(self.url.clone()).header("content-type", "application/json");
        for (name, value) in self.key.headers(id, at, &body) {
            call = call.header(name, value);
        }
        let answer = wire::answer(PLATFORM, call.body(body).send().await).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(answer.later(PLATFORM).unwrap_or_else(|| {
            DeliveryError::never(match answer.status.as_u16() {
                401 | 403 => {
                    "the webhook's program does not take our signature: both need the same \
                              secret, and clocks that agree"
                        .to_owned()
                }
                404 | 410 => "there is no program at the webhook's address".to_owned(),
                status => format!("the webhook's program refused it ({status})"),
            })
        }))
    }
}

/// A call id that is the same for the same body about the same message.
fn repeatable(about: &str, body: &Value) -> String {
    let digest = hex::encode(Sha256::digest(body.to_string().as_bytes()));
    format!("{about}.{}", digest.get(..16).unwrap_or_default())
}

impl Setup for WebhookSettings {
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
        render::render(card)
    }

    async fn deliver(&self, outbound: OutboundMessage<'_>) -> Result<PostedMessage, DeliveryError> {
        if !is_webhook_address(outbound.to) {
            return Err(DeliveryError::never(
                "whom a webhook tells has a name without spaces, of up to 200 bytes",
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
        _: Option<&Secret>,
    ) -> Result<(), DeliveryError> {
        let to = posted.place.get("to");
        let body = json!({ "version": VERSION, "type": "updated", "id": posted.id, "to": to, "card": message });
        self.call(&repeatable(&posted.id, &body), (self.clock)(), &body).await.map(|_| ())
    }

    fn verify(&self, call: &WebhookCall<'_>) -> Result<(), ForgedCall> {
        self.key.verify(call)
    }

    fn parse(&self, call: &WebhookCall<'_>) -> Result<ParsedCall, UnreadableCall> {
        let said: parse::Said = serde_json::from_slice(call.body).map_err(|error| {
            UnreadableCall(format!("expected what somebody did, as JSON: {error}"))
        })?;
        Ok(ParsedCall::of(vec![said.inbound(call)?]))
    }

    async fn reply(&self, inbound: &InboundMessage, words: &str) -> Result<(), DeliveryError> {
        if words.is_empty() {
            return Ok(());
        }
        let to = inbound.from.address();
        let body = json!({ "version": VERSION, "type": "said", "about": inbound.id, "to": to, "words": words });
        self.call(&repeatable(&inbound.id, &body), (self.clock)(), &body).await.map(|_| ())
    }

    async fn check(&self) -> Result<String, DeliveryError> {
        let at = (self.clock)();
        let body = json!({ "version": VERSION, "type": "test" });
        self.call(&format!("test.{}", at.millis()), at, &body).await?;
        Ok("the webhook's program takes what we sign".to_owned())
    }
}

//! A program the operator runs: it is called with what there is to say, and calls back with what people
//! answered. For platforms this crate does not know.
//!
//! | file | what |
//! |---|---|
//! | `render.rs` | a card as JSON |
//! | `parse.rs` | what the program says |

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

use crate::heard::Parsed;
use crate::standard::Key;
use crate::wire::{self, Answer};
use crate::{Card, Channel, Failed, Forged, Heard, Knock, Medium, Parcel, Posted, Secret, Unread};

/// The version of the form of calls.
const VERSION: u32 = 1;
const PLATFORM: &str = "the webhook's program";
/// How long what a message is known by may be.
const LONGEST_ID: usize = 200;

/// What a program needs.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it is.
    pub url: Url,
    /// What both sign with: `whsec_…`.
    pub secret: Secret,
}

/// Says what time it is: calls are dated, those that are not deliveries as well.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// A program the operator runs.
pub struct Webhook {
    url: Url,
    key: Key,
    client: Client,
    clock: Clock,
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Webhook {
    /// A program with these settings, or what is wrong with them.
    pub fn new(settings: &Settings, client: Client, clock: Clock) -> Result<Self, String> {
        if !matches!(settings.url.scheme(), "http" | "https") {
            return Err("the webhook's address begins with https://".to_owned());
        }
        let key = Key::read(&settings.secret)
            .ok_or("the webhook's secret is whsec_ and 24 to 64 bytes in base64")?;
        Ok(Self { url: settings.url.clone(), key, client, clock })
    }

    async fn call(&self, id: &str, at: Time, body: &Value) -> Result<Answer, Failed> {
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
            Failed::never(match answer.status.as_u16() {
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

/// The same for the same words about the same message.
fn repeatable(about: &str, body: &Value) -> String {
    let digest = hex::encode(Sha256::digest(body.to_string().as_bytes()));
    format!("{about}.{}", digest.get(..16).unwrap_or_default())
}

#[async_trait]
impl Channel for Webhook {
    fn medium(&self) -> Medium {
        Medium::Webhook
    }

    fn render(&self, card: &Card) -> Value {
        render::render(card)
    }

    async fn deliver(&self, parcel: Parcel<'_>) -> Result<Posted, Failed> {
        if !is_webhook_address(parcel.to) {
            return Err(Failed::never(
                "whom a webhook tells has a name without spaces, of up to 200 bytes",
            ));
        }
        let body = json!({
            "version": VERSION,
            "type": "asked",
            "id": parcel.key,
            "to": parcel.to,
            "thread": parcel.thread,
            "card": parcel.message,
        });
        let answer = self.call(parcel.key, (self.clock)(), &body).await?;
        let given = answer.body.get("id").and_then(Value::as_str);
        let id = given.filter(|id| !id.is_empty() && id.len() <= LONGEST_ID).unwrap_or(parcel.key);
        Ok(Posted { id: id.to_owned(), thread: None, place: json!({ "to": parcel.to }) })
    }

    async fn update(
        &self,
        posted: &Posted,
        message: &Value,
        _: Option<&Secret>,
    ) -> Result<(), Failed> {
        let to = posted.place.get("to");
        let body = json!({ "version": VERSION, "type": "updated", "id": posted.id, "to": to, "card": message });
        self.call(&repeatable(&posted.id, &body), (self.clock)(), &body).await.map(|_| ())
    }

    fn verify(&self, knock: &Knock<'_>) -> Result<(), Forged> {
        self.key.verify(knock)
    }

    fn parse(&self, knock: &Knock<'_>) -> Result<Parsed, Unread> {
        let said: parse::Said = serde_json::from_slice(knock.body)
            .map_err(|error| Unread(format!("expected what somebody did, as JSON: {error}")))?;
        Ok(Parsed::of(vec![said.heard(knock)?]))
    }

    async fn answer(&self, heard: &Heard, words: &str) -> Result<(), Failed> {
        if words.is_empty() {
            return Ok(());
        }
        let to = heard.from.address();
        let body = json!({ "version": VERSION, "type": "said", "about": heard.id, "to": to, "words": words });
        self.call(&repeatable(&heard.id, &body), (self.clock)(), &body).await.map(|_| ())
    }

    async fn check(&self) -> Result<String, Failed> {
        let at = (self.clock)();
        let body = json!({ "version": VERSION, "type": "test" });
        self.call(&format!("test.{}", at.millis()), at, &body).await?;
        Ok("the webhook's program takes what we sign".to_owned())
    }
}

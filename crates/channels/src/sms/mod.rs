//! Text messages, through Twilio. What is answered begins with a code, since phones have no threads and
//! nothing to press.
//!
//! | file | what |
//! |---|---|
//! | `render.rs` | a card as a text |
//! | `gsm.rs` | how long a text is for carriers |

mod gsm;
mod render;

use async_trait::async_trait;
use reqwest::Client;
use serde_json::Value;

use crate::heard::{About, Parsed};
use crate::plain::{beginning, units};
use crate::twilio::hear::{Form, sms, taken};
use crate::twilio::{Account, Twilio};
use crate::{Card, Channel, Failed, Forged, Heard, Knock, Medium, Parcel, Posted, Secret, Unread};

/// No text is longer at Twilio.
const LONGEST: usize = 1600;

/// Text messages.
#[derive(Debug)]
pub struct Sms {
    twilio: Twilio,
}

impl Sms {
    /// Text messages from this account, or what is wrong with it.
    pub fn new(account: Account, client: Client) -> Result<Self, String> {
        Ok(Self { twilio: Twilio::new(account, client)? })
    }
}

#[async_trait]
impl Channel for Sms {
    fn medium(&self) -> Medium {
        Medium::Sms
    }

    fn render(&self, card: &Card) -> Value {
        render::render(card)
    }

    async fn deliver(&self, parcel: Parcel<'_>) -> Result<Posted, Failed> {
        let body = parcel.message.get("body").and_then(Value::as_str).unwrap_or_default();
        let id = self.twilio.send("", parcel.to, &[("Body", body)]).await?;
        Ok(Posted { id, thread: None, place: Value::Null })
    }

    /// What was sent to a phone stays as it is.
    async fn update(&self, _: &Posted, _: &Value, _: Option<&Secret>) -> Result<(), Failed> {
        Ok(())
    }

    fn verify(&self, knock: &Knock<'_>) -> Result<(), Forged> {
        self.twilio.verify(knock)
    }

    fn parse(&self, knock: &Knock<'_>) -> Result<Parsed, Unread> {
        let form = Form::read(knock);
        if let Some(status) = form.status(sms)? {
            return Ok(status);
        }
        Ok(match form.written(sms)? {
            Some(written) => form.said(written, None, About::Nothing),
            None => taken(Vec::new()),
        })
    }

    async fn answer(&self, heard: &Heard, words: &str) -> Result<(), Failed> {
        let Some(to) = heard.from.address().filter(|_| !words.is_empty()) else { return Ok(()) };
        let body = beginning(words, LONGEST, units);
        self.twilio.send("", to, &[("Body", body)]).await.map(|_| ())
    }

    async fn check(&self) -> Result<String, Failed> {
        self.twilio.name().await
    }
}

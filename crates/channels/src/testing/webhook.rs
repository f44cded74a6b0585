//! A program that the operator runs. It checks the calls it gets, and calls back.

use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kernel::Time;
use serde_json::{Value, json};

use super::fake_platform::{Call, FakePlatform, Inbound, PlatformBehavior, Reply, lock};
use crate::SecretString;
use crate::standard_webhooks::WebhookKey;
use crate::webhook::WebhookSettings;

/// The secret that both sides sign with.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The simulated program.
#[derive(Debug)]
pub struct Program {
    stand: FakePlatform,
    play: Arc<Receiver>,
}

#[derive(Debug, Default)]
struct Receiver {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    told: Vec<Value>,
    answer: Option<(u16, Value)>,
}

impl Deref for Program {
    type Target = FakePlatform;

    fn deref(&self) -> &FakePlatform {
        &self.stand
    }
}

impl Program {
    /// Starts a program that has received nothing.
    pub async fn start() -> io::Result<Self> {
        let play = Arc::new(Receiver::default());
        Ok(Self { stand: FakePlatform::of(play.clone()).await?, play })
    }

    /// The settings of the channel.
    pub fn settings(&self) -> WebhookSettings {
        WebhookSettings { url: self.base(), secret: SecretString::new(SECRET) }
    }

    /// The bodies of all calls so far.
    pub fn received(&self) -> Vec<Value> {
        lock(&self.play.state).told.clone()
    }

    /// Sets the answer to later calls.
    pub fn answers(&self, status: u16, body: Value) {
        lock(&self.play.state).answer = Some((status, body));
    }

    /// A call from the program to the server.
    pub fn call(&self, url: &str, id: &str, at: Time, body: &Value) -> Inbound {
        let body = body.to_string().into_bytes();
        let headers =
            WebhookKey::read(&SecretString::new(SECRET)).map(|key| key.headers(id, at, &body));
        let named = |(name, value): (&str, String)| (name.to_owned(), value);
        let headers = headers.into_iter().flatten().map(named).collect();
        Inbound { method: "POST", url: url.to_owned(), headers, body }
    }
}

#[async_trait]
impl PlatformBehavior for Receiver {
    async fn answer(&self, call: &Call) -> Reply {
        if let Err(wrong) = checked(call) {
            return Reply::json(400, &json!({ "error": wrong }));
        }
        let mut state = lock(&self.state);
        state.told.push(call.json());
        let (status, body) = state.answer.clone().unwrap_or((204, Value::Null));
        Reply::json(status, &body)
    }

    fn busy(&self, seconds: u64) -> Reply {
        let mut reply = Reply::json(429, &Value::Null);
        reply.headers.push(("retry-after", seconds.to_string()));
        reply
    }
}

/// Checks that a call has the documented format. Tests check the signature with
/// an independent library.
fn checked(call: &Call) -> Result<(), String> {
    if call.method != "POST" || call.header("content-type") != Some("application/json") {
        return Err("expected JSON by POST".to_owned());
    }
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        call.header(name).ok_or_else(|| format!("no {name}"))?;
    }
    let body = call.json();
    let needed: &[&str] = match body["type"].as_str() {
        Some("asked" | "updated") => &["id", "to", "card"],
        Some("said") => &["about", "to", "words"],
        Some("test") => &[],
        other => return Err(format!("unknown type {other:?}")),
    };
    if body["version"] != 1 {
        return Err("unknown version".to_owned());
    }
    if let Some(name) = needed.iter().find(|name| body[**name].is_null()) {
        return Err(format!("no {name}"));
    }
    if !body["card"].is_null() {
        let card = &body["card"];
        let needed = ["title", "words", "facts", "link", "urgent"];
        if let Some(name) = needed.iter().find(|name| card[**name].is_null()) {
            return Err(format!("no {name} in the card"));
        }
        if card["open"].is_object() == card["over"].is_object() {
            return Err("neither open nor over".to_owned());
        }
    }
    Ok(())
}

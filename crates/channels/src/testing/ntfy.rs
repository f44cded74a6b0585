//! An ntfy server. <https://docs.ntfy.sh/publish/#publish-as-json>

use std::collections::BTreeSet;
use std::io;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use kernel::directory::contact::is_ntfy_topic;
use serde_json::{Value, json};

use super::fake_platform::{Call, FakePlatform, PlatformBehavior, Reply, lock};

/// The access token of the only user.
pub const TOKEN: &str = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2";
/// The user name and the password.
pub const USER: (&str, &str) = ("phil", "mypass");
/// A topic that the user may not publish to.
pub const CLOSED: &str = "closed";

/// ntfy with one user. Anyone may publish to topics that begin with `free`.
#[derive(Debug)]
pub struct Ntfy {
    stand: FakePlatform,
    play: Arc<Server>,
}

#[derive(Debug, Default)]
struct Server {
    published: Mutex<Vec<Value>>,
}

impl Deref for Ntfy {
    type Target = FakePlatform;

    fn deref(&self) -> &FakePlatform {
        &self.stand
    }
}

impl Ntfy {
    /// Starts a server without any messages.
    pub async fn start() -> io::Result<Self> {
        let play = Arc::new(Server::default());
        Ok(Self { stand: FakePlatform::of(play.clone()).await?, play })
    }

    /// All published messages, in order.
    pub fn published(&self) -> Vec<Value> {
        lock(&self.play.published).clone()
    }

    /// The messages that phones show: the last of each sequence.
    pub fn shown(&self) -> Vec<Value> {
        let mut seen = BTreeSet::new();
        let published = self.published();
        let last =
            published.into_iter().rev().filter(|m| seen.insert(m["sequence_id"].to_string()));
        last.collect()
    }
}

#[async_trait]
impl PlatformBehavior for Server {
    async fn answer(&self, call: &Call) -> Reply {
        let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{}:{}", USER.0, USER.1)));
        let known = match call.header("authorization") {
            None => None,
            Some(shown) if shown == basic || shown == format!("Bearer {TOKEN}") => Some(USER.0),
            Some(_) => return refused(40_101, "unauthorized"),
        };
        match (call.method.as_str(), call.path.as_str()) {
            ("GET", "/v1/health") => Reply::json(200, &json!({ "healthy": true })),
            ("GET", "/v1/account") => {
                Reply::json(200, &json!({ "username": known.unwrap_or("*") }))
            }
            ("POST", "/") => {
                let message = call.json();
                let topic = message["topic"].as_str().unwrap_or_default();
                if !is_ntfy_topic(topic) {
                    return refused(40_009, "invalid request: topic invalid");
                }
                if topic == CLOSED || (known.is_none() && !topic.starts_with("free")) {
                    return refused(40_301, "forbidden");
                }
                if let Err(wrong) = checked(&message) {
                    return refused(40_017, &wrong);
                }
                let mut published = lock(&self.published);
                published.push(message.clone());
                let id = format!("msg{:09}", published.len());
                Reply::json(
                    200,
                    &json!({ "id": id, "time": 1_772_000_000, "event": "message", "topic": topic }),
                )
            }
            _ => refused(40_401, "page not found"),
        }
    }

    fn busy(&self, seconds: u64) -> Reply {
        let mut reply = refused(42_901, "limit reached: too many requests");
        reply.headers.push(("retry-after", seconds.to_string()));
        reply
    }
}

/// Checks that ntfy would accept a message and show it as text. ntfy turns longer ones into files.
pub fn checked(message: &Value) -> Result<(), String> {
    let known = [
        "topic",
        "sequence_id",
        "title",
        "message",
        "priority",
        "tags",
        "click",
        "actions",
        "markdown",
    ];
    let members = message.as_object().ok_or("request body must be message JSON")?;
    if let Some((name, _)) = members.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        return Err(format!("unknown field {name}"));
    }
    let text = |name: &str| message[name].as_str().unwrap_or_default();
    if text("message").is_empty() || text("message").len() > 4096 || text("title").len() > 1000 {
        return Err("a message of 1 to 4096 bytes, and a short title".to_owned());
    }
    if text("title").contains('\n') || message["markdown"] == true {
        return Err("a title of one line, and no markup".to_owned());
    }
    if !message["priority"].as_u64().is_some_and(|priority| (1..=5).contains(&priority)) {
        return Err("invalid priority parameter".to_owned());
    }
    let sequence = text("sequence_id");
    if !sequence.is_empty() && !is_ntfy_topic(sequence) {
        return Err("invalid sequence id".to_owned());
    }
    let actions = message["actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fine = |action: &Value| {
        action["action"] == "view"
            && action["label"].as_str().is_some_and(|label| !label.is_empty())
            && action["url"].as_str().is_some_and(|url| url.starts_with("http"))
    };
    if actions.len() > 3 || !actions.iter().all(fine) {
        return Err("invalid request: actions invalid".to_owned());
    }
    Ok(())
}

fn refused(code: u64, error: &str) -> Reply {
    let status = u16::try_from(code / 100).unwrap_or(500);
    Reply::json(status, &json!({ "code": code, "http": status, "error": error }))
}

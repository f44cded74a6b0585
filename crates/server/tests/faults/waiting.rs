//! Agents that wait for an answer, in every way there is.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{Method, Response};
use serde_json::Value;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use super::agent::{AGENT, Caller};

/// Longer than a server holds an answer back.
const LONG: Duration = Duration::from_secs(90);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    Socket,
    Events,
    LongPoll,
}

pub(crate) const WAYS: [Way; 3] = [Way::Socket, Way::Events, Way::LongPoll];

impl Way {
    /// Waits on one connection, which ends with the answer: when it was given. Nothing if it ends
    /// without.
    pub(crate) async fn wait(self, caller: &Caller, id: &str) -> Option<String> {
        let path = format!("/api/v1/asks/{}", id.replacen("hxp_", "ask_", 1));
        match self {
            Self::Socket => socket(caller, id).await,
            Self::Events => events(open(caller, &format!("{path}/events")).await?).await,
            Self::LongPoll => given(&open(caller, &path).await?.json().await.ok()?),
        }
    }
}

async fn open(caller: &Caller, path: &str) -> Option<Response> {
    let request = caller.request(Method::GET, path, AGENT).header("prefer", "wait=60");
    let answer = request.timeout(LONG).send().await.ok()?;
    // A server that stops, or has lost its database, may say so; nothing else is an excuse.
    assert!([200, 503].contains(&answer.status().as_u16()), "{answer:?}");
    (answer.status() == 200).then_some(answer)
}

async fn socket(caller: &Caller, id: &str) -> Option<String> {
    let url = caller.url().replacen("http", "ws", 1);
    let (mut socket, _) = connect_async(format!("{url}/hxp/ws/{id}?token={AGENT}")).await.ok()?;
    loop {
        let Message::Text(text) = socket.next().await?.ok()? else { continue };
        let frame: Value = serde_json::from_str(&text).unwrap();
        if let Some(at) = frame["receipt"]["completed_at"].as_str() {
            return Some(at.to_owned());
        }
    }
}

async fn events(mut response: Response) -> Option<String> {
    let mut text = String::new();
    loop {
        text.push_str(std::str::from_utf8(&response.chunk().await.ok()??).unwrap());
        while let Some((block, rest)) = text.split_once("\n\n") {
            let data = block.lines().find_map(|line| line.strip_prefix("data: "));
            let data: Value = data.map_or(Value::Null, |data| serde_json::from_str(data).unwrap());
            text = rest.to_owned();
            if let Some(at) = given(&data["ask"]) {
                return Some(at);
            }
        }
    }
}

/// When an ask was answered.
fn given(ask: &Value) -> Option<String> {
    Some(ask["result"]["at"].as_str()?.to_owned())
}

/// How many asks are waited for, on all nodes.
pub(crate) async fn watched(callers: &[Caller]) -> u64 {
    let mut watched = 0;
    for caller in callers {
        watched += caller.measured("countersign_watched_asks").await;
    }
    watched
}

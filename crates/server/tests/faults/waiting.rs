//! Agents that wait for an answer, in every way there is.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use super::agent::AGENT;

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
    pub(crate) async fn wait(self, http: &Client, url: &str, id: &str) -> Option<String> {
        let ask = format!("{url}/api/v1/asks/{}", id.replacen("hxp_", "ask_", 1));
        match self {
            Self::Socket => socket(&url.replacen("http", "ws", 1), id).await,
            Self::Events => events(open(http.get(format!("{ask}/events"))).await?).await,
            Self::LongPoll => {
                let held = open(http.get(ask).header("prefer", "wait=60")).await?;
                given(&held.json().await.ok()?)
            }
        }
    }
}

async fn open(request: RequestBuilder) -> Option<Response> {
    let answer = request.bearer_auth(AGENT).timeout(LONG).send().await.ok()?;
    // A server that stops, or has lost its database, may say so; nothing else is an excuse.
    assert!([200, 503].contains(&answer.status().as_u16()), "{answer:?}");
    (answer.status() == 200).then_some(answer)
}

async fn socket(url: &str, id: &str) -> Option<String> {
    let (mut socket, _) = connect_async(format!("{url}/hxp/ws/{id}?token={AGENT}")).await.ok()?;
    while let Message::Text(text) = socket.next().await?.ok()? {
        let frame: Value = serde_json::from_str(&text).unwrap();
        if let Some(at) = frame["receipt"]["completed_at"].as_str() {
            return Some(at.to_owned());
        }
    }
    None
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

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
    /// Waits on one connection, which ends with the answer: when it was given. If it ends without,
    /// why.
    pub(crate) async fn wait(self, caller: &Caller, id: &str) -> Result<String, String> {
        let path = format!("/api/v1/asks/{}", id.replacen("hxp_", "ask_", 1));
        match self {
            Self::Socket => socket(caller, id).await,
            Self::Events => events(open(caller, &format!("{path}/events")).await?).await,
            Self::LongPoll => {
                let ask = open(caller, &path).await?.json().await.map_err(text)?;
                given(&ask).ok_or_else(|| format!("not answered yet: {ask}"))
            }
        }
    }
}

async fn open(caller: &Caller, path: &str) -> Result<Response, String> {
    let request = caller.request(Method::GET, path, AGENT).header("prefer", "wait=60");
    let answer = request.timeout(LONG).send().await.map_err(text)?;
    // A server that stops, or has lost its database, may say so; nothing else is an excuse.
    assert!([200, 503].contains(&answer.status().as_u16()), "{answer:?}");
    if answer.status() == 200 { Ok(answer) } else { Err(answer.status().to_string()) }
}

async fn socket(caller: &Caller, id: &str) -> Result<String, String> {
    let url = caller.url().replacen("http", "ws", 1);
    let connected = connect_async(format!("{url}/hxp/ws/{id}?token={AGENT}")).await;
    let (mut socket, _) = connected.map_err(text)?;
    loop {
        let message = socket.next().await.ok_or("the socket ended")?.map_err(text)?;
        let Message::Text(said) = message else { continue };
        let frame: Value = serde_json::from_str(&said).unwrap();
        if let Some(at) = frame["receipt"]["completed_at"].as_str() {
            return Ok(at.to_owned());
        }
    }
}

async fn events(mut response: Response) -> Result<String, String> {
    let mut told = String::new();
    loop {
        let chunk = response.chunk().await.map_err(text)?.ok_or("the stream ended")?;
        told.push_str(std::str::from_utf8(&chunk).unwrap());
        while let Some((block, rest)) = told.split_once("\n\n") {
            let data = block.lines().find_map(|line| line.strip_prefix("data: "));
            let data: Value = data.map_or(Value::Null, |data| serde_json::from_str(data).unwrap());
            told = rest.to_owned();
            if let Some(at) = given(&data["ask"]) {
                return Ok(at);
            }
        }
    }
}

fn text(error: impl std::error::Error) -> String {
    format!("{error:?}")
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

//! Socket Mode: Slack's payloads over a WebSocket that we open, for installations nobody can call
//! (docs.slack.dev, "Using Socket Mode"). What was heard is acknowledged once the handler has taken it, and
//! comes again if it was not.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::{StatusCode, Upgraded};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tracing::{debug, info, warn};
use url::Url;

use super::Slack;
use super::api::{By, call, unreachable};
use super::errors::Whose;
use super::interactions::interaction;
use super::parse::event;
use crate::{DeliveryError, InboundHandler, InboundMessage, Secret};

/// Slack waits three seconds for an acknowledgement; what takes longer must come again.
const PATIENCE: Duration = Duration::from_millis(2500);
/// After so much silence we ask whether anybody is there, and after as much again nobody is. Slack
/// itself asks more often.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a connection that Slack wants replaced is still listened to.
const DRAINED: Duration = Duration::from_mins(1);
/// Longest envelope that is read.
const LONGEST: usize = 4 * 1024 * 1024;
/// How often the pause between two tries doubles.
const DOUBLINGS: u32 = 6;

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// Slack wants it replaced.
    Refresh,
    /// It broke.
    Lost,
    /// Socket Mode was turned off.
    Disabled,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, rename = "envelope_id")]
    id: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    payload: Value,
}

impl Slack {
    /// Listens until dropped; ends only when Slack will never have us.
    pub(super) async fn listen_on(
        &self,
        token: &Secret,
        handler: &dyn InboundHandler,
    ) -> Result<(), DeliveryError> {
        let mut failures = 0;
        let mut old: Option<WebSocketStream<Upgraded>> = None;
        loop {
            let mut socket = match self.connect(token).await {
                Ok(socket) => socket,
                Err(error @ (DeliveryError::Never { .. } | DeliveryError::Gone { .. })) => {
                    return Err(error);
                }
                Err(DeliveryError::Later { why, after }) => {
                    let pause = self.pause(failures).max(after.unwrap_or_default());
                    warn!(error = why, retry_ms = pause.as_millis(), "Slack's socket is not open");
                    failures += 1;
                    sleep(pause).await;
                    continue;
                }
            };
            // Slack still says things on a connection it wants replaced, so both are heard for a while
            let mut former = old.take();
            let drained = async {
                if let Some(former) = &mut former {
                    let _ = timeout(DRAINED, serve(former, handler, &mut false)).await;
                }
                std::future::pending().await
            };
            let mut greeted = false;
            let end = tokio::select! {
                end = serve(&mut socket, handler, &mut greeted) => end,
                never = drained => never,
            };
            match end {
                End::Disabled => {
                    return Err(DeliveryError::never(
                        "Socket Mode is turned off: turn it on on the app's page, or remove \
                         slack_app_token",
                    ));
                }
                End::Refresh => old = Some(socket),
                End::Lost => {}
            }
            debug!(?end, "Slack's socket ended");
            failures = if greeted { 0 } else { failures + 1 };
            if failures > 0 || end == End::Lost {
                sleep(self.pause(failures)).await;
            }
        }
    }

    fn pause(&self, failures: u32) -> Duration {
        self.pause * 2u32.pow(failures.min(DOUBLINGS))
    }

    /// Opens a connection, on a ticket that counts once.
    async fn connect(&self, token: &Secret) -> Result<WebSocketStream<Upgraded>, DeliveryError> {
        const METHOD: &str = "apps.connections.open";
        let by = By { whose: Whose::App, token };
        let opened = call(&self.client, &self.base, METHOD, &json!({}), by).await?;
        let url = opened.body.get("url").and_then(Value::as_str).and_then(|url| url.parse().ok());
        let url = url.and_then(|url| self.over_http(url)).ok_or_else(|| {
            DeliveryError::later("Slack names no address of its own for the socket")
        })?;
        let key = generate_key();
        let response = self
            .client
            .get(url)
            .header("connection", "Upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", &key)
            .send()
            .await
            .map_err(|error| unreachable("its socket", &error))?;
        let accepted = response.headers().get("sec-websocket-accept");
        if response.status() != StatusCode::SWITCHING_PROTOCOLS
            || accepted.is_none_or(|found| *found != derive_accept_key(key.as_bytes()))
        {
            let status = response.status();
            return Err(DeliveryError::later(format!("Slack's socket answers with {status}")));
        }
        let upgraded =
            response.upgrade().await.map_err(|error| unreachable("its socket", &error))?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(LONGEST))
            .max_frame_size(Some(LONGEST));
        Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await)
    }

    /// The address of a socket, as it is called over HTTP: Slack's, or where its API is played.
    fn over_http(&self, mut url: Url) -> Option<Url> {
        let scheme = match url.scheme() {
            "wss" => "https",
            "ws" => "http",
            _ => return None,
        };
        // these two schemes may be put in place of each other, unlike most
        url.set_scheme(scheme).ok()?;
        let theirs = scheme == "https"
            && url.port().is_none()
            && url.host_str().zip(self.base.host_str()).is_some_and(|(host, base)| {
                host.strip_suffix(base).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            });
        (theirs || url.origin() == self.base.origin()).then_some(url)
    }
}

/// Hears what comes until the connection ends.
async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    handler: &dyn InboundHandler,
    greeted: &mut bool,
) -> End {
    let mut silent = false;
    loop {
        let message = match timeout(SILENCE, socket.next()).await {
            Ok(Some(Ok(message))) => message,
            Ok(None | Some(Err(_))) => return End::Lost,
            Err(_) if silent => return End::Lost,
            Err(_) => {
                silent = true;
                if socket.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return End::Lost;
                }
                continue;
            }
        };
        silent = false;
        let Message::Text(text) = message else { continue };
        let Ok(envelope) = serde_json::from_str::<Envelope>(&text) else {
            warn!("Slack's socket says something that is no envelope");
            continue;
        };
        match (envelope.kind.as_str(), envelope.reason.as_deref()) {
            ("hello", _) => {
                *greeted = true;
                info!("Slack's socket is open");
                continue;
            }
            ("disconnect", Some("link_disabled")) => return End::Disabled,
            ("disconnect", _) => return End::Refresh,
            _ => {}
        }
        let Some(id) = envelope.id else { continue };
        if let Some(answer) = taken(&envelope.kind, envelope.payload, handler).await {
            let mut acknowledged = json!({ "envelope_id": id });
            if let Some(answer) = answer {
                acknowledged["payload"] = answer;
            }
            let acknowledged = acknowledged.to_string();
            if socket.send(Message::text(acknowledged)).await.is_err() {
                return End::Lost;
            }
        }
    }
}

/// What Slack is answered if the handler took what a payload says. One that cannot be read is taken too: it
/// would not be read the next time either.
async fn taken(kind: &str, payload: Value, handler: &dyn InboundHandler) -> Option<Option<Value>> {
    let inbound = match kind {
        "events_api" => event(payload).map(|parsed| parsed.inbound),
        "interactive" => interaction(payload),
        _ => Ok(Vec::new()),
    };
    let inbound: Vec<InboundMessage> = inbound.unwrap_or_else(|error| {
        warn!(%error, "what Slack's socket says cannot be read");
        Vec::new()
    });
    let hearing = async {
        let mut answer = None;
        for inbound in inbound {
            answer = handler.handle(inbound).await?.or(answer);
        }
        Ok::<_, DeliveryError>(answer)
    };
    match timeout(PATIENCE, hearing).await {
        Ok(Ok(answer)) => Some(answer),
        Ok(Err(error)) => {
            warn!(%error, "what Slack said was not taken and comes again");
            None
        }
        Err(_) => {
            warn!("what Slack said was not taken in time and comes again");
            None
        }
    }
}

#[cfg(test)]
mod tests;

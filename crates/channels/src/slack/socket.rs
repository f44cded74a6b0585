//! Socket Mode: Slack's payloads over a WebSocket that the server opens, for installations that
//! Slack cannot call (docs.slack.dev, "Using Socket Mode"). A payload is acknowledged once the
//! handler has accepted it. Otherwise Slack sends it again.

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
use super::api::{CallToken, TokenOwner, call, unreachable};
use super::interactions::interaction;
use super::parse::event;
use crate::{DeliveryError, InboundHandler, InboundMessage, SecretString};

/// The timeout for handling a payload. Slack waits three seconds for an acknowledgement and then
/// sends the payload again.
const PATIENCE: Duration = Duration::from_millis(2500);
/// After this much silence the server sends a ping, and after as much again the connection is lost.
/// Slack itself sends pings more often.
const SILENCE: Duration = Duration::from_secs(30);
/// How long the server still reads from a connection that Slack wants replaced.
const DRAINED: Duration = Duration::from_mins(1);
/// The longest envelope that is read.
const LONGEST: usize = 4 * 1024 * 1024;
/// How often the delay between two attempts doubles.
const DOUBLINGS: u32 = 6;

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
enum ConnectionEnd {
    /// Slack wants the connection replaced.
    Refresh,
    /// The connection broke.
    Lost,
    /// Socket Mode was turned off.
    Disabled,
}

#[derive(Deserialize)]
struct SocketEnvelope {
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
    /// Listens until the future is dropped. Returns only on a permanent error.
    pub(super) async fn listen_on(
        &self,
        token: &SecretString,
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
                    warn!(
                        error = why,
                        retry_ms = pause.as_millis(),
                        "Slack socket failed, will retry"
                    );
                    failures += 1;
                    sleep(pause).await;
                    continue;
                }
            };
            // Slack still sends payloads over a connection it wants replaced, so the server reads
            // from both for a while.
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
                ConnectionEnd::Disabled => {
                    return Err(DeliveryError::never(
                        "Socket Mode is turned off; turn it on on the app's page, or remove \
                         slack_app_token",
                    ));
                }
                ConnectionEnd::Refresh => old = Some(socket),
                ConnectionEnd::Lost => {}
            }
            debug!(?end, "the Slack socket was closed");
            failures = if greeted { 0 } else { failures + 1 };
            if failures > 0 || end == ConnectionEnd::Lost {
                sleep(self.pause(failures)).await;
            }
        }
    }

    fn pause(&self, failures: u32) -> Duration {
        self.pause * 2u32.pow(failures.min(DOUBLINGS))
    }

    /// Opens a connection with a single-use ticket.
    async fn connect(
        &self,
        token: &SecretString,
    ) -> Result<WebSocketStream<Upgraded>, DeliveryError> {
        const METHOD: &str = "apps.connections.open";
        let by = CallToken { whose: TokenOwner::App, token };
        let opened = call(&self.client, &self.base, METHOD, &json!({}), by).await?;
        let url = opened.body.get("url").and_then(Value::as_str).and_then(|url| url.parse().ok());
        let url = url.and_then(|url| self.over_http(url)).ok_or_else(|| {
            DeliveryError::later("Slack returned a socket URL outside of Slack's domains")
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
            return Err(DeliveryError::later(format!("the Slack socket responded with {status}")));
        }
        let upgraded =
            response.upgrade().await.map_err(|error| unreachable("its socket", &error))?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(LONGEST))
            .max_frame_size(Some(LONGEST));
        Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await)
    }

    /// The URL of a socket with an HTTP scheme. It must be a host of Slack, or the test server.
    fn over_http(&self, mut url: Url) -> Option<Url> {
        let scheme = match url.scheme() {
            "wss" => "https",
            "ws" => "http",
            _ => return None,
        };
        // These two schemes can be exchanged, unlike most.
        url.set_scheme(scheme).ok()?;
        let theirs = scheme == "https"
            && url.port().is_none()
            && url.host_str().zip(self.base.host_str()).is_some_and(|(host, base)| {
                host.strip_suffix(base).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            });
        (theirs || url.origin() == self.base.origin()).then_some(url)
    }
}

/// Handles payloads until the connection ends.
async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    handler: &dyn InboundHandler,
    greeted: &mut bool,
) -> ConnectionEnd {
    let mut silent = false;
    loop {
        let message = match timeout(SILENCE, socket.next()).await {
            Ok(Some(Ok(message))) => message,
            Ok(None | Some(Err(_))) => return ConnectionEnd::Lost,
            Err(_) if silent => return ConnectionEnd::Lost,
            Err(_) => {
                silent = true;
                if socket.send(Message::Ping(Vec::new().into())).await.is_err() {
                    return ConnectionEnd::Lost;
                }
                continue;
            }
        };
        silent = false;
        let Message::Text(text) = message else { continue };
        let Ok(envelope) = serde_json::from_str::<SocketEnvelope>(&text) else {
            warn!("the Slack socket sent an invalid envelope");
            continue;
        };
        match (envelope.kind.as_str(), envelope.reason.as_deref()) {
            ("hello", _) => {
                *greeted = true;
                info!("Slack socket connected");
                continue;
            }
            ("disconnect", Some("link_disabled")) => return ConnectionEnd::Disabled,
            ("disconnect", _) => return ConnectionEnd::Refresh,
            _ => {}
        }
        let Some(id) = envelope.id else { continue };
        if let Some(answer) = handle_payload(&envelope.kind, envelope.payload, handler).await {
            let mut acknowledged = json!({ "envelope_id": id });
            if let Some(answer) = answer {
                acknowledged["payload"] = answer;
            }
            let acknowledged = acknowledged.to_string();
            if socket.send(Message::text(acknowledged)).await.is_err() {
                return ConnectionEnd::Lost;
            }
        }
    }
}

/// The answer to Slack if the handler accepted the payload. An unreadable payload is acknowledged
/// too, because a repetition would not be readable either.
async fn handle_payload(
    kind: &str,
    payload: Value,
    handler: &dyn InboundHandler,
) -> Option<Option<Value>> {
    let inbound = match kind {
        "events_api" => event(payload).map(|parsed| parsed.inbound),
        "interactive" => interaction(payload),
        _ => Ok(Vec::new()),
    };
    let inbound: Vec<InboundMessage> = inbound.unwrap_or_else(|error| {
        warn!(%error, "cannot parse a message of the Slack socket");
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
            warn!(%error, "could not process a Slack event; Slack will send it again");
            None
        }
        Err(_) => {
            warn!("processing a Slack event timed out; Slack will send it again");
            None
        }
    }
}

#[cfg(test)]
mod tests;

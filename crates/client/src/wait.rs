//! Waits for an answer: over a stream of all changes, or by long polls if there is no stream (an
//! old server, a proxy that buffers). It waits for a server that restarts.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::{Method, Response, header};
use serde_json::Value;
use sse_stream::SseByteStream;
use tokio::time::Instant;

use crate::retry::Retry;
use crate::{Ask, Client, ClientError, Result, ask_path};

/// The maximum duration of a long poll, in seconds.
const LONG_POLL: u64 = 30;
/// How long the server may be unavailable while the client waits for an answer.
const AWAY: Duration = Duration::from_mins(5);
/// Longer than any wait, but short enough not to overflow.
const FOR_EVER: Duration = Duration::from_hours(100 * 366 * 24);
/// A stream without data for this long is dead: servers send a heartbeat every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);

impl Client {
    /// Waits until an ask is closed or `up_to` has passed; returns it in its current state.
    pub async fn wait(&self, id: &str, up_to: Duration) -> Result<Ask> {
        let end = Instant::now() + up_to.min(FOR_EVER);
        let mut away: Option<Instant> = None;
        let mut retry = Retry::unlimited();
        let mut streams = true;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let news = if streams && left > Duration::from_secs(1) {
                tokio::time::timeout(left, self.watch(id)).await.unwrap_or(Ok(StreamedAsk::Nothing))
            } else {
                self.poll(id, left).await.map(StreamedAsk::Ask)
            };
            match news {
                Ok(StreamedAsk::Ask(ask)) if ask.is_over() || left.is_zero() => return Ok(*ask),
                Ok(StreamedAsk::NoStream) => streams = false,
                Ok(StreamedAsk::Ask(_) | StreamedAsk::Nothing) => {
                    away = None;
                    retry.reset();
                    if left < Duration::from_secs(1) {
                        tokio::time::sleep(left).await;
                    }
                }
                Err(error) => {
                    let too_long = away.get_or_insert_with(Instant::now).elapsed() > AWAY;
                    if left.is_zero() || too_long || !retry.wait_and_retry(&error).await {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// One poll, which the server holds until the ask changes.
    async fn poll(&self, id: &str, left: Duration) -> Result<Box<Ask>> {
        let wait = format!("wait={}", left.as_secs().min(LONG_POLL));
        let request =
            self.prepare(Method::GET, &ask_path(id, ""), None::<&()>, &[("prefer", &wait)]);
        let answer = self.once(request.timeout(Duration::from_secs(LONG_POLL * 2))).await?;
        self.read(answer).await
    }

    /// Follows the stream of one ask until it is closed or the stream ends.
    async fn watch(&self, id: &str) -> Result<StreamedAsk> {
        let Some(stream) = self.stream(&ask_path(id, "/events"), &[]).await? else {
            return Ok(StreamedAsk::NoStream);
        };
        let mut frames = SseByteStream::new(stream.bytes_stream());
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(SILENCE, frames.next()).await {
            let Some(data) = frame.data else { continue };
            let Ok(mut data) = serde_json::from_str::<Value>(&data) else { continue };
            let Some(ask) = data.get_mut("ask").map(Value::take) else { continue };
            let ask: Ask = serde_json::from_value(ask).map_err(ClientError::Garbled)?;
            if ask.is_over() {
                return Ok(StreamedAsk::Ask(Box::new(ask)));
            }
        }
        // The stream broke off or went silent; the caller polls again.
        Ok(StreamedAsk::Nothing)
    }

    /// Opens a stream; `None` if there is none at this path.
    pub(crate) async fn stream(
        &self,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Option<Response>> {
        let request = self.prepare(Method::GET, path, None::<&()>, headers);
        let request = request.header(header::ACCEPT, "text/event-stream");
        let answer = match tokio::time::timeout(SILENCE, self.once(request)).await {
            Ok(Ok(answer)) => answer,
            // The route is missing (if the ask is missing, the next poll reports it), or a proxy
            // buffers the whole response.
            Ok(Err(ClientError::Refused { status: 404..=406, .. })) | Err(_) => return Ok(None),
            Ok(Err(error)) => return Err(error),
        };
        let kind = answer.headers().get(header::CONTENT_TYPE);
        let streamed = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        Ok(streamed.then_some(answer))
    }
}

enum StreamedAsk {
    /// The ask in its last reported state.
    Ask(Box<Ask>),
    /// The stream ended before the ask was closed.
    Nothing,
    /// There is no stream.
    NoStream,
}

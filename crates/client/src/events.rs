//! One connection for all events of an agent's asks, or of tasks.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sse_stream::{Error, Sse, SseByteStream};

use crate::retry::Retry;
use crate::{Ask, Client, ClientError, Result};

/// An event of an ask.
#[derive(Debug, Clone, Deserialize)]
pub struct Event {
    /// The position in the stream. Pass it to [`Client::events`] to continue after it.
    pub position: u64,
    /// `asked`, `opened`, `answered`, `expired`, …
    pub event: String,
    /// The ask when the event was sent.
    pub ask: Ask,
}

/// A stream of events. It reconnects automatically and continues where it stopped.
pub struct Events {
    frames: EventFrames,
}

impl Client {
    /// All events of this credential's asks, after a position or from now on.
    pub fn events(&self, after: Option<u64>) -> Events {
        Events { frames: EventFrames::new(self.clone(), "/api/v1/events", after) }
    }
}

impl Events {
    /// The position of the last returned event.
    pub fn position(&self) -> Option<u64> {
        self.frames.position()
    }

    /// Connects. Events after this call are not missed, so create asks afterwards.
    pub async fn ready(&mut self) -> Result<()> {
        self.frames.ready().await
    }

    /// Waits for the next event. It waits for a server that is unavailable; it returns only errors
    /// that a retry cannot fix.
    pub async fn next(&mut self) -> Result<Event> {
        let (_, _, event) = self.frames.next().await?;
        Ok(event)
    }

    /// The same, with all members as the server sent them.
    pub async fn next_raw(&mut self) -> Result<Value> {
        let (_, _, event) = self.frames.next().await?;
        Ok(event)
    }
}

/// The frames of a stream, from any position.
pub(crate) struct EventFrames {
    client: Client,
    path: &'static str,
    after: Option<u64>,
    open: Option<BoxStream<'static, Result<Sse, Error>>>,
    retry: Retry,
}

impl EventFrames {
    pub(crate) fn new(client: Client, path: &'static str, after: Option<u64>) -> Self {
        Self { client, path, after, open: None, retry: Retry::unlimited() }
    }

    pub(crate) fn position(&self) -> Option<u64> {
        self.after
    }

    pub(crate) async fn ready(&mut self) -> Result<()> {
        while self.after.is_none() {
            let Some(open) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            match open.next().await {
                // The first frame only states where the stream starts.
                Some(Ok(frame)) => drop(self.read(frame)),
                Some(Err(_)) | None => self.open = None,
            }
        }
        Ok(())
    }

    /// The next event with its position and name.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> Result<(u64, String, T)> {
        loop {
            let Some(open) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            match open.next().await {
                Some(Ok(frame)) => {
                    if let Some((name, data)) = self.read(frame) {
                        let event = serde_json::from_str(&data).map_err(ClientError::Garbled)?;
                        return Ok((self.after.unwrap_or_default(), name, event));
                    }
                }
                Some(Err(_)) | None => self.open = None,
            }
        }
    }

    async fn connect(&mut self) -> Result<()> {
        let position = self.after.map(|position| position.to_string());
        let headers = position.as_deref().map(|position| ("last-event-id", position));
        let opened = self.client.stream(self.path, headers.as_slice()).await;
        match opened {
            Ok(Some(answer)) => {
                self.retry.reset();
                self.open = Some(SseByteStream::new(answer.bytes_stream()).boxed());
                Ok(())
            }
            Ok(None) => Err(ClientError::NoStream),
            Err(error) if self.retry.wait_and_retry(&error).await => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The name and the data of a frame. Heartbeats and positions are only recorded.
    fn read(&mut self, frame: Sse) -> Option<(String, String)> {
        if let Some(position) = frame.id.as_deref().and_then(|id| id.parse().ok()) {
            self.after = Some(position);
        }
        let name = frame.event.filter(|name| !matches!(name.as_str(), "ready" | "reset"))?;
        Some((name, frame.data?))
    }
}

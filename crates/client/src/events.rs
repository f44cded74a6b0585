//! One connection for everything that happens to an agent's asks, or to tasks.

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sse_stream::{Error, Sse, SseByteStream};

use crate::retry::Retry;
use crate::{Ask, Client, ClientError, Result};

/// Something that happened to an ask.
#[derive(Debug, Clone, Deserialize)]
pub struct Event {
    /// Its place; hand it to [`Client::events`] to go on after it.
    pub position: u64,
    /// `asked`, `opened`, `answered`, `expired`, …
    pub event: String,
    /// The ask as it was when this was sent.
    pub ask: Ask,
}

/// Events, one after the other. It connects again by itself and goes on where it was.
pub struct Events {
    frames: Frames,
}

impl Client {
    /// Everything that happens to the asks of this credential, after a position or from now on.
    pub fn events(&self, after: Option<u64>) -> Events {
        Events { frames: Frames::new(self.clone(), "/api/v1/events", after) }
    }
}

impl Events {
    /// The position of the last event that was given out.
    pub fn position(&self) -> Option<u64> {
        self.frames.position()
    }

    /// Connects. What happens after this is not missed, so ask afterwards.
    pub async fn ready(&mut self) -> Result<()> {
        self.frames.ready().await
    }

    /// The next event; waits for it. A server that is away is waited for; an error is one that
    /// trying again would not mend.
    pub async fn next(&mut self) -> Result<Event> {
        let (_, _, event) = self.frames.next().await?;
        Ok(event)
    }
}

/// What a stream says, from wherever it is read.
pub(crate) struct Frames {
    client: Client,
    path: &'static str,
    after: Option<u64>,
    open: Option<BoxStream<'static, Result<Sse, Error>>>,
    retry: Retry,
}

impl Frames {
    pub(crate) fn new(client: Client, path: &'static str, after: Option<u64>) -> Self {
        Self { client, path, after, open: None, retry: Retry::ever() }
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
                // The first frame says where the stream begins, and nothing else.
                Some(Ok(frame)) => drop(self.read(frame)),
                Some(Err(_)) | None => self.open = None,
            }
        }
        Ok(())
    }

    /// The next event with its place and name.
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
            Err(error) if self.retry.again(&error).await => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The name and the words of a frame; signs of life and places are noted.
    fn read(&mut self, frame: Sse) -> Option<(String, String)> {
        if let Some(position) = frame.id.as_deref().and_then(|id| id.parse().ok()) {
            self.after = Some(position);
        }
        let name = frame.event.filter(|name| !matches!(name.as_str(), "ready" | "reset"))?;
        Some((name, frame.data?))
    }
}

//! The event stream of one case. Section 12 of the protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::BoxStream;
use jiff::Timestamp;
use reqwest::{Response, Url, header};
use sse_stream::{Error, Sse, SseByteStream};

use super::clock::{Clock, between, later};
use super::http_client::HitlHttpClient;
use super::{HitlError, Result};

/// How long a service may take to open a stream.
const OPENING: Duration = Duration::from_secs(30);
/// A stream without data for this long may be dead; reconnecting is cheap.
const SILENCE: Duration = Duration::from_secs(90);
/// The maximum number of consecutive stream failures, after which only polls are used.
const MOST_FAILURES: u32 = 5;
/// The pause before reconnecting, unless the service names one; it doubles.
const PAUSE: Duration = Duration::from_secs(2);
/// The maximum of that pause.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The stream, open or about to reconnect.
pub(super) struct CaseEventStream {
    url: Url,
    last: Option<String>,
    frames: Option<BoxStream<'static, Result<Sse, Error>>>,
    /// Whether bytes arrived since the last check; heartbeats are not frames.
    alive: Arc<AtomicBool>,
    heard_at: Timestamp,
    reopen_at: Timestamp,
    pause: Duration,
    failures: u32,
}

/// The result of listening.
pub(super) enum StreamUpdate {
    Frame(Sse),
    Nothing,
    /// The service has no further events (204); a poll returns the outcome.
    Over,
    /// There is no stream.
    NoStream,
}

impl CaseEventStream {
    pub(super) fn new(url: &Url, now: Timestamp) -> Self {
        Self {
            url: url.clone(),
            last: None,
            frames: None,
            alive: Arc::default(),
            heard_at: now,
            reopen_at: now,
            pause: PAUSE,
            failures: 0,
        }
    }

    /// Whether the stream is open.
    pub(super) fn is_open(&self) -> bool {
        self.frames.is_some()
    }

    /// Listens for at most `length`.
    pub(super) async fn next(
        &mut self,
        wire: &HitlHttpClient,
        clock: &dyn Clock,
        length: Duration,
    ) -> StreamUpdate {
        let now = clock.now();
        let Some(frames) = &mut self.frames else {
            let pause = between(now, self.reopen_at);
            if !pause.is_zero() {
                clock.sleep(pause.min(length)).await;
                return StreamUpdate::Nothing;
            }
            return self.connect(wire, now).await;
        };
        let patience = between(now, later(self.heard_at, SILENCE));
        let silence = clock.sleep(length.min(patience));
        match select(frames.next(), silence).await {
            Either::Left((Some(Ok(frame)), _)) => {
                self.heard_at = clock.now();
                self.failures = 0;
                if let Some(retry) = frame.retry {
                    self.pause = Duration::from_millis(retry).min(LONGEST_PAUSE);
                }
                self.last = frame.id.clone().or_else(|| self.last.take());
                StreamUpdate::Frame(frame)
            }
            Either::Left((Some(Err(_)) | None, _)) => self.reconnect_later(clock.now(), None),
            Either::Right(_) => {
                if self.alive.swap(false, Ordering::Relaxed) {
                    self.heard_at = clock.now();
                } else if clock.now() >= later(self.heard_at, SILENCE) {
                    self.frames = None;
                    self.heard_at = clock.now();
                }
                StreamUpdate::Nothing
            }
        }
    }

    async fn connect(&mut self, wire: &HitlHttpClient, now: Timestamp) -> StreamUpdate {
        let mut request = wire.get(&self.url).header(header::ACCEPT, "text/event-stream");
        if let Some(last) = &self.last {
            request = request.header("last-event-id", last);
        }
        let opened = tokio::time::timeout(OPENING, wire.open(&self.url, request)).await;
        match opened {
            Ok(Ok(answer)) if answer.status() == 204 => StreamUpdate::Over,
            Ok(Ok(answer)) if is_stream(&answer) => {
                let alive = self.alive.clone();
                let bytes = answer.bytes_stream();
                let bytes = bytes.inspect(move |_| alive.store(true, Ordering::Relaxed));
                self.frames = Some(SseByteStream::new(bytes).boxed());
                self.heard_at = now;
                StreamUpdate::Nothing
            }
            Ok(Err(error)) if error.is_passing() => self.reconnect_later(now, Some(&error)),
            // Another page, or a refusal: the poll finds out which.
            Ok(_) => StreamUpdate::NoStream,
            Err(_) => self.reconnect_later(now, None),
        }
    }

    /// The stream ended or did not open. It reconnects after a growing pause.
    fn reconnect_later(&mut self, now: Timestamp, error: Option<&HitlError>) -> StreamUpdate {
        self.frames = None;
        self.failures += 1;
        if self.failures > MOST_FAILURES {
            return StreamUpdate::NoStream;
        }
        let doubled = self.pause.saturating_mul(2_u32.saturating_pow(self.failures - 1));
        let asked = error.and_then(HitlError::retry_after).unwrap_or_default();
        self.reopen_at = later(now, doubled.min(LONGEST_PAUSE).max(asked));
        StreamUpdate::Nothing
    }
}

fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    answer.status() == 200
        && kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

//! Server-sent events: frames, and a body that is written one frame at a time. Nothing is buffered
//! here: the next frame is created when the connection has taken the last one, so a slow reader
//! costs no more than a fast one.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;
use views::locale;

/// A comment, so that proxies and clients see that the connection is alive.
pub const HEARTBEAT: Bytes = Bytes::from_static(b":\n\n");

/// How long a client waits before it connects again.
const RETRY: &str = "retry: 2000\n";

/// The source of a stream.
pub trait SseSource: Send + 'static {
    /// Waits for the next piece; `None` ends the stream.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// One frame. Serialised JSON contains no line breaks, so the data is one line.
pub fn frame(id: u64, event: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("id: {id}\nevent: {event}\ndata: {data}\n\n"))
}

/// The first frame of a stream. It also sets the reconnection delay.
pub fn first(frame: &Bytes) -> Bytes {
    Bytes::from([RETRY.as_bytes(), frame].concat())
}

/// A response that streams the source. The stream outlives the handler, so it keeps the reader for
/// whom the handler ran.
pub fn respond(source: impl SseSource) -> Response {
    let reader = locale::current();
    let frames = stream::unfold(source, move |mut source| {
        let reader = reader.clone();
        async move {
            let piece = locale::scope(reader, source.next()).await?;
            Some((Ok::<_, Infallible>(piece), source))
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // A proxy that buffers output would delay events.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(frames)).into_response()
}

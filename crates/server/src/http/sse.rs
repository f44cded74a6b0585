//! Server-sent events: frames, and a body that is written one frame at a time. Nothing is buffered
//! here: the next frame is made when the connection has taken the last, so a slow reader costs no
//! more than a quick one.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;

/// A comment, so that everybody on the way knows that the connection lives.
pub const HEARTBEAT: Bytes = Bytes::from_static(b":\n\n");

/// How long a client waits before it connects again.
const RETRY: &str = "retry: 2000\n";

/// What a stream is made of.
pub trait Source: Send + 'static {
    /// The next piece, when there is one; `None` ends the stream.
    fn next(&mut self) -> impl Future<Output = Option<Bytes>> + Send;
}

/// One frame. JSON has no line breaks of its own, so its data is one line.
pub fn frame(id: u64, event: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("id: {id}\nevent: {event}\ndata: {data}\n\n"))
}

/// The first frame of a stream: it also says how soon to come back.
pub fn first(frame: &Bytes) -> Bytes {
    Bytes::from([RETRY.as_bytes(), frame].concat())
}

/// Streams it.
pub fn respond(source: impl Source) -> Response {
    let frames = stream::unfold(source, |mut source| async move {
        let piece = source.next().await?;
        Some((Ok::<_, Infallible>(piece), source))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // A proxy that gathers output would hold the news back.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(frames)).into_response()
}

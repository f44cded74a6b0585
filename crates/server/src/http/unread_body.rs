//! Request bodies that were not read to their end.
//!
//! A request that is refused by its address, method or credential is answered before its body is
//! read. In HTTP/1.1 the rest of that body precedes the next request of the same connection, and a
//! client that keeps connections open, as most do, would see its next request fail. So the server
//! reads and discards the rest up to a bound. Beyond it, the response announces `Connection:
//! close`.
//!
//! In HTTP/2 every request has its own stream. If the server ends the stream while the client still
//! sends, it resets the stream, and curl and httpx report the reset and drop the response. No
//! header can announce that, so the rest is read up to the size of the largest body that any
//! address takes.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, Version, header};
use axum::response::Response;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::sync::oneshot;

/// How long the rest of a body may take to arrive.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The body of a request, after the request was answered.
pub struct UnreadBody {
    /// Whether requests follow one another on the connection, as in HTTP/1.1.
    sequential: bool,
    /// The body, if it was dropped before its end; `None` for a request without a body.
    rest: Option<oneshot::Receiver<DroppedBody>>,
    /// Whether the client waits for `100 Continue` before it sends its body.
    waits: bool,
}

/// A body that was dropped before its end.
struct DroppedBody {
    body: Body,
    /// Whether any of it was read.
    begun: bool,
}

/// How much of a body is read and discarded.
#[derive(Clone, Copy)]
pub struct DrainLimits {
    /// In HTTP/1.1; beyond it the connection is closed.
    pub connection: usize,
    /// In a stream of HTTP/2; beyond it the stream is reset.
    pub stream: usize,
}

/// Watches the body of a request, so that the rest of it can be read later.
pub fn watch(request: Request) -> (Request, UnreadBody) {
    let sequential = matches!(request.version(), Version::HTTP_10 | Version::HTTP_11);
    if request.body().is_end_stream() {
        return (request, UnreadBody { sequential, rest: None, waits: false });
    }
    let waits = request.headers().contains_key(header::EXPECT);
    let (dropped, rest) = oneshot::channel();
    let watch =
        |body| Body::new(WatchedBody { body, begun: false, ended: false, dropped: Some(dropped) });
    (request.map(watch), UnreadBody { sequential, rest: Some(rest), waits })
}

impl UnreadBody {
    /// Reads the rest of the body within its bound, or closes the connection after the response.
    pub async fn drain_or_close(self, answer: &mut Response, bounds: DrainLimits) {
        // Nothing to do for a body that was read to its end, or is still being read.
        let Some(Ok(rest)) = self.rest.map(|mut rest| rest.try_recv()) else { return };
        // Reading would make the server send `100 Continue`.
        let unsent = self.waits && !rest.begun;
        let most = if self.sequential { bounds.connection } else { bounds.stream };
        let whole = !unsent && drain(rest.body, most).await;
        // HTTP/2 has no such header (RFC 9113, section 8.2.2).
        if self.sequential && !whole {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Reads and discards a body. Returns whether it ended within the bound, in time
/// and without an error.
async fn drain(mut body: Body, most: usize) -> bool {
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    if body.size_hint().lower() > most {
        return false;
    }
    let reading = async {
        let mut read: u64 = 0;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return false };
            let length = frame.data_ref().map_or(0, Bytes::len);
            read = read.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
            if read > most {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(DRAIN_TIMEOUT, reading).await.unwrap_or(false)
}

/// A body that reports when it is dropped before its end.
struct WatchedBody {
    body: Body,
    begun: bool,
    ended: bool,
    dropped: Option<oneshot::Sender<DroppedBody>>,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.begun = true;
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        // After an error nothing more can be read.
        self.ended = self.ended || matches!(polled, Poll::Ready(None | Some(Err(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        if self.ended || self.body.is_end_stream() {
            return;
        }
        let rest = DroppedBody { body: std::mem::take(&mut self.body), begun: self.begun };
        if let Some(dropped) = self.dropped.take() {
            // If the receiver is gone, there is no connection to keep open.
            let _ = dropped.send(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::{StreamExt, stream};

    use super::*;

    fn request(chunks: Vec<Result<Bytes, std::io::Error>>) -> Request {
        Request::new(Body::from_stream(stream::iter(chunks)))
    }

    fn chunks(sizes: &[usize]) -> Vec<Result<Bytes, std::io::Error>> {
        sizes.iter().map(|size| Ok(Bytes::from(vec![b'x'; *size]))).collect()
    }

    async fn closes(unread: UnreadBody, most: usize) -> bool {
        let mut answer = Response::new(Body::empty());
        unread.drain_or_close(&mut answer, DrainLimits { connection: most, stream: most }).await;
        answer.headers().contains_key(header::CONNECTION)
    }

    #[tokio::test]
    async fn the_rest_is_read_up_to_a_bound() {
        for (sizes, most, closed) in
            [(&[10, 10][..], 20, false), (&[10, 11], 20, true), (&[], 0, false), (&[1], 0, true)]
        {
            let (refused, unread) = watch(request(chunks(sizes)));
            drop(refused);
            assert_eq!(closes(unread, most).await, closed, "{sizes:?} {most}");
        }
    }

    #[tokio::test]
    async fn a_body_that_was_read_or_broke_off_needs_nothing() {
        let (read, unread) = watch(request(chunks(&[10, 10])));
        read.into_body().collect().await.unwrap();
        assert!(!closes(unread, 0).await);
        let (broken, unread) = watch(request(vec![Err(std::io::Error::other("gone"))]));
        broken.into_body().collect().await.unwrap_err();
        assert!(!closes(unread, 0).await);
    }

    #[tokio::test]
    async fn a_client_that_waits_to_be_told_is_not_told() {
        let mut waiting = request(chunks(&[10]));
        waiting.headers_mut().insert(header::EXPECT, HeaderValue::from_static("100-continue"));
        let (refused, unread) = watch(waiting);
        drop(refused);
        assert!(closes(unread, 100).await);
    }

    /// How many of the bytes of a request over HTTP/2 are read after it was refused.
    async fn read_in_stream(sizes: &[usize], most: usize) -> usize {
        let read = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&read);
        let chunks = stream::iter(chunks(sizes)).inspect(move |chunk| {
            counted.fetch_add(chunk.as_ref().map_or(0, Bytes::len), Ordering::SeqCst);
        });
        let mut later = Request::new(Body::from_stream(chunks));
        *later.version_mut() = Version::HTTP_2;
        let (refused, unread) = watch(later);
        drop(refused);
        let mut answer = Response::new(Body::empty());
        unread.drain_or_close(&mut answer, DrainLimits { connection: 0, stream: most }).await;
        assert!(!answer.headers().contains_key(header::CONNECTION));
        read.load(Ordering::SeqCst)
    }

    #[tokio::test]
    async fn a_stream_is_read_to_its_end_and_never_closes_the_connection() {
        assert_eq!(read_in_stream(&[10, 10], 20).await, 20);
        assert_eq!(read_in_stream(&[10, 11, 50], 20).await, 21);
    }
}

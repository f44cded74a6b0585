//! Request bodies that were not read to their end.
//!
//! A request that is refused by its address, method or credential is answered before its body is read.
//! In HTTP/1.1 the rest of that body stands before the next request of the same connection, and a client
//! that keeps connections open, as most do, would see its next request fail. So the rest is read and
//! thrown away up to a bound, and beyond it the answer announces `Connection: close`.

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
const PATIENCE: Duration = Duration::from_secs(5);

/// What becomes of the body of a request.
pub struct Unread {
    /// The body, if it was dropped before its end; none for a request that has no body.
    rest: Option<oneshot::Receiver<Rest>>,
    /// Whether the client sends its body only once it is told to.
    waits: bool,
}

/// A body that was dropped before its end.
struct Rest {
    body: Body,
    /// Whether any of it was read.
    begun: bool,
}

/// Watches the body of a request, so that whatever is left of it can be read later.
pub fn watch(request: Request) -> (Request, Unread) {
    let old = matches!(request.version(), Version::HTTP_10 | Version::HTTP_11);
    // Later versions carry every request in a stream of its own.
    if !old || request.body().is_end_stream() {
        return (request, Unread { rest: None, waits: false });
    }
    let waits = request.headers().contains_key(header::EXPECT);
    let (dropped, rest) = oneshot::channel();
    let watch =
        |body| Body::new(Watched { body, begun: false, ended: false, dropped: Some(dropped) });
    (request.map(watch), Unread { rest: Some(rest), waits })
}

impl Unread {
    /// Reads what is left of the body, up to `most` bytes, or has the connection closed after the answer.
    pub async fn settle(self, answer: &mut Response, most: usize) {
        // Nothing comes of a body that was read whole, or is still being read.
        let Some(Ok(rest)) = self.rest.map(|mut rest| rest.try_recv()) else { return };
        // Reading would tell the client to send it.
        let unsent = self.waits && !rest.begun;
        if unsent || !drained(rest.body, most).await {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Reads a body and throws it away; whether it ended within the bound, in time and whole.
async fn drained(mut body: Body, most: usize) -> bool {
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
    tokio::time::timeout(PATIENCE, reading).await.unwrap_or(false)
}

/// A body that says when it is dropped before its end.
struct Watched {
    body: Body,
    begun: bool,
    ended: bool,
    dropped: Option<oneshot::Sender<Rest>>,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.begun = true;
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        // Behind an error nothing can be read any more.
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

impl Drop for Watched {
    fn drop(&mut self) {
        if self.ended || self.body.is_end_stream() {
            return;
        }
        let rest = Rest { body: std::mem::take(&mut self.body), begun: self.begun };
        if let Some(dropped) = self.dropped.take() {
            // Whoever is gone has no connection to keep.
            let _ = dropped.send(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    fn request(chunks: Vec<Result<Bytes, std::io::Error>>) -> Request {
        Request::new(Body::from_stream(stream::iter(chunks)))
    }

    fn chunks(sizes: &[usize]) -> Vec<Result<Bytes, std::io::Error>> {
        sizes.iter().map(|size| Ok(Bytes::from(vec![b'x'; *size]))).collect()
    }

    async fn closes(unread: Unread, most: usize) -> bool {
        let mut answer = Response::new(Body::empty());
        unread.settle(&mut answer, most).await;
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

    #[tokio::test]
    async fn later_versions_need_nothing() {
        let mut later = request(chunks(&[10]));
        *later.version_mut() = Version::HTTP_2;
        let (refused, unread) = watch(later);
        drop(refused);
        assert!(!closes(unread, 0).await);
    }
}

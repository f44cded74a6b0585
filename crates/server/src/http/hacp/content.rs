//! The bytes of a version or an upload, for callers that may read them. The server sends them
//! without interpreting them.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::hacp::HacpError;
use dialects::hacp::errors::code;
use futures_util::{StreamExt, TryStreamExt, stream};
use gateway::auth::Denied;
use gateway::files::FileReadError;
use gateway::streams::{ConnectionKind, OpenStream as Counted};
use kernel::task::StoredContent;
use kernel::{Actor, Refusal, Subject};
use serde_json::json;

use super::HacpFailure;
use crate::http::hacp::HacpOperations;
use crate::http::path_param::PathParam;

/// `GET /hacp/v1/artifacts/{id}/versions/{version}/content`.
pub(super) async fn of_version(
    State(hacp): State<Arc<HacpOperations>>,
    PathParam((id, name)): PathParam<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, HacpFailure> {
    let actor = hacp.callers.anyone(&headers).await?;
    let id = id.parse().map_err(|_| Refusal::NotFound { what: "artifact" })?;
    let artifact = hacp.artifacts(&actor, id).await?;
    let version = artifact.version(Some(&name));
    let version = version.ok_or(Refusal::NotFound { what: "version" })?;
    if artifact.erased {
        let erased = HacpError::new(code::NOT_FOUND, "version: the content was erased")
            .with("field", json!("version"));
        return Err(erased.with("erased", json!(true)).into());
    }
    let Some(held) = version.payload.bytes() else {
        let elsewhere = HacpError::new(
            code::NOT_FOUND,
            "version: this server does not store the content; fetch it from uri",
        )
        .with("field", json!("version"));
        return Err(elsewhere.with("uri", json!(version.payload.uri)).into());
    };
    hacp.content_response(&actor, &headers, held, format!("{} {name}", artifact.id)).await
}

/// `GET /hacp/v1/uploads/{id}/content`: the bytes of an upload, for the caller that sent it.
pub(super) async fn of_upload(
    State(hacp): State<Arc<HacpOperations>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> Result<Response, HacpFailure> {
    let actor = hacp.callers.anyone(&headers).await?;
    let upload = hacp.own_upload(&id, &actor).await?;
    let held = upload.whole.ok_or_else(not_finished)?;
    hacp.content_response(&actor, &headers, held, upload.id).await
}

/// An upload has content once it is finished.
fn not_finished() -> HacpError {
    HacpError::new(code::NOT_FOUND, "upload: the upload is not finished yet")
        .with("field", json!("upload"))
}

impl HacpOperations {
    /// Counts a transfer as one of the streams of a credential until the returned value is dropped,
    /// because each transfer holds a chunk in memory.
    pub(super) fn transfer(&self, actor: &Actor) -> Result<Counted, Denied> {
        let who = match actor {
            Actor::Agent { key, .. } => Some(Subject::Key(*key)),
            Actor::Human { id, .. } => Some(Subject::Human(id.clone())),
            _ => None,
        };
        self.streaming.streams.open_for(&self.gateway, who, ConnectionKind::Bytes)
    }

    /// The response with the stored bytes, or with the requested range of them.
    async fn content_response(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
        held: StoredContent,
        of: impl Display + Send + 'static,
    ) -> Result<Response, HacpFailure> {
        let tag = format!("\"sha256:{}\"", held.checksum);
        if matches_etag(headers, &tag) {
            let mut answer = StatusCode::NOT_MODIFIED.into_response();
            describe(&mut answer, &[(header::ETAG, &tag)]);
            return Ok(answer);
        }
        let (status, range) = match requested_content(headers, held.size, &tag) {
            RequestedContent::All => (StatusCode::OK, 0..held.size),
            RequestedContent::Part(range) => (StatusCode::PARTIAL_CONTENT, range),
            RequestedContent::Nothing => return Err(range_not_satisfiable(held.size)),
        };
        let counted = self.transfer(actor)?;
        let (start, end) = (range.start, range.end);
        let unread = move |error: &anyhow::Error| {
            let (error, what) = (format!("{error:#}"), FileReadError::from(error));
            tracing::error!(error, of = %of, ?what, "cannot serve stored bytes");
        };
        let opened = async {
            let mut bytes = Box::pin(self.blobs.open(&held).await?.read(range));
            // Read the first chunk before the status is sent, so that an error can still change it.
            let first = bytes.try_next().await?;
            anyhow::Ok((first, bytes))
        };
        let (first, rest) = opened.await.map_err(|error| {
            unread(&error);
            match FileReadError::from(&error) {
                FileReadError::Away => HacpError::unavailable(),
                FileReadError::Damaged => HacpError::internal(),
            }
        })?;
        let bytes = stream::iter(first.map(Ok)).chain(rest.inspect_err(unread));
        let bytes = bytes.map(move |piece| {
            let _until_the_end = &counted;
            piece
        });
        let mut answer = (status, Body::from_stream(bytes)).into_response();
        describe(
            &mut answer,
            &[
                (header::ETAG, &tag),
                (header::CONTENT_LENGTH, &(end - start).to_string()),
                (header::ACCEPT_RANGES, "bytes"),
                (header::CONTENT_TYPE, "application/octet-stream"),
                (header::CONTENT_DISPOSITION, "attachment"),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ],
        );
        if status == StatusCode::PARTIAL_CONTENT {
            let place = format!("bytes {start}-{}/{}", end - 1, held.size);
            describe(&mut answer, &[(header::CONTENT_RANGE, &place)]);
        }
        Ok(answer)
    }
}

fn describe(answer: &mut Response, headers: &[(header::HeaderName, &str)]) {
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            answer.headers_mut().insert(name, value);
        }
    }
}

/// `If-None-Match`. The bytes with a given tag never change.
fn matches_etag(headers: &HeaderMap, tag: &str) -> bool {
    let seen = headers.get(header::IF_NONE_MATCH).and_then(|seen| seen.to_str().ok());
    let same = |seen: &str| seen == "*" || seen.strip_prefix("W/").unwrap_or(seen) == tag;
    seen.is_some_and(|seen| seen.split(',').map(str::trim).any(same))
}

/// 416: the requested range is outside the content.
fn range_not_satisfiable(size: u64) -> HacpFailure {
    let expected = format!("a range within the {size} bytes of the content");
    let mut error = HacpError::field("Range", &expected).with("size", json!(size));
    error.status = StatusCode::RANGE_NOT_SATISFIABLE.as_u16();
    let mut error = HacpFailure::from(error);
    if let Ok(place) = HeaderValue::from_str(&format!("bytes */{size}")) {
        error.headers.insert(header::CONTENT_RANGE, place);
    }
    error
}

// `Range`: the requested part of the content.

/// The part of the content that a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestedContent {
    All,
    Part(Range<u64>),
    /// A range outside the content.
    Nothing,
}

/// The part of `size` bytes with this tag that a request asks for. As HTTP requires, a range that
/// cannot be read, several ranges, and a range of other content (`If-Range`) are ignored, and the
/// whole content is sent.
pub(super) fn requested_content(headers: &HeaderMap, size: u64, tag: &str) -> RequestedContent {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if text(header::IF_RANGE).is_some_and(|seen| seen != tag) {
        return RequestedContent::All;
    }
    text(header::RANGE).and_then(|range| read(range, size)).unwrap_or(RequestedContent::All)
}

fn read(range: &str, size: u64) -> Option<RequestedContent> {
    let (unit, range) = range.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u64>().ok()).flatten()
    };
    let range = match (first, last) {
        ("", last) => size.saturating_sub(number(last)?)..size,
        (first, "") => number(first)?..size,
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            first..last.saturating_add(1).min(size)
        }
    };
    Some(if range.start < range.end {
        RequestedContent::Part(range)
    } else {
        RequestedContent::Nothing
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_ten(range: &str, tag: Option<&str>) -> RequestedContent {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, range.parse().unwrap());
        if let Some(tag) = tag {
            headers.insert(header::IF_RANGE, tag.parse().unwrap());
        }
        requested_content(&headers, 10, "\"a\"")
    }

    #[test]
    fn a_range_is_one_of_what_is_there() {
        for (range, start, end) in [
            ("bytes=0-0", 0, 1),
            ("bytes=2-5", 2, 6),
            ("bytes=9-", 9, 10),
            ("bytes=0-", 0, 10),
            ("bytes=0-99", 0, 10),
            ("bytes=-3", 7, 10),
            ("bytes=-99", 0, 10),
            ("Bytes = 3-18446744073709551615", 3, 10),
        ] {
            assert_eq!(of_ten(range, None), RequestedContent::Part(start..end), "{range}");
        }
        for range in ["bytes=10-", "bytes=10-12", "bytes=-0", "bytes=99-"] {
            assert_eq!(of_ten(range, None), RequestedContent::Nothing, "{range}");
        }
        for range in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=5-2",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes=0-1,3-4",
        ] {
            assert_eq!(of_ten(range, None), RequestedContent::All, "{range}");
        }
        assert_eq!(of_ten("lines=0-1", None), RequestedContent::All);
        assert_eq!(of_ten("bytes=0-1", Some("\"a\"")), RequestedContent::Part(0..2));
        assert_eq!(of_ten("bytes=0-1", Some("\"b\"")), RequestedContent::All);
        assert_eq!(requested_content(&HeaderMap::new(), 10, ""), RequestedContent::All);
    }
}

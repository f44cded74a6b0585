//! Uploads of an artifact's bytes before it is committed: created with `POST` and sent in parts
//! with `PATCH`, or sent at once with `PUT`. After an interruption the client asks with `HEAD` how
//! much has arrived, and continues there.
//!
//! Uploads do not depend on the connection: a separate task stores each part and keeps the bytes
//! that arrived before an interruption.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dialects::hacp::HacpError;
use dialects::hacp::errors::code;
use gateway::auth::Denied;
use gateway::blobs::{UploadChunk, UploadError, UploadInterrupted, UploadProgress};
use kernel::audit::Digest;
use kernel::form::FileRef;
use kernel::task::{Party, StoredContent};
use kernel::{Actor, UploadId};
use serde_json::{Value, json};
use store::{MOST_PIECES, MOST_UPLOADS, Upload};

use super::HacpFailure;
use crate::http::body::{self, BodyError};
use crate::http::hacp::HacpOperations;
use crate::http::path_param::PathParam;
use crate::http::services::Streaming;

/// The number of bytes of an upload that have arrived.
const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const UPLOAD_LENGTH: HeaderName = HeaderName::from_static("upload-length");
const UPLOAD_COMPLETE: HeaderName = HeaderName::from_static("upload-complete");
const UPLOAD_CHECKSUM: HeaderName = HeaderName::from_static("upload-checksum");

/// `POST /hacp/v1/uploads`: creates an upload.
pub(super) async fn begin(
    State(hacp): State<Arc<HacpOperations>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, HacpFailure> {
    let actor = hacp.callers.anyone(&headers).await?;
    match body::read(body, 0).await {
        Ok(_) => {}
        Err(BodyError::TooLarge) => {
            let expected = "no body; send the bytes with PATCH, or all at once with PUT";
            return Err(HacpError::field("body", expected).into());
        }
        Err(error) => return Err(error.into()),
    }
    let upload = hacp.create_upload(&actor, &headers).await?;
    let at = format!("/hacp/v1/uploads/{}", upload.id);
    let mut answer = (StatusCode::CREATED, Json(shown(&upload))).into_response();
    if let Ok(at) = HeaderValue::from_str(&at) {
        answer.headers_mut().insert(header::LOCATION, at);
    }
    Ok(with_location(answer, &upload))
}

/// `PUT /hacp/v1/uploads`: the whole content in one request. An incomplete upload is not kept.
pub(super) async fn upload_whole(
    State(hacp): State<Arc<HacpOperations>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, HacpFailure> {
    let actor = hacp.callers.anyone(&headers).await?;
    let checksum = checksum(&headers)?;
    hacp.check_announced_size(&headers, 0, number(&headers, &UPLOAD_LENGTH, "Upload-Length")?)?;
    let counted = hacp.transfer(&actor)?;
    let upload = hacp.create_upload(&actor, &headers).await?;
    let (id, limit) = (upload.id, hacp.config.artifact_limit);
    let part = UploadChunk { offset: 0, last: true, checksum, limit };
    let (blobs, stop) = (hacp.blobs.clone(), hacp.streaming.stop.clone());
    let taking = async move {
        let _counted = counted;
        let taken = blobs.append(upload, part, body.into_data_stream(), &stop).await;
        if taken.is_err()
            && let Err(error) = blobs.discard(id).await
        {
            tracing::warn!(error = format!("{error:#}"), upload.id = %id, "could not delete an \
                     upload; it is deleted \
                     after it expires");
        }
        taken
    };
    let progress = await_part(&hacp.streaming, taking, limit).await?;
    Ok((StatusCode::CREATED, Json(finished(id, progress.whole))).into_response())
}

/// `GET`, `HEAD /hacp/v1/uploads/{id}`: how much has arrived.
pub(super) async fn upload_status(
    State(hacp): State<Arc<HacpOperations>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> Result<Response, HacpFailure> {
    let actor = hacp.callers.anyone(&headers).await?;
    let upload = hacp.own_upload(&id, &actor).await?;
    Ok(with_location(Json(shown(&upload)).into_response(), &upload))
}

/// `PATCH /hacp/v1/uploads/{id}`: appends a part.
pub(super) async fn append(
    State(hacp): State<Arc<HacpOperations>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, HacpFailure> {
    let actor = hacp.callers.anyone(&headers).await?;
    let offset = number(&headers, &UPLOAD_OFFSET, "Upload-Offset")?;
    let offset = offset.ok_or_else(|| HacpError::field("Upload-Offset", NUMBER))?;
    let (last, checksum) = (last(&headers)?, checksum(&headers)?);
    let upload = hacp.own_upload(&id, &actor).await?;
    if offset != upload.size {
        return Err(wrong_offset(upload.size));
    }
    hacp.check_announced_size(&headers, offset, upload.length)?;
    let counted = hacp.transfer(&actor)?;
    let (id, limit) = (upload.id, hacp.config.artifact_limit);
    let part = UploadChunk { offset, last, checksum, limit };
    let (blobs, stop) = (hacp.blobs.clone(), hacp.streaming.stop.clone());
    let taking = async move {
        let _counted = counted;
        blobs.append(upload, part, body.into_data_stream(), &stop).await
    };
    let UploadProgress { offset, whole } = await_part(&hacp.streaming, taking, limit).await?;
    let mut answer = match whole {
        Some(whole) => Json(finished(id, Some(whole))).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    };
    answer.headers_mut().insert(UPLOAD_OFFSET, HeaderValue::from(offset));
    Ok(answer)
}

/// `DELETE /hacp/v1/uploads/{id}`: discards an upload.
pub(super) async fn discard(
    State(hacp): State<Arc<HacpOperations>>,
    PathParam(id): PathParam<String>,
    headers: HeaderMap,
) -> Result<Response, HacpFailure> {
    let actor = hacp.callers.anyone(&headers).await?;
    let upload = hacp.own_upload(&id, &actor).await?;
    match hacp.blobs.discard(upload.id).await {
        Ok(true) => Ok(StatusCode::NO_CONTENT.into_response()),
        Ok(false) => {
            let expected = "an unused upload";
            Err(HacpError::field("upload", expected).into())
        }
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), upload.id = %upload.id, "could not \
                     discard an \
                     upload");
            Err(HacpError::unavailable().into())
        }
    }
}

impl HacpOperations {
    /// An upload that belongs to the caller.
    pub(super) async fn own_upload(&self, id: &str, actor: &Actor) -> Result<Upload, HacpFailure> {
        let found = self.blobs.upload(id, actor).await?;
        Ok(found.ok_or_else(|| HacpError::missing("upload", "upload"))?)
    }

    /// A new upload, as the headers describe it.
    async fn create_upload(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
    ) -> Result<Upload, HacpFailure> {
        let owner = Party::of(actor).ok_or(Denied::Unknown)?;
        let length = number(headers, &UPLOAD_LENGTH, "Upload-Length")?;
        if length.is_some_and(|length| length > self.config.artifact_limit) {
            return Err(over_limit(self.config.artifact_limit).into());
        }
        let media_type = media_type(headers)?;
        self.gateway.quotas().charge_upload(actor, None).await?;
        let id = UploadId::new(self.gateway.ids().ulid());
        let upload = Upload { length, media_type, ..Upload::new(id, owner, self.gateway.now()) };
        if !self.gateway.store().begin_upload(upload.clone()).await? {
            let why = format!(
                "you have {MOST_UPLOADS} open uploads, which is the maximum; commit or delete \
                 some first"
            );
            let error = HacpError::new(code::RATE_LIMITED, why);
            return Err(error.into());
        }
        Ok(upload)
    }

    /// Checks the announced size of a body against the limits before the first byte is read.
    fn check_announced_size(
        &self,
        headers: &HeaderMap,
        offset: u64,
        length: Option<u64>,
    ) -> Result<(), HacpFailure> {
        let comes = number(headers, &header::CONTENT_LENGTH, "Content-Length")?.unwrap_or(0);
        let all = offset.saturating_add(comes);
        let limit = self.config.artifact_limit;
        match length {
            Some(length) if all > length => Err(stopped(UploadError::TooLong { length }, limit)),
            _ if all > limit => Err(over_limit(limit).into()),
            _ => Ok(()),
        }
    }
}

/// Waits for a part that a separate task stores.
async fn await_part(
    streaming: &Streaming,
    taking: impl Future<Output = Result<UploadProgress, UploadError>> + Send + 'static,
    limit: u64,
) -> Result<UploadProgress, HacpFailure> {
    match streaming.tasks.spawn(taking).await {
        Ok(progress) => progress.map_err(|why| stopped(why, limit)),
        Err(error) => {
            tracing::error!(%error, "an upload ended early");
            Err(HacpError::internal().into())
        }
    }
}

/// An upload on the wire.
fn shown(upload: &Upload) -> Value {
    let mut shown = json!({
        "upload": upload.id,
        "offset": upload.size,
        "complete": upload.whole.is_some(),
    });
    if let Some(length) = upload.length {
        shown["length"] = json!(length);
    }
    if let Some(whole) = upload.whole {
        shown["checksum"] = json!(format!("sha256:{}", whole.checksum));
        shown["size"] = json!(whole.size);
    }
    shown
}

/// A finished upload on the wire.
fn finished(id: UploadId, whole: Option<StoredContent>) -> Value {
    let (checksum, size) = whole.map_or((Digest::ZERO, 0), |whole| (whole.checksum, whole.size));
    json!({ "upload": id, "checksum": format!("sha256:{checksum}"), "size": size })
}

fn with_location(mut answer: Response, upload: &Upload) -> Response {
    let headers = answer.headers_mut();
    headers.insert(UPLOAD_OFFSET, HeaderValue::from(upload.size));
    if let Some(length) = upload.length {
        headers.insert(UPLOAD_LENGTH, HeaderValue::from(length));
    }
    let complete = if upload.whole.is_some() { "?1" } else { "?0" };
    headers.insert(UPLOAD_COMPLETE, HeaderValue::from_static(complete));
    answer
}

const NUMBER: &str = "a whole number of bytes";

fn number(
    headers: &HeaderMap,
    name: &HeaderName,
    shown: &'static str,
) -> Result<Option<u64>, HacpError> {
    let bad = || HacpError::field(shown, NUMBER);
    let Some(text) = one(headers, name, bad)? else { return Ok(None) };
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten();
    number.map(Some).ok_or_else(bad)
}

/// `Upload-Complete`: whether this is the last part.
fn last(headers: &HeaderMap) -> Result<bool, HacpError> {
    let bad = || HacpError::field("Upload-Complete", "?1 after the last byte, otherwise ?0");
    match one(headers, &UPLOAD_COMPLETE, bad)? {
        None | Some("?0") => Ok(false),
        Some("?1") => Ok(true),
        Some(_) => Err(bad()),
    }
}

/// `Upload-Checksum`: the hash of the whole content.
fn checksum(headers: &HeaderMap) -> Result<Option<Digest>, HacpError> {
    let expected = "sha256: followed by 64 hexadecimal digits";
    let bad = || HacpError::field("Upload-Checksum", expected);
    let Some(text) = one(headers, &UPLOAD_CHECKSUM, bad)? else { return Ok(None) };
    let digest = text.strip_prefix("sha256:").and_then(|digits| digits.parse().ok());
    digest.map(Some).ok_or_else(bad)
}

fn media_type(headers: &HeaderMap) -> Result<Option<String>, HacpError> {
    let bad = || HacpError::field("Content-Type", "a media type such as text/plain");
    let Some(kind) = one(headers, &header::CONTENT_TYPE, bad)? else { return Ok(None) };
    FileRef::new("0".repeat(64), "upload", 0, kind).map_err(|_| bad())?;
    Ok(Some(kind.to_owned()))
}

/// The value of a header that may occur once.
fn one<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    bad: impl Fn() -> HacpError,
) -> Result<Option<&'h str>, HacpError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(bad());
    }
    value.to_str().map(|text| Some(text.trim())).map_err(|_| bad())
}

/// 409: the part does not begin where the upload continues.
fn wrong_offset(offset: u64) -> HacpFailure {
    let message = format!("Upload-Offset: expected {offset}, the number of bytes received so far");
    let mut error = HacpError::new(code::CONFLICT, message)
        .with("field", json!("Upload-Offset"))
        .with("offset", json!(offset));
    // These bytes can never be appended at this offset.
    error.retryable = false;
    let mut error = HacpFailure::from(error);
    error.headers.insert(UPLOAD_OFFSET, HeaderValue::from(offset));
    error
}

/// 413: larger than the configured limit.
fn over_limit(limit: u64) -> HacpError {
    let message = format!("an artifact can have at most {limit} bytes");
    HacpError::new(code::TOO_LARGE, message).with("limit", json!(limit))
}

/// The error for an upload that stopped. `limit` is the maximum size of the content.
fn stopped(stopped: UploadError, limit: u64) -> HacpFailure {
    match stopped {
        UploadError::Gone => HacpError::missing("upload", "upload").into(),
        UploadError::Elsewhere { offset } => wrong_offset(offset),
        UploadError::TooLong { length } => {
            let expected = format!("no more than {length} bytes in total, the announced length");
            HacpError::field("Upload-Length", &expected).with("length", json!(length)).into()
        }
        UploadError::TooShort { length, offset } => {
            let expected = format!(
                "{length} bytes in total, the announced length, but {offset} were received"
            );
            HacpError::field("Upload-Length", &expected).with("offset", json!(offset)).into()
        }
        UploadError::TooLarge => over_limit(limit).into(),
        UploadError::TooManyPieces => {
            let expected =
                format!("larger parts, because an upload can have at most {MOST_PIECES} parts");
            HacpError::field("body", &expected).into()
        }
        UploadError::OtherChecksum { is } => {
            let expected = format!("sha256:{is}, the checksum of the bytes");
            HacpError::field("Upload-Checksum", &expected).into()
        }
        UploadError::Interrupted(UploadInterrupted::BrokenOff) => BodyError::BrokenOff.into(),
        UploadError::Interrupted(UploadInterrupted::TooSlow) => BodyError::TooSlow.into(),
        UploadError::Unkept => HacpError::unavailable().into(),
        UploadError::Store(error) => error.into(),
    }
}

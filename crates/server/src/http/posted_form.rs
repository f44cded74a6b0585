//! Forms that a browser posts, with and without files.
//!
//! Nothing is read beyond the form's token until that token was verified to be the session's or the
//! link's.

use std::time::Duration;

use axum::body::Body;
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart};
use axum::http::{HeaderMap, Request, StatusCode, header};
use bytes::{Bytes, BytesMut};
use http_body_util::Limited;
use kernel::Refusal;
use kernel::audit::Digest;
use kernel::form::{FieldError, FieldErrorCode, FileRef};
use kernel::question::{Answer, AnswerError, Reply};
use views::SubmittedForm;

use crate::config::Config;
use crate::http::body::{self, BodyError};

/// The size limit of a form without files and without a session.
const SMALL_FORM_BYTES: usize = 16 * 1024;
/// A form whose files are too large is read up to this multiple of the limit, so that the page can
/// name the file and keep the other input. Reading stops there.
const OVERSIZE_READ_FACTOR: usize = 8;
/// How long an upload may take: phones on bad networks are slow.
const UPLOAD: Duration = Duration::from_mins(10);
/// The longest file name that is kept.
const LONGEST_NAME: usize = 200;

/// Why a form could not be read.
pub enum FormReadError {
    /// Too large, incomplete, or not a form.
    Body(BodyError),
    /// The token is missing or not the expected one.
    Stale,
}

/// The check of a form's token, which is its first input.
#[derive(Clone, Copy)]
pub struct FormTokenCheck<'a> {
    /// The name of the input.
    pub name: &'static str,
    /// Whether a value is valid.
    pub holds: &'a (dyn Fn(&str) -> bool + Sync),
}

impl FormTokenCheck<'_> {
    fn check(&self, given: Option<String>) -> Result<String, FormReadError> {
        given.filter(|given| (self.holds)(given)).ok_or(FormReadError::Stale)
    }
}

/// A form as it was posted.
pub struct PostedForm {
    /// The fields of the form, and its files by name and digest.
    pub form: SubmittedForm,
    /// The content of those files in the same order, not stored yet.
    pub files: Vec<Bytes>,
    /// The fields whose file was too large. Their content was discarded.
    pub too_large: Vec<String>,
    /// The token of the form.
    pub proof: String,
}

/// Reads a small form of an anonymous visitor.
pub async fn small(body: Body) -> Result<SubmittedForm, FormReadError> {
    plain(body, SMALL_FORM_BYTES).await
}

/// Reads a form that is authorised by the token it carries. Files are accepted for
/// the fields in `file_fields`.
pub async fn read(
    config: &Config,
    headers: &HeaderMap,
    body: Body,
    proof: FormTokenCheck<'_>,
    file_fields: &[String],
) -> Result<PostedForm, FormReadError> {
    let kind = headers.get(header::CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/form-data")) {
        let form = plain(body, config.body_limit).await?;
        let proof = proof.check(form.value(proof.name).map(str::to_owned))?;
        return Ok(PostedForm { form, files: Vec::new(), too_large: Vec::new(), proof });
    }
    let (upload_limit, body_limit) = (config.upload_limit, config.body_limit);
    let limit = upload_limit.saturating_mul(OVERSIZE_READ_FACTOR).saturating_add(body_limit);
    let mut request = Request::new(Body::new(Limited::new(body, limit)));
    if let Some(kind) = kind {
        request.headers_mut().insert(header::CONTENT_TYPE, kind.clone());
    }
    // The limits of the settings were applied above.
    DefaultBodyLimit::disable().apply(&mut request);
    let limits = RemainingSize { words: body_limit, files: upload_limit };
    let reading = multipart(request, proof, file_fields, limits);
    tokio::time::timeout(UPLOAD, reading)
        .await
        .unwrap_or(Err(FormReadError::Body(BodyError::TooSlow)))
}

async fn plain(body: Body, limit: usize) -> Result<SubmittedForm, FormReadError> {
    let bytes = body::read(body, limit).await.map_err(FormReadError::Body)?;
    Ok(SubmittedForm::new(url::form_urlencoded::parse(&bytes).into_owned().collect()))
}

async fn multipart(
    request: Request<Body>,
    proof: FormTokenCheck<'_>,
    file_fields: &[String],
    mut room: RemainingSize,
) -> Result<PostedForm, FormReadError> {
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(|_| FormReadError::Body(BodyError::BrokenOff))?;
    let (form, files) = (SubmittedForm::default(), Vec::new());
    let mut posted = PostedForm { form, files, too_large: Vec::new(), proof: String::new() };
    let mut trusted = false;
    while let Some(part) = parts.next_field().await.map_err(multipart_error)? {
        let Some(name) = part.name().map(str::to_owned) else { continue };
        if !trusted {
            // The token is the first input of every form of this server.
            let given = if name == proof.name { Some(text(part, &mut room).await?) } else { None };
            posted.proof = proof.check(given)?;
            trusted = true;
        } else if part.file_name().is_none() {
            posted.form.pairs.push((name, text(part, &mut room).await?));
        } else if file_fields.contains(&name) {
            take(&mut posted, name, part, &mut room).await?;
        }
    }
    if trusted { Ok(posted) } else { Err(FormReadError::Stale) }
}

/// The remaining size of a form.
struct RemainingSize {
    /// The bytes left for everything but files.
    words: usize,
    /// The bytes left for all files together.
    files: usize,
}

/// The text of a field.
async fn text(part: Field<'_>, room: &mut RemainingSize) -> Result<String, FormReadError> {
    let content = content(part, room.words).await?;
    let content = content.ok_or(FormReadError::Body(BodyError::TooLarge))?;
    room.words -= content.len();
    Ok(String::from_utf8_lossy(&content).into_owned())
}

/// The content of a field. If it is larger than `most`, it is read and discarded,
/// and this is `None`.
async fn content(mut part: Field<'_>, most: usize) -> Result<Option<Bytes>, FormReadError> {
    let (mut kept, mut fits) = (BytesMut::new(), true);
    while let Some(chunk) = part.chunk().await.map_err(multipart_error)? {
        fits = fits && kept.len() + chunk.len() <= most;
        if fits {
            kept.extend_from_slice(&chunk);
        } else {
            kept = BytesMut::new();
        }
    }
    Ok(fits.then(|| kept.freeze()))
}

async fn take(
    posted: &mut PostedForm,
    name: String,
    part: Field<'_>,
    room: &mut RemainingSize,
) -> Result<(), FormReadError> {
    let file: String = part.file_name().unwrap_or_default().chars().take(LONGEST_NAME).collect();
    let media = part.content_type().unwrap_or("application/octet-stream").to_owned();
    let content = content(part, room.files).await?;
    // An empty file input is posted as a file without a name.
    if file.is_empty() {
        return Ok(());
    }
    let Some(content) = content else {
        posted.too_large.push(name);
        return Ok(());
    };
    room.files -= content.len();
    let digest = Digest::of(&content).to_string();
    let size = content.len() as u64;
    let named = FileRef::new(digest, file, size, media)
        .map_err(|_| FormReadError::Body(BodyError::BrokenOff))?;
    posted.form.files.push((name, named));
    posted.files.push(content);
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "given to map_err")]
fn multipart_error(error: MultipartError) -> FormReadError {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        FormReadError::Body(BodyError::TooLarge)
    } else {
        FormReadError::Body(BodyError::BrokenOff)
    }
}

/// Refuses files that were not uploaded to this request, because their digest is only a claim.
/// Uploads come through the page; here a file is given as a URL.
pub fn refuse_unverified_uploads(reply: &Reply) -> Result<(), Refusal> {
    let Answer::Provided { values } = &reply.answer else { return Ok(()) };
    match values.iter().find(|(_, value)| value.get("sha256").is_some()) {
        None => Ok(()),
        Some((key, _)) => Err(Refusal::Answer(AnswerError::Fields(vec![FieldError {
            key: key.to_owned(),
            code: FieldErrorCode::InvalidFile,
            message: "Upload the file on the request's page, or enter its URL here".to_owned(),
        }]))),
    }
}

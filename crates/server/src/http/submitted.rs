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
use kernel::form::{Code, FieldError, FileRef};
use kernel::question::{Answer, AnswerError, Reply};
use views::Submitted;

use crate::config::Config;
use crate::http::body::{self, BodyError};

/// The size limit of a form without files and without a session.
const SMALL: usize = 16 * 1024;
/// A form whose files are too large is read up to this multiple of the limit, so that the page can
/// name the file and keep the other input. Reading stops there.
const READ_ON: usize = 8;
/// How long an upload may take: phones on bad networks are slow.
const UPLOAD: Duration = Duration::from_mins(10);
/// The longest file name that is kept.
const LONGEST_NAME: usize = 200;

/// Why a form could not be read.
pub enum Unread {
    /// Too large, incomplete, or not a form.
    Body(BodyError),
    /// The token is missing or not the expected one.
    Stale,
}

/// The check of a form's token, which is its first input.
#[derive(Clone, Copy)]
pub struct Proof<'a> {
    /// The name of the input.
    pub name: &'static str,
    /// Whether a value is valid.
    pub holds: &'a (dyn Fn(&str) -> bool + Sync),
}

impl Proof<'_> {
    fn check(&self, given: Option<String>) -> Result<String, Unread> {
        given.filter(|given| (self.holds)(given)).ok_or(Unread::Stale)
    }
}

/// A form as it was posted.
pub struct Posted {
    /// The fields of the form, and its files by name and digest.
    pub form: Submitted,
    /// The content of those files in the same order, not stored yet.
    pub files: Vec<Bytes>,
    /// The fields whose file was too large. Their content was discarded.
    pub too_large: Vec<String>,
    /// The token of the form.
    pub proof: String,
}

/// Reads a small form of an anonymous visitor.
pub async fn small(body: Body) -> Result<Submitted, Unread> {
    plain(body, SMALL).await
}

/// Reads a form that is authorised by the token it carries. Files are accepted for
/// the fields in `file_fields`.
pub async fn read(
    config: &Config,
    headers: &HeaderMap,
    body: Body,
    proof: Proof<'_>,
    file_fields: &[String],
) -> Result<Posted, Unread> {
    let kind = headers.get(header::CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/form-data")) {
        let form = plain(body, config.body_limit).await?;
        let proof = proof.check(form.value(proof.name).map(str::to_owned))?;
        return Ok(Posted { form, files: Vec::new(), too_large: Vec::new(), proof });
    }
    let (upload_limit, body_limit) = (config.upload_limit, config.body_limit);
    let limit = upload_limit.saturating_mul(READ_ON).saturating_add(body_limit);
    let mut request = Request::new(Body::new(Limited::new(body, limit)));
    if let Some(kind) = kind {
        request.headers_mut().insert(header::CONTENT_TYPE, kind.clone());
    }
    // The limits of the settings were applied above.
    DefaultBodyLimit::disable().apply(&mut request);
    let limits = Room { words: body_limit, files: upload_limit };
    let reading = multipart(request, proof, file_fields, limits);
    tokio::time::timeout(UPLOAD, reading).await.unwrap_or(Err(Unread::Body(BodyError::TooSlow)))
}

async fn plain(body: Body, limit: usize) -> Result<Submitted, Unread> {
    let bytes = body::read(body, limit).await.map_err(Unread::Body)?;
    Ok(Submitted::new(url::form_urlencoded::parse(&bytes).into_owned().collect()))
}

async fn multipart(
    request: Request<Body>,
    proof: Proof<'_>,
    file_fields: &[String],
    mut room: Room,
) -> Result<Posted, Unread> {
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(|_| Unread::Body(BodyError::BrokenOff))?;
    let (form, files) = (Submitted::default(), Vec::new());
    let mut posted = Posted { form, files, too_large: Vec::new(), proof: String::new() };
    let mut trusted = false;
    while let Some(part) = parts.next_field().await.map_err(broken)? {
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
    if trusted { Ok(posted) } else { Err(Unread::Stale) }
}

/// The remaining size of a form.
struct Room {
    /// The bytes left for everything but files.
    words: usize,
    /// The bytes left for all files together.
    files: usize,
}

/// The text of a field.
async fn text(part: Field<'_>, room: &mut Room) -> Result<String, Unread> {
    let content = content(part, room.words).await?;
    let content = content.ok_or(Unread::Body(BodyError::TooLarge))?;
    room.words -= content.len();
    Ok(String::from_utf8_lossy(&content).into_owned())
}

/// The content of a field. If it is larger than `most`, it is read and discarded,
/// and this is `None`.
async fn content(mut part: Field<'_>, most: usize) -> Result<Option<Bytes>, Unread> {
    let (mut kept, mut fits) = (BytesMut::new(), true);
    while let Some(chunk) = part.chunk().await.map_err(broken)? {
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
    posted: &mut Posted,
    name: String,
    part: Field<'_>,
    room: &mut Room,
) -> Result<(), Unread> {
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
    let named =
        FileRef::new(digest, file, size, media).map_err(|_| Unread::Body(BodyError::BrokenOff))?;
    posted.form.files.push((name, named));
    posted.files.push(content);
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "given to map_err")]
fn broken(error: MultipartError) -> Unread {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        Unread::Body(BodyError::TooLarge)
    } else {
        Unread::Body(BodyError::BrokenOff)
    }
}

/// Refuses files that were not uploaded to this request, because their digest is only a claim.
/// Uploads come through the page; here a file is given as a URL.
pub fn uploads_only_on_pages(reply: &Reply) -> Result<(), Refusal> {
    let Answer::Provided { values } = &reply.answer else { return Ok(()) };
    match values.iter().find(|(_, value)| value.get("sha256").is_some()) {
        None => Ok(()),
        Some((key, _)) => Err(Refusal::Answer(AnswerError::Fields(vec![FieldError {
            key: key.to_owned(),
            code: Code::InvalidFile,
            message: "Upload the file on the request's page, or give its address here".to_owned(),
        }]))),
    }
}

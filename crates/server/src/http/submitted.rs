//! What a browser posts: plain forms, and forms with files. Files are kept by their content before
//! the answer that names them is decided, so an answer never names a file we do not have.

use axum::body::Body;
use axum::extract::{FromRequest, Multipart};
use axum::http::{HeaderMap, Request, header};
use kernel::form::FileRef;

use crate::http::App;
use crate::http::body::{self, BodyError};
use crate::web::Submitted;

/// Why a form could not be read.
pub enum Unread {
    /// Too large, broken off, or no form.
    Body(BodyError),
    /// A file could not be kept.
    Files(anyhow::Error),
}

/// Reads a form of either kind.
pub async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<Submitted, Unread> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    if !kind.starts_with("multipart/form-data") {
        let bytes = body::read(body, app.config.body_limit).await.map_err(Unread::Body)?;
        let pairs = url::form_urlencoded::parse(&bytes).into_owned().collect();
        return Ok(Submitted::new(pairs));
    }
    let limit = app.config.upload_limit + app.config.body_limit;
    let bytes = body::read(body, limit).await.map_err(Unread::Body)?;
    let mut request = Request::new(Body::from(bytes));
    if let Some(kind) = headers.get(header::CONTENT_TYPE) {
        request.headers_mut().insert(header::CONTENT_TYPE, kind.clone());
    }
    let broken = |_| Unread::Body(BodyError::BrokenOff);
    let mut parts = Multipart::from_request(request, &())
        .await
        .map_err(|_| Unread::Body(BodyError::BrokenOff))?;
    let mut submitted = Submitted::new(Vec::new());
    while let Some(part) = parts.next_field().await.map_err(broken)? {
        let Some(name) = part.name().map(str::to_owned) else { continue };
        let Some(file) = part.file_name().map(str::to_owned) else {
            submitted.pairs.push((name, part.text().await.map_err(broken)?));
            continue;
        };
        let media = part.content_type().unwrap_or("application/octet-stream").to_owned();
        let content = part.bytes().await.map_err(broken)?;
        // An empty file input is posted as a file without a name.
        if file.is_empty() {
            continue;
        }
        if content.len() > app.config.upload_limit {
            return Err(Unread::Body(BodyError::TooLarge));
        }
        let size = content.len() as u64;
        let digest = app.files.keep(content).await.map_err(Unread::Files)?;
        let kept = FileRef::new(digest.to_string(), file, size, media)
            .map_err(|error| Unread::Files(error.into()))?;
        submitted.files.push((name, kept));
    }
    Ok(submitted)
}

//! Uploads of any size: in parts, resuming after an interruption.

use std::io;

use dialects::hacp::view::content_path;
use dialects::hacp::wire::Artifact;
use reqwest::header::{CONTENT_TYPE, RANGE};
use reqwest::{Method, Response};
use serde::Deserialize;

use super::{Content, Tasks};
use crate::retry::Retry;
use crate::{ClientError, Result};

/// The size of a part.
const PART: u64 = 4 << 20;

#[derive(Deserialize)]
struct UploadState {
    upload: String,
    #[serde(default)]
    offset: u64,
    #[serde(default)]
    complete: bool,
}

impl Tasks {
    /// Uploads `length` bytes. `part` returns the bytes from a position on, up to a maximum.
    /// [Commit](Self::commit) the returned content. Only one part is in memory, and a part that did
    /// not arrive completely is resumed where it stopped.
    pub async fn upload<E: From<ClientError> + From<io::Error>>(
        &self,
        length: u64,
        media_type: Option<&str>,
        mut part: impl FnMut(u64, usize) -> io::Result<Vec<u8>>,
    ) -> Result<Content, E> {
        let mut stands = self.begin(length, media_type).await?;
        let mut retry = Retry::default();
        while !stands.complete {
            let most = usize::try_from(PART.min(length.saturating_sub(stands.offset)));
            let bytes = part(stands.offset, most.unwrap_or(usize::MAX))?;
            let next = stands.offset + bytes.len() as u64;
            match self.append(&stands, bytes, next >= length).await {
                Ok(()) => {
                    retry.reset();
                    stands = UploadState { offset: next, complete: next >= length, ..stands };
                }
                Err(error) if retry.wait_and_retry(&error).await => {
                    stands = self.upload_state(&stands).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Content::Uploaded(stands.upload))
    }

    /// Streams the stored bytes of a version from a position on. The caller must check them against
    /// the checksum of the artifact.
    pub async fn content(&self, artifact: &Artifact, from: u64) -> Result<Response> {
        let path = content_path(artifact.id, &artifact.version);
        let mut retry = Retry::default();
        loop {
            let mut request = self.client.prepare(Method::GET, &path, None::<&()>, &[]);
            if from > 0 {
                request = request.header(RANGE, format!("bytes={from}-"));
            }
            match self.client.once(request).await {
                Err(error) if retry.wait_and_retry(&error).await => {}
                answer => return answer,
            }
        }
    }

    async fn begin(&self, length: u64, media_type: Option<&str>) -> Result<UploadState> {
        let mut retry = Retry::default();
        loop {
            let request = self.client.prepare(Method::POST, "/hacp/v1/uploads", None::<&()>, &[]);
            let mut request = request.header("upload-length", length).timeout(crate::CALL);
            if let Some(kind) = media_type {
                request = request.header(CONTENT_TYPE, kind);
            }
            match self.client.once(request).await {
                Err(error) if retry.wait_and_retry(&error).await => {}
                Err(error) => return Err(error),
                Ok(answer) => return self.client.read(answer).await,
            }
        }
    }

    async fn append(&self, stands: &UploadState, bytes: Vec<u8>, last: bool) -> Result<()> {
        let path = format!("/hacp/v1/uploads/{}", stands.upload);
        let request = self.client.prepare(Method::PATCH, &path, None::<&()>, &[]);
        let complete = if last { "?1" } else { "?0" };
        let request = request
            .header("upload-offset", stands.offset)
            .header("upload-complete", complete)
            .body(bytes);
        self.client.once(request).await.map(drop)
    }

    async fn upload_state(&self, stands: &UploadState) -> Result<UploadState> {
        let path = format!("/hacp/v1/uploads/{}", stands.upload);
        self.client.call(Method::GET, &path, None::<&()>).await
    }
}

//! Uploads of files that answer an ask, in every dialect.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use dialects::native::UploadedFile;
use gateway::Gateway;
use gateway::answer_files::{AnswerFileError, AnswerFiles};
use gateway::files::FileReadError;
use kernel::audit::Digest;
use kernel::form::{FileRef, FileRefError};
use kernel::question::Question;
use kernel::{Actor, Ask, Refusal};

use crate::config::Config;
use crate::http::body::{self, BodyError};

/// How long an upload may take: phones on bad networks are slow.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(10);

/// Why a file was refused.
pub enum UploadRefused {
    /// A rule of the kernel refuses it.
    Rule(Refusal),
    /// This request asks for no file.
    NoFile,
    /// A part of the request is wrong: its name, and the expected value.
    Field(&'static str, &'static str),
    /// The body could not be read.
    Body(BodyError),
    /// The file could not be stored.
    Unkept,
}

impl From<AnswerFileError> for UploadRefused {
    fn from(why: AnswerFileError) -> Self {
        match why {
            AnswerFileError::Refused(refusal) => Self::Rule(refusal),
            AnswerFileError::Failed => Self::Unkept,
        }
    }
}

impl From<FileRefError> for UploadRefused {
    fn from(error: FileRefError) -> Self {
        match error {
            FileRefError::Name => {
                Self::Field("name", "a file name without path separators, of at most 255 bytes")
            }
            FileRefError::MediaType => {
                Self::Field("Content-Type", "a media type such as text/plain")
            }
            // The server computes the digest itself.
            FileRefError::Digest => Self::Unkept,
        }
    }
}

/// Stores and returns files that answer an ask.
pub struct AnswerUploads {
    pub(in crate::http) gateway: Gateway,
    pub(in crate::http) config: Arc<Config>,
    pub(in crate::http) answer_files: AnswerFiles,
}

impl AnswerUploads {
    /// Stores a file for an answer to this ask. The caller has checked that the actor
    /// may see the ask.
    pub(super) async fn upload(
        &self,
        ask: &Ask,
        actor: &Actor,
        name: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<UploadedFile, UploadRefused> {
        ask.check_open(self.gateway.now()).map_err(UploadRefused::Rule)?;
        if !ask.question.value().is_some_and(Question::wants_file) {
            return Err(UploadRefused::NoFile);
        }
        let kind = match headers.get(header::CONTENT_TYPE) {
            Some(kind) => kind.to_str().map_err(|_| {
                UploadRefused::Field("Content-Type", "a media type such as text/plain")
            })?,
            None => "application/octet-stream",
        };
        // Name and type are validated before the first byte is read.
        FileRef::new("0".repeat(64), name, 0, kind)?;
        let limit = self.config.upload_limit;
        let bytes =
            body::read_within(body, limit, UPLOAD_TIMEOUT).await.map_err(UploadRefused::Body)?;
        let (digest, size) = (Digest::of(&bytes).to_string(), bytes.len() as u64);
        let file = FileRef::new(digest, name, size, kind)?;
        self.answer_files.store(ask, actor, bytes).await?;
        let upload = self.answer_files.upload_token(ask.id, actor, &file);
        Ok(UploadedFile { file, upload })
    }

    /// A file of the answer to this ask; `None` if there is none. The reason why a file cannot be
    /// read is logged.
    pub(super) async fn stored_file(
        &self,
        ask: &Ask,
        digest: &str,
    ) -> Result<Option<Response>, FileReadError> {
        // Uploads are served as plain bytes, so that browsers never interpret them.
        let kind = [
            (header::CONTENT_TYPE, "application/octet-stream"),
            (header::CONTENT_DISPOSITION, "attachment"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        let bytes = self.answer_files.read(ask, digest).await?;
        Ok(bytes.map(|bytes| (kind, bytes).into_response()))
    }
}

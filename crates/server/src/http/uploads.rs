//! Files that answer an ask, whichever dialect brings them.
//!
//! A digest alone proves nothing: whoever knows it could claim a file they have never had. What an
//! upload gives back therefore carries a mark of the server's over the file, the ask and whoever
//! uploaded it.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dialects::native::Uploaded;
use kernel::audit::Digest;
use kernel::form::{Code, FieldError, FileRef, FileRefError};
use kernel::question::{Answer, AnswerError, Question, Reply};
use kernel::{Actor, Ask, AskId, Refusal};
use serde_json::Value;
use store::StoreError;
use subtle::ConstantTimeEq;

use crate::files::Away;
use crate::http::App;
use crate::http::body::{self, BodyError};

/// How long an upload may take: phones on bad networks are slow.
const PATIENCE: Duration = Duration::from_mins(10);

/// Why a file was not taken.
pub enum Refused {
    /// The rules say no.
    Rule(Refusal),
    /// This request asks for no file.
    NoFile,
    /// A part of the request is wrong: which, and what was expected.
    Field(&'static str, &'static str),
    /// The bytes did not come.
    Body(BodyError),
    /// They could not be kept.
    Unkept,
}

/// Why bytes that are there cannot be handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Not now: where they are kept gives no answer.
    Away,
    /// Not as they are.
    Damaged,
}

impl From<&anyhow::Error> for Unread {
    fn from(error: &anyhow::Error) -> Self {
        if error.is::<Away>() { Self::Away } else { Self::Damaged }
    }
}

impl Refused {
    /// The status of a page that could not keep a file.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Rule(Refusal::Quota(_)) => StatusCode::TOO_MANY_REQUESTS,
            Self::Rule(_) | Self::NoFile | Self::Field(..) | Self::Body(_) | Self::Unkept => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refusal) => Self::Rule(refusal),
            StoreError::Unavailable(_) | StoreError::Damaged { .. } => {
                tracing::error!(%error, "an upload could not be counted");
                Self::Unkept
            }
        }
    }
}

impl From<FileRefError> for Refused {
    fn from(error: FileRefError) -> Self {
        match error {
            FileRefError::Name => {
                Self::Field("name", "a file name without path separators, of at most 255 bytes")
            }
            FileRefError::MediaType => {
                Self::Field("Content-Type", "a media type such as text/plain")
            }
            // Digests are ours.
            FileRefError::Digest => Self::Unkept,
        }
    }
}

impl App {
    /// Takes a file for an answer to this ask, which the actor is known to see.
    pub(super) async fn upload(
        &self,
        ask: &Ask,
        actor: &Actor,
        name: &str,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Uploaded, Refused> {
        ask.still_open(self.gateway.now()).map_err(Refused::Rule)?;
        if !ask.question.value().is_some_and(Question::wants_file) {
            return Err(Refused::NoFile);
        }
        let kind = match headers.get(header::CONTENT_TYPE) {
            Some(kind) => {
                kind.to_str().map_err(|_| Refused::Field("Content-Type", "a media type"))?
            }
            None => "application/octet-stream",
        };
        // Before the first byte is read.
        FileRef::new("0".repeat(64), name, 0, kind)?;
        let limit = self.config.upload_limit;
        let bytes = body::read_within(body, limit, PATIENCE).await.map_err(Refused::Body)?;
        let (digest, size) = (Digest::of(&bytes).to_string(), bytes.len() as u64);
        let file = FileRef::new(digest, name, size, kind)?;
        self.keep_upload(ask, actor, bytes).await?;
        let upload = self.secrets.upload(ask.id, &actor.by(), &file);
        Ok(Uploaded { file, upload })
    }

    /// Keeps what was uploaded to an ask, however it came.
    pub(super) async fn keep_upload(
        &self,
        ask: &Ask,
        actor: &Actor,
        bytes: Bytes,
    ) -> Result<(), Refused> {
        let (id, size) = (ask.id, bytes.len() as u64);
        let (accounts, project) = (crate::quotas::accounts(actor), Some(&ask.project));
        self.gateway.charge_upload(actor, project).await?;
        self.gateway.charge_bytes(accounts, project, id.ulid(), size).await?;
        let kept = self.files.give(&**self.gateway.store(), id.ulid(), bytes).await;
        kept.map(drop).map_err(|error| {
            tracing::error!(error = format!("{error:#}"), ask.id = %id, "cannot keep an upload");
            Refused::Unkept
        })
    }

    /// A reply whose files were uploaded to this ask by whoever answers; others are only claimed.
    pub(super) fn redeemed(
        &self,
        reply: Reply,
        ask: AskId,
        actor: &Actor,
    ) -> Result<Reply, Refusal> {
        let Reply { answer: Answer::Provided { values }, comment } = reply else {
            return Ok(reply);
        };
        let mut values = values.into_map();
        let mut wrong = Vec::new();
        for (key, value) in &mut values {
            if value.get("sha256").is_some() && !self.redeem(value, ask, actor) {
                let message = "Upload the file to this request first and give all that comes back, \
                               or give an address";
                let (key, message) = (key.clone(), message.to_owned());
                wrong.push(FieldError { key, code: Code::InvalidFile, message });
            }
        }
        if !wrong.is_empty() {
            return Err(AnswerError::Fields(wrong).into());
        }
        // Values are any JSON object, so reading one back cannot fail.
        let values = serde_json::from_value(Value::Object(values)).unwrap_or_default();
        Ok(Reply { answer: Answer::Provided { values }, comment })
    }

    /// Takes the mark off a file, if it is a good one.
    fn redeem(&self, value: &mut Value, ask: AskId, actor: &Actor) -> bool {
        let Some(mark) = value.as_object_mut().and_then(|file| file.shift_remove("upload")) else {
            return false;
        };
        let (Some(mark), Ok(file)) = (mark.as_str(), serde_json::from_value(value.clone())) else {
            return false;
        };
        self.secrets.upload(ask, &actor.by(), &file).as_bytes().ct_eq(mark.as_bytes()).into()
    }

    /// A file that answered this ask; `None` if there is no such one. Why it cannot be read stands in the
    /// log.
    pub(super) async fn kept_file(
        &self,
        ask: &Ask,
        digest: &str,
    ) -> Result<Option<Response>, Unread> {
        let Ok(digest) = digest.parse::<Digest>() else { return Ok(None) };
        if !has_file(ask, &digest) {
            return Ok(None);
        }
        // Whatever a person uploaded is handed over, never interpreted.
        let kind = [
            (header::CONTENT_TYPE, "application/octet-stream"),
            (header::CONTENT_DISPOSITION, "attachment"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        let bytes = self.files.read(&digest).await.map_err(|error| {
            tracing::error!(error = format!("{error:#}"), ask.id = %ask.id, "cannot read an upload");
            Unread::from(&error)
        })?;
        Ok(bytes.map(|bytes| (kind, bytes).into_response()))
    }
}

fn has_file(ask: &Ask, digest: &Digest) -> bool {
    let Some(resolution) = ask.resolution() else { return false };
    let Some(Reply { answer: Answer::Provided { values }, .. }) = resolution.reply.value() else {
        return false;
    };
    let digest = digest.to_string();
    values.iter().any(|(_, value)| value.get("sha256").is_some_and(|sha256| *sha256 == *digest))
}

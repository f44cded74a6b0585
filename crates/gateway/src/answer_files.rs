//! Files that answer an ask, in every dialect.
//!
//! A digest alone proves nothing: anyone who knows it could claim a file they never had. The
//! response to an upload therefore carries a token from the server, over the file, the ask
//! and the uploader.

use std::sync::Arc;

use bytes::Bytes;
use kernel::audit::Digest;
use kernel::form::{FieldError, FieldErrorCode, FileRef};
use kernel::question::{Answer, AnswerError, Reply};
use kernel::{Actor, Ask, AskId, Refusal};
use serde_json::Value;
use store::StoreError;
use subtle::ConstantTimeEq;

use crate::files::{FileReadError, FileStorage};
use crate::gateway::Gateway;
use crate::quotas::accounts;
use crate::secrets::ServerSecrets;

/// Stores and reads the files of answers.
#[derive(Clone)]
pub struct AnswerFiles {
    gateway: Gateway,
    files: FileStorage,
    secrets: Arc<ServerSecrets>,
}

/// Why a file was not stored.
#[derive(Debug)]
pub enum AnswerFileError {
    /// A rule forbids it, such as a quota.
    Refused(Refusal),
    /// Counting or writing it failed. The log has the reason.
    Failed,
}

impl From<StoreError> for AnswerFileError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refusal) => Self::Refused(refusal),
            StoreError::Unavailable(_) | StoreError::Damaged { .. } => {
                tracing::error!(%error, "could not count an upload for the quotas");
                Self::Failed
            }
        }
    }
}

impl AnswerFiles {
    /// Stores them in these files, and signs upload tokens with these secrets.
    pub fn new(gateway: Gateway, files: FileStorage, secrets: Arc<ServerSecrets>) -> Self {
        Self { gateway, files, secrets }
    }

    /// The upload token of a file: it proves who uploaded it to which ask.
    pub fn upload_token(&self, ask: AskId, actor: &Actor, file: &FileRef) -> String {
        self.secrets.upload_token(ask, &actor.to_ref(), file)
    }

    /// Stores a file that was uploaded to an ask.
    pub async fn store(
        &self,
        ask: &Ask,
        actor: &Actor,
        bytes: Bytes,
    ) -> Result<(), AnswerFileError> {
        let (id, size) = (ask.id, bytes.len() as u64);
        let (accounts, project) = (accounts(actor), Some(&ask.project));
        self.gateway.quotas().charge_upload(actor, project).await?;
        self.gateway.quotas().charge_bytes(accounts, project, id.ulid(), size).await?;
        let kept = self.files.store_for(&**self.gateway.store(), id.ulid(), bytes).await;
        kept.map(drop).map_err(|error| {
            tracing::error!(error = format!("{error:#}"), ask.id = %id, "cannot store an upload");
            AnswerFileError::Failed
        })
    }

    /// The bytes of a file that answered this ask. `None` if there is no such file. If it cannot be
    /// read, the log has the reason.
    pub async fn read(&self, ask: &Ask, digest: &str) -> Result<Option<Bytes>, FileReadError> {
        let Ok(digest) = digest.parse::<Digest>() else { return Ok(None) };
        if !has_file(ask, &digest) {
            return Ok(None);
        }
        self.files.read(&digest).await.map_err(|error| {
            tracing::error!(error = format!("{error:#}"), ask.id = %ask.id, "cannot read an upload");
            FileReadError::from(&error)
        })
    }

    /// Checks that the person who answers uploaded the files of a reply to this ask. A file without
    /// a valid upload token is refused.
    pub fn verify_uploads(
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
            if value.get("sha256").is_some() && !self.strip_upload_token(value, ask, actor) {
                let message = "Upload the file to this request first and use the whole response \
                               as the value, or enter a URL";
                let (key, message) = (key.clone(), message.to_owned());
                wrong.push(FieldError { key, code: FieldErrorCode::InvalidFile, message });
            }
        }
        if !wrong.is_empty() {
            return Err(AnswerError::Fields(wrong).into());
        }
        // Values are any JSON object, so this conversion cannot fail.
        let values = serde_json::from_value(Value::Object(values)).unwrap_or_default();
        Ok(Reply { answer: Answer::Provided { values }, comment })
    }

    /// Removes the upload token from a file. Returns whether it was valid.
    fn strip_upload_token(&self, value: &mut Value, ask: AskId, actor: &Actor) -> bool {
        let Some(mark) = value.as_object_mut().and_then(|file| file.shift_remove("upload")) else {
            return false;
        };
        let (Some(mark), Ok(file)) = (mark.as_str(), serde_json::from_value(value.clone())) else {
            return false;
        };
        self.upload_token(ask, actor, &file).as_bytes().ct_eq(mark.as_bytes()).into()
    }
}

fn has_file(ask: &Ask, digest: &Digest) -> bool {
    let Some(resolution) = ask.deciding_answer() else { return false };
    let Some(Reply { answer: Answer::Provided { values }, .. }) = resolution.reply.value() else {
        return false;
    };
    let digest = digest.to_string();
    values.iter().any(|(_, value)| value.get("sha256").is_some_and(|sha256| *sha256 == *digest))
}

//! Files that answer an ask, whichever dialect brings them.
//!
//! A digest alone proves nothing: whoever knows it could claim a file they have never had. What an
//! upload gives back therefore carries a mark of the server's over the file, the ask and whoever
//! uploaded it.

use std::sync::Arc;

use bytes::Bytes;
use kernel::audit::Digest;
use kernel::form::{Code, FieldError, FileRef};
use kernel::question::{Answer, AnswerError, Reply};
use kernel::{Actor, Ask, AskId, Refusal};
use serde_json::Value;
use store::StoreError;
use subtle::ConstantTimeEq;

use crate::files::{Files, Unread};
use crate::gateway::Gateway;
use crate::quotas::accounts;
use crate::secrets::Secrets;

/// Keeps and reads the files of answers.
#[derive(Clone)]
pub struct AnswerFiles {
    gateway: Gateway,
    files: Files,
    secrets: Arc<Secrets>,
}

/// Why a file was not kept.
#[derive(Debug)]
pub enum NotKept {
    /// The rules say no, such as a quota.
    Refused(Refusal),
    /// It could not be counted or written; why is in the log.
    Failed,
}

impl From<StoreError> for NotKept {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(refusal) => Self::Refused(refusal),
            StoreError::Unavailable(_) | StoreError::Damaged { .. } => {
                tracing::error!(%error, "an upload could not be counted");
                Self::Failed
            }
        }
    }
}

impl AnswerFiles {
    /// Keeps them in these files, and marks them with these secrets.
    pub fn new(gateway: Gateway, files: Files, secrets: Arc<Secrets>) -> Self {
        Self { gateway, files, secrets }
    }

    /// The mark on a file that says who uploaded it to which ask.
    pub fn mark(&self, ask: AskId, actor: &Actor, file: &FileRef) -> String {
        self.secrets.upload(ask, &actor.by(), file)
    }

    /// Keeps what was uploaded to an ask, however it came.
    pub async fn keep(&self, ask: &Ask, actor: &Actor, bytes: Bytes) -> Result<(), NotKept> {
        let (id, size) = (ask.id, bytes.len() as u64);
        let (accounts, project) = (accounts(actor), Some(&ask.project));
        self.gateway.quotas().charge_upload(actor, project).await?;
        self.gateway.quotas().charge_bytes(accounts, project, id.ulid(), size).await?;
        let kept = self.files.give(&**self.gateway.store(), id.ulid(), bytes).await;
        kept.map(drop).map_err(|error| {
            tracing::error!(error = format!("{error:#}"), ask.id = %id, "cannot keep an upload");
            NotKept::Failed
        })
    }

    /// The bytes of a file that answered this ask; `None` if there is no such one. Why it cannot be read
    /// is in the log.
    pub async fn read(&self, ask: &Ask, digest: &str) -> Result<Option<Bytes>, Unread> {
        let Ok(digest) = digest.parse::<Digest>() else { return Ok(None) };
        if !has_file(ask, &digest) {
            return Ok(None);
        }
        self.files.read(&digest).await.map_err(|error| {
            tracing::error!(error = format!("{error:#}"), ask.id = %ask.id, "cannot read an upload");
            Unread::from(&error)
        })
    }

    /// A reply whose files were uploaded to this ask by whoever answers; others are only claimed.
    pub fn redeemed(&self, reply: Reply, ask: AskId, actor: &Actor) -> Result<Reply, Refusal> {
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
        self.mark(ask, actor, &file).as_bytes().ct_eq(mark.as_bytes()).into()
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

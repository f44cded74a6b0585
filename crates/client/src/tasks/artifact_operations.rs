//! Reviews, artifacts, ledgers and history.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dialects::hacp::Operation;
use dialects::hacp::wire::{Artifact, CommentRecord, LedgerEntry, Review, Stamped};
use kernel::Time;
use serde::Serialize;
use serde_json::{Value, json};

use super::{AuditEvent, Calling, Listing, Replay, Tasks};

/// The content of an artifact.
#[derive(Debug, Clone)]
pub enum Content {
    /// Text, sent with the call.
    Words(String),
    /// Bytes, sent with the call.
    Bytes(Vec<u8>),
    /// Bytes that were [uploaded](Tasks::upload) before.
    Uploaded(String),
    /// Bytes that are stored elsewhere.
    Elsewhere {
        uri: String,
        /// The hash of the bytes: `sha256:…`.
        checksum: String,
        /// The number of bytes.
        size: u64,
    },
}

impl Content {
    /// The payload in the protocol's format.
    pub fn payload(&self) -> Value {
        match self {
            Self::Words(words) => json!({ "kind": "inline", "content": words }),
            Self::Bytes(bytes) => {
                let content = STANDARD.encode(bytes);
                json!({ "kind": "blob", "content": content, "encoding": "base64" })
            }
            Self::Uploaded(id) => json!({ "kind": "blob", "uri": format!("upload:{id}") }),
            Self::Elsewhere { uri, checksum, size } => {
                json!({ "kind": "ref", "uri": uri, "checksum": checksum, "size": size })
            }
        }
    }
}

impl Tasks {
    /// The agent delivers an artifact of this type, and the task is ready for review. Optional:
    /// `art_id` for a new version of an artifact, and `version` for its name.
    pub fn commit(&self, task: &str, sort: &str, content: &Content) -> Calling<Artifact> {
        let params = json!({ "task_id": task, "type": sort, "payload": content.payload() });
        self.calling(Operation::ArtifactCommit, params)
    }

    /// The newest version of an artifact. Optional: `version`.
    pub fn artifact(&self, artifact: &str) -> Calling<Artifact> {
        self.calling(Operation::ArtifactGet, json!({ "art_id": artifact }))
    }

    /// A task refers to a version. Optional: `as`, which is `input` by default, or `output`.
    pub fn reference(&self, artifact: &str, version: &str, by_task: &str) -> Calling<Artifact> {
        let params = json!({ "art_id": artifact, "version": version, "by_task": by_task });
        self.calling(Operation::ArtifactReference, params)
    }

    /// Lets tasks of another project refer to the artifact.
    pub fn share(&self, artifact: &str, project: &str) -> Calling<Artifact> {
        self.calling(Operation::ArtifactShare, json!({ "art_id": artifact, "project": project }))
    }

    /// A person reviews the artifact: `approved`, `changes_requested` or `rejected`. Optional:
    /// `comments`, `requested_changes`, `art_id`, `version` and `kind`.
    pub fn review(&self, task: &str, verdict: &str) -> Calling<Review> {
        self.calling(Operation::ReviewSubmit, json!({ "task_id": task, "verdict": verdict }))
    }

    /// Adds a text or a whole comment to an existing review.
    pub fn comment(&self, review: &str, comment: impl Serialize) -> Calling<CommentRecord> {
        self.calling(Operation::ReviewComment, json!({ "review_id": review }))
            .with("comment", comment)
    }

    /// The current value of a key in a ledger.
    pub fn read(&self, scope: &str, key: &str) -> Calling<Option<LedgerEntry>> {
        self.calling(Operation::LedgerRead, json!({ "scope": scope, "key": key }))
    }

    /// A task writes a key of a ledger. Optional: `expected_revision`, the number of times the key
    /// was written so far.
    pub fn write(
        &self,
        scope: &str,
        key: &str,
        value: impl Serialize,
        by_task: &str,
    ) -> Calling<LedgerEntry> {
        let params = json!({ "scope": scope, "key": key, "by": by_task });
        self.calling(Operation::LedgerWrite, params).with("value", value)
    }

    /// All values of a key in a ledger, oldest first.
    pub fn history(&self, scope: &str, key: &str) -> Listing<LedgerEntry> {
        self.listing(Operation::LedgerHistory, json!({ "scope": scope, "key": key }))
    }

    /// Audit events. Filter them with `task_id`, `actor` and `action`.
    pub fn audit(&self) -> Listing<Stamped<AuditEvent>> {
        self.listing(Operation::AuditQuery, json!({}))
    }

    /// The whole history of a task.
    pub fn replay(&self, task: &str) -> Calling<Vec<Stamped<AuditEvent>>> {
        self.calling(Operation::AuditReplay, json!({ "task_id": task }))
    }

    /// The task at a time, and its events until then.
    pub fn replay_at(&self, task: &str, at: Time) -> Calling<Replay> {
        self.calling(Operation::AuditReplay, json!({ "task_id": task, "at": at }))
    }
}

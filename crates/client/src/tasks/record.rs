//! Reviews, artifacts, ledgers and history: what was delivered, judged, remembered and recorded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dialects::hacp::Operation;
use dialects::hacp::wire::{Artifact, CommentRecord, LedgerEntry, Review, Stamped};
use kernel::Time;
use serde::Serialize;
use serde_json::{Value, json};

use super::{AuditEvent, Calling, Listing, Replay, Tasks};

/// What is delivered.
#[derive(Debug, Clone)]
pub enum Content {
    /// Words, sent as they are.
    Words(String),
    /// Bytes, sent with the call.
    Bytes(Vec<u8>),
    /// Bytes that were [uploaded](Tasks::upload) before.
    Uploaded(String),
    /// Something that lies elsewhere.
    Elsewhere {
        /// Where.
        uri: String,
        /// What its bytes hash to: `sha256:…`.
        checksum: String,
        /// How many they are.
        size: u64,
    },
}

impl Content {
    /// What it is made of, as the protocol says it.
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
    /// The agent delivers something of some sort, and the task is ready to be judged. Say of what it
    /// is the next version with `art_id`, and what it is called with `version`.
    pub fn commit(&self, task: &str, sort: &str, content: &Content) -> Calling<Artifact> {
        let params = json!({ "task_id": task, "type": sort, "payload": content.payload() });
        self.calling(Operation::ArtifactCommit, params)
    }

    /// What was delivered: the newest, or say which with `version`.
    pub fn artifact(&self, artifact: &str) -> Calling<Artifact> {
        self.calling(Operation::ArtifactGet, json!({ "art_id": artifact }))
    }

    /// A task uses a version. Say as what with `as`: `input` unless told, or `output`.
    pub fn reference(&self, artifact: &str, version: &str, by_task: &str) -> Calling<Artifact> {
        let params = json!({ "art_id": artifact, "version": version, "by_task": by_task });
        self.calling(Operation::ArtifactReference, params)
    }

    /// Tasks of another project may use it.
    pub fn share(&self, artifact: &str, project: &str) -> Calling<Artifact> {
        self.calling(Operation::ArtifactShare, json!({ "art_id": artifact, "project": project }))
    }

    /// A person judges what was delivered: `approved`, `changes_requested` or `rejected`. Say more
    /// with `comments`, `requested_changes`, `art_id`, `version` and `kind`.
    pub fn review(&self, task: &str, verdict: &str) -> Calling<Review> {
        self.calling(Operation::ReviewSubmit, json!({ "task_id": task, "verdict": verdict }))
    }

    /// Adds a text or a whole comment to a review that stands.
    pub fn comment(&self, review: &str, comment: impl Serialize) -> Calling<CommentRecord> {
        self.calling(Operation::ReviewComment, json!({ "review_id": review }))
            .with("comment", comment)
    }

    /// What a key of a ledger says now.
    pub fn read(&self, scope: &str, key: &str) -> Calling<Option<LedgerEntry>> {
        self.calling(Operation::LedgerRead, json!({ "scope": scope, "key": key }))
    }

    /// A key of a ledger says something else from now on; a task writes it. Say how often it was
    /// written so far with `expected_revision`, if that matters.
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

    /// Everything a key of a ledger ever said, oldest first.
    pub fn history(&self, scope: &str, key: &str) -> Listing<LedgerEntry> {
        self.listing(Operation::LedgerHistory, json!({ "scope": scope, "key": key }))
    }

    /// What happened. Narrow it with `task_id`, `actor` and `action`.
    pub fn audit(&self) -> Listing<Stamped<AuditEvent>> {
        self.listing(Operation::AuditQuery, json!({}))
    }

    /// The whole history of a task.
    pub fn replay(&self, task: &str) -> Calling<Vec<Stamped<AuditEvent>>> {
        self.calling(Operation::AuditReplay, json!({ "task_id": task }))
    }

    /// The task as it was at a moment, and what had happened by then.
    pub fn replay_at(&self, task: &str, at: Time) -> Calling<Replay> {
        self.calling(Operation::AuditReplay, json!({ "task_id": task, "at": at }))
    }
}

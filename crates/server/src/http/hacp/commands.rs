//! The operations that change tasks, and their results. HACP-042, HACP-080 to HACP-083.
//!
//! A call repeated under its idempotency key gets the result of the first call: the task is rebuilt
//! from its events up to that point.

use bytes::Bytes;
use dialects::hacp::{
    self, ArtifactCommit, HacpCall, HacpError, HacpVersion, Operation, OperationParams, view,
};
use gateway::CommandConditions;
use gateway::blobs::ContentSource;
use kernel::audit::Digest;
use kernel::task::{Artifact, TaskCommand, TaskEvent};
use kernel::{Actor, ArtifactId, Ask, AskId, Command, DomainEvent, Refusal, Task, TaskId};
use serde::Serialize;
use serde_json::{Value, json};
use store::{Idempotency, JobOutcome, StoreError};

use super::HacpFailure;
use super::operations::OperationResult;
use crate::http::envelope_headers;
use crate::http::hacp::HacpOperations;

impl HacpOperations {
    pub(super) async fn run_command(
        &self,
        actor: &Actor,
        version: HacpVersion,
        call: HacpCall,
    ) -> Result<OperationResult, HacpFailure> {
        let (operation, expected) = (call.operation, call.expected_task_revision);
        let mut way = None;
        let command = match call.params {
            OperationParams::Command(command) => *command,
            OperationParams::Commit(commit) => {
                let (command, given) = self.deliver_commit(actor, &commit).await?;
                way = given;
                command
            }
            OperationParams::Comment { task, review, comment } => {
                let found = self.gateway.store().task_of_review(review).await?;
                let found = found.filter(|found| task.is_none_or(|task| task == *found));
                let task = found.ok_or(Refusal::NotFound { what: "review" })?;
                TaskCommand::Remark(task, review, comment)
            }
            _ => return Err(HacpError::internal().into()),
        };
        let idempotency = match call.idempotency_key {
            Some(key) => Some(Idempotency {
                scope: self.scope(actor, &command).await?,
                key,
                // The caller is part of the fingerprint: the same key from another caller is a
                // mismatch.
                fingerprint: Digest::of_json(&json!([actor.to_ref(), call.fingerprint])),
                lasting: false,
            }),
            None => None,
        };
        let uses = if let Some(ContentSource::Before(upload)) = way { Some(upload) } else { None };
        let terms =
            CommandConditions { idempotency, expected, uses, ..CommandConditions::default() };
        let (checkpoint, used) = (command.checkpoint(), UsedArtifact::named_by(&command));
        let command = Command::Task(Box::new(command));
        let outcome = self.gateway.run_with_conditions(terms, actor.clone(), command).await;
        if let (Some(way), Err(StoreError::Refused(_)) | Ok(JobOutcome { replayed: true, .. })) =
            (way, &outcome)
        {
            self.blobs.refused(way).await;
        }
        let done = self.result_parts(operation, outcome?, checkpoint, used).await?;
        let shown = self.result(operation, version, &done);
        let mut shown = OperationResult::from(shown.ok_or_else(HacpError::internal)?);
        if let Some(ask) = &done.ask {
            envelope_headers::write(ask, &mut shown.said);
        }
        Ok(shown)
    }

    /// The namespace of a call's idempotency key: its task (HACP-082), or for a new task the
    /// caller.
    async fn scope(&self, actor: &Actor, command: &TaskCommand) -> Result<String, HacpFailure> {
        let task = match (command.task(), command.checkpoint()) {
            (Some(task), _) => Some(task),
            (None, Some(ask)) => {
                let ask = self.gateway.store().ask(ask).await?;
                ask.and_then(|ask| ask.checkpoint.as_ref().map(|checkpoint| checkpoint.task))
            }
            (None, None) => None,
        };
        Ok(task
            .map_or_else(|| format!("hacp/by/{}", actor.to_ref()), |task| format!("hacp/{task}")))
    }

    /// The command that delivers a commit, after the server has stored the bytes that came with it
    /// or found the earlier upload (HACP-028).
    async fn deliver_commit(
        &self,
        actor: &Actor,
        commit: &ArtifactCommit,
    ) -> Result<(TaskCommand, Option<ContentSource>), HacpFailure> {
        let (blobs, payload) = (&self.blobs, &commit.payload);
        let given = match (&payload.content, payload.upload()) {
            (Some(content), _) => {
                let kept =
                    blobs.store_inline(Bytes::from(content.clone())).await.map_err(|error| {
                        tracing::error!(error = format!("{error:#}"), "cannot store an artifact");
                        HacpError::unavailable()
                    })?;
                if let ContentSource::Along(holder) = kept.way {
                    let (accounts, size) = (gateway::quotas::accounts(actor), kept.held.size);
                    let charged =
                        self.gateway.quotas().charge_bytes(accounts, None, holder, size).await;
                    if charged.is_err() {
                        blobs.refused(kept.way).await;
                    }
                    charged?;
                }
                Some(kept)
            }
            (None, Some(upload)) => blobs.redeem_upload(upload, actor).await?,
            (None, None) => None,
        };
        let held = given.as_ref().map(|given| (&given.held, given.media_type.as_deref()));
        let (command, way) = (commit.command(held), given.as_ref().map(|given| given.way));
        if let (Err(_), Some(way)) = (&command, way) {
            blobs.refused(way).await;
        }
        Ok((command?, way))
    }

    /// Collects the objects that the result shows, also for a repeated call.
    async fn result_parts(
        &self,
        operation: Operation,
        outcome: JobOutcome,
        checkpoint: Option<AskId>,
        used: Option<UsedArtifact>,
    ) -> Result<ResultParts, HacpFailure> {
        let JobOutcome { ask, task, artifact, entry, replayed, place, .. } = outcome;
        let (task, artifact, entry) =
            (task.map(|task| *task), artifact.map(|made| *made), entry.map(|entry| *entry));
        let mut done = ResultParts { task, ask, artifact, used, entry, last: None };
        // For a new call the outcome has all objects, unless the result is about the event itself.
        let tells = operation == Operation::ReviewComment;
        if let Some((id, seq)) = place.filter(|_| replayed || tells) {
            let last = self.event(id, seq).await?;
            if replayed {
                done.task = self.gateway.task_at(id, |record| record.seq <= seq).await?;
                done.entry = match &last {
                    Some(TaskEvent::Wrote { entry, revision, .. }) => {
                        let seq = revision.saturating_sub(1);
                        let written = self.gateway.store().entry_history(*entry, seq, 1).await?;
                        written.into_iter().next()
                    }
                    _ => None,
                };
                let raised = done.task.as_ref().and_then(|task| task.checkpoints.last());
                let asked = checkpoint.or_else(|| raised.map(|raised| raised.ask));
                if let Some(asked) = asked {
                    let ask = self.gateway.store().ask(asked).await?;
                    done.ask = ask.map(std::sync::Arc::unwrap_or_clone);
                }
            }
            done.last = last;
        }
        if let Some(TaskEvent::Committed { artifact, .. }) = &done.last {
            let version = Some(artifact.version.clone());
            done.used = Some(UsedArtifact { artifact: artifact.id, version });
        }
        if replayed && let Some(used) = &done.used {
            done.artifact = self.gateway.store().artifact(used.artifact).await?;
        }
        Ok(done)
    }

    async fn event(&self, id: TaskId, seq: u64) -> Result<Option<TaskEvent>, HacpFailure> {
        let after = seq.saturating_sub(1);
        let subject = kernel::Subject::Task(id);
        let records = self.gateway.store().chain(subject, after, 1).await?;
        let event = records.first().and_then(|record| record.event().ok());
        Ok(event.and_then(|event| match event.what {
            DomainEvent::Task(event) => Some(*event),
            _ => None,
        }))
    }

    /// The result of an operation.
    fn result(
        &self,
        operation: Operation,
        version: HacpVersion,
        done: &ResultParts,
    ) -> Option<Value> {
        let ResultParts { task, ask, artifact, used, entry, last } = done;
        let task = task.as_ref();
        match operation {
            Operation::TaskInterrupt
            | Operation::CheckpointRaise
            | Operation::CheckpointResolve
            | Operation::CheckpointExpire => {
                let held = ask.as_ref().zip(task);
                held.and_then(|(ask, task)| view::checkpoint(ask, task, version))
                    .map(|checkpoint| stamped(checkpoint, version))
            }
            Operation::OwnershipTransfer | Operation::OwnershipDelegate => {
                task.map(|task| stamped(view::ownership(task), version))
            }
            Operation::ReviewSubmit => task.and_then(|task| {
                let review = task.reviews.last()?;
                Some(stamped(view::review(task.id, review, version), version))
            }),
            Operation::ReviewComment => match (task, last) {
                (Some(task), Some(TaskEvent::Remarked { review, remark })) => {
                    Some(stamped(view::added(task.id, *review, remark), version))
                }
                _ => None,
            },
            Operation::ArtifactCommit | Operation::ArtifactReference | Operation::ArtifactShare => {
                let named = used.as_ref().and_then(|used| used.version.as_deref());
                self.artifact(artifact.as_ref(), named, version)
            }
            Operation::LedgerWrite => {
                entry.as_ref().map(|entry| stamped(view::entry(entry, version), version))
            }
            _ => task.map(|task| stamped(view::task(task, version), version)),
        }
    }

    /// One version of an artifact as it is sent.
    pub(super) fn artifact(
        &self,
        artifact: Option<&Artifact>,
        named: Option<&str>,
        version: HacpVersion,
    ) -> Option<Value> {
        let public_url = self.config.public_url.as_str();
        let shown = view::artifact(artifact?, named, public_url, version)?;
        Some(stamped(shown, version))
    }
}

/// The objects from which the result of an operation is built.
struct ResultParts {
    task: Option<Task>,
    ask: Option<Ask>,
    artifact: Option<Artifact>,
    used: Option<UsedArtifact>,
    entry: Option<kernel::task::Entry>,
    /// The last event of the task that this call wrote.
    last: Option<TaskEvent>,
}

/// The artifact a call is about, and its version; `None` is the newest.
struct UsedArtifact {
    artifact: ArtifactId,
    version: Option<String>,
}

impl UsedArtifact {
    /// The artifact that a command names. The id of a new artifact is known only afterwards.
    fn named_by(command: &TaskCommand) -> Option<Self> {
        let (artifact, version) = match command {
            TaskCommand::Reference(_, named, _) => (named.id, Some(named.version.clone())),
            TaskCommand::Share(artifact, _) => (*artifact, None),
            _ => return None,
        };
        Some(Self { artifact, version })
    }
}

/// An object with the version stamp of the protocol.
pub(super) fn stamped<T: Serialize>(object: T, version: HacpVersion) -> Value {
    json!(hacp::Stamped { object, stamp: version.stamp() })
}

//! Builds the protocol's objects from tasks, asks, artifacts and entries. HACP-004, HACP-006,
//! HACP-025; K-08, K-10, K-19.
//!
//! A view shows the stored state. The caller must first expire a checkpoint whose time has passed.

use std::collections::BTreeSet;

use kernel::audit::Erasable;
use kernel::task::{
    self, CheckpointKind, CheckpointOutcome, Grant, GrantDuration, LedgerScope, Permission,
    RaisedCheckpoint, Remark, ReviewText, Transfer,
};
use kernel::{Ask, DomainEvent, Event, LedgerId, Subject, TaskId};
use serde_json::Value;

use super::audit::event_id;
use super::checkpoint_id;
use super::names::{agent, by, party, person};
use super::version::HacpVersion;
use super::wire::{
    Artifact, ArtifactLater, ArtifactPayload, ArtifactProvenance, ArtifactRef, Checkpoint,
    CheckpointLater, CheckpointResolution, CheckpointState, CommentRecord, Constraints,
    ConstraintsLater, Ledger, LedgerEntry, LedgerEntryLater, Ownership, OwnershipTransfer,
    PermissionGrant, ResolutionLater, Review, ReviewComment, ReviewLater, ReviewPolicy,
    SteeringAmendment, Task, TaskLater, TaskSpec, TaskSpecLater,
};

pub fn task(task: &task::Task, version: HacpVersion) -> Task {
    let mut seen = BTreeSet::new();
    let delivered = task.delivered.iter().map(|delivered| delivered.id);
    Task {
        id: task.id,
        sort: task.sort.clone(),
        spec: spec(&task.created, version).stamped(version),
        ownership: version.nested(ownership(task)),
        state: task.state,
        parent_task: task.parent,
        created_at: task.created_at,
        deadline: task.deadline,
        checkpoints: task.checkpoints.iter().map(|raised| checkpoint_id(raised.ask)).collect(),
        artifacts: delivered.filter(|id| seen.insert(*id)).collect(),
        audit_trail: event_id(task.id, 1, task.created_at),
        later: version.since_v02(|| TaskLater {
            steering_log: task.steering.iter().map(amendment).collect(),
            revision: task.revision,
            grants: task
                .permissions(task.head.at)
                .map(|one| PermissionGrant { stamp: Some(version.stamp()), ..permission(one) })
                .collect(),
            deliveries: task.delivered.clone(),
            reviews: task
                .reviews
                .iter()
                .map(|one| version.nested(review(task.id, one, version)))
                .collect(),
            project: task.project.clone(),
            run_id: task.run.as_ref().map(|run| run.id),
            started_at: task.started_at,
            due_at: task.due_at(),
            on_expiry: task.on_silence,
            hxp: task.spec.value().and_then(|spec| spec.hxp.clone()),
        }),
    }
}

pub(super) fn spec(created: &task::TaskCreated, version: HacpVersion) -> TaskSpec {
    let words = created.spec.value().cloned().unwrap_or_default();
    TaskSpec {
        goal: created.spec.value().map(|_| words.goal),
        acceptance_criteria: words.acceptance_criteria,
        inputs: words.inputs,
        constraints: Constraints {
            max_duration: words.max_duration,
            must_use_capabilities: words.must_use_capabilities,
            later: version.since_v02(|| ConstraintsLater {
                external_refs: words.external_refs,
                autonomy: created.autonomy,
                grants: created.grants.iter().map(grant).collect(),
            }),
        },
        later: version.since_v02(|| TaskSpecLater {
            review_policy: created.review_policy.as_ref().map(review_policy),
        }),
    }
}

fn review_policy(policy: &task::ReviewPolicy) -> ReviewPolicy {
    let required_reviewers = policy.required_reviewers.iter().map(person).collect();
    ReviewPolicy { required_reviewers, quorum: policy.quorum, stamp: None }
}

impl TaskSpec {
    /// Adds the version members to its parts. The history shows the parts without them.
    pub(super) fn stamped(mut self, version: HacpVersion) -> Self {
        let stamp = Some(version.stamp());
        for grant in self.constraints.later.iter_mut().flat_map(|later| &mut later.grants) {
            grant.stamp.clone_from(&stamp);
        }
        if let Some(policy) = self.later.as_mut().and_then(|later| later.review_policy.as_mut()) {
            policy.stamp = stamp;
        }
        self
    }
}

pub(super) fn grant(grant: &Grant) -> PermissionGrant {
    PermissionGrant {
        scope: grant.scope.clone(),
        decision: grant.decision,
        until: match grant.until {
            GrantDuration::Session => "session".to_owned(),
            GrantDuration::Task => "task".to_owned(),
            GrantDuration::At(at) => at.to_string(),
        },
        granted_by: person(&grant.granted_by),
        granted_at: grant.granted_at,
        run_id: None,
        stamp: None,
    }
}

/// A permission with the run in which it is valid.
fn permission(one: Permission<'_>) -> PermissionGrant {
    PermissionGrant { run_id: one.run, ..grant(one.grant) }
}

/// An amendment of the principal.
pub(super) fn amendment(said: &task::Amendment) -> SteeringAmendment {
    SteeringAmendment {
        text: said.text.value().cloned(),
        intent: said.intent,
        by: person(&said.by),
        at: said.at,
    }
}

/// The principal, the assignee and the ownership chain of a task.
pub fn ownership(task: &task::Task) -> Ownership {
    Ownership {
        task_id: task.id,
        principal: person(&task.principal),
        assignee: party(&task.assignee),
        delegable: task.delegable,
        chain: task.chain.iter().map(transfer).collect(),
    }
}

pub(super) fn transfer(transfer: &Transfer) -> OwnershipTransfer {
    OwnershipTransfer {
        from: party(&transfer.from),
        to: party(&transfer.to),
        at: transfer.at,
        via: transfer.via,
    }
}

/// A checkpoint, built from the ask and the task. `None` for an ask that blocks no task.
pub fn checkpoint(ask: &Ask, task: &task::Task, version: HacpVersion) -> Option<Checkpoint> {
    let held = ask.checkpoint.as_deref().filter(|held| held.task == task.id)?;
    let raised = task.checkpoints.iter().find(|raised| raised.ask == ask.id)?;
    let beside = held.details.value().cloned().unwrap_or_default();
    Some(Checkpoint {
        id: checkpoint_id(ask.id),
        task_id: task.id,
        kind: kind(raised.kind, version),
        prompt: ask.question.value().map(|question| question.prompt().to_owned()),
        options: beside.options,
        context: beside.context,
        state: checkpoint_state(&raised.outcome),
        raised_at: raised.at,
        expires_at: ask.expires_at,
        resolution: resolved(raised, version),
        later: version.since_v02(|| CheckpointLater {
            raised_by: raised.raised_by,
            proposed_actions: beside
                .proposed_actions
                .into_iter()
                .map(|action| version.nested(action))
                .collect(),
            hxp: ask.envelope().cloned(),
        }),
    })
}

/// The kind of a checkpoint. 0.1 has no interrupt and shows it as an approval.
pub(super) fn kind(kind: CheckpointKind, version: HacpVersion) -> CheckpointKind {
    match kind {
        CheckpointKind::Interrupt if version < HacpVersion::V02 => CheckpointKind::Approval,
        kind => kind,
    }
}

pub(super) fn checkpoint_state(outcome: &CheckpointOutcome) -> CheckpointState {
    match outcome {
        CheckpointOutcome::Pending => CheckpointState::Pending,
        CheckpointOutcome::Resolved(_) => CheckpointState::Resolved,
        CheckpointOutcome::Expired { .. } => CheckpointState::Expired,
    }
}

fn resolved(raised: &RaisedCheckpoint, version: HacpVersion) -> Option<CheckpointResolution> {
    match &raised.outcome {
        CheckpointOutcome::Resolved(decided) => Some(resolution(decided, version)),
        CheckpointOutcome::Pending | CheckpointOutcome::Expired { .. } => None,
    }
}

pub(super) fn resolution(decided: &task::Resolution, version: HacpVersion) -> CheckpointResolution {
    let said = decided.details.value().cloned().unwrap_or_default();
    CheckpointResolution {
        by: by(&decided.by),
        action: decided.action,
        choice: said.choice,
        input: said.input,
        reassign_to: decided.reassign_to.as_ref().map(agent),
        comment: said.comment,
        at: decided.at,
        erased: decided.details.value().is_none(),
        later: version.since_v02(|| ResolutionLater {
            approved_actions: said.approved_actions,
            denied_actions: said.denied_actions,
            state_patch: said.state_patch,
            edited_artifact_ref: said.edited_artifact_ref,
        }),
    }
}

pub fn review(task: TaskId, review: &task::Review, version: HacpVersion) -> Review {
    let ReviewText { comments, requested_changes } =
        review.text.value().cloned().unwrap_or_default();
    Review {
        id: review.id,
        task_id: task,
        artifact_id: review.artifact.id,
        reviewer: person(&review.reviewer),
        verdict: review.verdict,
        comments: comments.into_iter().map(comment).collect(),
        requested_changes,
        at: review.at,
        erased: review.text.value().is_none(),
        later: version.since_v02(|| ReviewLater {
            kind: review.kind,
            artifact_version: Some(review.artifact.version.clone()),
            added: review.remarks.iter().map(|one| added(task, review.id, one)).collect(),
        }),
    }
}

fn comment(comment: task::AnchoredComment) -> ReviewComment {
    let task::AnchoredComment { anchor, severity, body } = comment;
    ReviewComment { anchor, severity, body }
}

/// A comment added to a review.
pub fn added(task: TaskId, review: kernel::ReviewId, remark: &Remark) -> CommentRecord {
    CommentRecord {
        review_id: review,
        task_id: task,
        by: person(&remark.by),
        comment: remark.comment.value().cloned().map(comment),
        at: remark.at,
    }
}

/// A version of an artifact, or the newest if none is named. Bytes that this server stores are
/// fetched from `public_url`.
pub fn artifact(
    made: &task::Artifact,
    name: Option<&str>,
    public_url: &str,
    version: HacpVersion,
) -> Option<Artifact> {
    let one = made.version(name)?;
    let payload = &one.payload;
    let here =
        || format!("{}{}", public_url.trim_end_matches('/'), content_path(made.id, &one.name));
    let used = |used: &task::Reference| ArtifactRef { task_id: used.task, role: used.role };
    Some(Artifact {
        id: made.id,
        sort: made.sort.clone(),
        provenance: ArtifactProvenance {
            produced_by: one.produced_by,
            produced_at: one.produced_at,
        },
        version: one.name.clone(),
        parent_version: one.parent.clone(),
        payload: ArtifactPayload {
            kind: payload.kind,
            uri: payload.uri.clone().unwrap_or_else(here),
            checksum: format!("sha256:{}", payload.checksum),
            size: payload.size,
            media_type: payload.media_type.clone(),
        },
        references: one.references.iter().map(used).collect(),
        later: version.since_v02(|| ArtifactLater {
            project: made.project.clone(),
            shared_with: made.shared_with.clone(),
            versions: made.versions.iter().map(|one| one.name.clone()).collect(),
        }),
    })
}

/// The path of the stored bytes of a version.
pub fn content_path(artifact: kernel::ArtifactId, version: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escaped: String = version
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    format!("/hacp/v1/artifacts/{artifact}/versions/{escaped}/content")
}

/// The ledger of a scope.
pub fn ledger(scope: &LedgerScope) -> Ledger {
    Ledger { id: LedgerId::of(scope.as_str()), scope: scope.to_string() }
}

/// The current value of a key.
pub fn entry(entry: &task::Entry, version: HacpVersion) -> LedgerEntry {
    LedgerEntry {
        key: entry.key.clone(),
        value: said(&entry.value),
        written_at: entry.written_at,
        by: entry.by,
        later: version.since_v02(|| written(&entry.scope, entry.head.seq)),
    }
}

/// A former value of a key, from one event of its chain.
pub fn entry_written(event: &Event, version: HacpVersion) -> Option<LedgerEntry> {
    let (Subject::Entry(_), DomainEvent::EntryWritten(entry)) = (&event.subject, &event.what)
    else {
        return None;
    };
    Some(LedgerEntry {
        key: entry.key.clone(),
        value: said(&entry.value),
        written_at: event.at,
        by: entry.task,
        later: version.since_v02(|| written(&entry.scope, event.seq)),
    })
}

fn said(value: &Erasable<Value>) -> Value {
    value.value().cloned().unwrap_or_default()
}

fn written(scope: &LedgerScope, revision: u64) -> LedgerEntryLater {
    let Ledger { id, scope } = ledger(scope);
    LedgerEntryLater { ledger_id: id, scope, revision }
}

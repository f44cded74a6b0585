//! The operations of an agent's runtime, as delivered by webhook, by `runtime.peek`, or to a local
//! command. Section 5 of our digest; HACP-083; K-16.
//!
//! The content comes from the record of the task, so every delivery of an operation is the same
//! request, with the same ids and times.

use kernel::audit::Digest;
use kernel::task::{self, Contract, Duty, TaskEvent};
use kernel::{DomainEvent, Event, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint_id;
use super::names::agent;
use super::version::HacpVersion;
use super::view;
use super::wire::{
    CheckpointResolution, Nested, PermissionGrant, Review, Stamp, SteeringAmendment, TaskSpec,
};

/// An operation for a runtime, with all its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarnessEvent {
    /// The id of the operation, the same in every delivery.
    pub operation_id: String,
    pub operation: Duty,
    pub task_id: TaskId,
    /// The task's id, which is the same in every run of the task.
    pub correlation_id: TaskId,
    pub run_id: RunId,
    /// The agent whose runtime is addressed.
    pub agent_id: String,
    /// The run that this one continues.
    pub parent_run: Option<RunId>,
    /// When the operation was decided.
    pub at: Time,
    #[serde(flatten)]
    pub request: HarnessRequest,
    pub operation_context: AdapterOperationContext,
    /// The protocol version.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// The data of an operation. Members that do not apply are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HarnessRequest {
    /// The capability that the agent uses.
    pub capability: Option<String>,
    /// The agent's initial input.
    pub input: Option<Value>,
    /// The spec of a task that the agent starts or takes over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<TaskSpec>,
    /// The checkpoint that the task waits for or waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The complete resolution of the checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<CheckpointResolution>,
    /// The complete review of the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Nested<Review>>,
    /// The principal's amendment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amendment: Option<SteeringAmendment>,
    /// A permission that was granted or revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<PermissionGrant>,
}

/// The identity of an operation, for deduplication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterOperationContext {
    pub operation_id: String,
    pub task_id: TaskId,
    /// The task's id, which is the same in every run of the task.
    pub correlation_id: TaskId,
    pub operation: Duty,
    /// The key by which a receiver recognizes a repetition.
    pub idempotency_key: Option<String>,
    /// The hash of the request.
    pub request_fingerprint: String,
    /// The revision of the task after the operation.
    pub task_revision: u64,
    /// The protocol version.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// An operation with its position in the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarnessEventDelivery {
    /// The position, as `runtime.ack` expects it.
    pub cursor: String,
    pub event: HarnessEvent,
}

/// An operation in the outbox, with the state of its delivery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterOutboxRecord {
    pub operation_id: String,
    pub task_id: TaskId,
    pub operation: Duty,
    /// The hash of the request.
    pub request_fingerprint: String,
    pub context: AdapterOperationContext,
    /// The event as delivered.
    pub request: HarnessEvent,
    /// The runtime's response.
    pub result: Option<Value>,
    pub state: OutboxState,
    /// When the operation was decided.
    pub created_at: Time,
    /// When delivery was last attempted.
    pub updated_at: Time,
}

/// The state of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxState {
    /// The runtime has not confirmed it.
    Pending,
    /// The runtime confirmed it.
    Succeeded,
    /// The server no longer attempts delivery.
    Failed,
}

/// The event for a runtime, built from the contract, the task, and the task event that causes it.
/// `None` if the contract does not belong to that event.
pub fn harness_event(
    contract: &Contract,
    task: &task::Task,
    event: &Event,
    version: HacpVersion,
) -> Option<HarnessEvent> {
    let DomainEvent::Task(what) = &event.what else { return None };
    let same = task.id == contract.task
        && event.subject == kernel::Subject::Task(contract.task)
        && event.seq == contract.seq;
    let mut request = Some(request(task, what, version)).filter(|_| same)?;
    if matches!(contract.duty, Duty::Delegate | Duty::Handoff) {
        request.spec = Some(view::spec(&task.created, version));
    }
    let operation_id = contract.id();
    let operation_context = AdapterOperationContext {
        operation_id: operation_id.clone(),
        task_id: task.id,
        correlation_id: task.id,
        operation: contract.duty,
        idempotency_key: Some(operation_id.clone()),
        request_fingerprint: format!("sha256:{}", Digest::of_json(&request)),
        task_revision: contract.revision,
        stamp: Some(version.stamp()),
    };
    // The fingerprint covers the request without the version members of its parts.
    let request = request.stamped(version);
    Some(HarnessEvent {
        operation_id,
        operation: contract.duty,
        task_id: task.id,
        correlation_id: task.id,
        run_id: contract.run,
        agent_id: agent(&contract.agent),
        parent_run: contract.from,
        at: contract.at,
        request,
        operation_context,
        stamp: Some(version.stamp()),
    })
}

impl HarnessRequest {
    /// Adds the version members to its parts.
    fn stamped(self, version: HacpVersion) -> Self {
        let stamp = || Some(version.stamp());
        Self {
            spec: self.spec.map(|spec| spec.stamped(version)),
            review: self.review.map(|review| Nested { stamp: stamp(), ..review }),
            grant: self.grant.map(|grant| PermissionGrant { stamp: stamp(), ..grant }),
            ..self
        }
    }
}

/// The data of a task event, for any operation that follows from it.
fn request(task: &task::Task, what: &TaskEvent, version: HacpVersion) -> HarnessRequest {
    let none = HarnessRequest::default();
    match what {
        TaskEvent::Assigned { given, .. } | TaskEvent::Delegated { given, .. } => {
            let task::AgentInput { capability, input } = given.value().cloned().unwrap_or_default();
            HarnessRequest { capability, input, ..none }
        }
        TaskEvent::Raised { checkpoint, kind, .. } => HarnessRequest {
            checkpoint_id: Some(checkpoint_id(*checkpoint)),
            reason: Some(kind.as_str().to_owned()),
            ..none
        },
        TaskEvent::Resolved { checkpoint, resolution, .. } => HarnessRequest {
            checkpoint_id: Some(checkpoint_id(*checkpoint)),
            resolution: Some(view::resolution(resolution, version)),
            ..none
        },
        TaskEvent::Lapsed { checkpoint, .. } => {
            HarnessRequest { checkpoint_id: Some(checkpoint_id(*checkpoint)), ..none }
        }
        TaskEvent::Cancelled { reason } => {
            let reason = reason.as_ref().and_then(|reason| reason.value().cloned());
            HarnessRequest { reason, ..none }
        }
        TaskEvent::Amended { amendment } => {
            HarnessRequest { amendment: Some(view::amendment(amendment)), ..none }
        }
        TaskEvent::Granted { grant } => HarnessRequest { grant: Some(view::grant(grant)), ..none },
        TaskEvent::Reviewed { review } => HarnessRequest {
            review: Some(Nested::bare(view::review(task.id, review, version))),
            ..none
        },
        TaskEvent::Created(_)
        | TaskEvent::Started
        | TaskEvent::Interrupted
        | TaskEvent::Transferred { .. }
        | TaskEvent::Committed { .. }
        | TaskEvent::Remarked { .. }
        | TaskEvent::Completed
        | TaskEvent::Referenced { .. }
        | TaskEvent::Shared { .. }
        | TaskEvent::Wrote { .. }
        | TaskEvent::CheckpointErased { .. }
        | TaskEvent::WordsErased(_)
        | TaskEvent::Erased => none,
    }
}

impl HarnessEvent {
    /// Adds the position in the stream.
    pub fn at_position(self, position: u64) -> HarnessEventDelivery {
        HarnessEventDelivery { cursor: position.to_string(), event: self }
    }

    /// The outbox record of the event.
    pub fn outbox_record(
        self,
        state: OutboxState,
        result: Option<Value>,
        updated_at: Time,
    ) -> AdapterOutboxRecord {
        AdapterOutboxRecord {
            operation_id: self.operation_id.clone(),
            task_id: self.task_id,
            operation: self.operation,
            request_fingerprint: self.operation_context.request_fingerprint.clone(),
            context: self.operation_context.clone(),
            result,
            state,
            created_at: self.at,
            updated_at,
            request: self,
        }
    }
}

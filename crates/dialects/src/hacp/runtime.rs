//! What the runtime of an agent has to do, as it is delivered: by webhook, by `runtime.peek`, or to a
//! local command. Section 5 of our digest; HACP-083; K-16.
//!
//! The words are read from the record of the task, so however often something is delivered it is the
//! same request, with the same ids and times.

use kernel::audit::Digest;
use kernel::task::{self, Contract, Duty, TaskEvent};
use kernel::{Event, Happened, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint_id;
use super::names::agent;
use super::version::Version;
use super::view;
use super::wire::{
    CheckpointResolution, Nested, PermissionGrant, Review, Stamp, SteeringAmendment, TaskSpec,
};

/// Something a runtime has to do, with everything it needs for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarnessEvent {
    /// What it is called, however often it is delivered.
    pub operation_id: String,
    /// What to do.
    pub operation: Duty,
    /// For which task.
    pub task_id: TaskId,
    /// The same: it stays with every run of the task.
    pub correlation_id: TaskId,
    /// In which run.
    pub run_id: RunId,
    /// Whose runtime.
    pub agent_id: String,
    /// The run it came from.
    pub parent_run: Option<RunId>,
    /// When it was decided.
    pub at: Time,
    /// What was said and done.
    #[serde(flatten)]
    pub request: Request,
    /// What makes the operation this one.
    pub operation_context: AdapterOperationContext,
    /// Which protocol.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// What a runtime is told with an operation: what there is of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What the agent is to do it with.
    pub capability: Option<String>,
    /// What it is given to begin with.
    pub input: Option<Value>,
    /// The task it begins, or takes over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<TaskSpec>,
    /// The checkpoint it waits for, or waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was decided, whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<CheckpointResolution>,
    /// What was said of what it delivered, whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Nested<Review>>,
    /// What it is to take into account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amendment: Option<SteeringAmendment>,
    /// What it may do from now on, or no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<PermissionGrant>,
}

/// What makes an operation this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterOperationContext {
    /// What it is called.
    pub operation_id: String,
    /// For which task.
    pub task_id: TaskId,
    /// The same.
    pub correlation_id: TaskId,
    /// What to do.
    pub operation: Duty,
    /// What a receiver knows a repetition by.
    pub idempotency_key: Option<String>,
    /// What the request hashes to.
    pub request_fingerprint: String,
    /// The revision of the task it leads to.
    pub task_revision: u64,
    /// Which protocol.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// An event with its place in the stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HarnessEventDelivery {
    /// The place: what `runtime.ack` is given.
    pub cursor: String,
    /// The event.
    pub event: HarnessEvent,
}

/// What was not confirmed yet, or never will be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterOutboxRecord {
    /// What it is called.
    pub operation_id: String,
    /// For which task.
    pub task_id: TaskId,
    /// What to do.
    pub operation: Duty,
    /// What the request hashes to.
    pub request_fingerprint: String,
    /// What makes the operation this one.
    pub context: AdapterOperationContext,
    /// What is delivered.
    pub request: HarnessEvent,
    /// What the runtime said.
    pub result: Option<Value>,
    /// What became of it.
    pub state: OutboxState,
    /// When it was decided.
    pub created_at: Time,
    /// When it was last tried.
    pub updated_at: Time,
}

/// What became of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxState {
    /// Nothing yet.
    Pending,
    /// The runtime has it.
    Succeeded,
    /// It never will.
    Failed,
}

/// What a runtime has to do: the contract, the task, and the event of it that wants this. Nothing, if
/// that is another event.
pub fn harness_event(
    contract: &Contract,
    task: &task::Task,
    event: &Event,
    version: Version,
) -> Option<HarnessEvent> {
    let Happened::Task(what) = &event.what else { return None };
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
    // The fingerprint is over what is wanted, whatever its parts say of the protocol.
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

impl Request {
    /// The same with what its parts speak.
    fn stamped(self, version: Version) -> Self {
        let stamp = || Some(version.stamp());
        Self {
            spec: self.spec.map(|spec| spec.stamped(version)),
            review: self.review.map(|review| Nested { stamp: stamp(), ..review }),
            grant: self.grant.map(|grant| PermissionGrant { stamp: stamp(), ..grant }),
            ..self
        }
    }
}

/// What was said and done, whatever has to be done about it.
fn request(task: &task::Task, what: &TaskEvent, version: Version) -> Request {
    let none = Request::default();
    match what {
        TaskEvent::Assigned { given, .. } | TaskEvent::Delegated { given, .. } => {
            let task::Given { capability, input } = given.value().cloned().unwrap_or_default();
            Request { capability, input, ..none }
        }
        TaskEvent::Raised { checkpoint, kind, .. } => Request {
            checkpoint_id: Some(checkpoint_id(*checkpoint)),
            reason: Some(kind.as_str().to_owned()),
            ..none
        },
        TaskEvent::Resolved { checkpoint, resolution, .. } => Request {
            checkpoint_id: Some(checkpoint_id(*checkpoint)),
            resolution: Some(view::resolution(resolution, version)),
            ..none
        },
        TaskEvent::Lapsed { checkpoint, .. } => {
            Request { checkpoint_id: Some(checkpoint_id(*checkpoint)), ..none }
        }
        TaskEvent::Cancelled { reason } => {
            let reason = reason.as_ref().and_then(|reason| reason.value().cloned());
            Request { reason, ..none }
        }
        TaskEvent::Amended { amendment } => {
            Request { amendment: Some(view::amendment(amendment)), ..none }
        }
        TaskEvent::Granted { grant } => Request { grant: Some(view::grant(grant)), ..none },
        TaskEvent::Reviewed { review } => {
            Request { review: Some(Nested::bare(view::review(task.id, review, version))), ..none }
        }
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
    /// The event at its place in a stream.
    pub fn at(self, position: u64) -> HarnessEventDelivery {
        HarnessEventDelivery { cursor: position.to_string(), event: self }
    }

    /// The event as it waits in the outbox.
    pub fn kept(
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

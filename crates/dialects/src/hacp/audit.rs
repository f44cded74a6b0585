//! The history of a task as the protocol shows it: the actor, the action, the state before and
//! after, in a hash chain. HACP-024, HACP-042, HACP-084; K-19, K-22.
//!
//! An event on the wire is built from a record of the task and the states before and after it, so a
//! [`TaskReplayer`] replays the history record by record. Its hashes cover the events as shown and
//! belong to the protocol. The audit log's own chain proves that nothing was changed, and stays
//! valid when text is erased.

use kernel::audit::{ChainError, Digest, Record};
use kernel::evolve::{InapplicableEvent, evolve};
use kernel::task::{self, CheckpointKind, TaskEvent, TaskState};
use kernel::{ActorRef, ArtifactId, DomainEvent, Entity, Event, LedgerId, TaskId, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::actions::AuditAction;
use super::checkpoint_id;
use super::names::{agent, by, party, person};
use super::version::HacpVersion;
use super::view;
use super::wire::{Stamped, Task};

/// How many of the newest checkpoints and artifacts an event names. With all of them, the history
/// of a long task would grow with the square of its length.
const MAX_SUMMARIZED: usize = 50;

/// An event of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEvent {
    pub id: String,
    /// The position in the history of the task, starting at 1.
    pub seq: u64,
    pub at: Time,
    pub actor: String,
    pub action: String,
    pub subject: AuditSubject,
    pub task_id: Option<TaskId>,
    /// The state before; `None` for the first event.
    pub before: Option<Snapshot>,
    /// The state after, with the details of the event.
    pub after: Option<Snapshot>,
    /// Members that 0.1 lacks.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<AuditLater>,
}

/// The object that an event changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditSubject {
    /// The type of object.
    pub kind: String,
    pub id: String,
}

/// A summary of a task, with the details of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub state: TaskState,
    /// How often the task was changed.
    pub revision: u64,
    pub assignee: String,
    /// Further members by name.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The members of an event that 0.1 lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditLater {
    /// A summary for clients that replay events without knowing each kind.
    pub reducer: Option<Reducer>,
    /// The hash of the previous event; empty for the first.
    pub prev_hash: String,
    /// The hash of this event: over its canonical JSON without this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// A change, and a summary of the task after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reducer {
    /// The object that changed.
    pub subject: AuditSubject,
    pub change: String,
    pub task: Reduced,
}

/// A summary of a task. Its revision is the one before the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduced {
    pub id: TaskId,
    pub state: TaskState,
    /// The revision before the change.
    pub revision: u64,
    pub ownership: ReducedOwnership,
    /// The newest checkpoints, in order.
    pub checkpoint_ids: Vec<String>,
    /// The newest artifacts, in order.
    pub artifact_ids: Vec<ArtifactId>,
    /// How many amendments the principal made.
    pub steering_count: usize,
    /// How many checkpoints the task has. A Countersign extension.
    pub checkpoint_count: usize,
    /// How many versions were delivered. A Countersign extension.
    pub delivery_count: usize,
}

/// The principal and the assignee of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReducedOwnership {
    /// The person who is accountable for the task.
    pub principal: String,
    /// The person or agent who works on it.
    pub assignee: String,
    /// Whether the agent may delegate the task.
    pub delegable: bool,
}

/// `audit.replay` with `at`: the task at that time, and its events until then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay<Events = Vec<Stamped<AuditEvent>>> {
    pub at: Time,
    /// The task at that time; `None` before its creation.
    pub task: Option<Task>,
    /// The events until then, in order.
    pub events: Events,
}

/// Why a record cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The record is damaged.
    #[error("a record of the task is damaged")]
    Broken(#[from] ChainError),
    /// The record does not fit the state before it.
    #[error("a record does not follow the previous record")]
    Misfit(#[from] InapplicableEvent),
    /// The record is not about a task.
    #[error("this is not a record of a task")]
    Other,
}

/// Replays the history of a task.
#[derive(Debug, Clone)]
pub struct TaskReplayer {
    version: HacpVersion,
    task: Option<Box<task::Task>>,
    prev_hash: String,
}

impl TaskReplayer {
    /// Starts before the first record.
    pub fn new(version: HacpVersion) -> Self {
        Self { version, task: None, prev_hash: String::new() }
    }

    /// The task after the records replayed so far.
    pub fn task(&self) -> Option<&task::Task> {
        self.task.as_deref()
    }

    /// Replays the next record and returns its event.
    pub fn replay(&mut self, record: &Record) -> Result<Stamped<AuditEvent>, ReplayError> {
        let event = record.event()?;
        let DomainEvent::Task(what) = &event.what else { return Err(ReplayError::Other) };
        let before = self.task.take();
        let about = subject(&event, what);
        let found = before.as_deref().map(|task| (task.revision, task.chain.len()));
        let snapshot = before.as_deref().map(|task| snapshot_before(task, what));
        let after = evolve(before.map(Entity::Task), &event, record.hash)?;
        let Entity::Task(task) = after else { return Err(ReplayError::Other) };
        let (revision, steps) = found.unwrap_or_default();
        let mut told = self.version.stamped(AuditEvent {
            id: event_id(task.id, event.seq, event.at),
            seq: event.seq,
            at: event.at,
            actor: actor(&event, what),
            action: AuditAction::of(what).name().to_owned(),
            task_id: Some(task.id),
            before: snapshot,
            after: Some(snapshot_after(&task, what, steps, self.version)),
            later: self.version.since_v02(|| AuditLater {
                reducer: Some(reducer(&task, revision, about.clone(), what)),
                prev_hash: self.prev_hash.clone(),
                hash: None,
            }),
            subject: about,
        });
        if told.object.later.is_some() {
            let hash = format!("sha256:{}", Digest::of_json(&told));
            self.prev_hash.clone_from(&hash);
            if let Some(later) = &mut told.object.later {
                later.hash = Some(hash);
            }
        }
        self.task = Some(task);
        Ok(told)
    }

    /// Replays the next record without returning its event.
    pub fn advance(&mut self, record: &Record) -> Result<(), ReplayError> {
        // An event of 0.2 holds the hash of the previous event as shown.
        if self.version.since_v02(|| ()).is_some() {
            return self.replay(record).map(drop);
        }
        let before = self.task.take().map(Entity::Task);
        let Entity::Task(task) = evolve(before, &record.event()?, record.hash)? else {
            return Err(ReplayError::Other);
        };
        self.task = Some(task);
        Ok(())
    }
}

/// The response of `audit.replay` with `at`; the events may be serialized already.
pub fn replay_at<Events>(events: Events, trail: &TaskReplayer, at: Time) -> Replay<Events> {
    Replay { at, task: trail.task().map(|task| view::task(task, trail.version)), events }
}

/// The id of an event: a ULID that sorts by time and, within a task, by position. It is derived, so
/// it need not be stored.
pub(super) fn event_id(task: TaskId, seq: u64, at: Time) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let Digest(digest) = Digest::of(format!("audit\n{task}").as_bytes());
    let whose = digest.iter().take(6).fold(0_u128, |sum, byte| sum << 8 | u128::from(*byte));
    let when = u128::try_from(at.millis()).unwrap_or_default() & ((1 << 48) - 1);
    let bits = when << 80 | whose << 32 | u128::from(seq & u64::from(u32::MAX));
    let digit = |place: u32| {
        let digit = usize::try_from(bits >> (5 * place) & 31).unwrap_or_default();
        DIGITS.get(digit).copied().map_or('0', char::from)
    };
    let ulid: String = (0..26).rev().map(digit).collect();
    format!("aud_{ulid}")
}

/// The actor of an event. The system is the actor of automatic consequences: an interrupt raises
/// its checkpoint, and a review completes its task.
fn actor(event: &Event, what: &TaskEvent) -> String {
    let follows = matches!(
        what,
        TaskEvent::Completed | TaskEvent::Raised { kind: CheckpointKind::Interrupt, .. }
    );
    by(if follows { &ActorRef::System } else { &event.by })
}

fn subject(event: &Event, what: &TaskEvent) -> AuditSubject {
    let (kind, id) = match what {
        TaskEvent::Created(_)
        | TaskEvent::Assigned { .. }
        | TaskEvent::Started
        | TaskEvent::Cancelled { .. }
        | TaskEvent::Interrupted
        | TaskEvent::Amended { .. }
        | TaskEvent::Granted { .. }
        | TaskEvent::Completed
        | TaskEvent::WordsErased(_)
        | TaskEvent::Erased => ("task", event.subject.to_string()),
        TaskEvent::Raised { checkpoint, .. }
        | TaskEvent::Resolved { checkpoint, .. }
        | TaskEvent::CheckpointErased { checkpoint, .. }
        | TaskEvent::Lapsed { checkpoint, .. } => ("checkpoint", checkpoint_id(*checkpoint)),
        TaskEvent::Transferred { .. } | TaskEvent::Delegated { .. } => {
            ("ownership", event.subject.to_string())
        }
        TaskEvent::Committed { artifact, .. } | TaskEvent::Referenced { artifact, .. } => {
            ("artifact", artifact.id.to_string())
        }
        TaskEvent::Shared { artifact, .. } => ("artifact", artifact.to_string()),
        TaskEvent::Reviewed { review } => ("review", review.id.to_string()),
        TaskEvent::Remarked { review, .. } => ("review", review.to_string()),
        TaskEvent::Wrote { scope, .. } => ("ledger", LedgerId::of(scope.as_str()).to_string()),
    };
    AuditSubject { kind: kind.to_owned(), id }
}

fn snapshot(task: &task::Task, more: Map<String, Value>) -> Snapshot {
    Snapshot { state: task.state, revision: task.revision, assignee: party(&task.assignee), more }
}

/// The snapshot before an event.
fn snapshot_before(task: &task::Task, what: &TaskEvent) -> Snapshot {
    let mut more = Map::new();
    if let TaskEvent::Resolved { checkpoint, .. } | TaskEvent::Lapsed { checkpoint, .. } = what {
        let before = json!({ "id": checkpoint_id(*checkpoint), "state": "pending" });
        more.insert("checkpoint".to_owned(), before);
    }
    snapshot(task, more)
}

/// The snapshot after an event, with its details by name. `steps` is the length of the ownership
/// chain before it.
fn snapshot_after(
    task: &task::Task,
    what: &TaskEvent,
    steps: usize,
    version: HacpVersion,
) -> Snapshot {
    let mut more = match event_details(task, what, version) {
        Value::Object(more) => more,
        _ => Map::new(),
    };
    if let Some(last) = task.chain.get(steps..).and_then(<[_]>::last) {
        more.insert("transfer".to_owned(), json!(view::transfer(last)));
    }
    snapshot(task, more)
}

fn event_details(task: &task::Task, what: &TaskEvent, version: HacpVersion) -> Value {
    match what {
        TaskEvent::Created(created) => json!({
            "type": created.sort, "principal": person(&created.principal),
            "spec": view::spec(created, version), "parent_task": created.parent,
            "deadline": created.deadline, "delegable": created.delegable,
        }),
        TaskEvent::Assigned { agent: to, run, given } | TaskEvent::Delegated { to, run, given } => {
            let given = given.value().cloned().unwrap_or_default();
            json!({
                "agent_id": agent(to), "run_id": run,
                "capability": given.capability, "input": given.input,
            })
        }
        TaskEvent::Started | TaskEvent::Interrupted | TaskEvent::Completed | TaskEvent::Erased => {
            Value::Null
        }
        TaskEvent::CheckpointErased { checkpoint, reviews } => json!({
            "checkpoint": { "id": checkpoint_id(*checkpoint), "erased": true },
            "reviews": reviews,
        }),
        TaskEvent::WordsErased(erased) => json!({ "erased_person": person(&erased.human) }),
        TaskEvent::Cancelled { reason } => {
            json!({ "reason": reason.as_ref().and_then(|reason| reason.value()) })
        }
        TaskEvent::Raised { checkpoint, kind, raised_by } => json!({ "checkpoint": {
            "id": checkpoint_id(*checkpoint), "state": "pending", "kind": view::kind(*kind, version), "raised_by": raised_by,
        } }),
        TaskEvent::Resolved { checkpoint, resolution, run } => json!({
            "checkpoint": {
                "id": checkpoint_id(*checkpoint), "state": "resolved",
                "resolution": view::resolution(resolution, version),
            },
            "run_id": run.or(task.run.as_ref().map(|run| run.id)),
        }),
        TaskEvent::Lapsed { checkpoint, why, message: said } => {
            let mut ended = json!({
                "id": checkpoint_id(*checkpoint), "state": "expired", "reason": why,
            });
            // Present only if there is a comment, so that the hashes of older events do not change.
            if let (Some(said), Some(ended)) = (said, ended.as_object_mut()) {
                ended.insert("comment".to_owned(), json!(said.value()));
            }
            json!({ "checkpoint": ended })
        }
        TaskEvent::Amended { amendment } => json!({ "amendment": view::amendment(amendment) }),
        TaskEvent::Granted { grant } => json!({ "grant": view::grant(grant) }),
        TaskEvent::Transferred { run, .. } => json!({ "run_id": run }),
        TaskEvent::Committed { artifact, .. } => json!({ "artifact": artifact }),
        TaskEvent::Reviewed { review } => {
            json!({ "review": view::review(task.id, review, version) })
        }
        TaskEvent::Remarked { review, remark } => {
            json!({ "comment": view::added(task.id, *review, remark) })
        }
        TaskEvent::Referenced { artifact, role } => {
            json!({ "reference": { "id": artifact.id, "version": artifact.version, "as": role } })
        }
        TaskEvent::Shared { with, .. } => json!({ "shared_with": with }),
        TaskEvent::Wrote { scope, key, revision, .. } => {
            json!({ "entry": { "scope": scope, "key": key, "revision": revision } })
        }
    }
}

fn reducer(task: &task::Task, revision: u64, subject: AuditSubject, what: &TaskEvent) -> Reducer {
    let checkpoints = newest(&task.checkpoints);
    let mut artifact_ids: Vec<ArtifactId> = Vec::new();
    for delivered in newest(&task.delivered) {
        if !artifact_ids.contains(&delivered.id) {
            artifact_ids.push(delivered.id);
        }
    }
    Reducer {
        subject,
        change: AuditAction::of(what).name().to_owned(),
        task: Reduced {
            id: task.id,
            state: task.state,
            revision,
            ownership: ReducedOwnership {
                principal: person(&task.principal),
                assignee: party(&task.assignee),
                delegable: task.delegable,
            },
            checkpoint_ids: checkpoints.iter().map(|raised| checkpoint_id(raised.ask)).collect(),
            artifact_ids,
            steering_count: task.steering.len(),
            checkpoint_count: task.checkpoints.len(),
            delivery_count: task.delivered.len(),
        },
    }
}

fn newest<T>(all: &[T]) -> &[T] {
    all.get(all.len().saturating_sub(MAX_SUMMARIZED)..).unwrap_or(all)
}

/// Verifies a chain of events: each event has the hash it states and names the hash of the previous
/// one. For receivers of a history.
pub fn has_intact_hash_chain(events: &[Value]) -> bool {
    let mut prev = String::new();
    events.iter().all(|event| {
        let Value::Object(event) = event else { return false };
        let mut rest = event.clone();
        let Some(Value::String(hash)) = rest.shift_remove("hash") else { return false };
        let linked = rest.get("prev_hash").and_then(Value::as_str) == Some(&prev);
        let is = format!("sha256:{}", Digest::of_json(&rest));
        prev.clone_from(&is);
        linked && is == hash
    })
}

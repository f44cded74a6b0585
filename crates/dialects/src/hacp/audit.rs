//! The history of a task as the protocol tells it: who did what, from what to what, link by link.
//! HACP-024, HACP-042, HACP-084; K-19, K-22.
//!
//! An event on the wire is made from a record of the task and the states around it, so a history is
//! told by folding it: a [`Trail`] takes one record after the other. Its hashes are over what is shown.
//! They are the protocol's; that nothing was ever changed is proven by the record's own chain, which
//! stays valid when words are erased.

use kernel::audit::{Broken, Digest, Record};
use kernel::evolve::{Misfit, evolve};
use kernel::task::{self, CheckpointKind, State, TaskEvent};
use kernel::{ArtifactId, By, Entity, Event, Happened, LedgerId, TaskId, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::actions::AuditAction;
use super::checkpoint_id;
use super::names::{agent, by, party, person};
use super::version::Version;
use super::view;
use super::wire::{Stamped, Task};

/// How many of the newest checkpoints and artifacts an event names. With all of them the history of a
/// long task would grow with the square of its length.
const NAMED: usize = 50;

/// One event of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditEvent {
    /// Its name.
    pub id: String,
    /// Its place in the history of the task, from 1.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// Who.
    pub actor: String,
    /// What happened.
    pub action: String,
    /// To what.
    pub subject: AuditSubject,
    /// The task.
    pub task_id: Option<TaskId>,
    /// How things were; nothing before the first event.
    pub before: Option<Snapshot>,
    /// How they are now, with what was said and done.
    pub after: Option<Snapshot>,
    /// What 0.1 does not have.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub later: Option<AuditLater>,
}

/// What an event happened to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditSubject {
    /// What sort of thing.
    pub kind: String,
    /// Which.
    pub id: String,
}

/// A task in a few words, and what the event is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Where the task stands.
    pub state: State,
    /// How often it was changed.
    pub revision: u64,
    /// Whom it is with.
    pub assignee: String,
    /// The rest, by name.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What 0.1 does not have of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditLater {
    /// What somebody needs who folds events without knowing them.
    pub reducer: Option<Reducer>,
    /// The hash of the event before; empty for the first.
    pub prev_hash: String,
    /// The hash of this one: over its canonical JSON without this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// The task after an event, in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reducer {
    /// What changed.
    pub subject: AuditSubject,
    /// How.
    pub change: String,
    /// The task.
    pub task: Reduced,
}

/// A task in a few words. Its revision is the one the change found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reduced {
    /// Which.
    pub id: TaskId,
    /// Where it stands.
    pub state: State,
    /// The revision before.
    pub revision: u64,
    /// Who answers for it, and whom it is with.
    pub ownership: ReducedOwnership,
    /// Its newest checkpoints, in order.
    pub checkpoint_ids: Vec<String>,
    /// What was delivered last, in order.
    pub artifact_ids: Vec<ArtifactId>,
    /// How often its principal said something on the way.
    pub steering_count: usize,
    /// How many checkpoints it has. Ours.
    pub checkpoint_count: usize,
    /// How often something was delivered. Ours.
    pub delivery_count: usize,
}

/// Who answers for a task, and whom it is with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReducedOwnership {
    /// Who answers for it.
    pub principal: String,
    /// Whom it is with.
    pub assignee: String,
    /// Whether its agent may hand it down.
    pub delegable: bool,
}

/// `audit.replay` with `at`: the task as it was, and what had happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay<Events = Vec<Stamped<AuditEvent>>> {
    /// When.
    pub at: Time,
    /// The task then; nothing before it was written down.
    pub task: Option<Task>,
    /// What had happened to it, in order.
    pub events: Events,
}

/// A record that cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum Untold {
    /// It is damaged.
    #[error("a record of the task is damaged")]
    Broken(#[from] Broken),
    /// It cannot have followed what came before.
    #[error("a record does not follow the one before")]
    Misfit(#[from] Misfit),
    /// It is about something else.
    #[error("this is no record of a task")]
    Other,
}

/// A history that is being told.
#[derive(Debug, Clone)]
pub struct Trail {
    version: Version,
    task: Option<Box<task::Task>>,
    prev_hash: String,
}

impl Trail {
    /// From the first record on.
    pub fn new(version: Version) -> Self {
        Self { version, task: None, prev_hash: String::new() }
    }

    /// The task after what was told.
    pub fn task(&self) -> Option<&task::Task> {
        self.task.as_deref()
    }

    /// Takes the next record, and tells it.
    pub fn tell(&mut self, record: &Record) -> Result<Stamped<AuditEvent>, Untold> {
        let event = record.event()?;
        let Happened::Task(what) = &event.what else { return Err(Untold::Other) };
        let before = self.task.take();
        let about = subject(&event, what);
        let found = before.as_deref().map(|task| (task.revision, task.chain.len()));
        let snapshot = before.as_deref().map(|task| was(task, what));
        let after = evolve(before.map(Entity::Task), &event, record.hash)?;
        let Entity::Task(task) = after else { return Err(Untold::Other) };
        let (revision, steps) = found.unwrap_or_default();
        let mut told = self.version.stamped(AuditEvent {
            id: event_id(task.id, event.seq, event.at),
            seq: event.seq,
            at: event.at,
            actor: actor(&event, what),
            action: AuditAction::of(what).name().to_owned(),
            task_id: Some(task.id),
            before: snapshot,
            after: Some(is(&task, what, steps, self.version)),
            later: self.version.later(|| AuditLater {
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

    /// Takes the next record without telling it, so that the one behind it can be told.
    pub fn pass(&mut self, record: &Record) -> Result<(), Untold> {
        // An event of 0.2 names the one before by the hash of what was told.
        if self.version.later(|| ()).is_some() {
            return self.tell(record).map(drop);
        }
        let before = self.task.take().map(Entity::Task);
        let Entity::Task(task) = evolve(before, &record.event()?, record.hash)? else {
            return Err(Untold::Other);
        };
        self.task = Some(task);
        Ok(())
    }
}

/// What `audit.replay` with `at` answers; the events may be written already.
pub fn replayed<Events>(events: Events, trail: &Trail, at: Time) -> Replay<Events> {
    Replay { at, task: trail.task().map(|task| view::task(task, trail.version)), events }
}

/// The name of an event: a ULID that sorts by time and, within a task, by place. Nobody has to keep
/// it.
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

/// Whoever did it. What follows from what somebody did, nobody did: an interrupt raises its checkpoint
/// by itself, and a review completes its task.
fn actor(event: &Event, what: &TaskEvent) -> String {
    let follows = matches!(
        what,
        TaskEvent::Completed | TaskEvent::Raised { kind: CheckpointKind::Interrupt, .. }
    );
    by(if follows { &By::System } else { &event.by })
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

/// How things were.
fn was(task: &task::Task, what: &TaskEvent) -> Snapshot {
    let mut more = Map::new();
    if let TaskEvent::Resolved { checkpoint, .. } | TaskEvent::Lapsed { checkpoint, .. } = what {
        let before = json!({ "id": checkpoint_id(*checkpoint), "state": "pending" });
        more.insert("checkpoint".to_owned(), before);
    }
    snapshot(task, more)
}

/// How they are now: also what was said and done, by name. `steps` is how often it had gone to
/// somebody.
fn is(task: &task::Task, what: &TaskEvent, steps: usize, version: Version) -> Snapshot {
    let mut more = match done(task, what, version) {
        Value::Object(more) => more,
        _ => Map::new(),
    };
    if let Some(last) = task.chain.get(steps..).and_then(<[_]>::last) {
        more.insert("transfer".to_owned(), json!(view::transfer(last)));
    }
    snapshot(task, more)
}

fn done(task: &task::Task, what: &TaskEvent, version: Version) -> Value {
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
        TaskEvent::Lapsed { checkpoint, why, said } => {
            let mut ended = json!({
                "id": checkpoint_id(*checkpoint), "state": "expired", "reason": why,
            });
            // Only where something was said, so that the hashes of earlier events stay as they are.
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
    all.get(all.len().saturating_sub(NAMED)..).unwrap_or(all)
}

/// Whether a chain of events is whole: each names the one before by its hash, and has the hash it
/// says. For whoever was sent one.
pub fn is_whole(events: &[Value]) -> bool {
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

//! What the tests share: calls as clients send them, and the story of one task.

use dialects::hacp::audit::{AuditEvent, TaskReplayer};
use dialects::hacp::{
    self, HacpCall, HacpCaller, HacpError, HacpVersion, Operation, OperationParams, Stamped,
};
use kernel::audit::{Digest, Record};
use kernel::command::Command;
use kernel::evolve::evolve;
use kernel::task::{Artifact, Entry, StoredContent, Task, TaskCommand};
use kernel::testing::Cast;
use kernel::{Actor, AskId, Entity, Subject, TaskId, Time};
use serde_json::{Value, json};

pub(crate) const V01: HacpVersion = HacpVersion::V01;
pub(crate) const V02: HacpVersion = HacpVersion::V02;

/// A person, or an agent.
pub(crate) fn actor(cast: &Cast, who: &str) -> Actor {
    if ["bot", "spy"].contains(&who) { cast.agent(who) } else { cast.human(who) }
}

/// Reads a call with these parameters.
pub(crate) fn read_in(
    cast: &Cast,
    version: HacpVersion,
    who: &str,
    operation: &str,
    params: &Value,
) -> Result<HacpCall, HacpError> {
    let body = serde_json::to_vec(&json!({ "params": params })).unwrap();
    let caller = HacpCaller { actor: &actor(cast, who), directory: cast.directory(), version };
    hacp::read(Operation::named(operation, version)?, &body, caller)
}

/// The same in the newest version.
pub(crate) fn read(
    cast: &Cast,
    who: &str,
    operation: &str,
    params: &Value,
) -> Result<HacpCall, HacpError> {
    read_in(cast, V02, who, operation, params)
}

/// What we hold of some bytes.
pub(crate) fn held(bytes: &[u8]) -> StoredContent {
    let (checksum, manifest) = (Digest::of(bytes), Digest::of(b"the list of their pieces"));
    StoredContent { checksum, size: bytes.len() as u64, manifest }
}

/// A call that changes something, read and decided.
pub(crate) fn attempt(
    cast: &mut Cast,
    who: &str,
    operation: &str,
    params: &Value,
) -> Result<(), HacpError> {
    let call = read(cast, who, operation, params)?;
    let command = match call.params {
        OperationParams::Command(command) => *command,
        OperationParams::Commit(commit) => {
            let held = commit.payload.content.as_deref().map(held);
            commit.command(held.as_ref().map(|held| (held, None)))?
        }
        OperationParams::Comment { task, review, comment } => {
            TaskCommand::Remark(task.unwrap(), review, comment)
        }
        other => panic!("{operation} changes nothing: {other:?}"),
    };
    let decided = cast.attempt(actor(cast, who), Command::Task(Box::new(command)));
    decided.map_err(|refusal| HacpError::refused(&refusal))
}

pub(crate) fn run(cast: &mut Cast, who: &str, operation: &str, params: &Value) {
    let done = attempt(cast, who, operation, params);
    done.unwrap_or_else(|error| panic!("{operation} {params}: {error}"));
}

/// What a subject is, by its record.
fn entity(cast: &Cast, subject: &Subject) -> Option<Entity> {
    let mine = cast.records().iter().filter(|record| record.subject == *subject);
    mine.fold(None, |before, record| {
        Some(evolve(before, &record.event().unwrap(), record.hash).unwrap())
    })
}

pub(crate) fn task(cast: &Cast, id: TaskId) -> Task {
    match entity(cast, &Subject::Task(id)) {
        Some(Entity::Task(task)) => *task,
        other => panic!("{id}: {other:?}"),
    }
}

pub(crate) fn artifact(cast: &Cast, task: &Task) -> Artifact {
    let id = task.delivered.last().unwrap().id;
    match entity(cast, &Subject::Artifact(id)) {
        Some(Entity::Artifact(artifact)) => *artifact,
        other => panic!("{id}: {other:?}"),
    }
}

/// The key of a ledger that was written last.
pub(crate) fn entry(cast: &Cast) -> Entry {
    let is_entry = |subject: &&Subject| matches!(subject, Subject::Entry(_));
    let last = cast.records().iter().map(|record| &record.subject).rfind(is_entry);
    match entity(cast, last.unwrap()) {
        Some(Entity::Entry(entry)) => *entry,
        other => panic!("{other:?}"),
    }
}

/// The task that was written down last.
pub(crate) fn newest(cast: &Cast) -> TaskId {
    let task = |subject: &Subject| match subject {
        Subject::Task(id) => Some(*id),
        _ => None,
    };
    cast.records().iter().filter_map(|record| task(&record.subject)).max().unwrap()
}

/// Its checkpoint that is raised last.
pub(crate) fn checkpoint(cast: &Cast, id: TaskId) -> AskId {
    task(cast, id).checkpoints.last().unwrap().ask
}

pub(crate) fn checkpoint_name(cast: &Cast, id: TaskId) -> String {
    hacp::checkpoint_id(checkpoint(cast, id))
}

/// A task with everything that can be said of one.
pub(crate) fn whole_task() -> Value {
    json!({
        "type": "code_change", "project": "acme", "delegable": true,
        "deadline": "2026-02-08T00:00:00Z", "on_expiry": "stay_blocked",
        "spec": {
            "goal": "Move the billing page to the new design",
            "acceptance_criteria": ["all tests pass", "no layout shift"],
            "inputs": [{"kind": "resource", "id": "design", "uri": "https://example.com/design"}],
            "constraints": {
                "max_duration": "PT8H",
                "must_use_capabilities": [{"capability_id": "git", "version": "2"}],
                "external_refs": [{"kind": "ticket", "namespace": "jira", "id": "BILL-7", "label": "Billing"}],
                "autonomy": "plan_then_implement",
                "grants": [{"scope": "fs:/repo:*", "decision": "allow", "until": "task", "granted_by": "user_olga"}],
            },
            "review_policy": {"required_reviewers": ["user_olga", "user_mark"], "quorum": "all"},
        },
        "hxp": {"intent": "build"},
    })
}

/// The least a task needs.
pub(crate) fn plain_task() -> Value {
    json!({ "type": "note", "spec": { "goal": "Write it down" } })
}

/// A task that somebody works on.
pub(crate) fn in_progress(cast: &mut Cast, new: &Value) -> TaskId {
    run(cast, "olga", "task.create", new);
    let id = newest(cast);
    cast.advance(60);
    let given = json!({"repo": "billing"});
    let assign =
        json!({"task_id": id, "agent_id": "agent_bot", "capability": "git", "input": given});
    run(cast, "olga", "task.assign", &assign);
    cast.advance(1);
    run(cast, "bot", "task.start", &json!({ "task_id": id }));
    id
}

/// A checkpoint with everything that can be said of one.
pub(crate) fn whole_checkpoint(id: TaskId) -> Value {
    json!({
        "task_id": id, "kind": "choice", "prompt": "Which way?", "priority": "high",
        "expires_at": "2026-02-07T00:00:00Z",
        "options": [
            {"id": "a", "label": "In one go", "risk": "high"},
            {"id": "b", "label": "Page by page", "risk": "low"},
        ],
        "context": [
            {"kind": "text", "content": "There are 12 pages."},
            {"kind": "artifact", "id": "art_1", "version": "v1"},
        ],
        "proposed_actions": [
            {"id": "p1", "kind": "shell", "summary": "Run the codemod", "detail": {"argv": ["codemod"]}, "risk": "medium", "permission_scope": "bash:codemod"},
            {"id": "p2", "kind": "file_write", "summary": "Replace the styles"},
        ],
        "hxp": {"intent": "choose"},
    })
}

/// Something delivered.
pub(crate) fn delivery(id: TaskId, artifact: Option<&str>, content: &str) -> Value {
    json!({
        "task_id": id, "type": "patch", "art_id": artifact,
        "payload": {"kind": "inline", "content": content, "media_type": "text/x-diff"},
    })
}

/// The reference flow of the protocol, with what 0.2 added: every kind of event of a task but being
/// called off and forgotten.
pub(crate) fn story() -> (Cast, TaskId) {
    let mut cast = Cast::new();
    let id = in_progress(&mut cast, &whole_task());
    let go = |cast: &mut Cast, who, operation, params: Value| {
        cast.advance(30);
        run(cast, who, operation, &params);
    };
    go(&mut cast, "bot", "checkpoint.raise", whole_checkpoint(id));
    let checkpoint = checkpoint_name(&cast, id);
    go(
        &mut cast,
        "olga",
        "checkpoint.resolve",
        json!({
            "ckpt_id": checkpoint,
            "resolution": {
                "action": "choose", "choice": "b", "comment": "Slowly", "approved_actions": ["p2"],
                "denied_actions": ["p1"], "state_patch": {"page": 1},
            },
        }),
    );
    go(
        &mut cast,
        "olga",
        "task.amend",
        json!({"task_id": id, "text": "Keep the old routes", "intent": "constrain"}),
    );
    go(
        &mut cast,
        "olga",
        "task.grant",
        json!({"task_id": id, "scope": "bash:*", "decision": "deny", "until": "2026-02-07T00:00:00Z"}),
    );
    go(
        &mut cast,
        "olga",
        "task.interrupt",
        json!({"task_id": id, "prompt": "Stop: is it page two?"}),
    );
    let checkpoint = checkpoint_name(&cast, id);
    go(
        &mut cast,
        "olga",
        "checkpoint.resolve",
        json!({"ckpt_id": checkpoint, "action": "approve"}),
    );
    go(&mut cast, "bot", "artifact.commit", delivery(id, None, "the plan"));
    let made = task(&cast, id).delivered[0].id.to_string();
    for who in ["olga", "mark"] {
        let state = task(&cast, id).state;
        if state == kernel::task::TaskState::InProgress {
            break;
        }
        go(
            &mut cast,
            who,
            "review.submit",
            json!({"task_id": id, "verdict": "approved", "kind": "plan"}),
        );
    }
    go(&mut cast, "bot", "artifact.commit", delivery(id, Some(&made), "- old\n+ new\n"));
    go(
        &mut cast,
        "mark",
        "review.submit",
        json!({
            "task_id": id, "art_id": made, "version": "v2", "verdict": "changes_requested",
            "comments": [{"anchor": "a.css:3", "severity": "blocker", "body": "The button is gone"}],
            "requested_changes": ["Bring the button back"],
        }),
    );
    let review = task(&cast, id).reviews.last().unwrap().id;
    go(
        &mut cast,
        "mark",
        "review.comment",
        json!({"task_id": id, "review_id": review, "comment": "On phones too"}),
    );
    go(&mut cast, "bot", "artifact.commit", delivery(id, Some(&made), "- old\n+ newer\n"));
    for who in ["olga", "mark"] {
        go(&mut cast, who, "review.submit", json!({"task_id": id, "verdict": "approved"}));
    }
    go(
        &mut cast,
        "bot",
        "ledger.write",
        json!({"scope": "project:acme", "key": "design/billing", "value": {"done": true}, "by": id}),
    );
    (cast, id)
}

/// A whole history, up to a moment if one is named.
pub(crate) fn replay(
    records: &[Record],
    at: Option<Time>,
    version: HacpVersion,
) -> (Vec<Stamped<AuditEvent>>, TaskReplayer) {
    let mut trail = TaskReplayer::new(version);
    let then = records.iter().take_while(|record| at.is_none_or(|at| record.at <= at));
    let told = then.map(|record| trail.replay(record).unwrap()).collect();
    (told, trail)
}

//! Calls: `{"params": {…}, "expected_task_revision"?, "idempotency_key"?}`. HACP-040, HACP-081,
//! HACP-082; the names of parameters are those in use, section 9 of our digest.
//!
//! What is not understood must not look accepted: an unknown parameter is refused, one of a later
//! version too, and `null` counts as absent.

mod artifact;
mod checkpoint;
mod data_uri;
mod ledger;
mod queries;
mod review;
mod task;

use kernel::audit::Digest;
use kernel::directory::Directory;
use kernel::task::{Comment, Scope, TaskCommand};
use kernel::{Actor, AgentId, ArtifactId, AskId, HumanId, ReviewId, TaskId};
use serde_json::{Map, Value, json};

pub use artifact::{Commit, NewPayload};
pub use queries::{Acked, AuditQuery, Page, Peeked, Replayed, TaskQuery};

use super::errors::{HacpError, code};
use super::names::{by, check_caller, find_agent, find_person};
use super::operation::Operation;
use super::parse::{Members, object};
use super::version::Version;

/// The longest idempotency key, in bytes.
const LONGEST_KEY: usize = 200;
/// What callers may say of themselves.
const ACTORS: [&str; 4] = ["principal", "by", "actor", "reviewer"];
/// What a body may have beside its parameters.
const EXPECTED_REVISION: &str = "expected_task_revision";
const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// Whoever calls, and what they can name.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// By their credential.
    pub actor: &'a Actor,
    /// People and agents, by name.
    pub directory: &'a Directory,
    /// The version they speak.
    pub version: Version,
}

/// A call that could be read.
#[derive(Debug, Clone)]
pub struct Call {
    /// What is wanted.
    pub operation: Operation,
    /// Of what, and how.
    pub params: Params,
    /// The revision of the task the caller has seen (HACP-081).
    pub expected_task_revision: Option<u64>,
    /// What a repeated call is known by (HACP-082).
    pub idempotency_key: Option<String>,
    /// What makes two calls the same: operation and parameters, however they are spelled in JSON, and
    /// nothing else.
    pub fingerprint: Digest,
}

/// What an operation is given.
#[derive(Debug, Clone)]
pub enum Params {
    /// Something for the kernel to decide.
    Command(Box<TaskCommand>),
    /// `artifact.commit`: something for the kernel to decide once it is known what we hold.
    Commit(Box<Commit>),
    /// `review.comment`: the same, once it is known whose review it is.
    Comment {
        /// The task, if the caller said so.
        task: Option<TaskId>,
        /// Which review.
        review: ReviewId,
        /// What is added.
        comment: Comment,
    },
    /// `task.get`
    Task(TaskId),
    /// `task.list`
    Tasks(TaskQuery),
    /// `artifact.get`
    Artifact {
        /// Which.
        id: ArtifactId,
        /// In which version; nothing for the newest.
        version: Option<String>,
    },
    /// `ledger.read`
    Entry {
        /// Whose ledger.
        scope: Scope,
        /// Which key; nothing for the ledger itself.
        key: Option<String>,
    },
    /// `ledger.history`
    History {
        /// Whose ledger.
        scope: Scope,
        /// Which key.
        key: String,
        /// Which part of it.
        page: Page,
    },
    /// `audit.query`
    Audit(AuditQuery),
    /// `audit.replay`
    Replay(Replayed),
    /// `human.inbox`
    Inbox(Page),
    /// `pending.outbox`
    Outbox {
        /// Of one task only.
        task: Option<TaskId>,
        /// Which part.
        page: Page,
    },
    /// `runtime.peek`
    Peek(Peeked),
    /// `runtime.ack`
    Ack(Acked),
}

impl Params {
    /// A command, ready to be decided.
    fn command(command: TaskCommand) -> Self {
        Self::Command(Box::new(command))
    }

    /// The task it is about, as far as the caller said.
    pub fn task(&self) -> Option<TaskId> {
        match self {
            Self::Command(command) => command.task(),
            Self::Commit(commit) => Some(commit.task),
            Self::Comment { task, .. } | Self::Outbox { task, .. } => *task,
            Self::Task(id) => Some(*id),
            Self::Audit(query) => query.task,
            Self::Replay(replayed) => Some(replayed.task),
            Self::Tasks(_)
            | Self::Artifact { .. }
            | Self::Entry { .. }
            | Self::History { .. }
            | Self::Inbox(_)
            | Self::Peek(_)
            | Self::Ack(_) => None,
        }
    }
}

/// Reads the body of `POST /hacp/v1/ops/{operation}`; an empty one has no parameters.
pub fn read(operation: Operation, body: &[u8], caller: Caller<'_>) -> Result<Call, HacpError> {
    let body = if body.is_empty() { Map::new() } else { object(body)? };
    let members = Members::new(&body, "");
    members.only(&["params", EXPECTED_REVISION, IDEMPOTENCY_KEY])?;
    let params = members.object("params")?.cloned().unwrap_or_default();
    call(operation, members, params, caller)
}

/// Reads the `params` of a JSON-RPC request: the same parameters with what stands beside them.
pub(super) fn read_flat(
    operation: Operation,
    mut params: Map<String, Value>,
    caller: Caller<'_>,
) -> Result<Call, HacpError> {
    let beside = [EXPECTED_REVISION, IDEMPOTENCY_KEY];
    let beside = beside.into_iter().filter_map(|key| params.shift_remove_entry(key)).collect();
    call(operation, Members::new(&beside, ""), params, caller)
}

fn call(
    operation: Operation,
    beside: Members<'_>,
    mut params: Map<String, Value>,
    caller: Caller<'_>,
) -> Result<Call, HacpError> {
    let expected_task_revision = beside.count(EXPECTED_REVISION)?;
    let idempotency_key = beside.text(IDEMPOTENCY_KEY)?.map(ToOwned::to_owned);
    if idempotency_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > LONGEST_KEY) {
        return Err(beside.bad(IDEMPOTENCY_KEY, "1 to 200 bytes"));
    }
    let given = [EXPECTED_REVISION, IDEMPOTENCY_KEY].map(|key| beside.given(key).map(|_| key));
    for key in given.into_iter().flatten() {
        let new = operation == Operation::TaskCreate && key == EXPECTED_REVISION;
        if caller.version < Version::V02 || !operation.changes() || new {
            let message = format!("{key}: {} does not take this field", operation.name());
            return Err(HacpError::new(code::INVALID_SPEC, message).with("field", json!(key)));
        }
    }
    without_actors(operation, &mut params, caller.actor)?;
    let fingerprint = Digest::of_json(&json!({ "operation": operation.name(), "params": params }));
    let params = typed(operation, Members::new(&params, "params"), caller)?;
    Ok(Call { operation, params, expected_task_revision, idempotency_key, fingerprint })
}

/// Takes out what callers say of themselves, if it is what their credential says.
fn without_actors(
    operation: Operation,
    params: &mut Map<String, Value>,
    actor: &Actor,
) -> Result<(), HacpError> {
    // Where the word means something else.
    let own = [
        (Operation::TaskList, "principal"),
        (Operation::LedgerWrite, "by"),
        (Operation::AuditQuery, "actor"),
    ];
    for key in ACTORS.into_iter().filter(|key| !own.contains(&(operation, *key))) {
        let Some(value) = params.shift_remove(key).filter(|value| !value.is_null()) else {
            continue;
        };
        let field = format!("params.{key}");
        let name = value.as_str().ok_or_else(|| HacpError::field(&field, "a string"))?;
        check_caller(actor, &field, name)?;
    }
    // Upstream's client always sends these two. They name the caller as well, or what the object itself
    // says there: the sort of caller, and the task.
    let role = match actor {
        Actor::Agent { .. } => "agent",
        Actor::Human { .. } => "human",
        Actor::LinkHolder { .. } | Actor::Relay { .. } | Actor::Guest { .. } | Actor::System => {
            "system"
        }
    };
    let task = params.get("task_id").and_then(Value::as_str).map(ToOwned::to_owned);
    let own = match operation {
        Operation::CheckpointRaise => Some(("raised_by", Some(role.to_owned()))),
        Operation::ArtifactCommit => Some(("produced_by", task)),
        _ => None,
    };
    let given = own.and_then(|(key, also)| Some((key, also, params.shift_remove(key)?)));
    let Some((key, also, value)) = given.filter(|(_, _, value)| !value.is_null()) else {
        return Ok(());
    };
    let field = format!("params.{key}");
    let name = value.as_str().ok_or_else(|| HacpError::field(&field, "a string"))?;
    if also.as_deref() == Some(name) {
        return Ok(());
    }
    check_caller(actor, &field, name).map_err(|_| {
        let caller = by(&actor.by());
        let also = also.map(|also| format!(" or {also}")).unwrap_or_default();
        let message = format!("{field}: expected {caller}{also}, or leave it out");
        HacpError::new(code::UNAUTHORIZED, message).with("field", field.as_str().into())
    })
}

fn typed(
    operation: Operation,
    params: Members<'_>,
    caller: Caller<'_>,
) -> Result<Params, HacpError> {
    match operation {
        Operation::TaskCreate => task::create(params, caller),
        Operation::TaskAssign => task::assign(params, caller),
        Operation::TaskStart => task::start(params),
        Operation::TaskCancel => task::cancel(params),
        Operation::TaskInterrupt => task::interrupt(params),
        Operation::TaskAmend => task::amend(params),
        Operation::TaskGrant => task::grant(params, caller),
        Operation::TaskGet => queries::task(params),
        Operation::TaskList => queries::tasks(params, caller),
        Operation::CheckpointRaise => checkpoint::raise(params, caller),
        Operation::CheckpointResolve => checkpoint::resolve(params, caller),
        Operation::CheckpointExpire => checkpoint::expire(params),
        Operation::OwnershipTransfer => task::transfer(params, caller),
        Operation::OwnershipDelegate => task::delegate(params, caller),
        Operation::ReviewSubmit => review::submit(params, caller),
        Operation::ReviewComment => review::comment(params),
        Operation::ArtifactCommit => artifact::commit(params),
        Operation::ArtifactGet => artifact::get(params),
        Operation::ArtifactReference => artifact::reference(params),
        Operation::ArtifactShare => artifact::share(params),
        Operation::LedgerRead => ledger::read(params),
        Operation::LedgerWrite => ledger::write(params, caller),
        Operation::LedgerHistory => ledger::history(params),
        Operation::AuditQuery => queries::audit(params, caller),
        Operation::AuditReplay => queries::replay(params),
        Operation::HumanInbox => queries::inbox(params),
        Operation::PendingOutbox => queries::outbox(params),
        Operation::RuntimePeek => queries::peek(params),
        Operation::RuntimeAck => queries::ack(params),
    }
}

impl Caller<'_> {
    /// Only these parameters, and these as well from 0.2 on.
    fn only(self, members: Members<'_>, first: &[&str], later: &[&str]) -> Result<(), HacpError> {
        // In an older version the later ones are unknown, but `null` is absent in every version.
        let absent = |key: &&str| members.map().get(*key).is_some_and(Value::is_null);
        let old = self.version < Version::V02;
        let later = later.iter().copied().filter(|key| !old || absent(key));
        members.only(&first.iter().copied().chain(later).collect::<Vec<_>>())
    }

    /// An agent that must be named.
    fn agent(self, members: Members<'_>, key: &str) -> Result<AgentId, HacpError> {
        let name = members.required(key)?;
        find_agent(self.directory, name)
            .ok_or_else(|| HacpError::missing(&members.path(key), "agent"))
    }

    /// People, by name.
    fn people(self, members: Members<'_>, key: &str) -> Result<Vec<HumanId>, HacpError> {
        let names = members.texts(key)?.unwrap_or_default();
        let found: Option<Vec<HumanId>> =
            names.iter().map(|name| find_person(self.directory, name)).collect();
        found.ok_or_else(|| members.bad(key, "the names of people who are known here"))
    }
}

/// The task that must be named.
fn task_id(members: Members<'_>) -> Result<TaskId, HacpError> {
    members.required_id("task_id", "task")
}

/// The artifact that must be named.
fn artifact_id(members: Members<'_>) -> Result<ArtifactId, HacpError> {
    members.required_id("art_id", "artifact")
}

/// The checkpoint that must be named.
fn checkpoint_id(members: Members<'_>) -> Result<AskId, HacpError> {
    let text = members.required("ckpt_id")?;
    super::ask_id(text).ok_or_else(|| HacpError::missing(&members.path("ckpt_id"), "checkpoint"))
}

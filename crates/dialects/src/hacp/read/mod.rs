//! Calls: `{"params": {…}, "expected_task_revision"?, "idempotency_key"?}`. HACP-040, HACP-081,
//! HACP-082; section 9 of our digest lists the parameter names in use.
//!
//! Unknown parameters are rejected, and so are those of a later version, because the server must
//! not appear to accept a parameter that it ignores. `null` counts as absent.

mod artifact;
mod checkpoint;
mod data_uri;
mod queries;
mod task;

use kernel::audit::Digest;
use kernel::directory::Directory;
use kernel::task::{AnchoredComment, LedgerScope, TaskCommand};
use kernel::{Actor, AgentId, ArtifactId, AskId, HumanId, ReviewId, TaskId};
use serde_json::{Map, Value, json};

use super::errors::{HacpError, code};
use super::names::{by, check_caller, find_agent, find_person};
use super::operation::Operation;
use super::parse::{Members, object};
use super::version::HacpVersion;

pub use artifact::{ArtifactCommit, NewPayload};
pub use queries::{AckParams, AuditQuery, HacpPageParams, PeekParams, ReplayParams, TaskQuery};

/// Maximum length of an idempotency key, in bytes.
const LONGEST_KEY: usize = 200;
/// The parameters in which callers may name themselves.
const ACTORS: [&str; 4] = ["principal", "by", "actor", "reviewer"];
/// The members of a body beside its parameters.
const EXPECTED_REVISION: &str = "expected_task_revision";
const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// The caller, and the directory for resolving names.
#[derive(Debug, Clone, Copy)]
pub struct HacpCaller<'a> {
    /// The authenticated actor.
    pub actor: &'a Actor,
    pub directory: &'a Directory,
    /// The protocol version of the call.
    pub version: HacpVersion,
}

/// A parsed call.
#[derive(Debug, Clone)]
pub struct HacpCall {
    pub operation: Operation,
    pub params: OperationParams,
    /// The revision of the task that the caller has seen (HACP-081).
    pub expected_task_revision: Option<u64>,
    /// Identifies a repeated call (HACP-082).
    pub idempotency_key: Option<String>,
    /// The digest of the operation and its parameters in canonical form. Equal calls have equal
    /// fingerprints.
    pub fingerprint: Digest,
}

/// The parameters of an operation.
#[derive(Debug, Clone)]
pub enum OperationParams {
    /// A command for the kernel.
    Command(Box<TaskCommand>),
    /// `artifact.commit`: becomes a command once the server has looked up the stored bytes.
    Commit(Box<ArtifactCommit>),
    /// `review.comment`: becomes a command once the server has found the review's task.
    Comment {
        /// The task, if the caller named it.
        task: Option<TaskId>,
        review: ReviewId,
        comment: AnchoredComment,
    },
    /// `task.get`
    Task(TaskId),
    /// `task.list`
    Tasks(TaskQuery),
    /// `artifact.get`
    Artifact {
        id: ArtifactId,
        /// The version; `None` for the newest.
        version: Option<String>,
    },
    /// `ledger.read`
    Entry {
        scope: LedgerScope,
        /// The key; `None` for the ledger itself.
        key: Option<String>,
    },
    /// `ledger.history`
    History {
        scope: LedgerScope,
        /// The key whose values are listed.
        key: String,
        page: HacpPageParams,
    },
    /// `audit.query`
    Audit(AuditQuery),
    /// `audit.replay`
    Replay(ReplayParams),
    /// `human.inbox`
    Inbox(HacpPageParams),
    /// `pending.outbox`
    Outbox {
        /// Limits the list to one task.
        task: Option<TaskId>,
        page: HacpPageParams,
    },
    /// `runtime.peek`
    Peek(PeekParams),
    /// `runtime.ack`
    Ack(AckParams),
}

impl OperationParams {
    fn command(command: TaskCommand) -> Self {
        Self::Command(Box::new(command))
    }

    /// The task that the call names, if any.
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

/// Reads the body of `POST /hacp/v1/ops/{operation}`; an empty body has no parameters.
pub fn read(
    operation: Operation,
    body: &[u8],
    caller: HacpCaller<'_>,
) -> Result<HacpCall, HacpError> {
    let body = if body.is_empty() { Map::new() } else { object(body)? };
    let members = Members::new(&body, "");
    members.only(&["params", EXPECTED_REVISION, IDEMPOTENCY_KEY])?;
    let params = members.object("params")?.cloned().unwrap_or_default();
    call(operation, members, params, caller)
}

/// Reads the `params` of a JSON-RPC request, which hold the parameters and the members beside them.
pub(super) fn read_flat(
    operation: Operation,
    mut params: Map<String, Value>,
    caller: HacpCaller<'_>,
) -> Result<HacpCall, HacpError> {
    let beside = [EXPECTED_REVISION, IDEMPOTENCY_KEY];
    let beside = beside.into_iter().filter_map(|key| params.shift_remove_entry(key)).collect();
    call(operation, Members::new(&beside, ""), params, caller)
}

fn call(
    operation: Operation,
    beside: Members<'_>,
    mut params: Map<String, Value>,
    caller: HacpCaller<'_>,
) -> Result<HacpCall, HacpError> {
    let expected_task_revision = beside.count(EXPECTED_REVISION)?;
    let idempotency_key = beside.text(IDEMPOTENCY_KEY)?.map(ToOwned::to_owned);
    if idempotency_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > LONGEST_KEY) {
        return Err(beside.bad(IDEMPOTENCY_KEY, "1 to 200 bytes"));
    }
    let given = [EXPECTED_REVISION, IDEMPOTENCY_KEY].map(|key| beside.present(key).map(|_| key));
    for key in given.into_iter().flatten() {
        let new = operation == Operation::TaskCreate && key == EXPECTED_REVISION;
        if caller.version < HacpVersion::V02 || !operation.changes() || new {
            let message = format!("{key}: {} does not accept this field", operation.name());
            return Err(HacpError::new(code::INVALID_SPEC, message).with("field", json!(key)));
        }
    }
    without_actors(operation, &mut params, caller.actor)?;
    let fingerprint = Digest::of_json(&json!({ "operation": operation.name(), "params": params }));
    let params = typed(operation, Members::new(&params, "params"), caller)?;
    Ok(HacpCall { operation, params, expected_task_revision, idempotency_key, fingerprint })
}

/// Removes parameters in which callers name themselves, if they match the credential.
fn without_actors(
    operation: Operation,
    params: &mut Map<String, Value>,
    actor: &Actor,
) -> Result<(), HacpError> {
    // These operations use the parameter for something else.
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
    // The upstream client always sends these two. They may also hold the value that the object has
    // there: the kind of caller and the task.
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
        let caller = by(&actor.to_ref());
        let also = also.map(|also| format!(" or {also}")).unwrap_or_default();
        let message = format!("{field}: expected {caller}{also}, or leave it out");
        HacpError::new(code::UNAUTHORIZED, message).with("field", field.as_str().into())
    })
}

fn typed(
    operation: Operation,
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
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
        Operation::ReviewSubmit => checkpoint::submit(params, caller),
        Operation::ReviewComment => checkpoint::comment(params),
        Operation::ArtifactCommit => artifact::commit(params),
        Operation::ArtifactGet => artifact::get(params),
        Operation::ArtifactReference => artifact::reference(params),
        Operation::ArtifactShare => artifact::share(params),
        Operation::LedgerRead => queries::read(params),
        Operation::LedgerWrite => queries::write(params, caller),
        Operation::LedgerHistory => queries::history(params),
        Operation::AuditQuery => queries::audit(params, caller),
        Operation::AuditReplay => queries::replay(params),
        Operation::HumanInbox => queries::inbox(params),
        Operation::PendingOutbox => queries::outbox(params),
        Operation::RuntimePeek => queries::peek(params),
        Operation::RuntimeAck => queries::ack(params),
    }
}

impl HacpCaller<'_> {
    /// Rejects all parameters except `first`, and from 0.2 on `later`.
    fn only(self, members: Members<'_>, first: &[&str], later: &[&str]) -> Result<(), HacpError> {
        // An older version rejects the later ones, but `null` is absent in every version.
        let absent = |key: &&str| members.map().get(*key).is_some_and(Value::is_null);
        let old = self.version < HacpVersion::V02;
        let later = later.iter().copied().filter(|key| !old || absent(key));
        members.only(&first.iter().copied().chain(later).collect::<Vec<_>>())
    }

    /// A required agent.
    fn agent(self, members: Members<'_>, key: &str) -> Result<AgentId, HacpError> {
        let name = members.required(key)?;
        find_agent(self.directory, name)
            .ok_or_else(|| HacpError::missing(&members.path(key), "agent"))
    }

    /// A list of people.
    fn people(self, members: Members<'_>, key: &str) -> Result<Vec<HumanId>, HacpError> {
        let names = members.texts(key)?.unwrap_or_default();
        let found: Option<Vec<HumanId>> =
            names.iter().map(|name| find_person(self.directory, name)).collect();
        found.ok_or_else(|| members.bad(key, "IDs of existing people"))
    }
}

/// The required `task_id`.
fn task_id(members: Members<'_>) -> Result<TaskId, HacpError> {
    members.required_id("task_id", "task")
}

/// The required `art_id`.
fn artifact_id(members: Members<'_>) -> Result<ArtifactId, HacpError> {
    members.required_id("art_id", "artifact")
}

/// The required `ckpt_id`.
fn checkpoint_id(members: Members<'_>) -> Result<AskId, HacpError> {
    let text = members.required("ckpt_id")?;
    super::ask_id(text).ok_or_else(|| HacpError::missing(&members.path("ckpt_id"), "checkpoint"))
}

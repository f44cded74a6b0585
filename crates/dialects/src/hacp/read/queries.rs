//! Queries: `task.get`, `task.list`, `audit.query`, `audit.replay`, `human.inbox`,
//! `pending.outbox`, `runtime.peek`; and `runtime.ack`.

use kernel::task::{LedgerScope, NewEntry, Party, TaskCommand, TaskState};
use kernel::{ActorRef, HumanId, ProjectId, RunId, TaskId, Time};
use serde_json::Value;

use super::super::actions::AuditAction;
use super::super::errors::HacpError;
use super::super::names::{find_party, find_person};
use super::super::parse::Members;
use super::{HacpCaller, OperationParams, task_id};

/// The maximum page size.
const MOST: u64 = 1000;

/// A page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HacpPageParams {
    /// The page size.
    pub limit: Option<u64>,
    /// The cursor that the previous page returned.
    pub cursor: Option<String>,
}

pub(super) fn page(params: Members<'_>) -> Result<HacpPageParams, HacpError> {
    let cursor = params.text("cursor")?.map(ToOwned::to_owned);
    Ok(HacpPageParams { limit: params.limit(MOST)?, cursor })
}

/// A filter for tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskQuery {
    pub state: Option<TaskState>,
    pub principal: Option<HumanId>,
    pub assignee: Option<Party>,
    pub project: Option<ProjectId>,
    pub parent: Option<TaskId>,
    pub page: HacpPageParams,
}

pub(super) fn task(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id"])?;
    Ok(OperationParams::Task(task_id(params)?))
}

pub(super) fn tasks(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    let known = ["state", "principal", "assignee", "project", "parent_task", "limit", "cursor"];
    params.only(&known)?;
    let states = TaskState::ALL.map(|state| (state.as_str(), state));
    let person = params.text("principal")?.map(|name| {
        let missing = || HacpError::missing(&params.path("principal"), "person");
        find_person(caller.directory, name).ok_or_else(missing)
    });
    let assignee = params.text("assignee")?.map(|name| {
        let missing = || HacpError::missing(&params.path("assignee"), "person or agent");
        find_party(caller.directory, name).ok_or_else(missing)
    });
    Ok(OperationParams::Tasks(TaskQuery {
        state: params.word("state", &states)?,
        principal: person.transpose()?,
        assignee: assignee.transpose()?,
        project: params.read("project", "the ID of a project")?,
        parent: params.id("parent_task", "task")?,
        page: page(params)?,
    }))
}

/// A filter for audit events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    pub task: Option<TaskId>,
    pub actor: Option<ActorRef>,
    pub action: Option<AuditAction>,
    pub page: HacpPageParams,
}

pub(super) fn audit(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "actor", "action", "limit", "cursor"])?;
    let actor = params.text("actor")?.map(|name| match name {
        "system" => Ok(ActorRef::System),
        name => match find_party(caller.directory, name) {
            Some(Party::Human(id)) => Ok(ActorRef::Human(id)),
            Some(Party::Agent(id)) => Ok(ActorRef::Agent(id)),
            None => Err(HacpError::missing(&params.path("actor"), "person or agent")),
        },
    });
    let actions = AuditAction::ALL.map(|action| (action.name(), action));
    Ok(OperationParams::Audit(AuditQuery {
        task: params.id("task_id", "task")?,
        actor: actor.transpose()?,
        action: params.word("action", &actions)?,
        page: page(params)?,
    }))
}

/// The parameters of `audit.replay`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayParams {
    pub task: TaskId,
    /// The last included time. The response then also holds the task at that time.
    pub at: Option<Time>,
}

pub(super) fn replay(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "at"])?;
    Ok(OperationParams::Replay(ReplayParams { task: task_id(params)?, at: params.time("at")? }))
}

pub(super) fn inbox(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["limit", "cursor"])?;
    page(params).map(OperationParams::Inbox)
}

pub(super) fn outbox(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["task_id", "limit", "cursor"])?;
    Ok(OperationParams::Outbox { task: params.id("task_id", "task")?, page: page(params)? })
}

/// The parameters of `runtime.peek`, which reads pending operations without confirming them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeekParams {
    /// Limits the list to one run.
    pub run: Option<RunId>,
    /// The position of the last operation that the runtime has seen.
    pub cursor: Option<u64>,
    /// The page size.
    pub limit: Option<u64>,
}

/// The parameters of `runtime.ack`, which confirms operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckParams {
    /// Limits the confirmation to one run.
    pub run: Option<RunId>,
    /// The last confirmed position.
    pub through: u64,
}

pub(super) fn peek(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["run_id", "cursor", "limit"])?;
    let run = params.id("run_id", "run")?;
    Ok(OperationParams::Peek(PeekParams {
        run,
        cursor: cursor(params, "cursor")?,
        limit: params.limit(MOST)?,
    }))
}

pub(super) fn ack(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["run_id", "through"])?;
    let through = cursor(params, "through")?.ok_or_else(|| params.bad("through", CURSOR))?;
    Ok(OperationParams::Ack(AckParams { run: params.id("run_id", "run")?, through }))
}

const CURSOR: &str = "the cursor of an event";

/// A position in a stream. It is a string on the wire, because some JSON readers round large
/// numbers.
fn cursor(params: Members<'_>, key: &str) -> Result<Option<u64>, HacpError> {
    let read = |value: &Value| {
        let place = value.as_str().map_or_else(|| value.as_u64(), |text| text.parse().ok());
        place.ok_or_else(|| params.bad(key, CURSOR))
    };
    params.present(key).map(read).transpose()
}

// `ledger.read`, `ledger.write`, `ledger.history`. HACP-023.

fn scope(params: Members<'_>) -> Result<LedgerScope, HacpError> {
    let expected = "project:, team: or org: followed by an ID";
    params.required("scope")?;
    params.read("scope", expected)?.ok_or_else(|| params.bad("scope", expected))
}

/// Without a key, this reads the ledger itself.
pub(super) fn read(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["scope", "key"])?;
    let key = params.present("key").map(|_| params.required("key")).transpose()?;
    Ok(OperationParams::Entry { scope: scope(params)?, key: key.map(ToOwned::to_owned) })
}

/// `by` is the task that writes. `null` is a valid value.
pub(super) fn write(
    params: Members<'_>,
    caller: HacpCaller<'_>,
) -> Result<OperationParams, HacpError> {
    caller.only(params, &["scope", "key", "value", "by"], &["expected_revision"])?;
    let value = params.map().get("value").cloned();
    let new = NewEntry {
        scope: scope(params)?,
        key: params.required("key")?.to_owned(),
        value: value.ok_or_else(|| params.bad("value", "any JSON"))?,
        expected: params.count("expected_revision")?,
    };
    let task = params.required_id("by", "task")?;
    Ok(OperationParams::command(TaskCommand::Write(task, Box::new(new))))
}

pub(super) fn history(params: Members<'_>) -> Result<OperationParams, HacpError> {
    params.only(&["scope", "key", "limit", "cursor"])?;
    let (scope, key) = (scope(params)?, params.required("key")?.to_owned());
    Ok(OperationParams::History { scope, key, page: page(params)? })
}

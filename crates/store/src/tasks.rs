//! Tasks with their artifacts and ledgers, and the contracts of agent runtimes.
//!
//! A task has one row in an ordered set for every combination of filters, so every list is a range
//! of that set, newest first, however many tasks there are.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::audit::{Head, Record};
use kernel::task::{Artifact, Contract, Entry, LedgerScope as Ledger, Party, TaskState};
use kernel::{
    AgentId, ArtifactId, DomainEvent, EntryId, Event, HumanId, ProjectId, ReviewId, Subject, Task,
    TaskId, Time,
};

use crate::{AuditFeed, Count, Result, StoreError};

/// How far the tasks of a state are counted. A longer list reports this number.
pub const TASKS_COUNTED: usize = 1_000;

/// A list of tasks, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskListQuery {
    /// The projects of the tasks. A list always names its projects.
    pub projects: Vec<ProjectId>,
    /// The states of the tasks; empty for any.
    pub states: Vec<TaskState>,
    /// The current assignee of the tasks.
    pub assignee: Option<Party>,
    /// The principal of the tasks.
    pub principal: Option<HumanId>,
    /// The parent of the tasks.
    pub parent: Option<TaskId>,
    /// The agent that the tasks were ever assigned to, whether or not it still has them. These
    /// tasks have their own ranges, filtered by state alone: projects, assignee, principal and
    /// parent are ignored.
    pub agent: Option<AgentId>,
    /// Continue after this task.
    pub after: Option<TaskId>,
    /// The most tasks per page.
    pub limit: usize,
}

impl TaskListQuery {
    /// The ranges that make up the list. They are disjoint.
    pub(crate) fn ranges(&self) -> BTreeSet<String> {
        let states: Vec<Option<TaskState>> = match &self.states[..] {
            [] => vec![None],
            some => some.iter().copied().map(Some).collect(),
        };
        if let Some(agent) = &self.agent {
            return states.into_iter().map(|state| known(agent, state)).collect();
        }
        let of = |project: &ProjectId, state| {
            range(project, state, self.assignee.as_ref(), self.principal.as_ref(), self.parent)
        };
        let projects = self.projects.iter();
        projects.flat_map(|project| states.iter().map(move |state| of(project, *state))).collect()
    }

    /// The same list, limited to one state.
    pub(crate) fn of_state(&self, state: TaskState) -> Self {
        Self { states: vec![state], ..self.clone() }
    }

    /// The states in the list.
    pub(crate) fn wanted_states(&self) -> Vec<TaskState> {
        let wanted = |state: &TaskState| self.states.is_empty() || self.states.contains(state);
        TaskState::ALL.into_iter().filter(wanted).collect()
    }

    /// The page, from a read of one task more than the limit.
    pub(crate) fn page(&self, mut tasks: Vec<Task>) -> TaskPage {
        let more = tasks.len() > self.limit;
        tasks.truncate(self.limit);
        TaskPage { next: tasks.last().filter(|_| more).map(|last| last.id), tasks }
    }
}

/// A page of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    /// The tasks, newest first.
    pub tasks: Vec<Task>,
    /// The task to continue after; `None` at the end.
    pub next: Option<TaskId>,
}

/// The count after `n` tasks were read; not exact above [`TASKS_COUNTED`].
pub(crate) fn counted(n: usize) -> Count {
    Count { n: n.min(TASKS_COUNTED) as u64, exact: n <= TASKS_COUNTED }
}

/// The ranges a task is in.
pub(crate) fn standing(task: &Task) -> BTreeSet<String> {
    let parents: &[Option<TaskId>] =
        if task.parent.is_some() { &[None, task.parent] } else { &[None] };
    let mut ranges = BTreeSet::new();
    for state in [None, Some(task.state)] {
        for assignee in [None, Some(&task.assignee)] {
            for principal in [None, Some(&task.principal)] {
                for parent in parents {
                    ranges.insert(range(&task.project, state, assignee, principal, *parent));
                }
            }
        }
        ranges.extend(task.agents().into_iter().map(|agent| known(agent, state)));
    }
    let given = task.agents().into_iter().map(|agent| given(agent) + task.project.as_str());
    ranges.extend(given);
    ranges
}

/// The ranges to remove a task from and to add it to after a change.
pub(crate) fn moved(before: Option<&Task>, after: &Task) -> (Vec<String>, Vec<String>) {
    let Some(before) = before else { return (Vec::new(), standing(after).into_iter().collect()) };
    // All other filter fields are fixed when a task is created; a new assignee extends its chain.
    if before.state == after.state && before.chain.len() == after.chain.len() {
        return (Vec::new(), Vec::new());
    }
    let (old, new) = (standing(before), standing(after));
    (old.difference(&new).cloned().collect(), new.difference(&old).cloned().collect())
}

/// Stands for a field without a filter.
const ANY: &str = "*";

/// The stored key of a range. Names contain neither spaces nor stars.
fn range(
    project: &ProjectId,
    state: Option<TaskState>,
    assignee: Option<&Party>,
    principal: Option<&HumanId>,
    parent: Option<TaskId>,
) -> String {
    let state = state.map_or(ANY, TaskState::as_str);
    let assignee = assignee.map_or_else(|| ANY.to_owned(), name);
    let principal = principal.map_or(ANY, HumanId::as_str);
    let parent = parent.map_or_else(|| ANY.to_owned(), |id| id.to_string());
    format!("{project} {state} {assignee} {principal} {parent}")
}

/// The range of the tasks ever assigned to an agent.
fn known(agent: &AgentId, state: Option<TaskState>) -> String {
    format!("agent/{agent} {}", state.map_or(ANY, TaskState::as_str))
}

/// The prefix of the ranges, one per project, of the tasks ever assigned to an agent.
fn given(agent: &AgentId) -> String {
    format!("agent/{agent} in/")
}

/// The bounds of these ranges: all of them sort between the two.
pub(crate) fn given_in(agent: &AgentId) -> (String, String) {
    (given(agent), format!("agent/{agent} in0"))
}

/// The bounds of the names of the organisation's ledgers.
pub(crate) const ORGANISATION: (&str, &str) = ("org:", "org;");

/// The project of such a range.
pub(crate) fn given_project(range: &str) -> Option<ProjectId> {
    range.rsplit_once("in/")?.1.parse().ok()
}

/// The kind is part of the name because a person and an agent may have the same id.
fn name(party: &Party) -> String {
    match party {
        Party::Human(id) => format!("human/{id}"),
        Party::Agent(id) => format!("agent/{id}"),
    }
}

/// A ledger key as of one of its records.
fn written(record: &Record) -> Result<Entry> {
    let damaged = |source| StoreError::Damaged { what: record.subject.to_string(), source };
    let event = record.event().map_err(|broken| damaged(broken.into()))?;
    let Event { subject: Subject::Entry(id), seq, at, what, .. } = event else {
        return Err(damaged("it is not a ledger key".into()));
    };
    let DomainEvent::EntryWritten(written) = what else {
        return Err(damaged("it was never written".into()));
    };
    let head = Head { seq, hash: record.hash, at };
    let (scope, key, value, by) = (written.scope, written.key, written.value, written.task);
    Ok(Entry { id, head, scope, key, value, by, written_at: at })
}

/// Storage of tasks. [`Store::transact`](crate::Store::transact) writes all of it, except which
/// contracts the runtimes acknowledged.
#[async_trait]
pub trait TaskStore: AuditFeed {
    /// The task with this id.
    async fn task(&self, id: TaskId) -> Result<Option<Task>>;

    /// A page of tasks.
    async fn tasks(&self, list: TaskListQuery) -> Result<TaskPage>;

    /// The projects of the tasks ever assigned to an agent, by name. The cost depends on the number
    /// of projects, not of tasks.
    async fn projects_with_tasks(&self, agent: AgentId) -> Result<Vec<ProjectId>>;

    /// The number of tasks in each state, in the order of the states. The page position and the
    /// limit of the list are ignored. Each count stops at [`TASKS_COUNTED`] and is not exact above.
    async fn task_counts(&self, list: TaskListQuery) -> Result<Vec<(TaskState, Count)>>;

    /// Up to `limit` tasks that ended at `since` or before and still have their text, longest ended
    /// first. Two workers on the same task erase it only once.
    async fn ended_tasks(
        &self,
        project: ProjectId,
        since: Time,
        limit: usize,
    ) -> Result<Vec<TaskId>>;

    /// The artifact with this id, with all its versions.
    async fn artifact(&self, id: ArtifactId) -> Result<Option<Artifact>>;

    /// The current value of a ledger key.
    async fn entry(&self, id: EntryId) -> Result<Option<Entry>>;

    /// The keys of a ledger after the given one, in byte order, at most `limit`.
    async fn entries(
        &self,
        scope: Ledger,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<Entry>>;

    /// The ledgers of the organisation (`org:…`) that were ever written, by name, at most `limit`.
    /// The cost depends on the number of ledgers, not of keys.
    async fn organisation_ledgers(&self, limit: usize) -> Result<Vec<Ledger>>;

    /// The versions of a ledger key after the `seq`-th, oldest first, at most `limit`.
    async fn entry_history(&self, id: EntryId, seq: u64, limit: usize) -> Result<Vec<Entry>> {
        self.chain(Subject::Entry(id), seq, limit).await?.iter().map(written).collect()
    }

    /// The task that a review belongs to.
    async fn task_of_review(&self, id: ReviewId) -> Result<Option<TaskId>>;

    /// The contracts of an agent's runtime after number `n`, in order with their numbers, at most
    /// `limit`. Reading does not remove them. Numbers grow in commit order: a runtime that
    /// continues after the last number misses nothing.
    async fn contracts(&self, agent: AgentId, n: u64, limit: usize)
    -> Result<Vec<(u64, Contract)>>;

    /// Records that an agent's runtime has all contracts up to and including number `n`. The
    /// acknowledged number never decreases and never exceeds the last contract. Returns the number
    /// that is acknowledged now.
    async fn ack_contracts(&self, agent: AgentId, n: u64) -> Result<u64>;

    /// The last number that an agent's runtime acknowledged; 0 if none.
    async fn acked(&self, agent: AgentId) -> Result<u64>;

    /// Deletes contracts older than [`CONTRACT_DAYS`] that are acknowledged, or whose task ended as
    /// long ago. A contract of an open task stays until it is acknowledged. Examines a batch after
    /// number `after`, oldest first, and returns the number to continue after; 0 to start again.
    async fn sweep_contracts(&self, after: u64, now: Time) -> Result<u64>;
}

/// How long a contract is kept once no runtime needs it.
pub const CONTRACT_DAYS: i64 = 30;
/// The number of contracts examined per call.
pub(crate) const LOOKED_AT: usize = 2_000;

/// The fields of a contract that decide whether it can be deleted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContractAge {
    pub(crate) n: u64,
    pub(crate) task: TaskId,
    /// The time of the contract.
    pub(crate) at: Time,
    /// Whether the runtime acknowledged it.
    pub(crate) acked: bool,
}

impl ContractAge {
    /// Whether the contract can be deleted; `over` is the time its task ended.
    pub(crate) fn is_spent(&self, over: Option<Time>, now: Time) -> bool {
        let old = spent_before(now);
        self.at <= old && (self.acked || over.is_some_and(|at| at <= old))
    }

    /// The number to continue after. A contract that follows a recent one is more recent, so the
    /// pass ends there.
    pub(crate) fn next(looked_at: &[Self], now: Time) -> u64 {
        let last = looked_at.last().filter(|_| looked_at.len() == LOOKED_AT);
        last.filter(|last| last.at <= spent_before(now)).map_or(0, |last| last.n)
    }
}

/// The time the task ended; `None` while it is open.
pub(crate) fn over_since(task: &Task) -> Option<Time> {
    task.state.is_closed().then_some(task.head.at)
}

/// Contracts of this time or earlier can be deleted at `now`.
fn spent_before(now: Time) -> Time {
    Time::from_millis(now.millis().saturating_sub(CONTRACT_DAYS * 86_400_000))
}

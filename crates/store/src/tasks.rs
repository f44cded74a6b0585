//! Tasks, what they deliver, what ledgers remember, and what the runtimes of agents have to do.
//!
//! A task stands in one row of an ordered set for every way in which a list can be narrowed, so
//! every list is a range of that set, newest first, however many tasks there are.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::audit::{Head, Record};
use kernel::task::{Artifact, Contract, Entry, Party, Scope as Ledger, State};
use kernel::{
    AgentId, ArtifactId, EntryId, Event, Happened, HumanId, ProjectId, ReviewId, Task, TaskId, Time,
};

use crate::{Count, Result, StoreError};

/// How many tasks of a state are counted; if there are more, so many is what a count says.
pub const TASKS_COUNTED: usize = 1_000;

/// A list of tasks to be read, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskList {
    /// Of these projects; nobody sees those of all without naming them.
    pub projects: Vec<ProjectId>,
    /// In one of these states; empty for any.
    pub states: Vec<State>,
    /// With whom they are.
    pub assignee: Option<Party>,
    /// Who answers for them.
    pub principal: Option<HumanId>,
    /// The task they are part of.
    pub parent: Option<TaskId>,
    /// Those this agent was ever given, whoever has them now. It has a list of its own that is
    /// narrowed by state alone: projects, assignee, principal and parent are not looked at.
    pub agent: Option<AgentId>,
    /// Go on after this one.
    pub after: Option<TaskId>,
    /// At most this many.
    pub limit: usize,
}

impl TaskList {
    /// The ranges it is made of. No task stands in two of them.
    pub(crate) fn ranges(&self) -> BTreeSet<String> {
        let states: Vec<Option<State>> = match &self.states[..] {
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

    /// The same list, of one state only.
    pub(crate) fn of_state(&self, state: State) -> Self {
        Self { states: vec![state], ..self.clone() }
    }

    /// The states that are wanted.
    pub(crate) fn wanted_states(&self) -> Vec<State> {
        let wanted = |state: &State| self.states.is_empty() || self.states.contains(state);
        State::ALL.into_iter().filter(wanted).collect()
    }

    /// The page that was found by reading one task more than wanted.
    pub(crate) fn page(&self, mut tasks: Vec<Task>) -> TaskPage {
        let more = tasks.len() > self.limit;
        tasks.truncate(self.limit);
        TaskPage { next: tasks.last().filter(|_| more).map(|last| last.id), tasks }
    }
}

/// A page of tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    /// Newest first.
    pub tasks: Vec<Task>,
    /// Where to go on; `None` at the end.
    pub next: Option<TaskId>,
}

/// How a count ends that was not carried on beyond [`TASKS_COUNTED`].
pub(crate) fn counted(n: usize) -> Count {
    Count { n: n.min(TASKS_COUNTED) as u64, exact: n <= TASKS_COUNTED }
}

/// The ranges a task stands in.
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

/// The ranges to take a task out of, and those to put it into, when it changes.
pub(crate) fn moved(before: Option<&Task>, after: &Task) -> (Vec<String>, Vec<String>) {
    let Some(before) = before else { return (Vec::new(), standing(after).into_iter().collect()) };
    // Everything else by which it is listed is fixed when it is made; whoever it goes to is in its chain.
    if before.state == after.state && before.chain.len() == after.chain.len() {
        return (Vec::new(), Vec::new());
    }
    let (old, new) = (standing(before), standing(after));
    (old.difference(&new).cloned().collect(), new.difference(&old).cloned().collect())
}

/// What a range is not narrowed by.
const ANY: &str = "*";

/// A range, as it is stored. Names have no spaces and no stars.
fn range(
    project: &ProjectId,
    state: Option<State>,
    assignee: Option<&Party>,
    principal: Option<&HumanId>,
    parent: Option<TaskId>,
) -> String {
    let state = state.map_or(ANY, State::as_str);
    let assignee = assignee.map_or_else(|| ANY.to_owned(), name);
    let principal = principal.map_or(ANY, HumanId::as_str);
    let parent = parent.map_or_else(|| ANY.to_owned(), |id| id.to_string());
    format!("{project} {state} {assignee} {principal} {parent}")
}

/// The range of what an agent was ever given.
fn known(agent: &AgentId, state: Option<State>) -> String {
    format!("agent/{agent} {}", state.map_or(ANY, State::as_str))
}

/// How the ranges begin of what an agent was ever given, one for each project.
fn given(agent: &AgentId) -> String {
    format!("agent/{agent} in/")
}

/// The stretch in which these ranges lie: all of them are between its ends.
pub(crate) fn given_in(agent: &AgentId) -> (String, String) {
    (given(agent), format!("agent/{agent} in0"))
}

/// The stretch in which the names of the organisation's ledgers lie.
pub(crate) const ORGANISATION: (&str, &str) = ("org:", "org;");

/// The project whose range it is.
pub(crate) fn given_project(range: &str) -> Option<ProjectId> {
    range.rsplit_once("in/")?.1.parse().ok()
}

/// A person and an agent may have the same name.
fn name(party: &Party) -> String {
    match party {
        Party::Human(id) => format!("human/{id}"),
        Party::Agent(id) => format!("agent/{id}"),
    }
}

/// A key of a ledger as it was after one of its records.
pub(crate) fn written(record: &Record) -> Result<Entry> {
    let damaged = |source| StoreError::Damaged { what: record.subject.to_string(), source };
    let event = record.event().map_err(|broken| damaged(broken.into()))?;
    let Event { subject: kernel::Subject::Entry(id), seq, at, what, .. } = event else {
        return Err(damaged("it is no key of a ledger".into()));
    };
    let Happened::EntryWritten(written) = what else {
        return Err(damaged("it was not written".into()));
    };
    let head = Head { seq, hash: record.hash, at };
    let (scope, key, value, by) = (written.scope, written.key, written.value, written.task);
    Ok(Entry { id, head, scope, key, value, by, written_at: at })
}

/// What is kept of tasks beside the record. All of it is written by
/// [`Store::transact`](crate::Store::transact), except how far runtimes have come.
#[async_trait]
pub trait Tasks {
    /// One task as stored.
    async fn task(&self, id: TaskId) -> Result<Option<Task>>;

    /// A page of tasks.
    async fn tasks(&self, list: TaskList) -> Result<TaskPage>;

    /// The projects of the tasks an agent was ever given, by name. As many steps as projects, however
    /// many tasks.
    async fn projects_given(&self, agent: AgentId) -> Result<Vec<ProjectId>>;

    /// How many tasks of a list are in each state, in the order of the states; from wherever and in
    /// whatever pages it is read. Counted up to [`TASKS_COUNTED`] each; beyond that not exact.
    async fn task_counts(&self, list: TaskList) -> Result<Vec<(State, Count)>>;

    /// Up to `limit` tasks that ended at `since` or before and still have their words, longest over
    /// first. Two who erase one all the same erase it once.
    async fn over_tasks(
        &self,
        project: ProjectId,
        since: Time,
        limit: usize,
    ) -> Result<Vec<TaskId>>;

    /// One artifact with all its versions.
    async fn artifact(&self, id: ArtifactId) -> Result<Option<Artifact>>;

    /// One key of a ledger as it was written last.
    async fn entry(&self, id: EntryId) -> Result<Option<Entry>>;

    /// The keys of a ledger after one of them, in the order of their bytes, at most `limit`.
    async fn entries(
        &self,
        scope: Ledger,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<Entry>>;

    /// The ledgers of the organisation (`org:…`) in which something was ever written, by name, at most
    /// `limit`. As many steps as ledgers, however many keys.
    async fn organisation_ledgers(&self, limit: usize) -> Result<Vec<Ledger>>;

    /// A key of a ledger as it was each time it was written after the `seq`-th, oldest first, at most
    /// `limit`.
    async fn entry_history(&self, id: EntryId, seq: u64, limit: usize) -> Result<Vec<Entry>>;

    /// The task a review is of.
    async fn task_of_review(&self, id: ReviewId) -> Result<Option<TaskId>>;

    /// What happened to the tasks of these projects after feed `position`, oldest first with its
    /// positions, at most `limit`. Whoever goes on after the last position misses nothing.
    async fn task_records(
        &self,
        projects: Vec<ProjectId>,
        position: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Record)>>;

    /// What the runtime of an agent has to do after number `n`, in order with its numbers, at most
    /// `limit`. Reading takes nothing away. Numbers grow in the order of commits: whoever goes on
    /// after the last one misses nothing.
    async fn contracts(&self, agent: AgentId, n: u64, limit: usize)
    -> Result<Vec<(u64, Contract)>>;

    /// Remembers that the runtime of an agent has everything up to and with number `n`. Never goes
    /// back, and never beyond what there is. Up to where it is now.
    async fn ack_contracts(&self, agent: AgentId, n: u64) -> Result<u64>;

    /// Up to which number the runtime of an agent has everything; 0 if nothing.
    async fn acked(&self, agent: AgentId) -> Result<u64>;

    /// Lets go what runtimes had to do [so long](CONTRACT_DAYS) ago and is of no use: what they have
    /// confirmed, and what belongs to tasks that are over as long. What an open task wants stays
    /// until it is confirmed. Looks at so many after number `after`, oldest first, and says where to
    /// go on; 0 to begin again.
    async fn sweep_contracts(&self, after: u64, now: Time) -> Result<u64>;
}

/// How long what runtimes had to do is kept once nobody waits for it.
pub const CONTRACT_DAYS: i64 = 30;
/// So many are looked at in one go.
pub(crate) const LOOKED_AT: usize = 2_000;

/// What is kept of something a runtime had to do, as far as it says whether that may go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aged {
    /// Its number.
    pub(crate) n: u64,
    /// Of which task.
    pub(crate) task: TaskId,
    /// Since when.
    pub(crate) at: Time,
    /// Whether its runtime has it.
    pub(crate) acked: bool,
}

impl Aged {
    /// Whether it may go; `over` says since when its task is.
    pub(crate) fn is_spent(&self, over: Option<Time>, now: Time) -> bool {
        let old = spent_before(now);
        self.at <= old && (self.acked || over.is_some_and(|at| at <= old))
    }

    /// Where to go on after having looked at these: what comes behind something young is younger.
    pub(crate) fn next(looked_at: &[Self], now: Time) -> u64 {
        let last = looked_at.last().filter(|_| looked_at.len() == LOOKED_AT);
        last.filter(|last| last.at <= spent_before(now)).map_or(0, |last| last.n)
    }
}

/// Since when a task is over.
pub(crate) fn over_since(task: &Task) -> Option<Time> {
    task.state.is_over().then_some(task.head.at)
}

/// What was wanted at this moment or earlier may go at `now`.
fn spent_before(now: Time) -> Time {
    Time::from_millis(now.millis().saturating_sub(CONTRACT_DAYS * 86_400_000))
}

//! Tasks, artifacts, ledgers and contracts, in maps.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::task::{Artifact, Contract, Entry, LedgerScope, TaskState as Phase};
use kernel::{AgentId, ArtifactId, EntryId, ProjectId, ReviewId, Task, TaskId, Time};
use ulid::Ulid;

use super::Memory;
use super::state::MemoryState;
use crate::tasks::{
    ContractAge, LOOKED_AT, ORGANISATION, TASKS_COUNTED, counted, given_in, given_project,
    over_since,
};
use crate::{Count, Result, TaskListQuery, TaskPage, TaskStore};

#[async_trait]
impl TaskStore for Memory {
    async fn task(&self, id: TaskId) -> Result<Option<Task>> {
        Ok(self.state().tasks.get(&id).cloned())
    }

    async fn tasks(&self, list: TaskListQuery) -> Result<TaskPage> {
        let state = self.state();
        let mut found = BTreeSet::new();
        for range in list.ranges() {
            found.extend(state.in_range(&range, list.after).take(list.limit.saturating_add(1)));
        }
        let newest = found.into_iter().rev().take(list.limit.saturating_add(1));
        Ok(list.page(newest.filter_map(|id| state.tasks.get(&id).cloned()).collect()))
    }

    async fn projects_with_tasks(&self, agent: AgentId) -> Result<Vec<ProjectId>> {
        let (first, last) = given_in(&agent);
        let last_id = || Reverse(TaskId::new(Ulid::from(u128::MAX)));
        let state = self.state();
        let ranges = state.task_list.range((first, last_id())..(last, last_id()));
        let projects = ranges.filter_map(|(range, _)| given_project(range));
        Ok(projects.collect::<BTreeSet<_>>().into_iter().collect())
    }

    async fn task_counts(&self, list: TaskListQuery) -> Result<Vec<(Phase, Count)>> {
        let state = self.state();
        let count = |one: TaskListQuery| {
            let ranges = one.ranges();
            let all = ranges.iter().flat_map(|range| state.in_range(range, None));
            counted(all.take(TASKS_COUNTED + 1).count())
        };
        let states = list.wanted_states().into_iter();
        Ok(states.map(|one| (one, count(list.of_state(one)))).collect())
    }

    async fn ended_tasks(
        &self,
        project: ProjectId,
        since: Time,
        limit: usize,
    ) -> Result<Vec<TaskId>> {
        let state = self.state();
        let own = state.tasks.values().filter(|task| task.project == project);
        let ended = own.filter_map(|task| Some((task.retention_start()?, task.id)));
        let over: BTreeSet<(Time, TaskId)> = ended.filter(|(at, _)| *at <= since).collect();
        Ok(over.into_iter().take(limit).map(|(_, id)| id).collect())
    }

    async fn artifact(&self, id: ArtifactId) -> Result<Option<Artifact>> {
        Ok(self.state().artifacts.get(&id).cloned())
    }

    async fn entry(&self, id: EntryId) -> Result<Option<Entry>> {
        Ok(self.state().entries.get(&id).cloned())
    }

    async fn entries(
        &self,
        scope: LedgerScope,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        let state = self.state();
        let behind = |key: &String| after.as_ref().is_none_or(|after| key > after);
        let own = state.entries.values().filter(|entry| entry.scope == scope && behind(&entry.key));
        let mut own: Vec<&Entry> = own.collect();
        own.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(own.into_iter().take(limit).cloned().collect())
    }

    async fn organisation_ledgers(&self, limit: usize) -> Result<Vec<LedgerScope>> {
        let (first, last) = ORGANISATION;
        let state = self.state();
        let scopes = state.entries.values().map(|entry| &entry.scope);
        let ours = scopes.filter(|scope| (first..last).contains(&scope.as_str()));
        Ok(ours.collect::<BTreeSet<_>>().into_iter().take(limit).cloned().collect())
    }

    async fn task_of_review(&self, id: ReviewId) -> Result<Option<TaskId>> {
        Ok(self.state().reviews.get(&id).copied())
    }

    async fn contracts(
        &self,
        agent: AgentId,
        n: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Contract)>> {
        let state = self.state();
        let own = state.contracts.iter().filter(|(at, one)| **at > n && one.agent == agent);
        Ok(own.take(limit).map(|(at, contract)| (*at, contract.clone())).collect())
    }

    async fn ack_contracts(&self, agent: AgentId, n: u64) -> Result<u64> {
        let mut state = self.state();
        let last = state.contracts.iter().rfind(|(_, contract)| contract.agent == agent);
        let last = last.map_or(0, |(at, _)| *at);
        let acked = state.acked.entry(agent).or_default();
        *acked = (*acked).max(n.min(last));
        Ok(*acked)
    }

    async fn acked(&self, agent: AgentId) -> Result<u64> {
        Ok(self.state().acked.get(&agent).copied().unwrap_or_default())
    }

    async fn sweep_contracts(&self, after: u64, now: Time) -> Result<u64> {
        let mut state = self.state();
        // Keep the newest one: the next is numbered after it.
        let last = state.contracts.last_key_value().map_or(0, |(n, _)| *n);
        let aged = |(n, one): (&u64, &Contract)| {
            let acked = state.acked.get(&one.agent).is_some_and(|acked| n <= acked);
            ContractAge { n: *n, task: one.task, at: one.at, acked }
        };
        let old = state.contracts.range(after + 1..).filter(|(n, _)| **n < last);
        let looked_at: Vec<ContractAge> = old.take(LOOKED_AT).map(aged).collect();
        for one in &looked_at {
            let over = state.tasks.get(&one.task).and_then(over_since);
            if one.is_spent(over, now) {
                state.contracts.remove(&one.n);
            }
        }
        Ok(ContractAge::next(&looked_at, now))
    }
}

impl MemoryState {
    /// The tasks in a range after the given one, newest first.
    fn in_range(&self, range: &str, after: Option<TaskId>) -> impl Iterator<Item = TaskId> {
        let at = |id: u128| (range.to_owned(), Reverse(TaskId::new(Ulid::from(id))));
        let first = after.map_or_else(|| at(u128::MAX), |id| (range.to_owned(), Reverse(id)));
        let found = self.task_list.range(first..=at(0)).map(|(_, Reverse(id))| *id);
        found.filter(move |id| after != Some(*id))
    }
}

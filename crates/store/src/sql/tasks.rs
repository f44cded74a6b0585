//! Reads tasks, artifacts, ledgers and contracts. Jobs write them.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use kernel::task::{Artifact, Contract, Entry, LedgerScope, TaskState};
use kernel::{AgentId, ArtifactId, EntryId, ProjectId, ReviewId, Task, TaskId, Time};
use serde::de::DeserializeOwned;

use super::{SqlRow, SqlStore, SqlValue, Statements, count_ranges, each_range, one, values};
use crate::columns::read_state;
use crate::tasks::{
    ContractAge, LOOKED_AT, ORGANISATION, TASKS_COUNTED, counted, given_in, given_project,
    over_since,
};
use crate::{Count, Result, StoreError, TaskListQuery, TaskPage, TaskStore};

#[async_trait]
impl<S: SqlStore> TaskStore for S {
    async fn task(&self, id: TaskId) -> Result<Option<Task>> {
        let sql = "SELECT state FROM task WHERE id = $1";
        found(one(self, sql, values![id]).await?, &id.to_string())
    }

    async fn tasks(&self, list: TaskListQuery) -> Result<TaskPage> {
        self.snapshot(list, |sql, list| Box::pin(page(sql, list))).await
    }

    async fn projects_with_tasks(&self, agent: AgentId) -> Result<Vec<ProjectId>> {
        let (first, last) = given_in(&agent);
        let scopes = distinct(self, "task_list", (&first, &last), usize::MAX).await?;
        Ok(scopes.iter().filter_map(|scope| given_project(scope)).collect())
    }

    async fn task_counts(&self, list: TaskListQuery) -> Result<Vec<(TaskState, Count)>> {
        self.snapshot(list, |sql, list| {
            Box::pin(async move {
                let range = "SELECT 1 FROM task_list WHERE scope = $1 LIMIT $2";
                let mut counts = Vec::new();
                for state in list.wanted_states() {
                    let ranges = list.of_state(state).ranges();
                    let n = count_ranges(sql, range, ranges, TASKS_COUNTED + 1).await?;
                    counts.push((state, counted(n)));
                }
                Ok(counts)
            })
        })
        .await
    }

    async fn ended_tasks(
        &self,
        project: ProjectId,
        since: Time,
        limit: usize,
    ) -> Result<Vec<TaskId>> {
        let of = S::DIALECT.pick(
            "CASE WHEN json_valid(state) THEN json_extract(state, '$.created.project') END",
            "project",
        );
        let sql = format!(
            "SELECT id FROM task
            WHERE {of} = $3 AND over_at IS NOT NULL AND over_at <= $1
            ORDER BY over_at, id LIMIT $2"
        );
        let rows = self.query(&sql, values![since, limit, &project]).await?;
        rows.into_iter().map(|mut row| row.get(0)).collect()
    }

    async fn artifact(&self, id: ArtifactId) -> Result<Option<Artifact>> {
        let sql = "SELECT state FROM artifact WHERE id = $1";
        found(one(self, sql, values![id]).await?, &id.to_string())
    }

    async fn entry(&self, id: EntryId) -> Result<Option<Entry>> {
        let name = id.to_string();
        let sql = "SELECT state FROM entry WHERE id = $1";
        found(one(self, sql, values![&name]).await?, &name)
    }

    async fn entries(
        &self,
        scope: LedgerScope,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        // The empty key sorts first; without a key to continue after, it belongs to the list.
        let sql = match after {
            Some(_) => {
                "SELECT state, id FROM entry WHERE scope = $1 AND key > $2 ORDER BY key LIMIT $3"
            }
            None => {
                "SELECT state, id FROM entry WHERE scope = $1 AND key >= $2 ORDER BY key LIMIT $3"
            }
        };
        let params = values![scope.as_str(), after.unwrap_or_default(), limit];
        let entry = |mut row: SqlRow| {
            let id: String = row.get(1)?;
            state(row, &id)
        };
        self.query(sql, params).await?.into_iter().map(entry).collect()
    }

    async fn organisation_ledgers(&self, limit: usize) -> Result<Vec<LedgerScope>> {
        let names = distinct(self, "entry", ORGANISATION, limit).await?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    async fn task_of_review(&self, id: ReviewId) -> Result<Option<TaskId>> {
        let row = one(self, "SELECT task FROM review WHERE id = $1", values![id]).await?;
        row.map(|mut row| row.get(0)).transpose()
    }

    async fn contracts(
        &self,
        agent: AgentId,
        n: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Contract)>> {
        self.number_contracts().await?;
        let sql = "SELECT contract, n FROM contract
            WHERE agent = $1 AND n IS NOT NULL AND n > $2 ORDER BY n LIMIT $3";
        let contract = |mut row: SqlRow| Ok((row.get(1)?, state(row, "contract")?));
        self.query(sql, values![&agent, n, limit]).await?.into_iter().map(contract).collect()
    }

    async fn ack_contracts(&self, agent: AgentId, n: u64) -> Result<u64> {
        self.write((agent, n), |sql, (agent, n)| {
            Box::pin(async move {
                let last = "SELECT n FROM contract WHERE agent = $1 AND n IS NOT NULL
                    ORDER BY n DESC LIMIT 1";
                let last = sql.query(last, &values![agent]).await?.pop();
                let last: u64 = last.map_or(Ok(0), |mut row| row.get(0))?;
                let ack = "INSERT INTO runtime_ack (agent, n) VALUES ($1, $2)
                    ON CONFLICT (agent) DO UPDATE SET n = excluded.n
                        WHERE runtime_ack.n < excluded.n";
                sql.execute(ack, &values![agent, last.min(*n)]).await?;
                let acked = sql.query(ACKED, &values![agent]).await?.pop();
                acked.map_or(Ok(0), |mut row| row.get(0))
            })
        })
        .await
    }

    async fn acked(&self, agent: AgentId) -> Result<u64> {
        let row = one(self, ACKED, values![&agent]).await?;
        row.map_or(Ok(0), |mut row| row.get(0))
    }

    async fn sweep_contracts(&self, after: u64, now: Time) -> Result<u64> {
        // A contract gets its number when it is read. Number the rest, because the sweep would
        // never delete them.
        self.number_contracts().await?;
        self.write((after, now), |sql, (after, now)| Box::pin(sweep_contracts(sql, *after, *now)))
            .await
    }
}

const ACKED: &str = "SELECT n FROM runtime_ack WHERE agent = $1";

/// The state in the first column of a row.
fn state<T: DeserializeOwned>(mut row: SqlRow, what: &str) -> Result<T> {
    read_state(what, &row.get::<String>(0)?)
}

fn found<T: DeserializeOwned>(row: Option<SqlRow>, what: &str) -> Result<Option<T>> {
    row.map(|row| state(row, what)).transpose()
}

async fn page(sql: &mut dyn Statements, list: &TaskListQuery) -> Result<TaskPage> {
    let wanted = list.limit.saturating_add(1);
    let (range, mut shared) = match list.after {
        Some(after) => {
            let range = "SELECT id FROM task_list
                WHERE scope = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
            (range, vec![SqlValue::from(after)])
        }
        None => ("SELECT id FROM task_list WHERE scope = $1 ORDER BY id DESC LIMIT $2", vec![]),
    };
    shared.push(wanted.into());
    let mut listed: BTreeSet<TaskId> = BTreeSet::new();
    for mut row in each_range(sql, range, list.ranges(), &shared).await? {
        listed.insert(row.get(0)?);
    }
    let ids: Vec<TaskId> = listed.into_iter().rev().take(wanted).collect();
    let mut states = task_states(sql, &ids).await?;
    let mut tasks = Vec::with_capacity(ids.len());
    for id in ids {
        let lost = || StoreError::Damaged {
            what: id.to_string(),
            source: "it is listed but missing".into(),
        };
        tasks.push(states.remove(&id).ok_or_else(lost)?);
    }
    Ok(list.page(tasks))
}

async fn task_states(sql: &mut dyn Statements, ids: &[TaskId]) -> Result<HashMap<TaskId, Task>> {
    let ids: SqlValue = ids.iter().copied().collect();
    let mut tasks = HashMap::new();
    for mut row in sql.query("SELECT state, id FROM task WHERE id = ANY ($1)", &[ids]).await? {
        let id: TaskId = row.get(1)?;
        tasks.insert(id, state(row, &id.to_string())?);
    }
    Ok(tasks)
}

/// The distinct scopes of a table between two bounds. It seeks from one to the next and does not
/// scan the rows.
async fn distinct<S: SqlStore>(
    store: &S,
    table: &str,
    (first, last): (&str, &str),
    limit: usize,
) -> Result<Vec<String>> {
    let sql = format!(
        "WITH RECURSIVE found (scope) AS (
            SELECT (SELECT min(scope) FROM {table} WHERE scope > $1 AND scope < $2)
            UNION ALL
            SELECT (SELECT min(scope) FROM {table} WHERE scope > found.scope AND scope < $2)
            FROM found WHERE found.scope IS NOT NULL
        )
        SELECT scope FROM found WHERE scope IS NOT NULL LIMIT $3"
    );
    let rows = store.query(&sql, values![first, last, limit]).await?;
    rows.into_iter().map(|mut row| row.get(0)).collect()
}

/// Keeps the newest contract: the next one is numbered after it.
async fn sweep_contracts(sql: &mut dyn Statements, after: u64, now: Time) -> Result<u64> {
    let select = "SELECT c.n, c.task, c.at, c.n <= coalesce(a.n, 0)
        FROM contract AS c LEFT JOIN runtime_ack AS a ON a.agent = c.agent
        WHERE c.n IS NOT NULL AND c.n > $1
            AND c.n < (SELECT n FROM contract WHERE n IS NOT NULL ORDER BY n DESC LIMIT 1)
        ORDER BY c.n LIMIT $2";
    let rows = sql.query(select, &values![after, LOOKED_AT]).await?;
    let aged = |mut row: SqlRow| {
        Ok(ContractAge { n: row.get(0)?, task: row.get(1)?, at: row.get(2)?, acked: row.get(3)? })
    };
    let looked_at = rows.into_iter().map(aged).collect::<Result<Vec<ContractAge>>>()?;
    let unread = looked_at.iter().filter(|one| !one.acked && one.is_spent(Some(one.at), now));
    let unread: BTreeSet<TaskId> = unread.map(|one| one.task).collect();
    let tasks = task_states(sql, &unread.into_iter().collect::<Vec<_>>()).await?;
    let spent = |one: &&ContractAge| one.is_spent(tasks.get(&one.task).and_then(over_since), now);
    let gone: SqlValue = looked_at.iter().filter(spent).map(|one| one.n).collect();
    sql.execute("DELETE FROM contract WHERE n = ANY ($1)", &[gone]).await?;
    Ok(ContractAge::next(&looked_at, now))
}

//! Reads tasks, artifacts, ledgers and contracts, and numbers contracts.

use std::collections::HashMap;

use async_trait::async_trait;
use deadpool_postgres::Client;
use futures_util::try_join;
use kernel::audit::Record;
use kernel::task::{Artifact, Contract, Entry, Scope, State};
use kernel::{AgentId, ArtifactId, EntryId, ProjectId, ReviewId, Subject, Task, TaskId, Time};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::connect::on;
use super::failure::{Failure, damaged};
use super::{Postgres, record, ulid, uuid};
use crate::rows::{int, uint};
use crate::tasks::{
    Aged, LOOKED_AT, ORGANISATION, TASKS_COUNTED, counted, given_in, given_project, over_since,
    written,
};
use crate::{Count, Result as Stored, TaskList, TaskPage, Tasks};

/// Held while contracts get their numbers.
const LOCK: i64 = 0x636f_756e_7465_7275;

#[async_trait]
impl Tasks for Postgres {
    async fn task(&self, id: TaskId) -> Stored<Option<Task>> {
        let sql = "SELECT state FROM task WHERE id = $1";
        self.state(sql, &uuid(id.ulid()), || id.to_string()).await
    }

    async fn tasks(&self, list: TaskList) -> Stored<TaskPage> {
        Ok(on!(self.database, client => page(client, &list))?)
    }

    async fn projects_given(&self, agent: AgentId) -> Stored<Vec<ProjectId>> {
        Ok(on!(self.database, client => projects_given(client, &agent))?)
    }

    async fn task_counts(&self, list: TaskList) -> Stored<Vec<(State, Count)>> {
        Ok(on!(self.database, client => counts(client, &list))?)
    }

    async fn over_tasks(
        &self,
        project: ProjectId,
        since: Time,
        limit: usize,
    ) -> Stored<Vec<TaskId>> {
        Ok(on!(self.database, client => over(client, &project, since, limit))?)
    }

    async fn artifact(&self, id: ArtifactId) -> Stored<Option<Artifact>> {
        let sql = "SELECT state FROM artifact WHERE id = $1";
        self.state(sql, &uuid(id.ulid()), || id.to_string()).await
    }

    async fn entry(&self, id: EntryId) -> Stored<Option<Entry>> {
        let sql = "SELECT state FROM entry WHERE id = $1";
        self.state(sql, &id.to_string(), || id.to_string()).await
    }

    async fn entries(
        &self,
        scope: Scope,
        after: Option<String>,
        limit: usize,
    ) -> Stored<Vec<Entry>> {
        Ok(on!(self.database, client => entries(client, &scope, after.as_deref(), limit))?)
    }

    async fn organisation_ledgers(&self, limit: usize) -> Stored<Vec<Scope>> {
        let names = on!(self.database, client => distinct(client, "entry", ORGANISATION, limit))?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    async fn entry_history(&self, id: EntryId, seq: u64, limit: usize) -> Stored<Vec<Entry>> {
        let subject = Subject::Entry(id);
        let chain = on!(self.database, client => record::chain(&*client, &subject, seq, limit))?;
        chain.iter().map(written).collect()
    }

    async fn task_of_review(&self, id: ReviewId) -> Stored<Option<TaskId>> {
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached("SELECT task FROM review WHERE id = $1").await?;
            let row = client.query_opt(&statement, &[&uuid(id.ulid())]).await?;
            row.map(|row| task_id(&row)).transpose()
        })?)
    }

    async fn task_records(
        &self,
        projects: Vec<ProjectId>,
        position: u64,
        limit: usize,
    ) -> Stored<Vec<(u64, Record)>> {
        Ok(on!(self.database, client => async {
            self.number(client).await?;
            record::of_tasks(&*client, &projects, position, limit).await
        })?)
    }

    async fn contracts(
        &self,
        agent: AgentId,
        n: u64,
        limit: usize,
    ) -> Stored<Vec<(u64, Contract)>> {
        Ok(on!(self.database, client => async {
            if self.writers.is_some() {
                number_contracts(client).await?;
            }
            contracts(client, &agent, n, limit).await
        })?)
    }

    async fn ack_contracts(&self, agent: AgentId, n: u64) -> Stored<u64> {
        self.writers()?;
        Ok(on!(self.database, client => ack(client, &agent, n))?)
    }

    async fn acked(&self, agent: AgentId) -> Stored<u64> {
        Ok(on!(self.database, client => async {
            let sql = "SELECT n FROM runtime_ack WHERE agent = $1";
            let statement = client.prepare_cached(sql).await?;
            let row = client.query_opt(&statement, &[&agent.as_str()]).await?;
            let n = row.map(|row| row.try_get(0)).transpose().map_err(Failure::from)?;
            Ok::<_, Failure>(n.map_or(0, uint))
        })?)
    }

    async fn sweep_contracts(&self, after: u64, now: Time) -> Stored<u64> {
        self.writers()?;
        Ok(on!(self.database, client => sweep_contracts(client, after, now))?)
    }
}

impl Postgres {
    async fn state<T: DeserializeOwned>(
        &self,
        sql: &str,
        id: &(dyn ToSql + Sync),
        what: impl Fn() -> String,
    ) -> Stored<Option<T>> {
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            let row = client.query_opt(&statement, &[id]).await?;
            row.map(|row| read(row.try_get(0)?, &what)).transpose()
        })?)
    }
}

/// Parses a stored state.
pub(super) fn read<T: DeserializeOwned>(
    state: &str,
    what: impl FnOnce() -> String,
) -> Result<T, Failure> {
    serde_json::from_str(state).map_err(|error| damaged(&what(), error))
}

async fn page(client: &Client, list: &TaskList) -> Result<TaskPage, Failure> {
    // One statement, so that the ranges and the tasks come from the same snapshot.
    let sql = "SELECT page.id, task.state FROM (
            SELECT found.id FROM unnest($1::text[]) AS wanted (scope)
            CROSS JOIN LATERAL (
                SELECT id FROM task_list
                WHERE task_list.scope = wanted.scope AND id < $2 ORDER BY id DESC LIMIT $3
            ) AS found
            ORDER BY found.id DESC LIMIT $3
        ) AS page LEFT JOIN task ON task.id = page.id ORDER BY page.id DESC";
    let statement = client.prepare_cached(sql).await?;
    let ranges: Vec<String> = list.ranges().into_iter().collect();
    let after = list.after.map_or(Uuid::max(), |id| uuid(id.ulid()));
    let wanted = int(list.limit.saturating_add(1));
    let rows = client.query(&statement, &[&ranges, &after, &wanted]).await?;
    let task = |row: &Row| {
        let name = || TaskId::new(ulid(row.try_get(0).unwrap_or_default())).to_string();
        match row.try_get(1)? {
            Some(state) => read(state, name),
            None => Err(damaged(&name(), "it is listed but not there")),
        }
    };
    Ok(list.page(rows.iter().map(task).collect::<Result<_, _>>()?))
}

async fn counts(client: &Client, list: &TaskList) -> Result<Vec<(State, Count)>, Failure> {
    let sql = "SELECT count(*) FROM (
            SELECT FROM unnest($1::text[]) AS wanted (scope)
            CROSS JOIN LATERAL (
                SELECT FROM task_list WHERE task_list.scope = wanted.scope LIMIT $2
            ) AS found
            LIMIT $2
        ) AS counted";
    let statement = client.prepare_cached(sql).await?;
    let most = int(TASKS_COUNTED + 1);
    let mut counts = Vec::new();
    for state in list.wanted_states() {
        let ranges: Vec<String> = list.of_state(state).ranges().into_iter().collect();
        let n: i64 = client.query_one(&statement, &[&ranges, &most]).await?.try_get(0)?;
        counts.push((state, counted(usize::try_from(n).unwrap_or(usize::MAX))));
    }
    Ok(counts)
}

async fn over(
    client: &Client,
    project: &ProjectId,
    since: Time,
    limit: usize,
) -> Result<Vec<TaskId>, Failure> {
    let sql = "SELECT id FROM task
        WHERE project = $3 AND over_at IS NOT NULL AND over_at <= $1
        ORDER BY over_at, id LIMIT $2";
    let statement = client.prepare_cached(sql).await?;
    let wanted = [since.millis(), int(limit)];
    let rows = client.query(&statement, &[&wanted[0], &wanted[1], &project.as_str()]).await?;
    rows.iter().map(task_id).collect()
}

async fn entries(
    client: &Client,
    scope: &Scope,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<Entry>, Failure> {
    // The empty key sorts first; without a key to continue after, it belongs to the list.
    let sql = match after {
        Some(_) => {
            "SELECT id, state FROM entry WHERE scope = $1 AND key > $2 ORDER BY key LIMIT $3"
        }
        None => "SELECT id, state FROM entry WHERE scope = $1 AND key >= $2 ORDER BY key LIMIT $3",
    };
    let statement = client.prepare_cached(sql).await?;
    let after = after.unwrap_or_default();
    let rows = client.query(&statement, &[&scope.as_str(), &after, &int(limit)]).await?;
    let entry = |row: &Row| {
        let id: &str = row.try_get(0)?;
        read(row.try_get(1)?, || id.to_owned())
    };
    rows.iter().map(entry).collect()
}

async fn projects_given(client: &Client, agent: &AgentId) -> Result<Vec<ProjectId>, Failure> {
    let (first, last) = given_in(agent);
    let scopes = distinct(client, "task_list", (&first, &last), usize::MAX).await?;
    Ok(scopes.iter().filter_map(|scope| given_project(scope)).collect())
}

/// The distinct scopes of a table between two bounds. It seeks from one to the next and does not
/// scan the rows.
async fn distinct(
    client: &Client,
    table: &str,
    (first, last): (&str, &str),
    limit: usize,
) -> Result<Vec<String>, Failure> {
    let sql = format!(
        "WITH RECURSIVE found (scope) AS (
            SELECT (SELECT min(scope) FROM {table} WHERE scope > $1 AND scope < $2)
            UNION ALL
            SELECT (SELECT min(scope) FROM {table} WHERE scope > found.scope AND scope < $2)
            FROM found WHERE found.scope IS NOT NULL
        )
        SELECT scope FROM found WHERE scope IS NOT NULL LIMIT $3"
    );
    let statement = client.prepare_cached(&sql).await?;
    let rows = client.query(&statement, &[&first, &last, &int(limit)]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Deletes contracts that are no longer needed. The newest stays: the next one is
/// numbered after it.
async fn sweep_contracts(client: &Client, after: u64, now: Time) -> Result<u64, Failure> {
    // A contract gets its number when it is read. Number the rest, because the sweep would
    // never delete them.
    number_contracts(client).await?;
    let sql = "SELECT c.n, c.task, c.at, c.n <= coalesce(a.n, 0)
        FROM contract AS c LEFT JOIN runtime_ack AS a ON a.agent = c.agent
        WHERE c.n IS NOT NULL AND c.n > $1
            AND c.n < (SELECT n FROM contract WHERE n IS NOT NULL ORDER BY n DESC LIMIT 1)
        ORDER BY c.n LIMIT $2";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&int(after), &int(LOOKED_AT)]).await?;
    let aged = |row: &Row| {
        let task = TaskId::new(ulid(row.try_get(1)?));
        let (n, at) = (uint(row.try_get(0)?), Time::from_millis(row.try_get(2)?));
        Ok::<_, Failure>(Aged { n, task, at, acked: row.try_get(3)? })
    };
    let looked_at = rows.iter().map(aged).collect::<Result<Vec<Aged>, Failure>>()?;
    let open = looked_at.iter().filter(|one| !one.acked && one.is_spent(Some(one.at), now));
    let tasks: Vec<Uuid> = open.map(|one| uuid(one.task.ulid())).collect();
    let states = client.prepare_cached("SELECT state FROM task WHERE id = ANY ($1)").await?;
    let mut over = HashMap::new();
    for row in client.query(&states, &[&tasks]).await? {
        let task: Task = read(row.try_get(0)?, || "task".to_owned())?;
        over.insert(task.id, over_since(&task));
    }
    let spent = |one: &&Aged| one.is_spent(over.get(&one.task).copied().flatten(), now);
    let gone: Vec<i64> = looked_at.iter().filter(spent).map(|one| int(one.n)).collect();
    let delete = client.prepare_cached("DELETE FROM contract WHERE n = ANY ($1)").await?;
    client.execute(&delete, &[&gone]).await?;
    Ok(Aged::next(&looked_at, now))
}

/// Assigns numbers to all committed contracts.
async fn number_contracts(client: &Client) -> Result<(), Failure> {
    let some = "SELECT EXISTS (SELECT FROM contract WHERE n IS NULL ORDER BY id LIMIT 1)";
    let some = client.prepare_cached(some).await?;
    if !client.query_one(&some, &[]).await?.try_get::<_, bool>(0)? {
        return Ok(());
    }
    let lock = client.prepare_cached("SELECT pg_advisory_xact_lock($1)").await?;
    // A separate statement: it sees the changes of the session that held the lock before.
    let number = "WITH waiting AS (
            SELECT id, row_number() OVER (ORDER BY id) AS place FROM contract WHERE n IS NULL
        ), last AS (
            SELECT coalesce((SELECT n FROM contract WHERE n IS NOT NULL ORDER BY n DESC LIMIT 1), 0)
                AS n
        )
        UPDATE contract SET n = last.n + waiting.place FROM waiting, last
        WHERE contract.id = waiting.id";
    let number = client.prepare_cached(number).await?;
    // Pipelined: if one statement fails, the following ones fail too.
    try_join!(
        client.batch_execute("BEGIN"),
        client.query_one(&lock, &[&LOCK]),
        client.execute(&number, &[]),
        client.batch_execute("COMMIT"),
    )?;
    Ok(())
}

async fn contracts(
    client: &Client,
    agent: &AgentId,
    n: u64,
    limit: usize,
) -> Result<Vec<(u64, Contract)>, Failure> {
    let sql = "SELECT n, contract FROM contract
        WHERE agent = $1 AND n IS NOT NULL AND n > $2 ORDER BY n LIMIT $3";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&agent.as_str(), &int(n), &int(limit)]).await?;
    let contract =
        |row: &Row| Ok((uint(row.try_get(0)?), read(row.try_get(1)?, || "contract".to_owned())?));
    rows.iter().map(contract).collect()
}

/// Advances the acknowledged number, but never beyond the last contract.
async fn ack(client: &Client, agent: &AgentId, n: u64) -> Result<u64, Failure> {
    let sql = "INSERT INTO runtime_ack AS old (agent, n)
        SELECT $1::text, least($2::bigint, coalesce((
            SELECT n FROM contract WHERE agent = $1 AND n IS NOT NULL ORDER BY n DESC LIMIT 1
        ), 0))
        ON CONFLICT (agent) DO UPDATE SET n = greatest(old.n, excluded.n)
        RETURNING n";
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_one(&statement, &[&agent.as_str(), &int(n)]).await?;
    Ok(uint(row.try_get(0)?))
}

fn task_id(row: &Row) -> Result<TaskId, Failure> {
    Ok(TaskId::new(ulid(row.try_get(0)?)))
}

//! Reads tasks, artifacts, ledgers and contracts.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::audit::Record;
use kernel::task::{Artifact, Contract, Entry, Scope, State};
use kernel::{AgentId, ArtifactId, EntryId, ProjectId, ReviewId, Subject, Task, TaskId, Time};
use rusqlite::{Connection, Params, Row, params};
use serde::de::DeserializeOwned;
use ulid::Ulid;

use super::ledger::one;
use super::{Sqlite, failed, record, task_rows};
use crate::rows::{int, read_state, uint};
use crate::tasks::{
    Aged, LOOKED_AT, ORGANISATION, TASKS_COUNTED, counted, given_in, given_project, over_since,
    written,
};
use crate::{Count, Result, TaskList, TaskPage, Tasks};

#[async_trait]
impl Tasks for Sqlite {
    async fn task(&self, id: TaskId) -> Result<Option<Task>> {
        self.readers.run(move |conn| task(conn, id)).await
    }

    async fn tasks(&self, list: TaskList) -> Result<TaskPage> {
        self.readers.run(move |conn| page(conn, &list)).await
    }

    async fn projects_given(&self, agent: AgentId) -> Result<Vec<ProjectId>> {
        self.readers.run(move |conn| projects_given(conn, &agent)).await
    }

    async fn task_counts(&self, list: TaskList) -> Result<Vec<(State, Count)>> {
        self.readers.run(move |conn| counts(conn, &list)).await
    }

    async fn over_tasks(
        &self,
        project: ProjectId,
        since: Time,
        limit: usize,
    ) -> Result<Vec<TaskId>> {
        self.readers.run(move |conn| over(conn, &project, since, limit)).await
    }

    async fn artifact(&self, id: ArtifactId) -> Result<Option<Artifact>> {
        self.readers.run(move |conn| artifact(conn, id)).await
    }

    async fn entry(&self, id: EntryId) -> Result<Option<Entry>> {
        self.readers.run(move |conn| entry(conn, id)).await
    }

    async fn entries(
        &self,
        scope: Scope,
        after: Option<String>,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        self.readers.run(move |conn| entries(conn, &scope, after.as_deref(), limit)).await
    }

    async fn organisation_ledgers(&self, limit: usize) -> Result<Vec<Scope>> {
        let names = move |conn: &Connection| distinct(conn, "entry", ORGANISATION, limit);
        let names = self.readers.run(names).await?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }

    async fn entry_history(&self, id: EntryId, seq: u64, limit: usize) -> Result<Vec<Entry>> {
        let read = move |conn: &Connection| record::chain(conn, &Subject::Entry(id), seq, limit);
        self.readers.run(read).await?.iter().map(written).collect()
    }

    async fn task_of_review(&self, id: ReviewId) -> Result<Option<TaskId>> {
        let sql = "SELECT task FROM review WHERE id = ?1";
        self.readers
            .run(move |conn| one(conn, sql, [id.ulid().to_bytes()], |row| task_id(row, 0)))
            .await
    }

    async fn task_records(
        &self,
        projects: Vec<ProjectId>,
        position: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Record)>> {
        self.readers.run(move |conn| record::of_tasks(conn, &projects, position, limit)).await
    }

    async fn contracts(
        &self,
        agent: AgentId,
        n: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Contract)>> {
        self.readers.run(move |conn| contracts(conn, &agent, n, limit)).await
    }

    async fn ack_contracts(&self, agent: AgentId, n: u64) -> Result<u64> {
        self.write(move |ledger| ledger.savepoint(|conn| task_rows::ack(conn, &agent, n))).await
    }

    async fn acked(&self, agent: AgentId) -> Result<u64> {
        self.readers.run(move |conn| acked(conn, &agent)).await
    }

    async fn sweep_contracts(&self, after: u64, now: Time) -> Result<u64> {
        let sweep = move |conn: &Connection| sweep_contracts(conn, after, now);
        self.write(move |ledger| ledger.savepoint(sweep)).await
    }
}

/// Keeps the newest contract: the next one is numbered after it.
fn sweep_contracts(conn: &Connection, after: u64, now: Time) -> Result<u64> {
    let sql = "SELECT c.n, c.task, c.at, c.n <= coalesce(a.n, 0)
         FROM contract AS c LEFT JOIN runtime_ack AS a ON a.agent = c.agent
         WHERE c.n > ?1 AND c.n < (SELECT max(n) FROM contract) ORDER BY c.n LIMIT ?2";
    let mut statement = conn.prepare_cached(sql).map_err(failed)?;
    let aged = |row: &Row<'_>| {
        let task = TaskId::new(Ulid::from_bytes(row.get(1)?));
        let (n, at) = (uint(row.get(0)?), Time::from_millis(row.get(2)?));
        Ok(Aged { n, task, at, acked: row.get(3)? })
    };
    let looked_at = statement
        .query_map(params![int(after), int(LOOKED_AT)], aged)
        .and_then(Iterator::collect::<rusqlite::Result<Vec<Aged>>>)
        .map_err(failed)?;
    let mut delete = conn.prepare_cached("DELETE FROM contract WHERE n = ?1").map_err(failed)?;
    for one in &looked_at {
        let spent = one.is_spent(None, now)
            || (one.is_spent(Some(one.at), now)
                && one.is_spent(task(conn, one.task)?.as_ref().and_then(over_since), now));
        if spent {
            delete.execute([int(one.n)]).map_err(failed)?;
        }
    }
    Ok(Aged::next(&looked_at, now))
}

pub(super) fn task(conn: &Connection, id: TaskId) -> Result<Option<Task>> {
    let sql = "SELECT state FROM task WHERE id = ?1";
    state(conn, sql, [id.ulid().to_bytes()], || id.to_string())
}

pub(super) fn artifact(conn: &Connection, id: ArtifactId) -> Result<Option<Artifact>> {
    let sql = "SELECT state FROM artifact WHERE id = ?1";
    state(conn, sql, [id.ulid().to_bytes()], || id.to_string())
}

pub(super) fn entry(conn: &Connection, id: EntryId) -> Result<Option<Entry>> {
    state(conn, "SELECT state FROM entry WHERE id = ?1", [id.to_string()], || id.to_string())
}

fn state<T: DeserializeOwned>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    what: impl FnOnce() -> String,
) -> Result<Option<T>> {
    let found: Option<String> = one(conn, sql, params, |row| row.get(0))?;
    found.map(|state| read_state(&what(), &state)).transpose()
}

fn projects_given(conn: &Connection, agent: &AgentId) -> Result<Vec<ProjectId>> {
    let (first, last) = given_in(agent);
    let scopes = distinct(conn, "task_list", (&first, &last), usize::MAX)?;
    Ok(scopes.iter().filter_map(|scope| given_project(scope)).collect())
}

/// The distinct scopes of a table between two bounds. It seeks from one to the next and does not
/// scan the rows.
fn distinct(
    conn: &Connection,
    table: &str,
    (first, last): (&str, &str),
    limit: usize,
) -> Result<Vec<String>> {
    let sql = format!(
        "WITH RECURSIVE found (scope) AS (
             SELECT (SELECT min(scope) FROM {table} WHERE scope > ?1 AND scope < ?2)
             UNION ALL
             SELECT (SELECT min(scope) FROM {table} WHERE scope > found.scope AND scope < ?2)
             FROM found WHERE found.scope IS NOT NULL
         )
         SELECT scope FROM found WHERE scope IS NOT NULL LIMIT ?3"
    );
    let mut statement = conn.prepare_cached(&sql).map_err(failed)?;
    let scopes = statement.query_map(params![first, last, int(limit)], |row| row.get(0));
    scopes.and_then(Iterator::collect::<rusqlite::Result<Vec<String>>>).map_err(failed)
}

fn page(conn: &Connection, list: &TaskList) -> Result<TaskPage> {
    // Longer than any id, and therefore sorted after all of them.
    const END: [u8; 17] = [0xff; 17];
    // Read the ranges and the tasks in one snapshot.
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let after = list.after.map(|id| id.ulid().to_bytes());
    let after = after.as_ref().map_or(&END[..], |id| &id[..]);
    let wanted = list.limit.saturating_add(1);
    let sql = "SELECT id FROM task_list WHERE scope = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";
    let mut found = BTreeSet::new();
    for range in list.ranges() {
        let mut select = moment.prepare_cached(sql).map_err(failed)?;
        let mut rows = select.query(params![range, after, int(wanted)]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            found.insert(task_id(row, 0).map_err(failed)?);
        }
    }
    let mut tasks = Vec::new();
    for id in found.into_iter().rev().take(wanted) {
        tasks.push(task(&moment, id)?.ok_or_else(|| task_rows::unlisted(id))?);
    }
    Ok(list.page(tasks))
}

fn counts(conn: &Connection, list: &TaskList) -> Result<Vec<(State, Count)>> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let sql = "SELECT count(*) FROM (SELECT 1 FROM task_list WHERE scope = ?1 LIMIT ?2)";
    let mut counts = Vec::new();
    for state in list.wanted_states() {
        let mut n = 0;
        for range in list.of_state(state).ranges() {
            let more = int(TASKS_COUNTED + 1).saturating_sub(n);
            n += one(&moment, sql, params![range, more], |row| row.get::<_, i64>(0))?.unwrap_or(0);
        }
        counts.push((state, counted(usize::try_from(n).unwrap_or(usize::MAX))));
    }
    Ok(counts)
}

fn over(conn: &Connection, project: &ProjectId, since: Time, limit: usize) -> Result<Vec<TaskId>> {
    conn.prepare_cached(
        "SELECT id FROM task
         WHERE CASE WHEN json_valid(state) THEN json_extract(state, '$.created.project') END = ?3
             AND over_at IS NOT NULL AND over_at <= ?1
         ORDER BY over_at, id LIMIT ?2",
    )
    .and_then(|mut select| {
        let wanted = params![since.millis(), int(limit), project.as_str()];
        let rows = select.query_map(wanted, |row| task_id(row, 0))?;
        rows.collect()
    })
    .map_err(failed)
}

fn entries(
    conn: &Connection,
    scope: &Scope,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<Entry>> {
    // The empty key sorts first; without a key to continue after, it belongs to the list.
    let sql = match after {
        Some(_) => {
            "SELECT id, state FROM entry WHERE scope = ?1 AND key > ?2 ORDER BY key LIMIT ?3"
        }
        None => "SELECT id, state FROM entry WHERE scope = ?1 AND key >= ?2 ORDER BY key LIMIT ?3",
    };
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let params = params![scope.as_str(), after.unwrap_or_default(), int(limit)];
    let mut rows = select.query(params).map_err(failed)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let (id, state): (String, String) =
            (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
        entries.push(read_state(&id, &state)?);
    }
    Ok(entries)
}

fn contracts(
    conn: &Connection,
    agent: &AgentId,
    n: u64,
    limit: usize,
) -> Result<Vec<(u64, Contract)>> {
    let sql = "SELECT n, contract FROM contract WHERE agent = ?1 AND n > ?2 ORDER BY n LIMIT ?3";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows = select.query(params![agent.as_str(), int(n), int(limit)]).map_err(failed)?;
    let mut contracts = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let state: String = row.get(1).map_err(failed)?;
        contracts.push((uint(row.get(0).map_err(failed)?), read_state("contract", &state)?));
    }
    Ok(contracts)
}

pub(super) fn acked(conn: &Connection, agent: &AgentId) -> Result<u64> {
    let sql = "SELECT n FROM runtime_ack WHERE agent = ?1";
    Ok(one(conn, sql, [agent.as_str()], |row| row.get(0).map(uint))?.unwrap_or_default())
}

pub(super) fn task_id(row: &Row<'_>, column: usize) -> rusqlite::Result<TaskId> {
    row.get(column).map(|bytes| TaskId::new(Ulid::from_bytes(bytes)))
}

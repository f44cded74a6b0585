//! Writes tasks, artifacts, ledgers and contracts in the transaction of the job that changed them.

use kernel::task::{Artifact, Contract, Entry};
use kernel::{Refusal, Subject, Time};
use rusqlite::{Connection, Params, params};
use serde::de::DeserializeOwned;

use super::transaction::{expect_one, is_taken, json};
use super::{failed, statements};
use crate::columns::{int, read_state};
use crate::job::{ChangedTask, JobWrites};
use crate::sql::SqlValue;
use crate::{Result, tasks};

/// The state of a task, an artifact or a key of a ledger.
pub(super) fn state<T: DeserializeOwned>(
    conn: &Connection,
    table: &str,
    name: &str,
    id: SqlValue,
) -> Result<Option<T>> {
    let sql = format!("SELECT state FROM {table} WHERE id = $1");
    let row = statements::query(conn, &sql, &[id])?.pop();
    row.map(|mut row| read_state(name, &row.get::<String>(0)?)).transpose()
}

pub(super) fn put(conn: &Connection, work: &JobWrites, moved: &ChangedTask) -> Result<()> {
    let task = &moved.after;
    let name = || task.id.to_string();
    let (id, version) = (task.id.ulid().to_bytes(), int(task.head.seq));
    let over_at = task.retention_start().map(Time::millis);
    let state = json(task, name)?;
    if moved.before.is_none() {
        let sql = "INSERT INTO task (id, version, over_at, state) VALUES (?1, ?2, ?3, ?4)";
        return new(conn, sql, params![id, version, over_at, state], "task");
    }
    let read = int(work.version_before(&Subject::Task(task.id)));
    let sql = "UPDATE task SET version = ?2, over_at = ?3, state = ?4
         WHERE id = ?1 AND version = ?5";
    expect_one(execute(conn, sql, params![id, version, over_at, state, read])?, name)
}

/// Moves a task from its old ranges to its new ones, and stores which task its new
/// reviews belong to.
pub(super) fn relist(conn: &Connection, moved: &ChangedTask) -> Result<()> {
    let id = moved.after.id.ulid().to_bytes();
    let (old, new) = tasks::moved(moved.before.as_ref(), &moved.after);
    for range in old {
        let sql = "DELETE FROM task_list WHERE scope = ?1 AND id = ?2";
        execute(conn, sql, params![range, id])?;
    }
    for range in new {
        let sql = "INSERT INTO task_list (scope, id) VALUES (?1, ?2)";
        execute(conn, sql, params![range, id])?;
    }
    for review in moved.reviews() {
        let sql = "INSERT INTO review (id, task) VALUES (?1, ?2)";
        execute(conn, sql, params![review.ulid().to_bytes(), id])?;
    }
    Ok(())
}

pub(super) fn put_artifact(conn: &Connection, work: &JobWrites, made: &Artifact) -> Result<()> {
    let name = || made.id.to_string();
    let (id, version) = (made.id.ulid().to_bytes(), int(made.head.seq));
    let state = json(made, name)?;
    let read = work.version_before(&Subject::Artifact(made.id));
    if read == 0 {
        let sql = "INSERT INTO artifact (id, version, state) VALUES (?1, ?2, ?3)";
        return new(conn, sql, params![id, version, state], "artifact");
    }
    let sql = "UPDATE artifact SET version = ?2, state = ?3 WHERE id = ?1 AND version = ?4";
    expect_one(execute(conn, sql, params![id, version, state, int(read)])?, name)
}

pub(super) fn put_entry(conn: &Connection, work: &JobWrites, entry: &Entry) -> Result<()> {
    let id = entry.id.to_string();
    let (version, state) = (int(entry.head.seq), json(entry, || id.clone())?);
    let read = work.version_before(&Subject::Entry(entry.id));
    if read == 0 {
        let sql = "INSERT INTO entry (id, version, scope, key, state) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![id, version, entry.scope.as_str(), entry.key, state];
        return new(conn, sql, row, "entry");
    }
    let sql = "UPDATE entry SET version = ?2, state = ?3 WHERE id = ?1 AND version = ?4";
    expect_one(execute(conn, sql, params![id, version, state, int(read)])?, || id)
}

pub(super) fn put_contract(conn: &Connection, contract: &Contract) -> Result<()> {
    let sql = "INSERT INTO contract (agent, task, seq, duty, run, at, contract)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let row = params![
        contract.agent.as_str(),
        contract.task.ulid().to_bytes(),
        int(contract.seq),
        contract.duty.as_str(),
        contract.run.ulid().to_bytes(),
        contract.at.millis(),
        json(contract, || contract.id())?,
    ];
    execute(conn, sql, row).map(drop)
}

fn execute(conn: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    conn.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).map_err(failed)
}

/// Inserts a row; refused if it exists already.
fn new(conn: &Connection, sql: &str, params: impl Params, what: &'static str) -> Result<()> {
    match conn.prepare_cached(sql).and_then(|mut insert| insert.execute(params)) {
        Ok(_) => Ok(()),
        Err(error) if is_taken(&error) => Err(Refusal::Exists { what }.into()),
        Err(error) => Err(failed(error)),
    }
}

//! Queries on the file, on any connection.

use kernel::directory::Directory;
use kernel::{Ask, AskId, Entity, ProjectId, TaskId, Time};
use rusqlite::{Connection, Row, params};
use ulid::Ulid;

use super::failed;
use super::transaction::one;
use crate::columns::{digest, int, uint};
use crate::job::{IdempotencyRecord, expired_before, renewed, renewed_since};
use crate::leases::WakeUp;
use crate::{Idempotency, Result, StoreError};

pub(super) fn ping(conn: &Connection) -> Result<()> {
    one(conn, "SELECT 1", [], |_| Ok(())).map(drop)
}

/// The whole directory. It is read once, when the store is opened.
pub(super) fn directory(conn: &Connection) -> Result<Directory> {
    let mut directory = Directory::default();
    let mut select = conn.prepare("SELECT id, state FROM entity").map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let state = row.get_ref(1).map_err(failed)?.as_bytes().map_err(other)?;
        let entity: Entity = serde_json::from_slice(state).map_err(|error| {
            let what = row.get(0).unwrap_or_else(|_| "directory".to_owned());
            StoreError::Damaged { what, source: error.into() }
        })?;
        directory.put(entity);
    }
    Ok(directory)
}

pub(super) fn ask(conn: &Connection, id: AskId) -> Result<Option<Ask>> {
    Ok(sized_ask(conn, id)?.map(|(ask, _)| ask))
}

/// An ask, and its stored size.
pub(super) fn sized_ask(conn: &Connection, id: AskId) -> Result<Option<(Ask, usize)>> {
    let mut select = conn.prepare_cached("SELECT state FROM ask WHERE id = ?1").map_err(failed)?;
    let mut rows = select.query([id.ulid().to_bytes()]).map_err(failed)?;
    let Some(row) = rows.next().map_err(failed)? else { return Ok(None) };
    let state = row.get_ref(0).map_err(failed)?.as_bytes().map_err(other)?;
    serde_json::from_slice(state)
        .map(|ask| Some((ask, state.len())))
        .map_err(|error| StoreError::Damaged { what: id.to_string(), source: error.into() })
}

/// The first `limit` wake-ups up to and including a time.
pub(super) fn wakes(conn: &Connection, until: Time, limit: usize) -> Result<Vec<WakeUp>> {
    let sql = "SELECT wake_at, id FROM ask WHERE wake_at IS NOT NULL AND wake_at <= ?1
         ORDER BY wake_at, id LIMIT ?2";
    moments(conn, sql, params![until.millis(), int(limit)])
}

/// The first `limit` asks of a project that ended by a given time and still have their text, with
/// the time they ended.
pub(super) fn ended_asks(
    conn: &Connection,
    project: &ProjectId,
    since: Time,
    limit: usize,
) -> Result<Vec<WakeUp>> {
    moments(conn, ENDED_ASKS, params![since.millis(), int(limit), project.as_str()])
}

pub(super) const ENDED_ASKS: &str = "SELECT over_at, id FROM ask
    WHERE CASE WHEN json_valid(state) THEN json_extract(state, '$.asked.project') END = ?3
        AND over_at IS NOT NULL AND over_at <= ?1
    ORDER BY over_at, id LIMIT ?2";

fn moments(conn: &Connection, sql: &str, wanted: impl rusqlite::Params) -> Result<Vec<WakeUp>> {
    conn.prepare_cached(sql)
        .and_then(|mut select| {
            let wake = |row: &Row<'_>| Ok((Time::from_millis(row.get(0)?), ask_id(row, 1)?));
            select.query_map(wanted, wake)?.collect()
        })
        .map_err(failed)
}

pub(super) fn remembered(
    conn: &Connection,
    scope: &str,
    key: &str,
) -> Result<Option<IdempotencyRecord>> {
    let sql =
        "SELECT fingerprint, ask, at, task, seq FROM idempotency WHERE scope = ?1 AND key = ?2";
    one(conn, sql, [scope, key], |row| {
        let (ask, task): (Option<[u8; 16]>, Option<[u8; 16]>) = (row.get(1)?, row.get(3)?);
        let seq: Option<i64> = row.get(4)?;
        let task = task.map(|bytes| TaskId::new(Ulid::from_bytes(bytes)));
        Ok(IdempotencyRecord {
            fingerprint: digest(row.get_ref(0)?.as_bytes().unwrap_or_default()),
            ask: ask.map(|bytes| AskId::new(Ulid::from_bytes(bytes))),
            place: task.zip(seq.map(uint)),
            at: Time::from_millis(row.get(2)?),
        })
    })
}

pub(super) fn remember(
    conn: &Connection,
    request: &Idempotency,
    remembered: &IdempotencyRecord,
) -> Result<()> {
    // Replaces a key that is too old to count.
    conn.prepare_cached(
        "INSERT OR REPLACE INTO idempotency (scope, key, fingerprint, ask, at, task, seq)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )
    .and_then(|mut insert| {
        insert.execute(params![
            request.scope,
            request.key,
            remembered.fingerprint.0,
            remembered.ask.map(|id| id.ulid().to_bytes()),
            remembered.at.millis(),
            remembered.place.map(|(task, _)| task.ulid().to_bytes()),
            remembered.place.map(|(_, seq)| int(seq)),
        ])
    })
    .map(drop)
    .map_err(failed)
}

/// What a sweep of idempotency keys did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SweptKeys {
    /// The number of keys examined.
    pub(super) seen: usize,
    /// The number of keys deleted.
    pub(super) forgotten: usize,
}

/// A key that is too old to count by itself.
struct OldKey {
    scope: String,
    key: String,
    ask: Option<AskId>,
    /// When its ask ended, if the row of the ask says so.
    over_at: Option<Time>,
}

/// Examines up to `limit` idempotency keys that are too old to count by themselves. A key whose ask
/// is open counts from now, and one whose ask ended recently counts from that end; the others are
/// deleted. Each key is examined at most once a day, and its ask is found by id.
pub(super) fn sweep(conn: &Connection, now: Time, limit: usize) -> Result<SweptKeys> {
    let old = old_keys(conn, now, limit)?;
    let mut swept = SweptKeys { seen: old.len(), forgotten: 0 };
    for OldKey { scope, key, ask: id, over_at } in old {
        let from = match (id, over_at) {
            (_, Some(ended)) => renewed_since(Some(ended), now),
            (Some(id), None) => ask(conn, id)?.and_then(|ask| renewed(&ask, now)),
            (None, None) => None,
        };
        let changed = if let Some(from) = from {
            let renew = "UPDATE idempotency SET at = ?3 WHERE scope = ?1 AND key = ?2";
            conn.prepare_cached(renew)
                .and_then(|mut renew| renew.execute(params![scope, key, from.millis()]))
        } else {
            swept.forgotten += 1;
            let forget = "DELETE FROM idempotency WHERE scope = ?1 AND key = ?2";
            conn.prepare_cached(forget).and_then(|mut forget| forget.execute(params![scope, key]))
        };
        changed.map_err(failed)?;
    }
    Ok(swept)
}

fn old_keys(conn: &Connection, now: Time, limit: usize) -> Result<Vec<OldKey>> {
    conn.prepare_cached(
        "SELECT old.scope, old.key, old.ask, ask.over_at
         FROM (SELECT scope, key, ask FROM idempotency WHERE at <= ?1 LIMIT ?2) AS old
         LEFT JOIN ask ON ask.id = old.ask",
    )
    .and_then(|mut select| {
        let read = |row: &Row<'_>| {
            let (ask, over_at): (Option<[u8; 16]>, Option<i64>) = (row.get(2)?, row.get(3)?);
            Ok(OldKey {
                scope: row.get(0)?,
                key: row.get(1)?,
                ask: ask.map(|bytes| AskId::new(Ulid::from_bytes(bytes))),
                over_at: over_at.map(Time::from_millis),
            })
        };
        select.query_map(params![expired_before(now).millis(), int(limit)], read)?.collect()
    })
    .map_err(failed)
}

pub(super) fn ask_id(row: &Row<'_>, column: usize) -> rusqlite::Result<AskId> {
    row.get(column).map(|bytes| AskId::new(Ulid::from_bytes(bytes)))
}

fn other(error: rusqlite::types::FromSqlError) -> StoreError {
    StoreError::Damaged { what: "database".to_owned(), source: error.into() }
}

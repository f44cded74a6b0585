//! The audit log by subject, with the state of each subject, as the verification reads it.

use std::str::FromStr;

use kernel::audit::Row;
use kernel::{ArtifactId, AskId, TaskId};
use rusqlite::{Connection, params};
use ulid::Ulid;

use super::failed;
use super::record::{bytes, lossy, raw};
use crate::chains::{between, stop};
use crate::rows::uint;
use crate::{Chains, Held, Result};

/// The kinds whose state is stored in `entity`.
const KINDS: [&str; 6] = ["agent", "human", "key", "project", "rule", "webhook"];

/// The chains of the subjects after `after`, in the order of their names, each complete and with
/// its state in the same snapshot; about `limit` records.
pub(super) fn chains(conn: &Connection, after: Option<&str>, limit: usize) -> Result<Chains> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let (rows, next) = rows(&moment, after, limit)?;
    let mut held = states(&moment, after, next.as_deref())?;
    held.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(Chains::join(rows, held, next))
}

fn rows(
    conn: &Connection,
    after: Option<&str>,
    limit: usize,
) -> Result<(Vec<Row>, Option<String>)> {
    let columns = "SELECT position, subject, seq, at, what, prev, hash, body, contents FROM record";
    let sql = match after {
        Some(_) => format!("{columns} WHERE subject > ?1 ORDER BY subject, seq"),
        None => format!("{columns} WHERE subject >= ?1 ORDER BY subject, seq"),
    };
    let mut select = conn.prepare_cached(&sql).map_err(failed)?;
    let mut found = select.query([after.unwrap_or_default()]).map_err(failed)?;
    let mut rows: Vec<Row> = Vec::with_capacity(limit);
    while let Some(row) = found.next().map_err(failed)? {
        let row = raw(row)?;
        if let Some(next) = stop(&rows, &row, limit) {
            return Ok((rows, Some(next)));
        }
        rows.push(row);
    }
    Ok((rows, None))
}

/// The states of the subjects after `after`, up to and including `to`, as stored.
fn states(conn: &Connection, after: Option<&str>, to: Option<&str>) -> Result<Vec<(String, Held)>> {
    // Longer than any name, and therefore sorted after all of them.
    const END: &str = "\u{10ffff}";
    let (after, last) = (after.unwrap_or_default(), to.unwrap_or(END));
    let mut states = Vec::new();
    let mut select = conn
        .prepare_cached(
            "SELECT id, version, state FROM entity WHERE kind = ?1 AND id > ?2 AND id <= ?3",
        )
        .map_err(failed)?;
    for kind in KINDS {
        let mut rows = select.query(params![kind, after, last]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            states.push((lossy(bytes(row, 0)?.unwrap_or_default()), held(row)?));
        }
    }
    let sql = "SELECT id, version, state FROM entry WHERE id > ?1 AND id <= ?2 ORDER BY id";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows = select.query(params![after, last]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        states.push((lossy(bytes(row, 0)?.unwrap_or_default()), held(row)?));
    }
    let stretch = (after, to);
    let asks = "SELECT id, version, state FROM ask WHERE id > ?1 AND id <= ?2 ORDER BY id";
    made(conn, asks, AskId::PREFIX, stretch, AskId::ulid, &mut states)?;
    let tasks = "SELECT id, version, state FROM task WHERE id > ?1 AND id <= ?2 ORDER BY id";
    made(conn, tasks, TaskId::PREFIX, stretch, TaskId::ulid, &mut states)?;
    let made_of = "SELECT id, version, state FROM artifact WHERE id > ?1 AND id <= ?2 ORDER BY id";
    made(conn, made_of, ArtifactId::PREFIX, stretch, ArtifactId::ulid, &mut states)?;
    Ok(states)
}

/// The same for subjects with ids of one kind.
fn made<T: FromStr>(
    conn: &Connection,
    sql: &str,
    prefix: &str,
    (after, to): (&str, Option<&str>),
    ulid: impl Fn(T) -> Ulid,
    states: &mut Vec<(String, Held)>,
) -> Result<()> {
    // Longer than any id, and therefore sorted after all of them.
    const LAST: [u8; 17] = [0xff; 17];
    let after = Some(after).filter(|after| !after.is_empty());
    let Some((from, to)) = between::<T>(prefix, after, to) else { return Ok(()) };
    let edge = |id: Option<T>, open: &[u8]| {
        id.map_or_else(|| open.to_vec(), |id| ulid(id).to_bytes().to_vec())
    };
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows = select.query(params![edge(from, &[]), edge(to, &LAST)]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let id = bytes(row, 0)?.unwrap_or_default();
        let name = <[u8; 16]>::try_from(id).map_or_else(
            |_| String::from_utf8_lossy(id).into_owned(),
            |id| Ulid::from_bytes(id).to_string(),
        );
        states.push((format!("{prefix}{name}"), held(row)?));
    }
    Ok(())
}

fn held(row: &rusqlite::Row<'_>) -> Result<Held> {
    Ok(Held {
        version: uint(row.get(1).map_err(failed)?),
        state: lossy(bytes(row, 2)?.unwrap_or_default()),
    })
}

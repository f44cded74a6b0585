//! The record by subject, with the state each subject is in: what a check of the record reads.

use kernel::AskId;
use kernel::audit::Row;
use rusqlite::{Connection, params};

use super::failed;
use super::record::{bytes, lossy, raw};
use crate::chains::{asks_between, stop};
use crate::rows::uint;
use crate::{Chains, Held, Result};

/// Kinds whose state lies in `entity`.
const KINDS: [&str; 6] = ["agent", "human", "key", "project", "rule", "webhook"];

/// The chains of the subjects after `after`, in the order of their names, each whole and with its
/// state of the same moment; about `limit` records.
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

/// The states of subjects in the stretch behind `after` up to and with `to`, as they lie there.
fn states(conn: &Connection, after: Option<&str>, to: Option<&str>) -> Result<Vec<(String, Held)>> {
    // Longer than any name or id, and therefore after all of them.
    const END: &str = "\u{10ffff}";
    const LAST: [u8; 17] = [0xff; 17];
    let mut states = Vec::new();
    let mut select = conn
        .prepare_cached(
            "SELECT id, version, state FROM entity WHERE kind = ?1 AND id > ?2 AND id <= ?3",
        )
        .map_err(failed)?;
    for kind in KINDS {
        let stretch = params![kind, after.unwrap_or_default(), to.unwrap_or(END)];
        let mut rows = select.query(stretch).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            states.push((lossy(bytes(row, 0)?.unwrap_or_default()), held(row)?));
        }
    }
    let Some((from, to)) = asks_between(after, to) else { return Ok(states) };
    let edge = |id: Option<AskId>, open: &[u8]| {
        id.map_or_else(|| open.to_vec(), |id| id.ulid().to_bytes().to_vec())
    };
    let sql = "SELECT id, version, state FROM ask WHERE id > ?1 AND id <= ?2 ORDER BY id";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows = select.query(params![edge(from, &[]), edge(to, &LAST)]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let id = bytes(row, 0)?.unwrap_or_default();
        let name = <[u8; 16]>::try_from(id).map_or_else(
            |_| format!("ask_{}", String::from_utf8_lossy(id)),
            |id| AskId::new(ulid::Ulid::from_bytes(id)).to_string(),
        );
        states.push((name, held(row)?));
    }
    Ok(states)
}

fn held(row: &rusqlite::Row<'_>) -> Result<Held> {
    Ok(Held {
        version: uint(row.get(1).map_err(failed)?),
        state: lossy(bytes(row, 2)?.unwrap_or_default()),
    })
}

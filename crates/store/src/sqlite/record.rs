//! The audit records and the feed.
//!
//! A damaged row is returned wherever its subject can be parsed: the verifier reports what is wrong
//! with it. Only a row without a readable subject is a store error.

use kernel::audit::{self, Digest, Record};
use kernel::{AgentId, AskId, ProjectId, Subject, Time};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::failed;
use super::ledger::one;
use crate::rows::{digest, int, opened, subject, uint};
use crate::{Change, Result};

pub(super) fn changes(conn: &Connection, position: u64, limit: usize) -> Result<Vec<Change>> {
    let select = "SELECT position, subject, seq, at, what FROM record WHERE position > ?1
                  ORDER BY position LIMIT ?2";
    told(conn, select, params![int(position), int(limit)])
}

pub(super) fn history(
    conn: &Connection,
    ask: AskId,
    seq: u64,
    limit: usize,
) -> Result<Vec<Change>> {
    let select = "SELECT position, subject, seq, at, what FROM record
                  WHERE subject = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    told(conn, select, params![ask.to_string(), int(seq), int(limit)])
}

/// One range of the index per agent, merged.
pub(super) fn stream(
    conn: &Connection,
    agents: &[AgentId],
    position: u64,
    limit: usize,
) -> Result<Vec<Change>> {
    let select = "SELECT position, subject, seq, at, what FROM record
                  WHERE agent = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
    // Read all ranges in one snapshot, so that a commit between two of them is not skipped.
    let snapshot = conn.unchecked_transaction().map_err(failed)?;
    let mut merged = Vec::new();
    for agent in agents {
        let params = params![agent.as_str(), int(position), int(limit)];
        merged.append(&mut told(&snapshot, select, params)?);
    }
    merged.sort_unstable_by_key(|change| change.position);
    merged.truncate(limit);
    Ok(merged)
}

fn told(conn: &Connection, select: &str, params: impl rusqlite::Params) -> Result<Vec<Change>> {
    let mut select = conn.prepare_cached(select).map_err(failed)?;
    let mut rows = select.query(params).map_err(failed)?;
    let mut changes = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let seq = uint(row.get(2).map_err(failed)?);
        changes.push(Change {
            position: uint(row.get(0).map_err(failed)?),
            subject: subject(&lossy(bytes(row, 1)?.unwrap_or_default()), seq)?,
            seq,
            at: Time::from_millis(row.get(3).map_err(failed)?),
            what: row.get(4).map_err(failed)?,
        });
    }
    Ok(changes)
}

pub(super) fn chain(
    conn: &Connection,
    subject: &Subject,
    seq: u64,
    limit: usize,
) -> Result<Vec<Record>> {
    let select = "SELECT position, subject, seq, at, what, prev, hash, body, contents FROM record
                  WHERE subject = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let records = records(conn, select, params![subject.to_string(), int(seq), int(limit)])?;
    Ok(records.into_iter().map(|(_, record)| record).collect())
}

/// The records of the tasks of these projects: one range of the index each, merged.
pub(super) fn of_tasks(
    conn: &Connection,
    projects: &[ProjectId],
    position: u64,
    limit: usize,
) -> Result<Vec<(u64, Record)>> {
    let select = "SELECT position, subject, seq, at, what, prev, hash, body, contents FROM record
                  WHERE project = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
    // Read all ranges in one snapshot, so that a commit between two of them is not skipped.
    let snapshot = conn.unchecked_transaction().map_err(failed)?;
    let mut merged = Vec::new();
    for project in projects {
        let params = params![project.as_str(), int(position), int(limit)];
        merged.append(&mut records(&snapshot, select, params)?);
    }
    merged.sort_unstable_by_key(|(position, _)| *position);
    merged.dedup_by_key(|(position, _)| *position);
    merged.truncate(limit);
    Ok(merged)
}

/// The last position of the feed; 0 if it is empty.
pub(super) fn last_position(conn: &Connection) -> Result<u64> {
    let sql = "SELECT position FROM record ORDER BY position DESC LIMIT 1";
    Ok(one(conn, sql, [], |row| row.get(0).map(uint))?.unwrap_or(0))
}

/// The position of a record in the feed.
pub(super) fn position(conn: &Connection, subject: &Subject, seq: u64) -> Result<Option<u64>> {
    let sql = "SELECT position FROM record WHERE subject = ?1 AND seq = ?2";
    one(conn, sql, params![subject.to_string(), int(seq)], |row| row.get(0).map(uint))
}

/// The hashes are stored before the bodies in a row, so the bodies are not read.
pub(super) fn hashes(conn: &Connection, position: u64, limit: usize) -> Result<Vec<(u64, Digest)>> {
    let sql = "SELECT position, hash FROM record WHERE position > ?1 ORDER BY position LIMIT ?2";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows = select.query(params![int(position), int(limit)]).map_err(failed)?;
    let mut hashes = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let position = uint(row.get(0).map_err(failed)?);
        hashes.push((position, digest(bytes(row, 1)?.unwrap_or_default())));
    }
    Ok(hashes)
}

/// Records as stored.
pub(super) fn rows(conn: &Connection, position: u64, limit: usize) -> Result<Vec<audit::Row>> {
    let sql = "SELECT position, subject, seq, at, what, prev, hash, body, contents FROM record
               WHERE position > ?1 ORDER BY position LIMIT ?2";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let mut found = select.query(params![int(position), int(limit)]).map_err(failed)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next().map_err(failed)? {
        rows.push(raw(row)?);
    }
    Ok(rows)
}

/// One record as stored, even if it was tampered with.
pub(super) fn raw(row: &Row<'_>) -> Result<audit::Row> {
    let text = |column| -> Result<Option<String>> { Ok(bytes(row, column)?.map(lossy)) };
    Ok(audit::Row {
        position: uint(row.get(0).map_err(failed)?),
        subject: text(1)?.unwrap_or_default(),
        seq: uint(row.get(2).map_err(failed)?),
        at: Time::from_millis(row.get(3).map_err(failed)?),
        what: text(4)?.unwrap_or_default(),
        prev: digest(bytes(row, 5)?.unwrap_or_default()),
        hash: digest(bytes(row, 6)?.unwrap_or_default()),
        body: text(7)?.unwrap_or_default(),
        contents: text(8)?,
    })
}

fn records(
    conn: &Connection,
    select: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<(u64, Record)>> {
    let mut select = conn.prepare_cached(select).map_err(failed)?;
    let mut rows = select.query(params).map_err(failed)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        records.push(read(row)?);
    }
    Ok(records)
}

fn read(row: &Row<'_>) -> Result<(u64, Record)> {
    let row = raw(row)?;
    let subject = subject(&row.subject, row.seq)?;
    Ok((row.position, opened(row, subject)))
}

/// A text from any bytes. Valid UTF-8 is the common case and checked first, because that is faster.
pub(super) fn lossy(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes)
        .map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), str::to_owned)
}

/// The bytes of a text or blob column, valid or not.
pub(super) fn bytes<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a [u8]>> {
    Ok(match row.get_ref(column).map_err(failed)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    })
}

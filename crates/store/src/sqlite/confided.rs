//! What was given in confidence with an answer, encrypted.

use kernel::audit::Digest;
use kernel::{AskId, Time};
use rusqlite::{Connection, OptionalExtension, params};

use super::failed;
use crate::{Result, confided_before};

pub(super) fn put(conn: &Connection, ask: AskId, name: &Digest, closed: &[u8]) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO confided (ask, name, closed) VALUES (?1, ?2, ?3)";
    conn.prepare_cached(sql)
        .and_then(|mut put| put.execute(params![ask.ulid().to_bytes(), name.0, closed]))
        .map(drop)
        .map_err(failed)
}

/// Reads it, and notes the first reading.
pub(super) fn read(
    conn: &Connection,
    ask: AskId,
    name: &Digest,
    now: Time,
) -> Result<Option<Vec<u8>>> {
    let sql = "UPDATE confided SET read_at = coalesce(read_at, ?3)
         WHERE ask = ?1 AND name = ?2 AND (read_at IS NULL OR read_at > ?4) RETURNING closed";
    let gone = confided_before(now).millis();
    conn.prepare_cached(sql)
        .and_then(|mut read| {
            let key = params![ask.ulid().to_bytes(), name.0, now.millis(), gone];
            read.query_row(key, |row| row.get(0)).optional()
        })
        .map_err(failed)
}

/// The same, for our own use.
pub(super) fn lent(conn: &Connection, ask: AskId, name: &Digest) -> Result<Option<Vec<u8>>> {
    conn.prepare_cached("SELECT closed FROM confided WHERE ask = ?1 AND name = ?2")
        .and_then(|mut read| {
            let key = params![ask.ulid().to_bytes(), name.0];
            read.query_row(key, |row| row.get(0)).optional()
        })
        .map_err(failed)
}

pub(super) fn forget(conn: &Connection, ask: AskId, name: Option<&Digest>) -> Result<()> {
    conn.prepare_cached("DELETE FROM confided WHERE ask = ?1 AND (?2 IS NULL OR name = ?2)")
        .and_then(|mut drop| drop.execute(params![ask.ulid().to_bytes(), name.map(|name| name.0)]))
        .map(drop)
        .map_err(failed)
}

/// Forgets what was read long enough ago.
pub(super) fn sweep(conn: &Connection, now: Time) -> Result<()> {
    conn.prepare_cached("DELETE FROM confided WHERE read_at <= ?1")
        .and_then(|mut drop| drop.execute([confided_before(now).millis()]))
        .map(drop)
        .map_err(failed)
}

//! The webhook delivery log.

use kernel::{Time, WebhookId};
use rusqlite::{Connection, params};

use super::failed;
use super::ledger::one;
use crate::Result;
use crate::rows::{int, read_state, state};
use crate::work_queue::{Entry, LogQuery, Logged, unlogged_before};

const LOG: &str = "log of deliveries";

/// Logs the outcome of a delivery.
pub(super) fn note(conn: &Connection, entry: Entry) -> Result<()> {
    let before = find(conn, entry.webhook, &entry.message.id)?;
    put(conn, &entry.onto(before))
}

pub(super) fn find(conn: &Connection, webhook: WebhookId, id: &str) -> Result<Option<Logged>> {
    let sql = "SELECT state FROM delivery_log WHERE webhook = ?1 AND message = ?2";
    let key = params![webhook.ulid().to_bytes(), id];
    let state: Option<String> = one(conn, sql, key, |row| row.get(0))?;
    state.map(|state| read_state(LOG, &state)).transpose()
}

pub(super) fn put(conn: &Connection, logged: &Logged) -> Result<()> {
    let state = state(LOG, logged)?;
    conn.prepare_cached(
        "INSERT INTO delivery_log (webhook, message, at, status, updated_at, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (webhook, message) DO UPDATE SET status = ?4, updated_at = ?5, state = ?6",
    )
    .and_then(|mut put| {
        put.execute(params![
            logged.webhook.ulid().to_bytes(),
            logged.message.id,
            logged.message.at.millis(),
            logged.status.as_str(),
            logged.updated_at.millis(),
            state
        ])
    })
    .map(drop)
    .map_err(failed)
}

pub(super) fn list(conn: &Connection, wanted: &LogQuery) -> Result<Vec<Logged>> {
    let (at, message) = wanted.place();
    let webhook = wanted.webhook.ulid().to_bytes();
    let sql = "SELECT state FROM delivery_log
         WHERE status = ?1 AND webhook = ?2 AND (at, message) < (?3, ?4)
         ORDER BY at DESC, message DESC LIMIT ?5";
    // Read all of them in one snapshot, so that a delivery settled meanwhile appears once.
    let snapshot = conn.unchecked_transaction().map_err(failed)?;
    let mut found = Vec::new();
    for status in wanted.statuses() {
        let rows: Vec<String> = snapshot
            .prepare_cached(sql)
            .and_then(|mut select| {
                let key = params![status.as_str(), webhook, at, message, int(wanted.limit)];
                select.query_map(key, |row| row.get(0))?.collect()
            })
            .map_err(failed)?;
        for state in rows {
            found.push(read_state(LOG, &state)?);
        }
    }
    Ok(wanted.newest(found))
}

/// Deletes some of the log of an endpoint. Returns how many.
pub(super) fn forget(conn: &Connection, webhook: WebhookId, limit: usize) -> Result<usize> {
    conn.prepare_cached(
        "DELETE FROM delivery_log WHERE rowid IN (
             SELECT rowid FROM delivery_log WHERE webhook = ?1 LIMIT ?2)",
    )
    .and_then(|mut forget| forget.execute(params![webhook.ulid().to_bytes(), int(limit)]))
    .map_err(failed)
}

/// Deletes some of the entries that are old enough. Returns how many.
pub(super) fn sweep(conn: &Connection, now: Time, limit: usize) -> Result<usize> {
    conn.prepare_cached(
        "DELETE FROM delivery_log WHERE rowid IN (
             SELECT rowid FROM delivery_log WHERE updated_at <= ?1 ORDER BY updated_at LIMIT ?2)",
    )
    .and_then(|mut sweep| sweep.execute(params![unlogged_before(now).millis(), int(limit)]))
    .map_err(failed)
}

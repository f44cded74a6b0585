//! The outbox: claimed with a lease, settled or claimed again.

use std::time::Duration;

use kernel::ask::Priority;
use kernel::{Effect, Time};
use rusqlite::{Connection, params};

use super::failed;
use super::ledger::{one, put_effect};
use crate::rows::{int, uint};
use crate::{BACKLOG_COUNTED, Backlog, Delivery, Result, Settlement, later};

/// A lease is the moment from which a row may be claimed again, so claimed rows are out of the way
/// of the next claim, like those to be tried later and those given up.
pub(super) fn claim(
    conn: &Connection,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<Delivery>> {
    let until = later(now, lease).millis();
    let mut claimed = Vec::new();
    for priority in Priority::ALL {
        let left = int(limit - claimed.len().min(limit));
        if left == 0 {
            break;
        }
        for row in due(conn, priority.rank(), now, left)? {
            match serde_json::from_str::<Effect>(&row.effect) {
                Ok(effect) => {
                    let attempt = row.attempt.saturating_add(1);
                    conn.prepare_cached(
                        "UPDATE outbox SET due_at = ?2, attempt = ?3 WHERE id = ?1",
                    )
                    .and_then(|mut lease| lease.execute(params![row.id, until, attempt]))
                    .map_err(failed)?;
                    let written_at = Time::from_millis(row.written_at);
                    claimed.push(Delivery { id: uint(row.id), effect, attempt, written_at });
                }
                // It must not stand in the way of those behind it, and it must show.
                Err(error) => {
                    tracing::error!(delivery.id = row.id, %error, "an outbox row cannot be read");
                    bury(conn, row.id, &error.to_string())?;
                }
            }
        }
    }
    Ok(claimed)
}

struct Waiting {
    id: i64,
    attempt: u32,
    written_at: i64,
    effect: String,
}

fn due(conn: &Connection, rank: u8, now: Time, limit: i64) -> Result<Vec<Waiting>> {
    conn.prepare_cached(
        "SELECT id, attempt, written_at, effect FROM outbox
         WHERE dead = 0 AND rank = ?1 AND due_at <= ?2 ORDER BY due_at, id LIMIT ?3",
    )
    .and_then(|mut select| {
        let waiting = |row: &rusqlite::Row<'_>| {
            let (id, attempt, written_at) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Waiting { id, attempt, written_at, effect: row.get(3)? })
        };
        select.query_map(params![rank, now.millis(), limit], waiting)?.collect()
    })
    .map_err(failed)
}

/// `newest` counts what is written.
pub(super) fn settle(
    conn: &Connection,
    settled: &[(u64, Settlement)],
    newest: &mut i64,
) -> Result<()> {
    settled.iter().try_for_each(|(id, settlement)| settle_one(conn, *id, settlement, newest))
}

fn settle_one(conn: &Connection, id: u64, settlement: &Settlement, newest: &mut i64) -> Result<()> {
    match settlement {
        Settlement::Done => done(conn, id).map(drop),
        Settlement::Split { into, at } => {
            if done(conn, id)? {
                for effect in into {
                    *newest += 1;
                    put_effect(conn, *at, effect, *newest)?;
                }
            }
            Ok(())
        }
        Settlement::Retry { at, error } => conn
            .prepare_cached("UPDATE outbox SET due_at = ?2, error = ?3 WHERE id = ?1 AND dead = 0")
            .and_then(|mut retry| retry.execute(params![int(id), at.millis(), error]))
            .map(drop)
            .map_err(failed),
        Settlement::Dead { error } => bury(conn, int(id), error),
    }
}

/// Whether it was there.
fn done(conn: &Connection, id: u64) -> Result<bool> {
    conn.prepare_cached("DELETE FROM outbox WHERE id = ?1")
        .and_then(|mut done| done.execute([int(id)]))
        .map(|rows| rows == 1)
        .map_err(failed)
}

/// The id of the newest delivery there is; 0 if there is none.
pub(super) fn newest(conn: &Connection) -> Result<i64> {
    Ok(one(conn, "SELECT id FROM outbox ORDER BY id DESC LIMIT 1", [], |row| row.get(0))?
        .unwrap_or(0))
}

fn bury(conn: &Connection, id: i64, error: &str) -> Result<()> {
    conn.prepare_cached("UPDATE outbox SET dead = 1, error = ?2 WHERE id = ?1")
        .and_then(|mut bury| bury.execute(params![id, error]))
        .map(drop)
        .map_err(failed)
}

pub(super) fn backlog(conn: &Connection) -> Result<Backlog> {
    let counted = |sql| -> Result<u64> {
        let n: Option<i64> = one(conn, sql, [int(BACKLOG_COUNTED)], |row| row.get(0))?;
        Ok(uint(n.unwrap_or(0)))
    };
    Ok(Backlog {
        waiting: counted(
            "SELECT count(*) FROM (SELECT 1 FROM outbox WHERE dead = 0 AND rank >= 0 LIMIT ?1)",
        )?,
        dead: counted("SELECT count(*) FROM (SELECT 1 FROM outbox WHERE dead = 1 LIMIT ?1)")?,
    })
}

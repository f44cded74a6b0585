//! Work: claimed with a lease, settled or claimed again.

use std::time::Duration;

use async_trait::async_trait;
use kernel::Time;
use kernel::ask::Priority;
use rusqlite::{Connection, Params, params};

use super::transaction::one;
use super::{Sqlite, failed};
use crate::columns::{int, state, uint};
use crate::sql;
use crate::work_queue::{DeliveryLogUpdate, WorkQueue};
use crate::{BACKLOG_COUNTED, Backlog, ClaimedWork, Result, Settlement, Work, later};

#[async_trait]
impl WorkQueue for Sqlite {
    async fn claim(
        &self,
        lane: &str,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<ClaimedWork>> {
        let lane = lane.to_owned();
        let claim = move |conn: &Connection| claim(conn, &lane, now, lease, limit);
        self.in_writer(move |writing| writing.savepoint(claim)).await
    }

    async fn lanes(&self, after: &str, now: Time, limit: usize) -> Result<Vec<(String, bool)>> {
        sql::lanes(self, after, now, limit).await
    }

    async fn settle(
        &self,
        settled: Vec<(u64, Settlement)>,
        log: Vec<DeliveryLogUpdate>,
    ) -> Result<()> {
        sql::settle(self, settled, log).await
    }

    async fn make_due(&self, work: Work, now: Time) -> Result<()> {
        sql::make_due(self, work, now).await
    }

    async fn backlog(&self) -> Result<Backlog> {
        self.readers.run(backlog).await
    }
}

/// Claims due rows. A lease sets the moment from which a row may be claimed again, so the next
/// claim skips claimed rows, rows to be retried later and rows that were given up.
fn claim(
    conn: &Connection,
    lane: &str,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<ClaimedWork>> {
    let until = later(now, lease).millis();
    let mut claimed = Vec::new();
    for row in waiting(conn, lane, now, limit)? {
        match serde_json::from_str::<Work>(&row.effect) {
            Ok(effect) => {
                let attempt = row.attempt.saturating_add(1);
                conn.prepare_cached("UPDATE work SET due_at = ?2, attempt = ?3 WHERE id = ?1")
                    .and_then(|mut lease| lease.execute(params![row.id, until, attempt]))
                    .map_err(failed)?;
                let written_at = Time::from_millis(row.written_at);
                claimed.push(ClaimedWork { id: uint(row.id), work: effect, attempt, written_at });
            }
            // An unreadable row must not block the rows behind it, and operators must see it.
            Err(error) => {
                tracing::error!(delivery.id = row.id, %error, "cannot read a unit of work; it is \
                     not executed");
                mark_dead(conn, row.id, &error.to_string())?;
            }
        }
    }
    Ok(claimed)
}

struct WaitingRow {
    id: i64,
    attempt: u32,
    written_at: i64,
    effect: String,
}

/// The due work of a lane: that for people by priority, any other in order of time.
fn waiting(conn: &Connection, lane: &str, now: Time, limit: usize) -> Result<Vec<WaitingRow>> {
    let limit = int(limit);
    if lane != Work::PEOPLE {
        let sql = "SELECT id, attempt, written_at, effect FROM work
             WHERE dead = 0 AND lane <> '' AND lane = ?1 AND due_at <= ?2
             ORDER BY due_at, id LIMIT ?3";
        return select(conn, sql, params![lane, now.millis(), limit]);
    }
    let mut found = Vec::new();
    for priority in Priority::ALL {
        let left = limit - int(found.len());
        if left > 0 {
            let sql = "SELECT id, attempt, written_at, effect FROM work
                 WHERE dead = 0 AND lane = '' AND rank = ?1 AND due_at <= ?2
                 ORDER BY due_at, id LIMIT ?3";
            found.extend(select(conn, sql, params![priority.rank(), now.millis(), left])?);
        }
    }
    Ok(found)
}

fn select(conn: &Connection, sql: &str, params: impl Params) -> Result<Vec<WaitingRow>> {
    let waiting = |row: &rusqlite::Row<'_>| {
        let (id, attempt, written_at) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(WaitingRow { id, attempt, written_at, effect: row.get(3)? })
    };
    conn.prepare_cached(sql)
        .and_then(|mut select| select.query_map(params, waiting)?.collect())
        .map_err(failed)
}

/// Writes work that is due at `now`, unless work of the same name waits already.
pub(super) fn put(conn: &Connection, id: i64, effect: &Work, now: Time) -> Result<()> {
    let json = state("effect", effect)?;
    conn.prepare_cached(
        "INSERT INTO work (id, rank, due_at, written_at, effect, lane, name)
         VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6)
         ON CONFLICT (name) WHERE name IS NOT NULL AND dead = 0 DO NOTHING",
    )
    .and_then(|mut insert| {
        let (rank, lane, name) = (effect.rank(), effect.lane(), effect.name());
        insert.execute(params![id, rank, now.millis(), json, lane, name])
    })
    .map(drop)
    .map_err(failed)
}

/// The id of the newest delivery; 0 if there is none.
pub(super) fn newest(conn: &Connection) -> Result<i64> {
    Ok(one(conn, "SELECT id FROM work ORDER BY id DESC LIMIT 1", [], |row| row.get(0))?
        .unwrap_or(0))
}

fn mark_dead(conn: &Connection, id: i64, error: &str) -> Result<()> {
    conn.prepare_cached("UPDATE work SET dead = 1, error = ?2 WHERE id = ?1")
        .and_then(|mut bury| bury.execute(params![id, error]))
        .map(drop)
        .map_err(failed)
}

fn backlog(conn: &Connection) -> Result<Backlog> {
    let counted = |sql| -> Result<u64> {
        let n: Option<i64> = one(conn, sql, [int(BACKLOG_COUNTED)], |row| row.get(0))?;
        Ok(uint(n.unwrap_or(0)))
    };
    let people = counted(
        "SELECT count(*) FROM (
             SELECT 1 FROM work WHERE dead = 0 AND lane = '' AND rank >= 0 LIMIT ?1)",
    )?;
    let others = counted(
        "SELECT count(*) FROM (
             SELECT 1 FROM work WHERE dead = 0 AND lane <> '' AND lane > '' LIMIT ?1)",
    )?;
    let dead = counted("SELECT count(*) FROM (SELECT 1 FROM work WHERE dead = 1 LIMIT ?1)")?;
    let letters = counted(
        "SELECT count(*) FROM (SELECT 1 FROM delivery_log WHERE status = 'dead' LIMIT ?1)",
    )?;
    Ok(Backlog {
        waiting: (people + others).min(BACKLOG_COUNTED),
        dead: (dead + letters).min(BACKLOG_COUNTED),
    })
}

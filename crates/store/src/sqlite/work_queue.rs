//! The outbox: claimed with a lease, settled or claimed again.

use std::time::Duration;

use async_trait::async_trait;
use kernel::ask::Priority;
use kernel::{Time, WebhookId};
use rusqlite::{Connection, Params, params};

use super::ledger::one;
use super::{Sqlite, delivery_log, failed};
use crate::rows::{int, uint};
use crate::work_queue::{Entry, LogQuery, Logged, WorkQueue};
use crate::{BACKLOG_COUNTED, Backlog, Delivery, Result, Settlement, Work, later};

#[async_trait]
impl WorkQueue for Sqlite {
    async fn claim(
        &self,
        lane: &str,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let lane = lane.to_owned();
        let claim = move |conn: &Connection| claim(conn, &lane, now, lease, limit);
        self.write(move |ledger| ledger.savepoint(claim)).await
    }

    async fn lanes(&self, after: &str, now: Time, limit: usize) -> Result<Vec<(String, bool)>> {
        let after = after.to_owned();
        self.readers.run(move |conn| lanes(conn, &after, now, limit)).await
    }

    async fn settle(&self, settled: Vec<(u64, Settlement)>, log: Vec<Entry>) -> Result<()> {
        self.write(move |ledger| ledger.settle(&settled, log)).await
    }

    async fn hasten(&self, effect: Work, now: Time) -> Result<()> {
        self.write(move |ledger| ledger.hasten(&effect, now)).await
    }

    async fn backlog(&self) -> Result<Backlog> {
        self.readers.run(backlog).await
    }

    async fn logged(&self, wanted: LogQuery) -> Result<Vec<Logged>> {
        self.readers.run(move |conn| delivery_log::list(conn, &wanted)).await
    }

    async fn redeliver(&self, webhook: WebhookId, id: &str, now: Time) -> Result<Option<Logged>> {
        let id = id.to_owned();
        self.write(move |ledger| ledger.redeliver(webhook, &id, now)).await
    }

    async fn unlog(&self, webhook: WebhookId, limit: usize) -> Result<usize> {
        let forget = move |conn: &Connection| delivery_log::forget(conn, webhook, limit);
        self.write(move |ledger| ledger.savepoint(forget)).await
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
) -> Result<Vec<Delivery>> {
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
                claimed.push(Delivery { id: uint(row.id), work: effect, attempt, written_at });
            }
            // An unreadable row must not block the rows behind it, and operators must see it.
            Err(error) => {
                tracing::error!(delivery.id = row.id, %error, "an outbox row cannot be read");
                bury(conn, row.id, &error.to_string())?;
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

/// The due work of a lane: that for people by priority, any other in order of time.
fn waiting(conn: &Connection, lane: &str, now: Time, limit: usize) -> Result<Vec<Waiting>> {
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

fn select(conn: &Connection, sql: &str, params: impl Params) -> Result<Vec<Waiting>> {
    let waiting = |row: &rusqlite::Row<'_>| {
        let (id, attempt, written_at) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Waiting { id, attempt, written_at, effect: row.get(3)? })
    };
    conn.prepare_cached(sql)
        .and_then(|mut select| select.query_map(params, waiting)?.collect())
        .map_err(failed)
}

/// Finds the lanes with waiting work by jumping from one to the next in the index.
fn lanes(conn: &Connection, after: &str, now: Time, limit: usize) -> Result<Vec<(String, bool)>> {
    let sql = "WITH RECURSIVE found (lane) AS (
             SELECT (SELECT lane FROM work WHERE dead = 0 AND lane <> '' AND lane > ?1
                     ORDER BY lane LIMIT 1)
             UNION ALL
             SELECT (SELECT lane FROM work
                     WHERE dead = 0 AND lane <> '' AND lane > found.lane ORDER BY lane LIMIT 1)
             FROM found WHERE lane IS NOT NULL
         )
         SELECT lane, EXISTS (SELECT 1 FROM work
                              WHERE dead = 0 AND lane <> '' AND lane = found.lane AND due_at <= ?2)
         FROM found WHERE lane IS NOT NULL LIMIT ?3";
    conn.prepare_cached(sql)
        .and_then(|mut select| {
            let lane = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            select.query_map(params![after, now.millis(), int(limit)], lane)?.collect()
        })
        .map_err(failed)
}

/// `newest` is the id of the last row, and grows with each row that is written.
pub(super) fn settle(
    conn: &Connection,
    settled: &[(u64, Settlement)],
    log: Vec<Entry>,
    newest: &mut i64,
) -> Result<()> {
    for (id, settlement) in settled {
        settle_one(conn, *id, settlement, newest)?;
    }
    log.into_iter().try_for_each(|entry| delivery_log::note(conn, entry))
}

fn settle_one(conn: &Connection, id: u64, settlement: &Settlement, newest: &mut i64) -> Result<()> {
    match settlement {
        Settlement::Done => done(conn, id).map(drop),
        Settlement::Split { into } => {
            if done(conn, id)? {
                for (at, effect) in into {
                    *newest += 1;
                    put(conn, *newest, effect, *at)?;
                }
            }
            Ok(())
        }
        Settlement::Retry { at, error } => conn
            .prepare_cached("UPDATE work SET due_at = ?2, error = ?3 WHERE id = ?1 AND dead = 0")
            .and_then(|mut retry| retry.execute(params![int(id), at.millis(), error]))
            .map(drop)
            .map_err(failed),
        Settlement::Back { at } => conn
            .prepare_cached(
                "UPDATE work SET due_at = ?2, attempt = max(attempt - 1, 0)
                 WHERE id = ?1 AND dead = 0",
            )
            .and_then(|mut back| back.execute(params![int(id), at.millis()]))
            .map(drop)
            .map_err(failed),
        Settlement::Dead { error } => bury(conn, int(id), error),
    }
}

/// Deletes a row. Returns whether it existed.
fn done(conn: &Connection, id: u64) -> Result<bool> {
    conn.prepare_cached("DELETE FROM work WHERE id = ?1")
        .and_then(|mut done| done.execute([int(id)]))
        .map(|rows| rows == 1)
        .map_err(failed)
}

/// Writes work that is due at `now`, unless work of the same name waits already.
pub(super) fn put(conn: &Connection, id: i64, effect: &Work, now: Time) -> Result<()> {
    let json = json(effect)?;
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

fn json(effect: &Work) -> Result<String> {
    serde_json::to_string(effect).map_err(|source| crate::StoreError::Damaged {
        what: "effect".to_owned(),
        source: source.into(),
    })
}

/// Makes the work with this id due at once; `false` if none waits.
pub(super) fn hurry(conn: &Connection, id: u64, lane: &str, now: Time) -> Result<bool> {
    conn.prepare_cached(
        "UPDATE work SET due_at = ?3, attempt = 0 WHERE id = ?1 AND lane = ?2 AND dead = 0",
    )
    .and_then(|mut hurry| hurry.execute(params![int(id), lane, now.millis()]))
    .map(|found| found > 0)
    .map_err(failed)
}

/// Replaces waiting work of the same name with this and makes it due at once;
/// `false` if none waits.
pub(super) fn hasten(conn: &Connection, effect: &Work, now: Time) -> Result<bool> {
    let Some(name) = effect.name() else { return Ok(false) };
    let json = json(effect)?;
    conn.prepare_cached(
        "UPDATE work SET due_at = ?2, attempt = 0, effect = ?3 WHERE name = ?1 AND dead = 0",
    )
    .and_then(|mut hasten| hasten.execute(params![name, now.millis(), json]))
    .map(|found| found > 0)
    .map_err(failed)
}

/// The id of the newest delivery; 0 if there is none.
pub(super) fn newest(conn: &Connection) -> Result<i64> {
    Ok(one(conn, "SELECT id FROM work ORDER BY id DESC LIMIT 1", [], |row| row.get(0))?
        .unwrap_or(0))
}

fn bury(conn: &Connection, id: i64, error: &str) -> Result<()> {
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

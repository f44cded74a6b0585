//! Positions of followers.

use std::time::Duration;

use async_trait::async_trait;
use kernel::Time;
use kernel::audit::Row;
use rusqlite::{Connection, params};
use ulid::Ulid;

use super::ledger::one;
use super::{Sqlite, failed, work_queue};
use crate::followers::{Advance, Followers};
use crate::rows::{int, uint};
use crate::{AuditFeed, Result};

#[async_trait]
impl Followers for Sqlite {
    async fn follower(&self, name: &'static str) -> Result<u64> {
        self.readers.run(move |conn| position(conn, name)).await
    }

    async fn events_after(&self, position: u64, limit: usize) -> Result<Vec<Row>> {
        self.rows(position, limit).await
    }

    async fn advance(&self, step: Advance) -> Result<bool> {
        self.write(move |ledger| ledger.advance(&step)).await
    }

    /// One process has the file open.
    async fn lead(&self, _: &'static str, _: Ulid, _: Time, _: Duration) -> Result<bool> {
        Ok(true)
    }
}

fn position(conn: &Connection, name: &str) -> Result<u64> {
    let sql = "SELECT position FROM follower WHERE name = ?1";
    Ok(one(conn, sql, [name], |row| row.get(0).map(uint))?.unwrap_or(0))
}

/// `newest` counts the work that is written.
pub(super) fn advance(conn: &Connection, step: &Advance, newest: &mut i64) -> Result<bool> {
    let moved = conn
        .prepare_cached("UPDATE follower SET position = ?3 WHERE name = ?1 AND position = ?2")
        .and_then(|mut update| update.execute(params![step.follower, int(step.from), int(step.to)]))
        .map_err(failed)?;
    if moved == 0 {
        return Ok(false);
    }
    for (at, effect) in &step.work {
        *newest += 1;
        work_queue::put(conn, *newest, effect, *at)?;
    }
    Ok(true)
}

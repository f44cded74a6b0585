//! Usage counters.

use async_trait::async_trait;
use kernel::Time;
use rusqlite::{Connection, params};
use ulid::Ulid;

use super::ledger::one;
use super::{Sqlite, failed};
use crate::rows::{int, uint};
use crate::usage::{Charge, Counting, Usage, member};
use crate::{Result, StoreError};

const ADD: &str = "INSERT INTO usage (name, used, until) VALUES (?1, ?2, ?3)
    ON CONFLICT (name) DO UPDATE SET used = used + excluded.used";
const ONCE: &str = "INSERT INTO usage (name, used, until) VALUES (?1, 1, ?2)
    ON CONFLICT (name) DO NOTHING";
const HOLD: &str = "INSERT INTO usage_held (holder, name, bytes) VALUES (?1, ?2, ?3)
    ON CONFLICT (holder, name) DO UPDATE SET bytes = bytes + excluded.bytes";

#[async_trait]
impl Usage for Sqlite {
    async fn charge(&self, charges: Vec<Charge>) -> Result<Option<usize>> {
        let all = move |conn: &Connection| {
            for (place, charge) in charges.iter().enumerate() {
                add(conn, charge)?;
                if charge.limit.is_some_and(|limit| over(conn, &charge.name, limit)) {
                    // Rolls back the savepoint, and with it the charges so far.
                    return Err(Exceeded(place).into());
                }
            }
            Ok(())
        };
        match self.write(move |ledger| ledger.savepoint(all)).await {
            Ok(()) => Ok(None),
            Err(StoreError::Unavailable(error)) => match error.downcast::<Exceeded>() {
                Ok(exceeded) => Ok(Some(exceeded.0)),
                Err(error) => Err(StoreError::Unavailable(error)),
            },
            Err(error) => Err(error),
        }
    }

    async fn used(&self, names: Vec<String>) -> Result<Vec<u64>> {
        let all = move |conn: &Connection| names.iter().map(|name| used(conn, name)).collect();
        self.readers.run(all).await
    }

    async fn release(&self, holder: Ulid) -> Result<()> {
        let sql = "DELETE FROM usage_held WHERE holder = ?1";
        self.write(move |ledger| {
            ledger.savepoint(|conn| execute(conn, sql, [holder.to_bytes()]).map(drop))
        })
        .await
    }
}

/// A counter would exceed its limit.
#[derive(Debug, thiserror::Error)]
#[error("a counter went above its limit")]
struct Exceeded(usize);

impl From<Exceeded> for StoreError {
    fn from(exceeded: Exceeded) -> Self {
        Self::Unavailable(exceeded.into())
    }
}

fn add(conn: &Connection, charge: &Charge) -> Result<()> {
    let (name, by) = (&charge.name, int(charge.by));
    match &charge.kind {
        Counting::Until(until) => execute(conn, ADD, params![name, by, until.millis()]).map(drop),
        Counting::OnceUntil(until, who) => {
            let known = member(name, who);
            if execute(conn, ONCE, params![known, until.millis()])? == 1 {
                execute(conn, ADD, params![name, by, until.millis()])?;
            }
            Ok(())
        }
        Counting::Held(holder) => {
            execute(conn, HOLD, params![holder.to_bytes(), name, by]).map(drop)
        }
    }
}

fn over(conn: &Connection, name: &str, limit: u64) -> bool {
    used(conn, name).is_ok_and(|used| used > limit)
}

fn used(conn: &Connection, name: &str) -> Result<u64> {
    let sql = "SELECT used FROM usage WHERE name = ?1";
    let found: Option<i64> = one(conn, sql, [name], |row| row.get(0))?;
    Ok(uint(found.unwrap_or(0).max(0)))
}

fn execute(conn: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<usize> {
    conn.prepare_cached(sql).and_then(|mut put| put.execute(values)).map_err(failed)
}

/// Deletes expired counters.
pub(super) fn sweep(conn: &Connection, now: Time) -> Result<()> {
    execute(conn, "DELETE FROM usage WHERE until <= ?1", [now.millis()]).map(drop)
}

//! Work that waits, is settled or made due.

use kernel::Time;

use super::{SqlStore, Statements, delivery_log, values};
use crate::columns::state;
use crate::work_queue::DeliveryLogUpdate;
use crate::{Result, Settlement, Work};

/// Settles claimed work and logs deliveries.
pub(crate) async fn settle<S: SqlStore>(
    store: &S,
    settled: Vec<(u64, Settlement)>,
    log: Vec<DeliveryLogUpdate>,
) -> Result<()> {
    store
        .write((settled, log), |sql, (settled, log)| {
            Box::pin(async move {
                let done = settled.iter().filter(|(_, one)| *one == Settlement::Done);
                let done: Vec<u64> = done.map(|(id, _)| *id).collect();
                delete(sql, &done).await?;
                for (id, settlement) in settled {
                    settle_one(sql, *id, settlement).await?;
                }
                for entry in log {
                    delivery_log::log_attempt(sql, entry).await?;
                }
                Ok(())
            })
        })
        .await
}

async fn settle_one(sql: &mut dyn Statements, id: u64, settlement: &Settlement) -> Result<()> {
    match settlement {
        Settlement::Done => Ok(()),
        Settlement::Split { into } => {
            // If another worker settled it first, there is nothing to split.
            if delete(sql, &[id]).await? == 1 {
                sql.put_work(into).await?;
            }
            Ok(())
        }
        Settlement::Retry { at, error } => {
            let retry = format!(
                "UPDATE work SET due_at = $2, error = $3{} WHERE id = $1 AND NOT dead",
                unleased(sql)
            );
            sql.execute(&retry, &values![id, *at, plain(error)]).await.map(drop)
        }
        Settlement::Back { at } => {
            let back = format!(
                "UPDATE work SET due_at = $2,
                    attempt = CASE WHEN attempt > 0 THEN attempt - 1 ELSE 0 END{}
                WHERE id = $1 AND NOT dead",
                unleased(sql)
            );
            sql.execute(&back, &values![id, *at]).await.map(drop)
        }
        Settlement::Dead { error } => {
            let bury = "UPDATE work SET dead = TRUE, error = $2 WHERE id = $1";
            sql.execute(bury, &values![id, plain(error)]).await.map(drop)
        }
    }
}

async fn delete(sql: &mut dyn Statements, ids: &[u64]) -> Result<u64> {
    if ids.is_empty() {
        return Ok(0);
    }
    let ids = ids.iter().copied().collect();
    sql.execute("DELETE FROM work WHERE id = ANY ($1)", &[ids]).await
}

/// Ends the lease of work. In SQLite a lease is a later due time.
pub(super) fn unleased(sql: &dyn Statements) -> &'static str {
    sql.dialect().pick("", ", leased_until = 0")
}

/// An error message without NUL characters, which PostgreSQL does not accept in text.
fn plain(error: &str) -> String {
    error.replace('\0', "")
}

/// Replaces waiting work of the same name with this and makes it due at once. If none waits, writes
/// it.
pub(crate) async fn make_due<S: SqlStore>(store: &S, work: Work, now: Time) -> Result<()> {
    store
        .write((now, work), |sql, due| {
            Box::pin(async move {
                let (now, work) = due;
                // SQLite uses the index only for the very condition that it was made with.
                let waits = sql.dialect().pick("dead = 0", "NOT dead");
                let hasten = format!(
                    "UPDATE work SET due_at = $2, attempt = 0, effect = $3
                    WHERE name = $1 AND {waits}"
                );
                let found = match work.name() {
                    Some(name) => {
                        let row = values![name, *now, state("effect", work)?];
                        sql.execute(&hasten, &row).await?
                    }
                    None => 0,
                };
                if found == 0 {
                    sql.put_work(std::slice::from_ref(due)).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Finds the lanes with waiting work by jumping from one to the next in the index. In PostgreSQL
/// only rows in progress are read besides.
pub(crate) async fn lanes<S: SqlStore>(
    store: &S,
    after: &str,
    now: Time,
    limit: usize,
) -> Result<Vec<(String, bool)>> {
    // SQLite uses the index only for the very condition that it was made with.
    let waits = S::DIALECT.pick("dead = 0", "NOT dead");
    let free = S::DIALECT.pick("", "AND leased_until <= $2");
    let sql = format!(
        "WITH RECURSIVE found (lane) AS (
            SELECT (SELECT lane FROM work WHERE {waits} AND lane <> '' AND lane > $1
                ORDER BY lane LIMIT 1)
            UNION ALL
            SELECT (SELECT work.lane FROM work
                WHERE {waits} AND work.lane <> '' AND work.lane > found.lane
                ORDER BY work.lane LIMIT 1)
            FROM found WHERE lane IS NOT NULL
        )
        SELECT lane, EXISTS (SELECT 1 FROM work
            WHERE {waits} AND work.lane <> '' AND work.lane = found.lane AND due_at <= $2 {free})
        FROM found WHERE lane IS NOT NULL LIMIT $3"
    );
    let rows = store.query(&sql, values![after, now, limit]).await?;
    rows.into_iter().map(|mut row| Ok((row.get(0)?, row.get(1)?))).collect()
}

//! Deletes what has expired from the tables that both databases have.

use kernel::Time;

use super::{SqlDialect, SqlStore, values};
use crate::Result;
use crate::messages::expired_before;
use crate::work_queue::unlogged_before;

/// Rows deleted per transaction: a sweep of millions lets other writes in between.
pub(crate) const ROWS: usize = 2_000;

/// Deletes expired rows of the side table, expired counters, old entries of the delivery log, and
/// old messages of closed asks. On PostgreSQL, rows that another node is deleting are left to it.
pub(crate) async fn sweep<S: SqlStore>(store: &S, now: Time) -> Result<()> {
    // SQLite uses the index only for the very condition that it was made with.
    let over = S::DIALECT.pick(
        "over = 1 AND updated_at <= $1 ORDER BY updated_at",
        "over AND updated_at <= $1 ORDER BY updated_at",
    );
    let skip = S::DIALECT.pick("", "FOR UPDATE SKIP LOCKED");
    for (table, key, expired, until) in [
        ("side", "kind, key", "expires_at <= $1 ORDER BY expires_at", now),
        (
            "delivery_log",
            "webhook, message",
            "updated_at <= $1 ORDER BY updated_at",
            unlogged_before(now),
        ),
        ("message", "name", over, expired_before(now)),
    ] {
        let sql = format!(
            "DELETE FROM {table} WHERE ({key}) IN (
                SELECT {key} FROM {table} WHERE {expired} LIMIT $2 {skip})"
        );
        while store.execute(&sql, values![until, ROWS]).await? == ROWS as u64 {}
    }
    store.execute("DELETE FROM usage WHERE until <= $1", values![now]).await?;
    if S::DIALECT == SqlDialect::Postgres {
        store.execute("DELETE FROM looking WHERE until <= $1", values![now]).await?;
    }
    Ok(())
}

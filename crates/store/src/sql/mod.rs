//! The code that SQLite and PostgreSQL share: statements that both understand, and the methods that
//! need nothing else.
//!
//! Parameters are written `$1`. A backend says how one statement, one snapshot and one write
//! transaction run ([`SqlStore`]); the modules below implement groups of methods on top, once for
//! both. Where the databases differ in a few words, a statement asks for the [`SqlDialect`].
//! Statements on which the speed of a create depends, claims and lists are not here: each backend
//! writes them for its own strengths.

pub(crate) mod audit_feed;
mod blocks;
mod chains;
mod delivery_log;
mod files;
mod key_use;
mod messages;
mod receipts;
mod side;
mod sweep;
mod tasks;
mod uploads;
mod usage;
mod value;
mod work;

use std::fmt::Write;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use kernel::{Ask, AskId, Time};
use tokio::sync::broadcast;

use crate::columns::read_state;
use crate::job::keeps_key;
use crate::{AnnouncedChange, Result, Work};

pub(crate) use files::file_lock;
pub(crate) use side::SIDE_BY_ASK;
pub(crate) use sweep::{ROWS as SWEPT_ROWS, sweep};
pub(crate) use value::values;
pub(crate) use value::{SqlRow, SqlValue};
pub(crate) use work::{lanes, make_due, settle};

/// Which database runs a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlDialect {
    /// SQLite: one process, one writer.
    Sqlite,
    /// PostgreSQL: several nodes that write at the same time.
    Postgres,
}

impl SqlDialect {
    /// The part of a statement in which the databases differ.
    pub(crate) fn pick<T>(self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }
}

/// A connection, as several statements of one snapshot or transaction see it.
#[async_trait]
pub(crate) trait Statements: Send {
    fn dialect(&self) -> SqlDialect;

    /// Runs a statement and returns its rows.
    async fn query(&mut self, sql: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>>;

    /// Runs a statement and returns the number of affected rows.
    async fn execute(&mut self, sql: &str, params: &[SqlValue]) -> Result<u64>;

    /// Writes work and returns the id of the last row. Work with a [name](Work::name) under which
    /// something waits already is not written.
    async fn put_work(&mut self, work: &[(Time, Work)]) -> Result<u64>;
}

/// Several statements that belong together. A function pointer with its arguments, because it is
/// run again if the connection is lost.
pub(crate) type StatementsFn<A, T> =
    for<'a> fn(&'a mut dyn Statements, &'a A) -> BoxFuture<'a, Result<T>>;

/// A store in an SQL database.
pub(crate) trait SqlStore: Send + Sync {
    const DIALECT: SqlDialect;

    /// Runs a statement that only reads.
    fn query(
        &self,
        sql: &str,
        params: impl Into<Vec<SqlValue>> + Send,
    ) -> impl Future<Output = Result<Vec<SqlRow>>> + Send;

    /// Runs a statement that writes and commits it. Returns the number of affected rows.
    fn execute(
        &self,
        sql: &str,
        params: impl Into<Vec<SqlValue>> + Send,
    ) -> impl Future<Output = Result<u64>> + Send;

    /// Runs statements that only read and that all see the same state of the database.
    fn snapshot<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        args: A,
        work: StatementsFn<A, T>,
    ) -> impl Future<Output = Result<T>> + Send;

    /// Runs statements in one transaction and commits it. An error undoes all of them.
    fn write<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        args: A,
        work: StatementsFn<A, T>,
    ) -> impl Future<Output = Result<T>> + Send;

    /// Gives every committed event its position in the feed.
    fn number_events(&self) -> impl Future<Output = Result<()>> + Send;

    /// Gives every committed contract its number.
    fn number_contracts(&self) -> impl Future<Output = Result<()>> + Send;

    /// Changes as they are committed.
    fn subscribe(&self) -> broadcast::Receiver<Arc<[AnnouncedChange]>>;
}

/// At most one row.
pub(crate) async fn one<S: SqlStore>(
    store: &S,
    sql: &str,
    params: impl Into<Vec<SqlValue>> + Send,
) -> Result<Option<SqlRow>> {
    Ok(store.query(sql, params).await?.pop())
}

/// The ids of all asks after the given one.
pub(crate) async fn ask_ids<S: SqlStore>(
    store: &S,
    after: Option<AskId>,
    limit: usize,
) -> Result<Vec<AskId>> {
    let rows = match after {
        Some(after) => {
            let sql = "SELECT id FROM ask WHERE id > $1 ORDER BY id LIMIT $2";
            store.query(sql, values![after, limit]).await?
        }
        None => store.query("SELECT id FROM ask ORDER BY id LIMIT $1", values![limit]).await?,
    };
    rows.into_iter().map(|mut row| row.get(0)).collect()
}

/// The ask that an idempotency key stands for, if the key still counts.
pub(crate) async fn ask_of_key<S: SqlStore>(
    store: &S,
    scope: String,
    key: String,
    now: Time,
) -> Result<Option<AskId>> {
    // The state is read only for a key that is too old to count by itself.
    let sql = "SELECT ask.id, CASE WHEN known.at <= $3 THEN ask.state END
        FROM idempotency AS known JOIN ask ON ask.id = known.ask
        WHERE known.scope = $1 AND known.key = $2";
    let old = crate::job::expired_before(now);
    let Some(mut row) = one(store, sql, values![scope, key, old]).await? else { return Ok(None) };
    let id: AskId = row.get(0)?;
    let counts = match row.get::<Option<String>>(1)? {
        Some(state) => keeps_key(&read_state::<Ask>(&id.to_string(), &state)?, now),
        None => true,
    };
    Ok(Some(id).filter(|_| counts))
}

/// The position up to which a follower has handled the feed.
pub(crate) async fn follower<S: SqlStore>(store: &S, name: &'static str) -> Result<u64> {
    let row = one(store, "SELECT position FROM follower WHERE name = $1", values![name]).await?;
    row.map_or(Ok(0), |mut row| row.get(0))
}

/// Keys that one statement covers. Databases limit the parts of a statement.
const KEYS: usize = 64;

/// The rows of one range of an index per key, all of one snapshot. `range` is a statement whose
/// first parameter is the key; `shared` are its further ones.
pub(crate) async fn ranges<S: SqlStore>(
    store: &S,
    range: &str,
    keys: impl IntoIterator<Item: Into<SqlValue>> + Send,
    shared: impl Into<Vec<SqlValue>> + Send,
) -> Result<Vec<SqlRow>> {
    let shared = shared.into();
    let keys: Vec<SqlValue> = keys.into_iter().map(Into::into).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    if keys.len() <= KEYS {
        let sql = union(range, keys.len());
        let params: Vec<SqlValue> = keys.into_iter().chain(shared).collect();
        return store.query(&sql, params).await;
    }
    store
        .snapshot((range.to_owned(), keys, shared), |sql, (range, keys, shared)| {
            Box::pin(async move { each_range(sql, range, keys.clone(), shared).await })
        })
        .await
}

/// The same in a snapshot that is open already.
pub(crate) async fn each_range(
    sql: &mut dyn Statements,
    range: &str,
    keys: impl IntoIterator<Item: Into<SqlValue>> + Send,
    shared: &[SqlValue],
) -> Result<Vec<SqlRow>> {
    let keys: Vec<SqlValue> = keys.into_iter().map(Into::into).collect();
    let mut rows = Vec::new();
    for keys in keys.chunks(KEYS) {
        let params: Vec<SqlValue> = keys.iter().chain(shared).cloned().collect();
        rows.append(&mut sql.query(&union(range, keys.len()), &params).await?);
    }
    Ok(rows)
}

/// The number of rows in all ranges together, counted up to `most`.
pub(crate) async fn count_ranges(
    sql: &mut dyn Statements,
    range: &str,
    keys: impl IntoIterator<Item: Into<SqlValue>> + Send,
    most: usize,
) -> Result<usize> {
    let keys: Vec<SqlValue> = keys.into_iter().map(Into::into).collect();
    let mut counted = 0;
    for keys in keys.chunks(KEYS) {
        let (all, limit) = (union(range, keys.len()), keys.len() + 1);
        let select = format!(
            "SELECT count(*) FROM (SELECT * FROM ({all}) AS found LIMIT ${limit}) AS counted"
        );
        let params: Vec<SqlValue> = keys.iter().cloned().chain(values![most - counted]).collect();
        if let Some(mut row) = sql.query(&select, &params).await?.pop() {
            counted += usize::try_from(row.get::<u64>(0)?).unwrap_or(usize::MAX);
        }
        if counted >= most {
            return Ok(most);
        }
    }
    Ok(counted)
}

/// One statement for several ranges.
fn union(range: &str, keys: usize) -> String {
    let one = |n: usize| {
        let key = format!("${}", n + 1);
        let mut shifted = String::with_capacity(range.len() + 16);
        let mut pieces = range.split('$');
        shifted.extend(pieces.next());
        for piece in pieces {
            // The number of a parameter is one digit. The keys come first, then what all share.
            let (number, rest) = piece.split_at(1);
            match number.parse::<usize>() {
                Ok(1) => shifted.push_str(&key),
                Ok(number) => {
                    let _ = write!(shifted, "${}", number + keys - 1);
                }
                Err(_) => {}
            }
            shifted.push_str(rest);
        }
        format!("SELECT * FROM ({shifted}) AS range{n}")
    };
    (0..keys).map(one).collect::<Vec<_>>().join(" UNION ALL ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_share_what_follows_their_keys() {
        let range = "SELECT id FROM list WHERE scope = $1 AND id < $2 LIMIT $3";
        assert_eq!(
            union(range, 2),
            "SELECT * FROM (SELECT id FROM list WHERE scope = $1 AND id < $3 LIMIT $4) AS range0 \
             UNION ALL \
             SELECT * FROM (SELECT id FROM list WHERE scope = $2 AND id < $3 LIMIT $4) AS range1"
        );
    }
}

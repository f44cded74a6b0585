//! Runs the statements that both databases share.

use async_trait::async_trait;
use futures_util::FutureExt;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Row, ToSql, params_from_iter};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::broadcast;

use super::transaction::WriteTransaction;
use super::{Sqlite, SqliteFailure, failed};
use crate::sql::{SqlDialect, SqlRow, SqlStore, SqlValue, Statements, StatementsFn};
use crate::{AnnouncedChange, Result, StoreError, Work};
use kernel::Time;

impl SqlStore for Sqlite {
    const DIALECT: SqlDialect = SqlDialect::Sqlite;

    async fn query(
        &self,
        sql: &str,
        params: impl Into<Vec<SqlValue>> + Send,
    ) -> Result<Vec<SqlRow>> {
        let params: Vec<SqlValue> = params.into();
        let sql = translated(sql, &params);
        self.readers.run(move |conn| query_translated(conn, &sql, &params)).await
    }

    async fn execute(&self, sql: &str, params: impl Into<Vec<SqlValue>> + Send) -> Result<u64> {
        let params: Vec<SqlValue> = params.into();
        let sql = translated(sql, &params);
        self.in_writer(move |writing| {
            writing.savepoint(|conn| execute_translated(conn, &sql, &params))
        })
        .await
    }

    async fn snapshot<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        args: A,
        work: StatementsFn<A, T>,
    ) -> Result<T> {
        self.readers
            .run_mut(move |conn| {
                conn.execute_batch("BEGIN").map_err(failed)?;
                let done = at_once(work, conn, &args);
                // SQLite ends the transaction itself after some failures. Nothing was written.
                let ended = if conn.is_autocommit() {
                    Ok(())
                } else {
                    conn.execute_batch("ROLLBACK").map_err(failed)
                };
                done.and_then(|done| ended.map(|()| done))
            })
            .await
    }

    async fn write<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        args: A,
        work: StatementsFn<A, T>,
    ) -> Result<T> {
        self.in_writer(move |writing| writing.atomically(|writing| at_once(work, writing, &args)))
            .await
    }

    async fn number_events(&self) -> Result<()> {
        Ok(())
    }

    async fn number_contracts(&self) -> Result<()> {
        Ok(())
    }

    fn subscribe(&self) -> broadcast::Receiver<Arc<[AnnouncedChange]>> {
        self.published.feed.subscribe()
    }
}

/// Runs statements on this thread. They never wait, so the first poll finishes them.
fn at_once<A, T>(work: StatementsFn<A, T>, sql: &mut dyn Statements, args: &A) -> Result<T> {
    let waited = || StoreError::Unavailable(SqliteFailure::Abandoned.into());
    work(sql, args).now_or_never().unwrap_or_else(|| Err(waited()))
}

#[async_trait]
impl Statements for Connection {
    fn dialect(&self) -> SqlDialect {
        SqlDialect::Sqlite
    }

    async fn query(&mut self, sql: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>> {
        query(self, sql, params)
    }

    async fn execute(&mut self, sql: &str, params: &[SqlValue]) -> Result<u64> {
        execute(self, sql, params)
    }

    /// Only the writer writes work.
    async fn put_work(&mut self, _: &[(Time, Work)]) -> Result<u64> {
        Err(StoreError::Unavailable(SqliteFailure::ReadOnly.into()))
    }
}

#[async_trait]
impl Statements for WriteTransaction {
    fn dialect(&self) -> SqlDialect {
        SqlDialect::Sqlite
    }

    async fn query(&mut self, sql: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>> {
        query(self.conn(), sql, params)
    }

    async fn execute(&mut self, sql: &str, params: &[SqlValue]) -> Result<u64> {
        execute(self.conn(), sql, params)
    }

    async fn put_work(&mut self, work: &[(Time, Work)]) -> Result<u64> {
        self.put_work(work)
    }
}

/// Runs a statement and returns its rows.
pub(super) fn query(conn: &Connection, sql: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>> {
    query_translated(conn, &translated(sql, params), params)
}

fn query_translated(conn: &Connection, sql: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>> {
    let mut statement = conn.prepare_cached(sql).map_err(failed)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(params)).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        found.push(read(row, columns).map_err(failed)?);
    }
    Ok(found)
}

/// Runs a statement and returns the number of affected rows.
pub(super) fn execute(conn: &Connection, sql: &str, params: &[SqlValue]) -> Result<u64> {
    execute_translated(conn, &translated(sql, params), params)
}

fn execute_translated(conn: &Connection, sql: &str, params: &[SqlValue]) -> Result<u64> {
    conn.prepare_cached(sql)
        .and_then(|mut statement| statement.execute(params_from_iter(params)))
        .map(|affected| affected as u64)
        .map_err(failed)
}

/// SQLite writes parameters as `?1`, and reads a list from JSON.
fn translated(sql: &str, params: &[SqlValue]) -> String {
    let mut translated = String::with_capacity(sql.len());
    let mut rest = sql.chars().peekable();
    while let Some(c) = rest.next() {
        let is_param = c == '$' && rest.peek().is_some_and(char::is_ascii_digit);
        translated.push(if is_param { '?' } else { c });
    }
    for (n, param) in params.iter().enumerate() {
        let SqlValue::List(values) = param else { continue };
        let bytes = values.iter().any(|one| matches!(one, SqlValue::Id(_) | SqlValue::Bytes(_)));
        let value = if bytes { "unhex(value)" } else { "value" };
        let (any, n) = (format!("= ANY (?{})", n + 1), n + 1);
        translated = translated.replace(&any, &format!("IN (SELECT {value} FROM json_each(?{n}))"));
    }
    translated
}

fn read(row: &Row<'_>, columns: usize) -> rusqlite::Result<SqlRow> {
    let mut values = Vec::with_capacity(columns);
    for column in 0..columns {
        values.push(match row.get_ref(column)? {
            ValueRef::Null => SqlValue::Null,
            ValueRef::Integer(number) => SqlValue::Int(number),
            ValueRef::Real(number) => SqlValue::Bytes(number.to_string().into_bytes()),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => SqlValue::Text(text.to_owned()),
                Err(_) => SqlValue::Bytes(text.to_vec()),
            },
            ValueRef::Blob(bytes) => SqlValue::Bytes(bytes.to_vec()),
        });
    }
    Ok(SqlRow::new(values))
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Value::Null),
            Self::Int(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Self::Id(id) => ToSqlOutput::Owned(Value::Blob(id.to_bytes().to_vec())),
            Self::List(values) => {
                let values = values.iter().map(json).collect();
                ToSqlOutput::Owned(Value::Text(serde_json::Value::Array(values).to_string()))
            }
        })
    }
}

/// A value in a list.
fn json(value: &SqlValue) -> serde_json::Value {
    match value {
        SqlValue::Null | SqlValue::List(_) => json!(null),
        SqlValue::Int(number) => json!(number),
        SqlValue::Text(text) => json!(text),
        SqlValue::Bytes(bytes) => json!(hex::encode(bytes)),
        SqlValue::Id(id) => json!(hex::encode(id.to_bytes())),
    }
}

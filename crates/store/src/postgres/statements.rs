//! Runs the statements that both databases share, and numbers contracts.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::BytesMut;
use deadpool_postgres::{Client, GenericClient};
use futures_util::try_join;
use kernel::Time;
use tokio::sync::broadcast;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use ulid::Ulid;
use uuid::Uuid;

use super::connect::on;
use super::failure::PostgresFailure;
use super::write::{Param, WORK, work_columns};
use super::{Postgres, query, uuid};
use crate::sql::{SqlDialect, SqlRow, SqlStore, SqlValue, Statements, StatementsFn};
use crate::{AnnouncedChange, Result as Stored, Work};

/// Held while contracts get their numbers.
const LOCK: i64 = 0x636f_756e_7465_7275;

impl SqlStore for Postgres {
    const DIALECT: SqlDialect = SqlDialect::Postgres;

    async fn query(
        &self,
        sql: &str,
        params: impl Into<Vec<SqlValue>> + Send,
    ) -> Stored<Vec<SqlRow>> {
        let params: Vec<SqlValue> = params.into();
        Ok(on!(self.database, client => select(&*client, sql, &params))?)
    }

    async fn execute(&self, sql: &str, params: impl Into<Vec<SqlValue>> + Send) -> Stored<u64> {
        self.writers()?;
        let params: Vec<SqlValue> = params.into();
        Ok(on!(self.database, client => execute(&*client, sql, &params))?)
    }

    async fn snapshot<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        args: A,
        work: StatementsFn<A, T>,
    ) -> Stored<T> {
        Ok(on!(self.database, client => async {
            let snapshot = query::snapshot(client).await?;
            Ok::<_, PostgresFailure>(work(&mut Connected(&snapshot), &args).await?)
        })?)
    }

    async fn write<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        args: A,
        work: StatementsFn<A, T>,
    ) -> Stored<T> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            let transaction = client.transaction().await?;
            let done = work(&mut Connected(&transaction), &args).await?;
            transaction.commit().await?;
            Ok::<_, PostgresFailure>(done)
        })?)
    }

    /// A read-only store numbers no events and reads only numbered ones.
    async fn number_events(&self) -> Stored<()> {
        if self.writers.is_none() {
            return Ok(());
        }
        Ok(on!(self.database, client => super::feed::number(client))?)
    }

    async fn number_contracts(&self) -> Stored<()> {
        if self.writers.is_none() {
            return Ok(());
        }
        Ok(on!(self.database, client => number_contracts(client))?)
    }

    fn subscribe(&self) -> broadcast::Receiver<Arc<[AnnouncedChange]>> {
        self.published.subscribers.subscribe()
    }
}

/// A connection or a transaction.
struct Connected<'c, C>(&'c C);

#[async_trait]
impl<C: GenericClient + Send + Sync> Statements for Connected<'_, C> {
    fn dialect(&self) -> SqlDialect {
        SqlDialect::Postgres
    }

    async fn query(&mut self, sql: &str, params: &[SqlValue]) -> Stored<Vec<SqlRow>> {
        Ok(select(self.0, sql, params).await?)
    }

    async fn execute(&mut self, sql: &str, params: &[SqlValue]) -> Stored<u64> {
        Ok(execute(self.0, sql, params).await?)
    }

    async fn put_work(&mut self, work: &[(Time, Work)]) -> Stored<u64> {
        let columns: Vec<Param> = work_columns(work)?;
        let columns: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|one| &**one as _).collect();
        let put = async {
            let statement = self.0.prepare_cached(&format!("{WORK} RETURNING id")).await?;
            let written = self.0.query(&statement, &columns).await?;
            let last = written.last().map(|row| row.try_get::<_, i64>(0)).transpose()?;
            Ok::<_, PostgresFailure>(last.map_or(0, crate::columns::uint))
        };
        Ok(put.await?)
    }
}

/// Runs a statement and returns its rows.
pub(super) async fn select(
    client: &impl GenericClient,
    sql: &str,
    params: &[SqlValue],
) -> Result<Vec<SqlRow>, PostgresFailure> {
    let statement = client.prepare_cached(sql).await?;
    let mut found = Vec::new();
    for row in client.query(&statement, &borrowed(params)).await? {
        let values = (0..row.len()).map(|column| row.try_get(column));
        found.push(SqlRow::new(values.collect::<Result<_, _>>()?));
    }
    Ok(found)
}

async fn execute(
    client: &impl GenericClient,
    sql: &str,
    params: &[SqlValue],
) -> Result<u64, PostgresFailure> {
    let statement = client.prepare_cached(sql).await?;
    Ok(client.execute(&statement, &borrowed(params)).await?)
}

fn borrowed(params: &[SqlValue]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|one| one as _).collect()
}

type Converted<T> = Result<T, Box<dyn Error + Sync + Send>>;

/// The statement says which type a parameter has.
impl ToSql for SqlValue {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Converted<IsNull> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) => match *kind {
                Type::BOOL => (*number != 0).to_sql(kind, out),
                Type::INT2 => i16::try_from(*number)?.to_sql(kind, out),
                Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
                _ => number.to_sql(kind, out),
            },
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
            Self::Id(id) => uuid(*id).to_sql(kind, out),
            Self::List(values) => values.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for SqlValue {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Converted<Self> {
        Ok(match *kind {
            Type::BOOL => Self::Int(bool::from_sql(kind, raw)?.into()),
            Type::INT2 => Self::Int(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => Self::Int(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => Self::Int(i64::from_sql(kind, raw)?),
            Type::BYTEA => Self::Bytes(raw.to_vec()),
            Type::UUID => Self::Id(Ulid::from_bytes(Uuid::from_sql(kind, raw)?.into_bytes())),
            _ => Self::Text(String::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Converted<Self> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        let known = [Type::BOOL, Type::INT2, Type::INT4, Type::INT8, Type::BYTEA, Type::UUID];
        known.contains(kind) || <String as FromSql<'_>>::accepts(kind)
    }
}

/// Assigns numbers to all committed contracts.
async fn number_contracts(client: &Client) -> Result<(), PostgresFailure> {
    let some = "SELECT EXISTS (SELECT FROM contract WHERE n IS NULL ORDER BY id LIMIT 1)";
    let some = client.prepare_cached(some).await?;
    if !client.query_one(&some, &[]).await?.try_get::<_, bool>(0)? {
        return Ok(());
    }
    let lock = client.prepare_cached("SELECT pg_advisory_xact_lock($1)").await?;
    // A separate statement: it sees the changes of the session that held the lock before.
    let number = "WITH waiting AS (
            SELECT id, row_number() OVER (ORDER BY id) AS place FROM contract WHERE n IS NULL
        ), last AS (
            SELECT coalesce((SELECT n FROM contract WHERE n IS NOT NULL ORDER BY n DESC LIMIT 1), 0)
                AS n
        )
        UPDATE contract SET n = last.n + waiting.place FROM waiting, last
        WHERE contract.id = waiting.id";
    let number = client.prepare_cached(number).await?;
    // Pipelined: if one statement fails, the following ones fail too.
    try_join!(
        client.batch_execute("BEGIN"),
        client.query_one(&lock, &[&LOCK]),
        client.execute(&number, &[]),
        client.batch_execute("COMMIT"),
    )?;
    Ok(())
}

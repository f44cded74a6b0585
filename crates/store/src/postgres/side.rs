//! The side table.

use async_trait::async_trait;
use deadpool_postgres::{Client, GenericClient};
use kernel::{AskId, HumanId, Time};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::connect::on;
use super::failure::{Failure, damaged};
use super::{Postgres, ulid, uuid};
use crate::Result as Stored;
use crate::rows::{int, uint};
use crate::side::{Side, SideCondition, SideKind, SideRow, SideRows};

/// The condition is part of the statement, so only one of several racing writers succeeds.
fn put(condition: SideCondition) -> &'static str {
    match condition {
        SideCondition::Always => {
            "INSERT INTO side (kind, key, ask, human, version, expires_at, value)
            VALUES ($1, $2, $3, $4, 1, $5, $6)
            ON CONFLICT (kind, key) DO UPDATE SET ask = excluded.ask, human = excluded.human,
                version = side.version + 1, expires_at = excluded.expires_at,
                value = excluded.value"
        }
        SideCondition::Absent => {
            "INSERT INTO side (kind, key, ask, human, version, expires_at, value)
            VALUES ($1, $2, $3, $4, 1, $5, $6) ON CONFLICT DO NOTHING"
        }
        SideCondition::Version(_) => {
            "UPDATE side SET ask = $3, human = $4, version = version + 1, expires_at = $5,
                value = $6 WHERE kind = $1 AND key = $2 AND version = $7"
        }
        // Wait for a transaction that ends the ask: its commit deletes drafts, and none may be
        // added after it.
        SideCondition::AskOpen => {
            "INSERT INTO side (kind, key, ask, human, version, expires_at, value)
            SELECT $1, $2, id, $4, 1, $5, $6 FROM ask
            WHERE id = $3 AND state::json #>> '{state,is}' <> 'over' FOR SHARE
            ON CONFLICT (kind, key) DO UPDATE SET ask = excluded.ask, human = excluded.human,
                version = side.version + 1, expires_at = excluded.expires_at,
                value = excluded.value"
        }
        SideCondition::FewerThan(_) => {
            "INSERT INTO side (kind, key, ask, human, version, expires_at, value)
            SELECT $1::text, $2::text, $3::uuid, $4::text, 1, $5::bigint, $6::bytea
            WHERE (SELECT count(*) FROM (SELECT FROM side
                WHERE human = $4 AND kind = $1 AND key <> $2 LIMIT $7) AS own) < $7
            ON CONFLICT (kind, key) DO UPDATE SET ask = excluded.ask, human = excluded.human,
                version = side.version + 1, expires_at = excluded.expires_at,
                value = excluded.value"
        }
    }
}

#[async_trait]
impl Side for Postgres {
    async fn put_side(&self, row: SideRow, condition: SideCondition) -> Stored<bool> {
        let SideRow { kind, key, ask, human, version: _, expires_at, value } = row;
        let kind = kind.as_str();
        let ask = ask.map(|ask| uuid(ask.ulid()));
        let human = human.as_ref().map(HumanId::as_str);
        let expires_at = expires_at.map(Time::millis);
        let number = match condition {
            SideCondition::Version(version) => Some(int(version)),
            SideCondition::FewerThan(most) => Some(int(most)),
            SideCondition::Always | SideCondition::Absent | SideCondition::AskOpen => None,
        };
        let mut bound: Vec<&(dyn ToSql + Sync)> =
            vec![&kind, &key, &ask, &human, &expires_at, &value];
        if let Some(number) = &number {
            bound.push(number);
        }
        Ok(self.execute(put(condition), &bound).await? == 1)
    }

    async fn side(&self, kind: SideKind, rows: SideRows) -> Stored<Vec<SideRow>> {
        Ok(on!(self.database, client => list(client, kind, &rows))?)
    }

    async fn delete_side(&self, rows: Vec<(SideKind, SideRows)>) -> Stored<Vec<u64>> {
        self.writers()?;
        Ok(on!(self.database, client => delete(client, &rows))?)
    }
}

impl Postgres {
    pub(super) async fn execute(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Stored<u64> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            Ok::<_, Failure>(client.execute(&statement, params).await?)
        })?)
    }
}

/// The SQL condition for the rows, and its parameters after the kind.
fn chosen(rows: &SideRows) -> (&'static str, Vec<Box<dyn ToSql + Send + Sync>>) {
    match rows {
        SideRows::Key(_) | SideRows::Prefix(_) => {
            let (from, to) = rows.range().unwrap_or_default();
            ("key >= $2 AND key < $3", vec![Box::new(from), Box::new(to)])
        }
        SideRows::Asks(asks) => {
            let asks: Vec<Uuid> = asks.iter().map(|ask| uuid(ask.ulid())).collect();
            ("ask = ANY ($2::uuid[])", vec![Box::new(asks)])
        }
        SideRows::Humans(humans) => {
            let humans: Vec<String> = humans.iter().map(ToString::to_string).collect();
            ("human = ANY ($2::text[])", vec![Box::new(humans)])
        }
    }
}

/// The parameters of a statement about rows of a kind.
fn bound<'a>(
    kind: &'a &'static str,
    rest: &'a [Box<dyn ToSql + Send + Sync>],
) -> Vec<&'a (dyn ToSql + Sync)> {
    let rest = rest.iter().map(|one| &**one as &(dyn ToSql + Sync));
    std::iter::once(kind as &(dyn ToSql + Sync)).chain(rest).collect()
}

async fn list(client: &Client, kind: SideKind, rows: &SideRows) -> Result<Vec<SideRow>, Failure> {
    let (condition, rest) = chosen(rows);
    let sql = format!(
        "SELECT key, ask, human, version, expires_at, value FROM side
        WHERE kind = $1 AND {condition} ORDER BY key"
    );
    let statement = client.prepare_cached(&sql).await?;
    let rows = client.query(&statement, &bound(&kind.as_str(), &rest)).await?;
    rows.iter().map(|row| read(kind, row)).collect()
}

async fn delete(client: &mut Client, all: &[(SideKind, SideRows)]) -> Result<Vec<u64>, Failure> {
    let transaction = client.transaction().await?;
    let mut deleted = Vec::new();
    for (kind, rows) in all {
        let (condition, rest) = chosen(rows);
        let sql = format!("DELETE FROM side WHERE kind = $1 AND {condition}");
        let statement = transaction.prepare_cached(&sql).await?;
        deleted.push(transaction.execute(&statement, &bound(&kind.as_str(), &rest)).await?);
    }
    transaction.commit().await?;
    Ok(deleted)
}

fn read(kind: SideKind, row: &Row) -> Result<SideRow, Failure> {
    let (ask, human): (Option<Uuid>, Option<&str>) = (row.try_get(1)?, row.try_get(2)?);
    let human =
        human.map(|name| name.parse().map_err(|error: kernel::ids::BadId| damaged(name, error)));
    let expires_at: Option<i64> = row.try_get(4)?;
    Ok(SideRow {
        kind,
        key: row.try_get(0)?,
        ask: ask.map(|ask| AskId::new(ulid(ask))),
        human: human.transpose()?,
        version: uint(row.try_get(3)?),
        expires_at: expires_at.map(Time::from_millis),
        value: row.try_get(5)?,
    })
}

/// Deletes expired rows. Returns how many.
pub(super) async fn sweep(client: &Client, now: Time, limit: usize) -> Result<usize, Failure> {
    let sql = "DELETE FROM side WHERE (kind, key) IN (
            SELECT kind, key FROM side WHERE expires_at <= $1
            ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
    let statement = client.prepare_cached(sql).await?;
    let gone = client.execute(&statement, &[&now.millis(), &int(limit)]).await?;
    Ok(usize::try_from(gone).unwrap_or(limit))
}

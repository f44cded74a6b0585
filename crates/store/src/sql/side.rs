//! The side table.

use async_trait::async_trait;

use super::{SqlDialect, SqlRow, SqlStore, SqlValue, values};
use crate::side::{SideCondition, SideKind, SideRow, SideSelection, SideStore};
use crate::{Result, StoreError};

const INSERT: &str = "INSERT INTO side (kind, key, ask, human, version, expires_at, value)";
/// The side table by ask, as SQLite has to be told.
pub(crate) const SIDE_BY_ASK: &str = "side INDEXED BY side_ask";
/// The side table by person, as SQLite has to be told.
const SIDE_BY_HUMAN: &str = "side INDEXED BY side_human";
const REPLACE: &str = "ON CONFLICT (kind, key) DO UPDATE SET ask = excluded.ask,
    human = excluded.human, version = side.version + 1, expires_at = excluded.expires_at,
    value = excluded.value";

/// The condition is part of the statement, so only one of several racing writers succeeds.
fn put(dialect: SqlDialect, condition: SideCondition) -> String {
    match condition {
        SideCondition::Always => format!("{INSERT} VALUES ($1, $2, $3, $4, 1, $5, $6) {REPLACE}"),
        SideCondition::Absent => {
            format!("{INSERT} VALUES ($1, $2, $3, $4, 1, $5, $6) ON CONFLICT DO NOTHING")
        }
        SideCondition::Version(_) => {
            "UPDATE side SET ask = $3, human = $4, version = version + 1, expires_at = $5, value = $6
            WHERE kind = $1 AND key = $2 AND version = $7"
                .to_owned()
        }
        // PostgreSQL waits for a transaction that ends the ask: its commit deletes drafts, and none
        // may be added after it.
        SideCondition::AskOpen => {
            let open = dialect.pick(
                "state -> 'state' ->> 'is' <> 'over'",
                "state::json #>> '{state,is}' <> 'over' FOR SHARE",
            );
            format!(
                "{INSERT} SELECT $1, $2, id, $4, 1, $5, $6 FROM ask WHERE id = $3 AND {open} {REPLACE}"
            )
        }
        SideCondition::FewerThan(_) => {
            let table = dialect.pick(SIDE_BY_HUMAN, "side");
            format!(
                "{INSERT} SELECT $1, $2, $3, $4, 1, $5, $6
                WHERE (SELECT count(*) FROM (SELECT 1 FROM {table}
                    WHERE human = $4 AND kind = $1 AND key <> $2 LIMIT $7) AS own) < $7 {REPLACE}"
            )
        }
    }
}

fn params(row: &SideRow) -> Vec<SqlValue> {
    let SideRow { kind, key, ask, human, version: _, expires_at, value } = row;
    values![kind.as_str(), key, *ask, human.as_ref(), *expires_at, value].into()
}

#[async_trait]
impl<S: SqlStore> SideStore for S {
    async fn put_side(&self, row: SideRow, condition: SideCondition) -> Result<bool> {
        let mut params = params(&row);
        match condition {
            SideCondition::Version(version) => params.push(version.into()),
            SideCondition::FewerThan(most) => params.push(most.into()),
            SideCondition::Always | SideCondition::Absent | SideCondition::AskOpen => {}
        }
        Ok(self.execute(&put(S::DIALECT, condition), params).await? == 1)
    }

    async fn side(&self, kind: SideKind, rows: SideSelection) -> Result<Vec<SideRow>> {
        let (chosen, params) = chosen(kind, &rows);
        let table = table(S::DIALECT, &rows);
        let sql = format!(
            "SELECT key, ask, human, version, expires_at, value FROM {table}
            WHERE kind = $1 AND {chosen} ORDER BY key"
        );
        self.query(&sql, params).await?.into_iter().map(|row| read(kind, row)).collect()
    }

    async fn delete_side(&self, rows: Vec<(SideKind, SideSelection)>) -> Result<Vec<u64>> {
        self.write(rows, |sql, rows| {
            Box::pin(async move {
                let mut deleted = Vec::with_capacity(rows.len());
                for (kind, rows) in rows {
                    let (chosen, params) = chosen(*kind, rows);
                    let table = table(sql.dialect(), rows);
                    let delete = format!("DELETE FROM {table} WHERE kind = $1 AND {chosen}");
                    deleted.push(sql.execute(&delete, &params).await?);
                }
                Ok(deleted)
            })
        })
        .await
    }
}

/// The table to read the rows from. Without statistics SQLite prefers the primary key, which would
/// read every row of the kind, so it is told the index.
fn table(dialect: SqlDialect, rows: &SideSelection) -> &'static str {
    match rows {
        SideSelection::Asks(_) => dialect.pick(SIDE_BY_ASK, "side"),
        SideSelection::Humans(_) => dialect.pick(SIDE_BY_HUMAN, "side"),
        SideSelection::Key(_) | SideSelection::Prefix(_) => "side",
    }
}

/// The condition for the rows, and the parameters of a statement with it.
fn chosen(kind: SideKind, rows: &SideSelection) -> (&'static str, Vec<SqlValue>) {
    let kind = kind.as_str();
    match rows {
        SideSelection::Key(_) | SideSelection::Prefix(_) => {
            let (from, to) = rows.range().unwrap_or_default();
            ("key >= $2 AND key < $3", values![kind, from, to].into())
        }
        SideSelection::Asks(asks) => {
            ("ask = ANY ($2)", values![kind, asks.iter().copied().collect::<SqlValue>()].into())
        }
        SideSelection::Humans(humans) => {
            ("human = ANY ($2)", values![kind, humans.iter().collect::<SqlValue>()].into())
        }
    }
}

fn read(kind: SideKind, mut row: SqlRow) -> Result<SideRow> {
    let human = row.get::<Option<String>>(2)?.map(|name| {
        name.parse().map_err(|error: kernel::ids::BadId| StoreError::Damaged {
            what: name.clone(),
            source: error.into(),
        })
    });
    Ok(SideRow {
        kind,
        key: row.get(0)?,
        ask: row.get(1)?,
        human: human.transpose()?,
        version: row.get(3)?,
        expires_at: row.get(4)?,
        value: row.get(5)?,
    })
}

//! The side table.

use async_trait::async_trait;
use kernel::{AskId, HumanId, Time};
use rusqlite::types::Type;
use rusqlite::{Connection, Params, Row, params};

use super::ledger::Ledger;
use super::query::ask_id;
use super::{Sqlite, failed};
use crate::Result;
use crate::rows::{int, uint};
use crate::side::{Side, SideCondition, SideKind, SideRow, SideRows};

const COLUMNS: &str = "key, ask, human, version, expires_at, value";

/// Writes a row, replacing any under its key.
const PUT: &str = "INSERT INTO side (kind, key, ask, human, version, expires_at, value)
    VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6)
    ON CONFLICT (kind, key) DO UPDATE SET ask = ?3, human = ?4, version = version + 1,
        expires_at = ?5, value = ?6";

#[async_trait]
impl Side for Sqlite {
    async fn put_side(&self, row: SideRow, condition: SideCondition) -> Result<bool> {
        self.write(move |ledger| ledger.put_side(&row, condition)).await
    }

    async fn side(&self, kind: SideKind, rows: SideRows) -> Result<Vec<SideRow>> {
        self.readers.run(move |conn| list(conn, kind, &rows)).await
    }

    async fn delete_side(&self, rows: Vec<(SideKind, SideRows)>) -> Result<Vec<u64>> {
        let delete = move |conn: &Connection| {
            rows.iter().map(|(kind, rows)| delete(conn, *kind, rows)).collect()
        };
        self.write(move |ledger| ledger.savepoint(delete)).await
    }
}

impl Ledger {
    /// Writes a row if the condition holds. No one else writes meanwhile, so the check stays valid.
    fn put_side(&mut self, row: &SideRow, condition: SideCondition) -> Result<bool> {
        let holds = match condition {
            SideCondition::Always => true,
            SideCondition::Absent => self.version(row)?.is_none(),
            SideCondition::Version(version) => self.version(row)? == Some(version),
            SideCondition::AskOpen => match row.ask {
                Some(ask) => self.is_open(ask)?,
                None => false,
            },
            SideCondition::FewerThan(most) => self.others(row, most)? < most,
        };
        if holds {
            self.savepoint(|conn| put(conn, row))?;
        }
        Ok(holds)
    }

    fn version(&self, row: &SideRow) -> Result<Option<u64>> {
        let sql = "SELECT version FROM side WHERE kind = ?1 AND key = ?2";
        let key = params![row.kind.as_str(), row.key];
        super::ledger::one(self.conn(), sql, key, |row| Ok(uint(row.get(0)?)))
    }

    /// The number of other rows of this kind of its person, counted up to `most`.
    fn others(&self, row: &SideRow, most: usize) -> Result<usize> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM side
            WHERE human = ?1 AND kind = ?2 AND key <> ?3 LIMIT ?4)";
        let human = row.human.as_ref().map(HumanId::as_str);
        let bound = params![human, row.kind.as_str(), row.key, int(most)];
        let found = super::ledger::one(self.conn(), sql, bound, |row| Ok(uint(row.get(0)?)))?;
        Ok(usize::try_from(found.unwrap_or(0)).unwrap_or(most))
    }
}

pub(super) fn put(conn: &Connection, row: &SideRow) -> Result<()> {
    let SideRow { kind, key, ask, human, version: _, expires_at, value } = row;
    let ask = ask.map(|ask| ask.ulid().to_bytes());
    let human = human.as_ref().map(HumanId::as_str);
    let expires_at = expires_at.map(Time::millis);
    execute(conn, PUT, params![kind.as_str(), key, ask, human, expires_at, value]).map(drop)
}

fn list(conn: &Connection, kind: SideKind, rows: &SideRows) -> Result<Vec<SideRow>> {
    let name = kind.as_str();
    let mut found = Vec::new();
    match rows {
        SideRows::Key(_) | SideRows::Prefix(_) => {
            if let Some((from, to)) = rows.range() {
                let bound = params![name, from, to];
                found.extend(query(conn, kind, "key >= ?2 AND key < ?3", bound)?);
            }
        }
        SideRows::Asks(asks) => {
            for ask in asks {
                let bound = params![name, ask.ulid().to_bytes()];
                found.extend(query(conn, kind, "ask = ?2", bound)?);
            }
        }
        SideRows::Humans(humans) => {
            for human in humans {
                found.extend(query(conn, kind, "human = ?2", params![name, human.as_str()])?);
            }
        }
    }
    found.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(found)
}

fn query(
    conn: &Connection,
    kind: SideKind,
    chosen: &str,
    bound: impl Params,
) -> Result<Vec<SideRow>> {
    let sql = format!("SELECT {COLUMNS} FROM side WHERE kind = ?1 AND {chosen}");
    let mut select = conn.prepare_cached(&sql).map_err(failed)?;
    let read = |row: &Row<'_>| read(kind, row);
    select.query_map(bound, read).and_then(Iterator::collect).map_err(failed)
}

fn read(kind: SideKind, row: &Row<'_>) -> rusqlite::Result<SideRow> {
    let ask: Option<[u8; 16]> = row.get(1)?;
    let human: Option<String> = row.get(2)?;
    let human = human.map(|human| human.parse()).transpose();
    let human = human.map_err(|error: kernel::ids::BadId| {
        rusqlite::Error::FromSqlConversionFailure(2, Type::Text, error.into())
    })?;
    let expires_at: Option<i64> = row.get(4)?;
    Ok(SideRow {
        kind,
        key: row.get(0)?,
        ask: ask.map(|_| ask_id(row, 1)).transpose()?,
        human,
        version: uint(row.get(3)?),
        expires_at: expires_at.map(Time::from_millis),
        value: row.get(5)?,
    })
}

fn delete(conn: &Connection, kind: SideKind, rows: &SideRows) -> Result<u64> {
    let kind = kind.as_str();
    let mut deleted = 0;
    match rows {
        SideRows::Key(_) | SideRows::Prefix(_) => {
            if let Some((from, to)) = rows.range() {
                let sql = "DELETE FROM side WHERE kind = ?1 AND key >= ?2 AND key < ?3";
                deleted += execute(conn, sql, params![kind, from, to])?;
            }
        }
        SideRows::Asks(asks) => {
            let sql = "DELETE FROM side WHERE kind = ?1 AND ask = ?2";
            for ask in asks {
                deleted += execute(conn, sql, params![kind, ask.ulid().to_bytes()])?;
            }
        }
        SideRows::Humans(humans) => {
            let sql = "DELETE FROM side WHERE kind = ?1 AND human = ?2";
            for human in humans {
                deleted += execute(conn, sql, params![kind, human.as_str()])?;
            }
        }
    }
    Ok(deleted as u64)
}

/// Deletes the draft of an ask that has ended.
pub(super) fn delete_draft(conn: &Connection, ask: AskId) -> Result<()> {
    delete(conn, SideKind::Draft, &SideRows::Asks(vec![ask])).map(drop)
}

/// Deletes expired rows. Returns how many.
pub(super) fn sweep(conn: &Connection, now: Time, limit: usize) -> Result<usize> {
    let sql = "DELETE FROM side WHERE (kind, key) IN (
            SELECT kind, key FROM side WHERE expires_at <= ?1 LIMIT ?2)";
    execute(conn, sql, params![now.millis(), int(limit)])
}

fn execute(conn: &Connection, sql: &str, params: impl Params) -> Result<usize> {
    conn.prepare_cached(sql).and_then(|mut done| done.execute(params)).map_err(failed)
}

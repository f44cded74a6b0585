//! People's devices, and which were told of what.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{AskId, HumanId, KeyId, Time};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use ulid::Ulid;

use super::{Sqlite, failed};
use crate::rows::int;
use crate::{Device, Devices, MOST_DEVICES, Result};

const PUT: &str = "INSERT INTO device (name, human, key, made_at, closed)
    SELECT ?1, ?2, ?3, ?4, ?5
    WHERE (SELECT count(*) FROM
        (SELECT 1 FROM device WHERE human = ?2 AND name <> ?1 LIMIT ?6)) < ?6
    ON CONFLICT (name) DO UPDATE SET human = ?2, key = ?3, made_at = ?4, closed = ?5";

#[async_trait]
impl Devices for Sqlite {
    async fn put_device(&self, device: Device) -> Result<bool> {
        self.write(move |ledger| ledger.savepoint(|conn| put(conn, &device))).await
    }

    async fn devices(&self, humans: Vec<HumanId>) -> Result<Vec<Device>> {
        self.readers
            .run(move |conn| {
                let mut devices = Vec::new();
                for human in &humans {
                    devices.extend(of(conn, human)?);
                }
                devices.sort_by_key(|device| (device.made_at, device.name));
                Ok(devices)
            })
            .await
    }

    async fn device(&self, name: Digest) -> Result<Option<Device>> {
        let sql = "SELECT name, human, key, made_at, closed FROM device WHERE name = ?1";
        self.readers
            .run(move |conn| {
                conn.prepare_cached(sql)
                    .and_then(|mut one| one.query_row([name.0], device).optional())
                    .map_err(failed)
            })
            .await
    }

    async fn forget_device(&self, name: Digest) -> Result<bool> {
        let forget = move |conn: &Connection| {
            execute(conn, "DELETE FROM told WHERE device = ?1", [name.0])?;
            Ok(execute(conn, "DELETE FROM device WHERE name = ?1", [name.0])? == 1)
        };
        self.write(move |ledger| ledger.savepoint(forget)).await
    }

    async fn note_told(&self, ask: AskId, device: Digest) -> Result<bool> {
        let sql = "INSERT OR IGNORE INTO told (ask, device) VALUES (?1, ?2)";
        let note = move |conn: &Connection| {
            execute(conn, sql, params![ask.ulid().to_bytes(), device.0]).map(|rows| rows == 1)
        };
        self.write(move |ledger| ledger.savepoint(note)).await
    }

    async fn told(&self, asks: Vec<AskId>) -> Result<Vec<(AskId, Digest)>> {
        let sql = "SELECT device FROM told WHERE ask = ?1 ORDER BY device";
        self.readers
            .run(move |conn| {
                let mut select = conn.prepare_cached(sql).map_err(failed)?;
                let mut told = Vec::new();
                for ask in asks {
                    let found = select.query_map([ask.ulid().to_bytes()], |row| row.get(0));
                    for device in found.map_err(failed)? {
                        told.push((ask, Digest(device.map_err(failed)?)));
                    }
                }
                Ok(told)
            })
            .await
    }

    async fn forget_told(&self, ask: AskId, device: Digest) -> Result<()> {
        let sql = "DELETE FROM told WHERE ask = ?1 AND device = ?2";
        let forget = move |conn: &Connection| {
            execute(conn, sql, params![ask.ulid().to_bytes(), device.0]).map(drop)
        };
        self.write(move |ledger| ledger.savepoint(forget)).await
    }
}

fn put(conn: &Connection, device: &Device) -> Result<bool> {
    let Device { name, human, key, made_at, closed } = device;
    let key = key.map(|key| key.ulid().to_bytes());
    let most = int(MOST_DEVICES);
    execute(conn, PUT, params![name.0, human.as_str(), key, made_at.millis(), closed, most])
        .map(|rows| rows == 1)
}

fn of(conn: &Connection, human: &HumanId) -> Result<Vec<Device>> {
    let sql = "SELECT name, human, key, made_at, closed FROM device WHERE human = ?1";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    select.query_map([human.as_str()], device).and_then(Iterator::collect).map_err(failed)
}

fn device(row: &Row<'_>) -> rusqlite::Result<Device> {
    let (name, human, key): ([u8; 32], String, Option<[u8; 16]>) =
        (row.get(0)?, row.get(1)?, row.get(2)?);
    let human = human.parse().map_err(|error: kernel::ids::BadId| {
        rusqlite::Error::FromSqlConversionFailure(1, Type::Text, error.into())
    })?;
    Ok(Device {
        name: Digest(name),
        human,
        key: key.map(|key| KeyId::new(Ulid::from_bytes(key))),
        made_at: Time::from_millis(row.get(3)?),
        closed: row.get(4)?,
    })
}

fn execute(conn: &Connection, sql: &str, params: impl rusqlite::Params) -> Result<usize> {
    conn.prepare_cached(sql).and_then(|mut done| done.execute(params)).map_err(failed)
}

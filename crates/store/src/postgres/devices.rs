//! People's devices, and which were told of what.

use async_trait::async_trait;
use kernel::audit::Digest;
use kernel::{AskId, HumanId, KeyId, Time};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::connect::on;
use super::failure::{Failure, damaged};
use super::{Postgres, ulid, uuid};
use crate::rows::int;
use crate::{Device, Devices, MOST_DEVICES, Result};

const PUT: &str = "INSERT INTO device (name, human, key, made_at, closed)
    SELECT $1::bytea, $2::text, $3::uuid, $4::bigint, $5::bytea
    WHERE (SELECT count(*) FROM
        (SELECT FROM device WHERE human = $2 AND name <> $1 LIMIT $6) AS own) < $6
    ON CONFLICT (name) DO UPDATE SET human = excluded.human, key = excluded.key,
        made_at = excluded.made_at, closed = excluded.closed";

#[async_trait]
impl Devices for Postgres {
    async fn put_device(&self, device: Device) -> Result<bool> {
        let Device { name, human, key, made_at, closed } = device;
        let key = key.map(|key| uuid(key.ulid()));
        let (human, made_at, most) = (human.as_str(), made_at.millis(), int(MOST_DEVICES));
        let params: [&(dyn ToSql + Sync); 6] =
            [&&name.0[..], &human, &key, &made_at, &closed, &most];
        Ok(self.execute(PUT, &params).await? == 1)
    }

    async fn devices(&self, humans: Vec<HumanId>) -> Result<Vec<Device>> {
        let humans: Vec<&str> = humans.iter().map(HumanId::as_str).collect();
        let sql = "SELECT name, human, key, made_at, closed FROM device
            WHERE human = ANY ($1) ORDER BY made_at, name";
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            let rows = client.query(&statement, &[&humans]).await?;
            rows.iter().map(device).collect::<Result<_, Failure>>()
        })?)
    }

    async fn device(&self, name: Digest) -> Result<Option<Device>> {
        let sql = "SELECT name, human, key, made_at, closed FROM device WHERE name = $1";
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            let row = client.query_opt(&statement, &[&&name.0[..]]).await?;
            row.as_ref().map(device).transpose()
        })?)
    }

    async fn forget_device(&self, name: Digest) -> Result<bool> {
        let sql = "WITH told AS (DELETE FROM told WHERE device = $1)
            DELETE FROM device WHERE name = $1";
        Ok(self.execute(sql, &[&&name.0[..]]).await? == 1)
    }

    async fn note_told(&self, ask: AskId, device: Digest) -> Result<bool> {
        let sql = "INSERT INTO told (ask, device) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        Ok(self.execute(sql, &[&uuid(ask.ulid()), &&device.0[..]]).await? == 1)
    }

    async fn told(&self, asks: Vec<AskId>) -> Result<Vec<(AskId, Digest)>> {
        let asks: Vec<Uuid> = asks.iter().map(|ask| uuid(ask.ulid())).collect();
        let sql = "SELECT ask, device FROM told WHERE ask = ANY ($1) ORDER BY ask, device";
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            let rows = client.query(&statement, &[&asks]).await?;
            let told = |row: &Row| {
                Ok((AskId::new(ulid(row.try_get(0)?)), digest(row.try_get(1)?)?))
            };
            rows.iter().map(told).collect::<Result<_, Failure>>()
        })?)
    }

    async fn forget_told(&self, ask: AskId, device: Digest) -> Result<()> {
        let sql = "DELETE FROM told WHERE ask = $1 AND device = $2";
        self.execute(sql, &[&uuid(ask.ulid()), &&device.0[..]]).await.map(drop)
    }
}

impl Postgres {
    pub(super) async fn execute(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            Ok::<_, Failure>(client.execute(&statement, params).await?)
        })?)
    }
}

fn device(row: &Row) -> Result<Device, Failure> {
    let human: &str = row.try_get(1)?;
    let key: Option<Uuid> = row.try_get(2)?;
    Ok(Device {
        name: digest(row.try_get(0)?)?,
        human: human.parse().map_err(|error: kernel::ids::BadId| damaged(human, error))?,
        key: key.map(|key| KeyId::new(ulid(key))),
        made_at: Time::from_millis(row.try_get(3)?),
        closed: row.try_get(4)?,
    })
}

fn digest(bytes: &[u8]) -> Result<Digest, Failure> {
    bytes.try_into().map(Digest).map_err(|error| damaged("a device's name", error))
}

//! Data that nodes share besides the audit log: the server's keys, the bytes of files, and locks.
//! Keys are opaque to the store: they are encrypted.

use deadpool_postgres::GenericClient;
use kernel::audit::Digest;
use tokio::task::JoinSet;

use super::Postgres;
use super::connect::on;
use super::failure::PostgresFailure;
use crate::Result;
use crate::columns::{digest, int, uint};

impl Postgres {
    /// The secret under a name, with its version.
    pub async fn secret(&self, name: &str) -> Result<Option<(u64, Vec<u8>)>> {
        Ok(on!(self.database, client => async {
            let sql = "SELECT version, secret FROM secret WHERE name = $1";
            let statement = client.prepare_cached(sql).await?;
            let row = client.query_opt(&statement, &[&name]).await?;
            row.map(|row| Ok((uint(row.try_get(0)?), row.try_get(1)?))).transpose()
        })?)
    }

    /// Stores a secret in place of the version that was read, 0 if there was none. Returns `false`
    /// and changes nothing if another node was faster.
    pub async fn put_secret(&self, name: &str, version: u64, secret: Vec<u8>) -> Result<bool> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            let sql = "INSERT INTO secret (name, version, secret)
                SELECT $1::text, $2::bigint + 1, $3::bytea
                WHERE $2 = 0 OR EXISTS (SELECT FROM secret WHERE name = $1)
                ON CONFLICT (name) DO UPDATE SET version = excluded.version, secret = excluded.secret
                    WHERE secret.version = $2";
            let statement = client.prepare_cached(sql).await?;
            Ok::<_, PostgresFailure>(client.execute(&statement, &[&name, &int(version), &secret]).await? == 1)
        })?)
    }

    /// Stores the bytes with this digest.
    pub async fn put_file(&self, digest: Digest, bytes: &[u8]) -> Result<()> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            let sql = "INSERT INTO file (digest, bytes) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            let statement = client.prepare_cached(sql).await?;
            client.execute(&statement, &[&&digest.0[..], &bytes]).await?;
            Ok::<_, PostgresFailure>(())
        })?)
    }

    /// The bytes with this digest.
    pub async fn file(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached("SELECT bytes FROM file WHERE digest = $1").await?;
            let row = client.query_opt(&statement, &[&&digest.0[..]]).await?;
            Ok::<_, PostgresFailure>(row.map(|row| row.try_get(0)).transpose()?)
        })?)
    }

    /// Whether the bytes with this digest are stored.
    pub async fn has_file(&self, digest: &Digest) -> Result<bool> {
        Ok(on!(self.database, client => async {
            let sql = "SELECT EXISTS (SELECT FROM file WHERE digest = $1)";
            let statement = client.prepare_cached(sql).await?;
            let row = client.query_one(&statement, &[&&digest.0[..]]).await?;
            Ok::<_, PostgresFailure>(row.try_get(0)?)
        })?)
    }

    /// The digests of the stored files after the given one, in order.
    pub async fn files(&self, after: Option<&Digest>, limit: usize) -> Result<Vec<Digest>> {
        let after = after.map_or(&[][..], |after| &after.0[..]);
        Ok(on!(self.database, client => async {
            let sql = "SELECT digest FROM file WHERE digest > $1 ORDER BY digest LIMIT $2";
            let statement = client.prepare_cached(sql).await?;
            let rows = client.query(&statement, &[&after, &int(limit)]).await?;
            rows.iter().map(|row| Ok::<_, PostgresFailure>(digest(row.try_get(0)?))).collect()
        })?)
    }

    /// Waits for a lock that one node at a time may hold, and holds it until this is dropped or its
    /// connection is lost. The directory then shows everything that earlier holders committed.
    pub async fn lock(&self, name: &str) -> Result<ClusterLock> {
        let (client, connection) = self.database.connect_dedicated().await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "lost a lock because its connection failed");
            }
        });
        let lock = ClusterLock { client, _driver: driver };
        // A separate number space: two keys, of which the first is ours.
        let sql = "SELECT pg_advisory_lock($1, hashtext($2))";
        let wait = async { Ok(lock.client.query(sql, &[&LOCKS, &name]).await?) };
        self.database.within(wait).await?;
        // The directory was read when the store was opened; the announcer may not have
        // caught up yet.
        on!(self.database, client => self.published.refresh(&*client))?;
        Ok(lock)
    }
}

/// The first half of these lock keys.
const LOCKS: i32 = 0x636f_756e;

/// A session lock, held until dropped.
pub struct ClusterLock {
    client: tokio_postgres::Client,
    _driver: JoinSet<()>,
}

//! Closed asks that still have their text, and the files that belong to each ask or upload. The
//! file column is named after asks, which were the first to have files.

use std::time::Duration;

use deadpool_postgres::{Client, GenericClient};
use kernel::audit::Digest;
use kernel::{AskId, ProjectId, Time};
use tokio_postgres::types::ToSql;
use ulid::Ulid;

use super::connect::on;
use super::failure::Failure;
use super::leaving::lock;
use super::{Postgres, ulid, uuid};
use crate::rows::{digest, int};
use crate::{Result, later};

/// Nodes that claim at the same time skip the rows another is just claiming. A trigger of the
/// database maintains the table.
pub(super) async fn claim(
    client: &Client,
    project: &ProjectId,
    since: Time,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<AskId>, Failure> {
    let sql = "WITH over AS (
            SELECT ask, at FROM ended
            WHERE project = $5 AND at <= $1 AND leased_until <= $2
            ORDER BY at, ask LIMIT $3 FOR UPDATE SKIP LOCKED
        ), claimed AS (
            UPDATE ended SET leased_until = $4 FROM over WHERE ended.ask = over.ask
            RETURNING over.ask, over.at
        )
        SELECT ask FROM claimed ORDER BY at, ask";
    let statement = client.prepare_cached(sql).await?;
    let (since, until) = (since.millis(), later(now, lease).millis());
    let wanted: [&(dyn ToSql + Sync); 5] =
        [&since, &now.millis(), &int(limit), &until, &project.as_str()];
    let rows = client.query(&statement, &wanted).await?;
    rows.iter().map(|row| Ok(AskId::new(ulid(row.try_get(0)?)))).collect()
}

pub(super) async fn note(client: &Client, holder: Ulid, digest: &Digest) -> Result<(), Failure> {
    // Wait for a node that is deleting this file, wherever the bytes are stored.
    let sql = "INSERT INTO file_use (ask, digest)
        SELECT $1::uuid, $2::bytea FROM pg_advisory_xact_lock_shared($3) ON CONFLICT DO NOTHING";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&uuid(holder), &&digest.0[..], &lock(digest)]).await?;
    Ok(())
}

pub(super) async fn own(client: &impl GenericClient, holder: Ulid) -> Result<Vec<Digest>, Failure> {
    let sql = "SELECT digest FROM file_use AS own WHERE ask = $1 AND NOT EXISTS
        (SELECT FROM file_use WHERE digest = own.digest AND ask <> own.ask)";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&uuid(holder)]).await?;
    rows.iter().map(|row| Ok(digest(row.try_get(0)?))).collect()
}

pub(super) async fn holders(client: &Client, digest: &Digest) -> Result<Vec<Ulid>, Failure> {
    let statement = client.prepare_cached("SELECT ask FROM file_use WHERE digest = $1").await?;
    let rows = client.query(&statement, &[&&digest.0[..]]).await?;
    rows.iter().map(|row| Ok(ulid(row.try_get(0)?))).collect()
}

pub(super) async fn forget_one(
    client: &Client,
    holder: Ulid,
    digest: &Digest,
) -> Result<(), Failure> {
    let sql = "DELETE FROM file_use WHERE ask = $1 AND digest = $2";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&uuid(holder), &&digest.0[..]]).await?;
    Ok(())
}

pub(super) async fn forget(client: &impl GenericClient, holder: Ulid) -> Result<(), Failure> {
    let statement = client.prepare_cached("DELETE FROM file_use WHERE ask = $1").await?;
    client.execute(&statement, &[&uuid(holder)]).await?;
    Ok(())
}

impl Postgres {
    /// Deletes the files of an ask or an upload that have no other holder. The lock makes this wait
    /// for a node that is recording a holder, and the other way round: a holder is recorded before
    /// the file is stored.
    pub async fn drop_files(&self, holder: Ulid) -> Result<()> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            let transaction = client.transaction().await?;
            transaction.batch_execute("LOCK TABLE file_use IN SHARE ROW EXCLUSIVE MODE").await?;
            let own: Vec<Vec<u8>> =
                own(&transaction, holder).await?.iter().map(|digest| digest.0.to_vec()).collect();
            let sql = "DELETE FROM file WHERE digest = ANY ($1)";
            let statement = transaction.prepare_cached(sql).await?;
            transaction.execute(&statement, &[&own]).await?;
            forget(&transaction, holder).await?;
            Ok::<_, Failure>(transaction.commit().await?)
        })?)
    }
}

//! Deletes files that nodes share outside the database.
//!
//! Each file has a session lock. A node that records a new holder takes the lock shared, for that
//! moment. A node that deletes the file takes it exclusively, from the moment no other holder is
//! known until the file is deleted. So no node deletes a file that another node just recorded, and
//! work on other files does not wait.

use deadpool_postgres::GenericClient;
use kernel::audit::Digest;
use tokio::task::JoinSet;
use tokio_postgres::Client;
use ulid::Ulid;

use super::connect::{DedicatedConnection, PostgresPool, on};
use super::failure::PostgresFailure;
use super::{Postgres, uuid};
use crate::Result;
use crate::columns::{digest, int};
use crate::sql::file_lock;

/// Files per step: the lock table is shared by the whole database.
const BATCH: usize = 64;

/// The files of one holder, about to be deleted. Dropping this releases those that were not
/// confirmed as deleted.
pub struct FileDeletion {
    database: PostgresPool,
    client: Client,
    _driver: JoinSet<()>,
    holder: Ulid,
    locked: Vec<Vec<u8>>,
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
            let sql = "DELETE FROM file WHERE digest IN (
                SELECT digest FROM file_use AS own WHERE ask = $1 AND NOT EXISTS
                    (SELECT FROM file_use WHERE digest = own.digest AND ask <> own.ask))";
            let delete = transaction.prepare_cached(sql).await?;
            transaction.execute(&delete, &[&uuid(holder)]).await?;
            let sql = "DELETE FROM file_use WHERE ask = $1";
            let forget = transaction.prepare_cached(sql).await?;
            transaction.execute(&forget, &[&uuid(holder)]).await?;
            Ok::<_, PostgresFailure>(transaction.commit().await?)
        })?)
    }

    /// Begins to delete the files of a holder.
    pub async fn delete_files(&self, holder: Ulid) -> Result<FileDeletion> {
        self.writers()?;
        let (client, connection): DedicatedConnection = self.database.connect_dedicated().await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "lost the connection that holds file locks; the files may \
                                        be deleted");
            }
        });
        let database = self.database.clone();
        Ok(FileDeletion { database, client, _driver: driver, holder, locked: Vec::new() })
    }
}

impl FileDeletion {
    /// Those of the next few files that have no other holder: the caller deletes them now. No node
    /// can record a new holder for them until [`FileDeletion::confirm`]. `None` when there are no
    /// more.
    pub async fn next(&mut self) -> Result<Option<Vec<Digest>>> {
        let (client, holder) = (&self.client, uuid(self.holder));
        let work = async {
            let sql = "SELECT digest FROM file_use WHERE ask = $1 ORDER BY digest LIMIT $2";
            let rows = client.query(sql, &[&holder, &int(BATCH)]).await?;
            let all = rows.iter().map(|row| Ok(digest(row.try_get(0)?)));
            let all: Vec<Digest> = all.collect::<Result<_, PostgresFailure>>()?;
            // In the same order everywhere, so that no deadlock can occur.
            let mut locks: Vec<i64> = all.iter().map(file_lock).collect();
            locks.sort_unstable();
            locks.dedup();
            let sql = "SELECT pg_advisory_lock(one) FROM unnest($1::bigint[]) AS one";
            client.query(sql, &[&locks]).await?;
            let locked: Vec<Vec<u8>> = all.iter().map(|digest| digest.0.to_vec()).collect();
            // A separate statement: it sees holders recorded while we waited for the lock.
            let sql = "SELECT digest FROM file_use AS own WHERE ask = $1 AND digest = ANY ($2)
                AND NOT EXISTS (SELECT FROM file_use WHERE digest = own.digest AND ask <> own.ask)";
            let rows = client.query(sql, &[&holder, &locked]).await?;
            let own = rows.iter().map(|row| Ok(digest(row.try_get(0)?)));
            Ok::<_, PostgresFailure>((locked, own.collect::<Result<Vec<_>, PostgresFailure>>()?))
        };
        let (locked, own) = self.database.within(work).await?;
        self.locked = locked;
        Ok((!self.locked.is_empty()).then_some(own))
    }

    /// Confirms the deletion: removes the holder from these files, and from those that
    /// have other holders.
    pub async fn confirm(&mut self) -> Result<()> {
        let locked = std::mem::take(&mut self.locked);
        let (client, holder) = (&self.client, uuid(self.holder));
        let work = async {
            let sql = "DELETE FROM file_use WHERE ask = $1 AND digest = ANY ($2)";
            client.execute(sql, &[&holder, &locked]).await?;
            client.query("SELECT pg_advisory_unlock_all()", &[]).await?;
            Ok::<_, PostgresFailure>(())
        };
        Ok(self.database.within(work).await?)
    }
}

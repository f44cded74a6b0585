//! Deletes files that nodes share outside the database.
//!
//! Each file has a session lock. A node that records a new holder takes the lock shared, for that
//! moment. A node that deletes the file takes it exclusively, from the moment no other holder is
//! known until the file is deleted. So no node deletes a file that another node just recorded, and
//! work on other files does not wait.

use kernel::audit::Digest;
use tokio::task::JoinSet;
use tokio_postgres::Client;
use ulid::Ulid;

use super::connect::{Database, Link};
use super::failure::Failure;
use super::{Postgres, uuid};
use crate::Result;
use crate::rows::{digest, int};

/// Files per step: the lock table is shared by the whole database.
const SOME: usize = 64;

/// The lock number of a file. Two files with the same number wait for each other, which
/// does no harm.
pub(super) fn lock(digest: &Digest) -> i64 {
    digest.0.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
}

/// The files of one holder, about to be deleted. Dropping this releases those that were not
/// confirmed as deleted.
pub struct Leaving {
    database: Database,
    client: Client,
    _driver: JoinSet<()>,
    holder: Ulid,
    held: Vec<Vec<u8>>,
}

impl Postgres {
    /// Begins to delete the files of a holder.
    pub async fn leaving(&self, holder: Ulid) -> Result<Leaving> {
        self.writers()?;
        let (client, connection): Link = self.database.link().await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "files are let go of: the connection was lost");
            }
        });
        let database = self.database.clone();
        Ok(Leaving { database, client, _driver: driver, holder, held: Vec::new() })
    }
}

impl Leaving {
    /// Those of the next few files that have no other holder: the caller deletes them now. No node
    /// can record a new holder for them until [`Leaving::gone`]. `None` when there are no more.
    pub async fn some(&mut self) -> Result<Option<Vec<Digest>>> {
        let (client, holder) = (&self.client, uuid(self.holder));
        let work = async {
            let sql = "SELECT digest FROM file_use WHERE ask = $1 ORDER BY digest LIMIT $2";
            let rows = client.query(sql, &[&holder, &int(SOME)]).await?;
            let all = rows.iter().map(|row| Ok(digest(row.try_get(0)?)));
            let all: Vec<Digest> = all.collect::<Result<_, Failure>>()?;
            // In the same order everywhere, so that no deadlock can occur.
            let mut locks: Vec<i64> = all.iter().map(lock).collect();
            locks.sort_unstable();
            locks.dedup();
            let sql = "SELECT pg_advisory_lock(one) FROM unnest($1::bigint[]) AS one";
            client.query(sql, &[&locks]).await?;
            let held: Vec<Vec<u8>> = all.iter().map(|digest| digest.0.to_vec()).collect();
            // A separate statement: it sees holders recorded while we waited for the lock.
            let sql = "SELECT digest FROM file_use AS own WHERE ask = $1 AND digest = ANY ($2)
                AND NOT EXISTS (SELECT FROM file_use WHERE digest = own.digest AND ask <> own.ask)";
            let rows = client.query(sql, &[&holder, &held]).await?;
            let own = rows.iter().map(|row| Ok(digest(row.try_get(0)?)));
            Ok::<_, Failure>((held, own.collect::<Result<Vec<_>, Failure>>()?))
        };
        let (held, own) = self.database.within(work).await?;
        self.held = held;
        Ok((!self.held.is_empty()).then_some(own))
    }

    /// Confirms the deletion: removes the holder from these files, and from those that
    /// have other holders.
    pub async fn gone(&mut self) -> Result<()> {
        let held = std::mem::take(&mut self.held);
        let (client, holder) = (&self.client, uuid(self.holder));
        let work = async {
            let sql = "DELETE FROM file_use WHERE ask = $1 AND digest = ANY ($2)";
            client.execute(sql, &[&holder, &held]).await?;
            client.query("SELECT pg_advisory_unlock_all()", &[]).await?;
            Ok::<_, Failure>(())
        };
        Ok(self.database.within(work).await?)
    }
}

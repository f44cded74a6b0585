//! Files that are taken away from where nodes keep them together outside the database.
//!
//! Two locks of a session for each: whoever notes that somebody is given a file holds it for that
//! moment, together with others; whoever takes the file away holds it alone, from the moment nobody else
//! is known to have it until it is gone. So no node deletes what another was just given, and nobody
//! waits who has to do with other files.

use kernel::audit::Digest;
use tokio::task::JoinSet;
use tokio_postgres::Client;
use ulid::Ulid;

use super::connect::{Database, Link};
use super::failure::Failure;
use super::{Postgres, uuid};
use crate::Result;
use crate::rows::{digest, int};

/// How many go at once: the room for locks is the whole database's.
const SOME: usize = 64;

/// The number a file is locked by. Two that share one wait for each other, and that is all.
pub(super) fn lock(digest: &Digest) -> i64 {
    digest.0.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
}

/// Somebody's files on their way out. Dropping this lets go of those that were not said to be gone.
pub struct Leaving {
    database: Database,
    client: Client,
    _driver: JoinSet<()>,
    holder: Ulid,
    held: Vec<Vec<u8>>,
}

impl Postgres {
    /// Begins to take away what somebody was given.
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
    /// Those of the next few that nobody else was given: they are to be deleted now. Nobody can be given
    /// one of them until [`Leaving::gone`]. `None` when there are no more.
    pub async fn some(&mut self) -> Result<Option<Vec<Digest>>> {
        let (client, holder) = (&self.client, uuid(self.holder));
        let work = async {
            let sql = "SELECT digest FROM file_use WHERE ask = $1 ORDER BY digest LIMIT $2";
            let rows = client.query(sql, &[&holder, &int(SOME)]).await?;
            let all = rows.iter().map(|row| Ok(digest(row.try_get(0)?)));
            let all: Vec<Digest> = all.collect::<Result<_, Failure>>()?;
            // In one order everywhere, so that two never wait for each other.
            let mut locks: Vec<i64> = all.iter().map(lock).collect();
            locks.sort_unstable();
            locks.dedup();
            let sql = "SELECT pg_advisory_lock(one) FROM unnest($1::bigint[]) AS one";
            client.query(sql, &[&locks]).await?;
            let held: Vec<Vec<u8>> = all.iter().map(|digest| digest.0.to_vec()).collect();
            // A statement of its own: it sees what was noted while we waited.
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

    /// They are gone: forgets that they were given, and those others have too.
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

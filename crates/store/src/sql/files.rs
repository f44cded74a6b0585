//! The files that belong to each ask or upload. Their bytes are stored elsewhere. The column is
//! named after asks, which were the first to have files.

use async_trait::async_trait;
use kernel::audit::Digest;
use ulid::Ulid;

use super::{SqlDialect, SqlStore, values};
use crate::{FileHolderStore, Result};

#[async_trait]
impl<S: SqlStore> FileHolderStore for S {
    async fn record_file(&self, holder: Ulid, digest: Digest) -> Result<()> {
        match S::DIALECT {
            SqlDialect::Sqlite => {
                let sql = "INSERT INTO file_use (ask, digest) VALUES ($1, $2)
                    ON CONFLICT DO NOTHING";
                self.execute(sql, values![holder, digest]).await
            }
            // Waits for a node that is deleting this file, wherever the bytes are stored.
            SqlDialect::Postgres => {
                let sql = "INSERT INTO file_use (ask, digest)
                    SELECT $1::uuid, $2::bytea FROM pg_advisory_xact_lock_shared($3)
                    ON CONFLICT DO NOTHING";
                self.execute(sql, values![holder, digest, file_lock(&digest)]).await
            }
        }
        .map(drop)
    }

    async fn own_files(&self, holder: Ulid) -> Result<Vec<Digest>> {
        let sql = "SELECT digest FROM file_use AS own WHERE ask = $1 AND NOT EXISTS
            (SELECT 1 FROM file_use WHERE digest = own.digest AND ask <> own.ask)";
        let rows = self.query(sql, values![holder]).await?;
        rows.into_iter().map(|mut row| row.get(0)).collect()
    }

    async fn file_holders(&self, digest: Digest) -> Result<Vec<Ulid>> {
        let rows =
            self.query("SELECT ask FROM file_use WHERE digest = $1", values![digest]).await?;
        rows.into_iter().map(|mut row| row.get(0)).collect()
    }

    async fn forget_files(&self, holder: Ulid, only: Option<Digest>) -> Result<()> {
        match only {
            Some(digest) => {
                let sql = "DELETE FROM file_use WHERE ask = $1 AND digest = $2";
                self.execute(sql, values![holder, digest]).await
            }
            None => self.execute("DELETE FROM file_use WHERE ask = $1", values![holder]).await,
        }
        .map(drop)
    }
}

/// The number of the lock of a file. Two files with the same number wait for each other, which does
/// no harm.
pub(crate) fn file_lock(digest: &Digest) -> i64 {
    digest.0.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
}

//! Uploads and their pieces.

use async_trait::async_trait;
use kernel::task::StoredContent;
use kernel::{Time, UploadId};

use super::{SqlRow, SqlStore, one, values};
use crate::columns::{read_state, state};
use crate::{MOST_PIECES, MOST_UPLOADS, Result, Upload, UploadPart, UploadStore};

#[async_trait]
impl<S: SqlStore> UploadStore for S {
    async fn begin_upload(&self, upload: Upload) -> Result<bool> {
        self.write(upload, |sql, upload| {
            Box::pin(async move {
                let Upload { id, owner, length, media_type, at, .. } = upload;
                let owner = state("upload", owner)?;
                let unused = "SELECT id FROM upload
                    WHERE owner = $1 AND NOT used AND NOT given_up LIMIT $2";
                let unused = sql.query(unused, &values![&owner, MOST_UPLOADS]).await?;
                if unused.len() >= MOST_UPLOADS {
                    return Ok(false);
                }
                let begin = "INSERT INTO upload (id, owner, length, media_type, at)
                    VALUES ($1, $2, $3, $4, $5)";
                let media_type = media_type.as_deref();
                sql.execute(begin, &values![*id, owner, *length, media_type, *at]).await?;
                Ok(true)
            })
        })
        .await
    }

    async fn upload(&self, id: UploadId) -> Result<Option<Upload>> {
        let sql = "SELECT owner, length, media_type, size, pieces, checksum, manifest, at
            FROM upload WHERE id = $1 AND NOT given_up";
        one(self, sql, values![id]).await?.map(|row| upload(id, row)).transpose()
    }

    async fn pieces(&self, id: UploadId) -> Result<Vec<UploadPart>> {
        let sql = "SELECT digest, size FROM upload_piece WHERE upload = $1 ORDER BY n";
        let piece = |mut row: SqlRow| Ok(UploadPart { digest: row.get(0)?, size: row.get(1)? });
        self.query(sql, values![id]).await?.into_iter().map(piece).collect()
    }

    async fn append_piece(
        &self,
        id: UploadId,
        offset: u64,
        piece: UploadPart,
        at: Time,
    ) -> Result<bool> {
        self.write((id, offset, piece, at), |sql, (id, offset, piece, at)| {
            Box::pin(async move {
                let grow = "UPDATE upload SET size = size + $3, pieces = pieces + 1, at = $4
                    WHERE id = $1 AND size = $2 AND pieces < $5 AND checksum IS NULL
                        AND NOT given_up
                    RETURNING pieces";
                let size = piece.size;
                let grown = sql.query(grow, &values![*id, *offset, size, *at, MOST_PIECES]).await?;
                let Some(mut grown) = grown.into_iter().next() else { return Ok(false) };
                let n: i64 = grown.get(0)?;
                let add =
                    "INSERT INTO upload_piece (upload, n, digest, size) VALUES ($1, $2, $3, $4)";
                sql.execute(add, &values![*id, n, piece.digest, size]).await?;
                Ok(true)
            })
        })
        .await
    }

    async fn finish_upload(&self, id: UploadId, whole: StoredContent, at: Time) -> Result<bool> {
        let sql = "UPDATE upload SET checksum = $3, manifest = $4, at = $5
            WHERE id = $1 AND size = $2 AND checksum IS NULL AND NOT given_up";
        let StoredContent { checksum, size, manifest } = whole;
        Ok(self.execute(sql, values![id, size, checksum, manifest, at]).await? == 1)
    }

    async fn abandon_upload(&self, id: UploadId) -> Result<bool> {
        let sql = "UPDATE upload SET given_up = TRUE WHERE id = $1 AND NOT used AND NOT given_up";
        Ok(self.execute(sql, values![id]).await? == 1)
    }

    async fn abandoned_uploads(&self, before: Time, limit: usize) -> Result<Vec<UploadId>> {
        let rows = self
            .write((before, limit), |sql, (before, limit)| {
                Box::pin(async move {
                    for old in [
                        "DELETE FROM upload_piece WHERE upload IN
                            (SELECT id FROM upload WHERE at < $1 AND used)",
                        "DELETE FROM upload WHERE at < $1 AND used",
                        "UPDATE upload SET given_up = TRUE WHERE at < $1 AND NOT used",
                    ] {
                        sql.execute(old, &values![*before]).await?;
                    }
                    let given_up = "SELECT id FROM upload WHERE given_up ORDER BY id LIMIT $1";
                    sql.query(given_up, &values![*limit]).await
                })
            })
            .await?;
        rows.into_iter().map(|mut row| row.get(0)).collect()
    }

    async fn forget_upload(&self, id: UploadId) -> Result<()> {
        self.write(id, |sql, id| {
            Box::pin(async move {
                sql.execute("DELETE FROM upload_piece WHERE upload = $1", &values![*id]).await?;
                sql.execute("DELETE FROM upload WHERE id = $1", &values![*id]).await?;
                Ok(())
            })
        })
        .await
    }
}

fn upload(id: UploadId, mut row: SqlRow) -> Result<Upload> {
    let size = row.get(3)?;
    let (checksum, manifest) = (row.get::<Option<_>>(5)?, row.get::<Option<_>>(6)?);
    let whole = checksum.zip(manifest).map(|(checksum, manifest)| StoredContent {
        checksum,
        size,
        manifest,
    });
    Ok(Upload {
        id,
        owner: read_state("upload", &row.get::<String>(0)?)?,
        length: row.get(1)?,
        media_type: row.get(2)?,
        size,
        pieces: row.get(4)?,
        whole,
        at: row.get(7)?,
    })
}

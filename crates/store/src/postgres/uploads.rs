//! Uploads and their pieces.

use async_trait::async_trait;
use kernel::task::Held;
use kernel::{Time, UploadId};
use tokio_postgres::Row;

use super::connect::on;
use super::failure::Failure;
use super::{Postgres, ulid, uuid};
use crate::rows::{digest, int, read_state, state, uint};
use crate::{MOST_PIECES, MOST_UPLOADS, Piece, Result, Upload, Uploads};

const BEGIN: &str = "INSERT INTO upload (id, owner, length, media_type, at)
    SELECT $1::uuid, $2::text, $3::bigint, $4::text, $5::bigint
    WHERE (SELECT count(*) FROM (SELECT FROM upload
        WHERE owner = $2 AND NOT used AND NOT given_up LIMIT $6) AS own) < $6";
const APPEND: &str = "WITH moved AS (
        UPDATE upload SET size = size + $3, pieces = pieces + 1, at = $4
        WHERE id = $1 AND size = $2 AND pieces < $5 AND checksum IS NULL AND NOT given_up
        RETURNING id, pieces
    )
    INSERT INTO upload_piece (upload, n, digest, size) SELECT id, pieces, $6, $3 FROM moved";
const FINISH: &str = "UPDATE upload SET checksum = $3, manifest = $4, at = $5
    WHERE id = $1 AND size = $2 AND checksum IS NULL AND NOT given_up";
const GIVE_UP: &str = "UPDATE upload SET given_up = true
    WHERE id = $1 AND NOT used AND NOT given_up";

#[async_trait]
impl Uploads for Postgres {
    async fn begin_upload(&self, upload: Upload) -> Result<bool> {
        let Upload { id, owner, length, media_type, at, .. } = upload;
        let (id, owner) = (uuid(id.ulid()), state("upload", &owner)?);
        let (length, at, most) = (length.map(int), at.millis(), int(MOST_UPLOADS));
        Ok(self.execute(BEGIN, &[&id, &owner, &length, &media_type, &at, &most]).await? == 1)
    }

    async fn upload(&self, id: UploadId) -> Result<Option<Upload>> {
        let sql = "SELECT owner, length, media_type, size, pieces, checksum, manifest, at
            FROM upload WHERE id = $1 AND NOT given_up";
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            let row = client.query_opt(&statement, &[&uuid(id.ulid())]).await?;
            row.as_ref().map(|row| upload(id, row)).transpose()
        })?)
    }

    async fn pieces(&self, id: UploadId) -> Result<Vec<Piece>> {
        let sql = "SELECT digest, size FROM upload_piece WHERE upload = $1 ORDER BY n";
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            let rows = client.query(&statement, &[&uuid(id.ulid())]).await?;
            let piece = |row: &Row| {
                Ok(Piece { digest: digest(row.try_get(0)?), size: uint(row.try_get(1)?) })
            };
            rows.iter().map(piece).collect::<Result<_, Failure>>()
        })?)
    }

    async fn append_piece(
        &self,
        id: UploadId,
        offset: u64,
        piece: Piece,
        at: Time,
    ) -> Result<bool> {
        let (id, offset, size) = (uuid(id.ulid()), int(offset), int(piece.size));
        let (at, most, hash) = (at.millis(), int(MOST_PIECES), &piece.digest.0[..]);
        Ok(self.execute(APPEND, &[&id, &offset, &size, &at, &most, &hash]).await? == 1)
    }

    async fn finish_upload(&self, id: UploadId, whole: Held, at: Time) -> Result<bool> {
        let (id, size, at) = (uuid(id.ulid()), int(whole.size), at.millis());
        let (checksum, manifest) = (&whole.checksum.0[..], &whole.manifest.0[..]);
        Ok(self.execute(FINISH, &[&id, &size, &checksum, &manifest, &at]).await? == 1)
    }

    async fn give_up_upload(&self, id: UploadId) -> Result<bool> {
        Ok(self.execute(GIVE_UP, &[&uuid(id.ulid())]).await? == 1)
    }

    async fn given_up_uploads(&self, before: Time, limit: usize) -> Result<Vec<UploadId>> {
        let forget = "WITH old AS (DELETE FROM upload WHERE at < $1 AND used RETURNING id)
            DELETE FROM upload_piece WHERE upload IN (SELECT id FROM old)";
        self.execute(forget, &[&before.millis()]).await?;
        let give_up = "UPDATE upload SET given_up = true WHERE at < $1 AND NOT used";
        self.execute(give_up, &[&before.millis()]).await?;
        let sql = "SELECT id FROM upload WHERE given_up ORDER BY id LIMIT $1";
        Ok(on!(self.database, client => async {
            let statement = client.prepare_cached(sql).await?;
            let rows = client.query(&statement, &[&int(limit)]).await?;
            let id = |row: &Row| Ok(UploadId::new(ulid(row.try_get(0)?)));
            rows.iter().map(id).collect::<Result<_, Failure>>()
        })?)
    }

    async fn forget_upload(&self, id: UploadId) -> Result<()> {
        let sql = "WITH pieces AS (DELETE FROM upload_piece WHERE upload = $1)
            DELETE FROM upload WHERE id = $1";
        self.execute(sql, &[&uuid(id.ulid())]).await.map(drop)
    }
}

fn upload(id: UploadId, row: &Row) -> Result<Upload, Failure> {
    let (length, size): (Option<i64>, i64) = (row.try_get(1)?, row.try_get(3)?);
    let (checksum, manifest): (Option<&[u8]>, Option<&[u8]>) = (row.try_get(5)?, row.try_get(6)?);
    let whole = checksum.zip(manifest).map(|(checksum, manifest)| Held {
        checksum: digest(checksum),
        size: uint(size),
        manifest: digest(manifest),
    });
    Ok(Upload {
        id,
        owner: read_state("upload", row.try_get(0)?).map_err(Failure::Store)?,
        length: length.map(uint),
        media_type: row.try_get(2)?,
        size: uint(size),
        pieces: uint(row.try_get(4)?),
        whole,
        at: Time::from_millis(row.try_get(7)?),
    })
}

//! Uploads and their pieces.

use async_trait::async_trait;
use kernel::task::Held;
use kernel::{Refusal, Time, UploadId};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use ulid::Ulid;

use super::{Sqlite, failed};
use crate::rows::{digest, int, state, uint};
use crate::{MOST_PIECES, MOST_UPLOADS, Piece, Result, Upload, Uploads};

const BEGIN: &str = "INSERT INTO upload (id, owner, length, media_type, at)
    SELECT ?1, ?2, ?3, ?4, ?5
    WHERE (SELECT count(*) FROM (SELECT 1 FROM upload
        WHERE owner = ?2 AND NOT used AND NOT given_up LIMIT ?6)) < ?6";
const APPEND: &str = "UPDATE upload SET size = size + ?3, pieces = pieces + 1, at = ?4
    WHERE id = ?1 AND size = ?2 AND pieces < ?5 AND checksum IS NULL AND NOT given_up
    RETURNING pieces";
const FINISH: &str = "UPDATE upload SET checksum = ?3, manifest = ?4, at = ?5
    WHERE id = ?1 AND size = ?2 AND checksum IS NULL AND NOT given_up";
const USE: &str = "UPDATE upload SET used = 1, at = ?2
    WHERE id = ?1 AND checksum IS NOT NULL AND NOT given_up";
const GIVE_UP: &str = "UPDATE upload SET given_up = 1 WHERE id = ?1 AND NOT used AND NOT given_up";

#[async_trait]
impl Uploads for Sqlite {
    async fn begin_upload(&self, upload: Upload) -> Result<bool> {
        let begin = move |conn: &Connection| {
            let Upload { id, owner, length, media_type, at, .. } = &upload;
            let (id, owner) = (id.ulid().to_bytes(), state("upload", owner)?);
            let (length, most) = (length.map(int), int(MOST_UPLOADS));
            let values = params![id, owner, length, media_type, at.millis(), most];
            Ok(execute(conn, BEGIN, values)? == 1)
        };
        self.write(move |ledger| ledger.savepoint(begin)).await
    }

    async fn upload(&self, id: UploadId) -> Result<Option<Upload>> {
        let sql = "SELECT owner, length, media_type, size, pieces, checksum, manifest, at
            FROM upload WHERE id = ?1 AND NOT given_up";
        let find = move |conn: &Connection| {
            let mut select = conn.prepare_cached(sql).map_err(failed)?;
            let found = select.query_row([id.ulid().to_bytes()], |row| upload(id, row));
            found.optional().map_err(failed)
        };
        self.readers.run(find).await
    }

    async fn pieces(&self, id: UploadId) -> Result<Vec<Piece>> {
        let sql = "SELECT digest, size FROM upload_piece WHERE upload = ?1 ORDER BY n";
        let find = move |conn: &Connection| {
            let mut select = conn.prepare_cached(sql).map_err(failed)?;
            let piece = |row: &Row<'_>| {
                let (hash, size): (Vec<u8>, i64) = (row.get(0)?, row.get(1)?);
                Ok(Piece { digest: digest(&hash), size: uint(size) })
            };
            let found = select.query_map([id.ulid().to_bytes()], piece);
            found.and_then(Iterator::collect).map_err(failed)
        };
        self.readers.run(find).await
    }

    async fn append_piece(
        &self,
        id: UploadId,
        offset: u64,
        piece: Piece,
        at: Time,
    ) -> Result<bool> {
        let append = move |conn: &Connection| {
            let (id, size) = (id.ulid().to_bytes(), int(piece.size));
            let values = params![id, int(offset), size, at.millis(), int(MOST_PIECES)];
            let mut moved = conn.prepare_cached(APPEND).map_err(failed)?;
            let place = moved.query_row(values, |row| row.get::<_, i64>(0)).optional();
            let Some(n) = place.map_err(failed)? else { return Ok(false) };
            let sql = "INSERT INTO upload_piece (upload, n, digest, size) VALUES (?1, ?2, ?3, ?4)";
            execute(conn, sql, params![id, n, piece.digest.0, size])?;
            Ok(true)
        };
        self.write(move |ledger| ledger.savepoint(append)).await
    }

    async fn finish_upload(&self, id: UploadId, whole: Held, at: Time) -> Result<bool> {
        let finish = move |conn: &Connection| {
            let (id, size) = (id.ulid().to_bytes(), int(whole.size));
            let values = params![id, size, whole.checksum.0, whole.manifest.0, at.millis()];
            Ok(execute(conn, FINISH, values)? == 1)
        };
        self.write(move |ledger| ledger.savepoint(finish)).await
    }

    async fn give_up_upload(&self, id: UploadId) -> Result<bool> {
        let give_up =
            move |conn: &Connection| Ok(execute(conn, GIVE_UP, [id.ulid().to_bytes()])? == 1);
        self.write(move |ledger| ledger.savepoint(give_up)).await
    }

    async fn given_up_uploads(&self, before: Time, limit: usize) -> Result<Vec<UploadId>> {
        let sweep = move |conn: &Connection| {
            let before = before.millis();
            for sql in [
                "DELETE FROM upload_piece WHERE upload IN
                    (SELECT id FROM upload WHERE at < ?1 AND used)",
                "DELETE FROM upload WHERE at < ?1 AND used",
                "UPDATE upload SET given_up = 1 WHERE at < ?1 AND NOT used",
            ] {
                execute(conn, sql, [before])?;
            }
            let sql = "SELECT id FROM upload WHERE given_up ORDER BY id LIMIT ?1";
            let mut select = conn.prepare_cached(sql).map_err(failed)?;
            let id = |row: &Row<'_>| Ok(UploadId::new(Ulid::from_bytes(row.get(0)?)));
            let found = select.query_map([int(limit)], id);
            found.and_then(Iterator::collect).map_err(failed)
        };
        self.write(move |ledger| ledger.savepoint(sweep)).await
    }

    async fn forget_upload(&self, id: UploadId) -> Result<()> {
        let forget = move |conn: &Connection| {
            let id = id.ulid().to_bytes();
            execute(conn, "DELETE FROM upload_piece WHERE upload = ?1", [id])?;
            execute(conn, "DELETE FROM upload WHERE id = ?1", [id]).map(drop)
        };
        self.write(move |ledger| ledger.savepoint(forget)).await
    }
}

/// Marks an upload as used.
pub(super) fn use_up(conn: &Connection, id: UploadId, at: Time) -> Result<()> {
    match execute(conn, USE, params![id.ulid().to_bytes(), at.millis()])? {
        1 => Ok(()),
        _ => Err(Refusal::NotFound { what: "upload" }.into()),
    }
}

fn execute(conn: &Connection, sql: &str, params: impl rusqlite::Params) -> Result<usize> {
    conn.prepare_cached(sql).and_then(|mut done| done.execute(params)).map_err(failed)
}

fn upload(id: UploadId, row: &Row<'_>) -> rusqlite::Result<Upload> {
    let (owner, length, size, pieces): (String, Option<i64>, i64, i64) =
        (row.get(0)?, row.get(1)?, row.get(3)?, row.get(4)?);
    let owner = serde_json::from_str(&owner)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))?;
    let (checksum, manifest): (Option<Vec<u8>>, Option<Vec<u8>>) = (row.get(5)?, row.get(6)?);
    let whole = checksum.zip(manifest).map(|(checksum, manifest)| Held {
        checksum: digest(&checksum),
        size: uint(size),
        manifest: digest(&manifest),
    });
    Ok(Upload {
        id,
        owner,
        length: length.map(uint),
        media_type: row.get(2)?,
        size: uint(size),
        pieces: uint(pieces),
        whole,
        at: Time::from_millis(row.get(7)?),
    })
}

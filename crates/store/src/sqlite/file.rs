//! The files that belong to each ask or upload. Their bytes are stored elsewhere. The column is
//! named after asks, which were the first to have files.

use kernel::audit::Digest;
use rusqlite::{Connection, params};
use ulid::Ulid;

use super::failed;
use crate::Result;
use crate::rows::digest;

pub(super) fn note(conn: &Connection, holder: Ulid, digest: &Digest) -> Result<()> {
    conn.prepare_cached("INSERT OR IGNORE INTO file_use (ask, digest) VALUES (?1, ?2)")
        .and_then(|mut note| note.execute(params![holder.to_bytes(), digest.0]))
        .map(drop)
        .map_err(failed)
}

pub(super) fn own(conn: &Connection, holder: Ulid) -> Result<Vec<Digest>> {
    conn.prepare_cached(
        "SELECT digest FROM file_use AS own WHERE ask = ?1 AND NOT EXISTS
             (SELECT 1 FROM file_use WHERE digest = own.digest AND ask <> own.ask)",
    )
    .and_then(|mut own| {
        own.query_map([holder.to_bytes()], |row| row.get::<_, Vec<u8>>(0))?
            .map(|bytes| bytes.map(|bytes| digest(&bytes)))
            .collect()
    })
    .map_err(failed)
}

pub(super) fn holders(conn: &Connection, digest: &Digest) -> Result<Vec<Ulid>> {
    conn.prepare_cached("SELECT ask FROM file_use WHERE digest = ?1")
        .and_then(|mut holders| {
            holders
                .query_map([digest.0], |row| row.get::<_, [u8; 16]>(0))?
                .map(|bytes| bytes.map(Ulid::from_bytes))
                .collect()
        })
        .map_err(failed)
}

pub(super) fn forget_one(conn: &Connection, holder: Ulid, digest: &Digest) -> Result<()> {
    conn.prepare_cached("DELETE FROM file_use WHERE ask = ?1 AND digest = ?2")
        .and_then(|mut forget| forget.execute(params![holder.to_bytes(), digest.0]))
        .map(drop)
        .map_err(failed)
}

pub(super) fn forget(conn: &Connection, holder: Ulid) -> Result<()> {
    conn.prepare_cached("DELETE FROM file_use WHERE ask = ?1")
        .and_then(|mut forget| forget.execute([holder.to_bytes()]))
        .map(drop)
        .map_err(failed)
}

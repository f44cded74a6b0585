//! Stored signatures of receipts.

use kernel::AskId;
use kernel::audit::Digest;
use rusqlite::{Connection, OptionalExtension, params};

use super::failed;
use crate::rows::int;
use crate::{ReceiptSignature, Result};

/// Stores the signatures whose ask still has the signed version. Returns the other asks.
pub(super) fn put(conn: &Connection, new: &[ReceiptSignature]) -> Result<Vec<AskId>> {
    let sql = "INSERT OR REPLACE INTO receipt_signature (ask, claims, kid, signature)
         SELECT id, ?3, ?4, ?5 FROM ask WHERE id = ?1 AND version = ?2";
    let mut changed = Vec::new();
    for ReceiptSignature { ask, version, claims, kid, signature } in new {
        let row = params![ask.ulid().to_bytes(), int(*version), claims.0, kid, signature];
        let put = conn.prepare_cached(sql).and_then(|mut put| put.execute(row)).map_err(failed)?;
        if put == 0 {
            changed.push(*ask);
        }
    }
    Ok(changed)
}

pub(super) fn find(
    conn: &Connection,
    ask: AskId,
    claims: &Digest,
) -> Result<Option<(String, Vec<u8>)>> {
    let sql = "SELECT kid, signature FROM receipt_signature WHERE ask = ?1 AND claims = ?2";
    conn.prepare_cached(sql)
        .and_then(|mut find| {
            let key = params![ask.ulid().to_bytes(), claims.0];
            find.query_row(key, |row| Ok((row.get(0)?, row.get(1)?))).optional()
        })
        .map_err(failed)
}

/// Deletes the signatures of an ask when a part of it is erased.
pub(super) fn delete(conn: &Connection, ask: AskId) -> Result<()> {
    conn.prepare_cached("DELETE FROM receipt_signature WHERE ask = ?1")
        .and_then(|mut delete| delete.execute([ask.ulid().to_bytes()]))
        .map(drop)
        .map_err(failed)
}

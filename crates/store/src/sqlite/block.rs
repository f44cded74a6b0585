//! Blocks: one small row each, indexed by number and by first position.

use kernel::Time;
use kernel::seal::Block;
use rusqlite::{Connection, Row, params};

use super::failed;
use super::record::{bytes, last_position, lossy};
use crate::rows::{digest, int, uint};
use crate::{Result, SealedBlock};

/// Appends a block if it follows the last one and its records exist.
pub(super) fn append(conn: &Connection, sealed: &SealedBlock) -> Result<bool> {
    if !sealed.follows(last(conn)?.as_ref(), last_position(conn)?) {
        return Ok(false);
    }
    let block = &sealed.block;
    conn.prepare_cached(
        "INSERT INTO block (n, first, count, root, prev, at, issuer, jws)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )
    .and_then(|mut insert| {
        insert.execute(params![
            int(block.n),
            int(block.first),
            int(block.count),
            block.root.0,
            block.prev.0,
            block.at.millis(),
            block.issuer,
            sealed.jws,
        ])
    })
    .map_err(failed)?;
    Ok(true)
}

pub(super) fn last(conn: &Connection) -> Result<Option<SealedBlock>> {
    found(
        conn,
        "SELECT n, first, count, root, prev, at, issuer, jws FROM block ORDER BY n DESC LIMIT 1",
        [],
    )
}

/// The block that contains a position: the last one to begin at or before it, if it
/// reaches that far.
pub(super) fn holding(conn: &Connection, position: u64) -> Result<Option<SealedBlock>> {
    let sql = "SELECT n, first, count, root, prev, at, issuer, jws FROM block
               WHERE first <= ?1 ORDER BY first DESC LIMIT 1";
    Ok(found(conn, sql, [int(position)])?.filter(|sealed| position < sealed.block.end()))
}

pub(super) fn after(conn: &Connection, n: u64, limit: usize) -> Result<Vec<SealedBlock>> {
    let sql = "SELECT n, first, count, root, prev, at, issuer, jws FROM block
               WHERE n > ?1 ORDER BY n LIMIT ?2";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows = select.query(params![int(n), int(limit)]).map_err(failed)?;
    let mut blocks = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        blocks.push(read(row)?);
    }
    Ok(blocks)
}

fn found(
    conn: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> Result<Option<SealedBlock>> {
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let mut rows = select.query(params).map_err(failed)?;
    rows.next().map_err(failed)?.map(read).transpose()
}

/// Reads a tampered row too: the verifier reports what is wrong with it.
fn read(row: &Row<'_>) -> Result<SealedBlock> {
    let number = |column| -> Result<u64> { Ok(uint(row.get(column).map_err(failed)?)) };
    let text = |column| -> Result<String> { Ok(lossy(bytes(row, column)?.unwrap_or_default())) };
    let block = Block {
        issuer: text(6)?,
        n: number(0)?,
        first: number(1)?,
        count: number(2)?,
        root: digest(bytes(row, 3)?.unwrap_or_default()),
        prev: digest(bytes(row, 4)?.unwrap_or_default()),
        at: Time::from_millis(row.get(5).map_err(failed)?),
    };
    Ok(SealedBlock { block, jws: text(7)? })
}

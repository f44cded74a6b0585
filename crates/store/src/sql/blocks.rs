//! Blocks: one small row each, indexed by number and by first position.

use kernel::seal::Block;

use super::{SqlRow, Statements, values};
use crate::{Result, SealedBlock};

pub(super) const LAST: &str =
    "SELECT n, first, count, root, prev, at, issuer, jws FROM block ORDER BY n DESC LIMIT 1";
pub(super) const AFTER: &str = "SELECT n, first, count, root, prev, at, issuer, jws FROM block
    WHERE n > $1 ORDER BY n LIMIT $2";
/// The last block to begin at a position or before it.
pub(super) const AT: &str = "SELECT n, first, count, root, prev, at, issuer, jws FROM block
    WHERE first <= $1 ORDER BY first DESC LIMIT 1";

/// Appends a block if it follows the last one and its records exist. If two nodes race, the unique
/// number lets one win, and no other writer waits for either.
pub(super) async fn append(sql: &mut dyn Statements, sealed: &SealedBlock) -> Result<bool> {
    let last = sql.query(LAST, &[]).await?.pop().map(read).transpose()?;
    if !sealed.follows(last.as_ref(), super::audit_feed::last_position(sql).await?) {
        return Ok(false);
    }
    let SealedBlock { block, jws } = sealed;
    let insert = "INSERT INTO block (n, first, count, root, prev, at, issuer, jws)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let (n, first, count) = (block.n, block.first, block.count);
    let row = values![n, first, count, block.root, block.prev, block.at, &block.issuer, jws];
    Ok(sql.execute(insert, &row).await? == 1)
}

/// Reads a tampered row too: the verification reports what is wrong with it.
pub(super) fn read(mut row: SqlRow) -> Result<SealedBlock> {
    let block = Block {
        issuer: row.any_text(6).unwrap_or_default(),
        n: row.get(0)?,
        first: row.get(1)?,
        count: row.get(2)?,
        root: row.get(3)?,
        prev: row.get(4)?,
        at: row.get(5)?,
    };
    Ok(SealedBlock { block, jws: row.any_text(7).unwrap_or_default() })
}

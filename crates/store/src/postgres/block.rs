//! Blocks: one small row each, indexed by number and by first position.

use deadpool_postgres::{Client, GenericClient};
use kernel::Time;
use kernel::seal::Block;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::failure::Failure;
use super::record::last_position;
use crate::SealedBlock;
use crate::rows::{digest, int, uint};

const COLUMNS: &str = "SELECT n, first, count, root, prev, at, issuer, jws FROM block";

/// Appends a block if it follows the last one and its records exist. If two nodes race, the unique
/// number lets one win, and no other writer waits for either.
pub(super) async fn append(client: &mut Client, sealed: &SealedBlock) -> Result<bool, Failure> {
    let transaction = client.transaction().await?;
    let block = &sealed.block;
    let (last, end) = (last(&transaction).await?, last_position(&transaction).await?);
    if !sealed.follows(last.as_ref(), end) {
        return Ok(false);
    }
    let sql = "INSERT INTO block (n, first, count, root, prev, at, issuer, jws)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let statement = transaction.prepare_cached(sql).await?;
    let params: [&(dyn ToSql + Sync); 8] = [
        &int(block.n),
        &int(block.first),
        &int(block.count),
        &&block.root.0[..],
        &&block.prev.0[..],
        &block.at.millis(),
        &block.issuer,
        &sealed.jws,
    ];
    let appended = transaction.execute(&statement, &params).await? == 1;
    transaction.commit().await?;
    Ok(appended)
}

pub(super) async fn last(client: &impl GenericClient) -> Result<Option<SealedBlock>, Failure> {
    let sql = format!("{COLUMNS} ORDER BY n DESC LIMIT 1");
    Ok(found(client, &sql, &[]).await?.pop())
}

/// The block that contains a position: the last one to begin at or before it, if it
/// reaches that far.
pub(super) async fn holding(
    client: &impl GenericClient,
    position: u64,
) -> Result<Option<SealedBlock>, Failure> {
    let sql = format!("{COLUMNS} WHERE first <= $1 ORDER BY first DESC LIMIT 1");
    let block = found(client, &sql, &[&int(position)]).await?.pop();
    Ok(block.filter(|sealed| position < sealed.block.end()))
}

pub(super) async fn after(
    client: &impl GenericClient,
    n: u64,
    limit: usize,
) -> Result<Vec<SealedBlock>, Failure> {
    let sql = format!("{COLUMNS} WHERE n > $1 ORDER BY n LIMIT $2");
    found(client, &sql, &[&int(n), &int(limit)]).await
}

async fn found(
    client: &impl GenericClient,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
) -> Result<Vec<SealedBlock>, Failure> {
    let statement = client.prepare_cached(sql).await?;
    client.query(&statement, params).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<SealedBlock, Failure> {
    let number = |column| row.try_get(column).map(uint);
    let block = Block {
        issuer: row.try_get(6)?,
        n: number(0)?,
        first: number(1)?,
        count: number(2)?,
        root: digest(row.try_get(3)?),
        prev: digest(row.try_get(4)?),
        at: Time::from_millis(row.try_get(5)?),
    };
    Ok(SealedBlock { block, jws: row.try_get(7)? })
}

//! What was given in confidence with an answer, encrypted.

use deadpool_postgres::Client;
use kernel::audit::Digest;
use kernel::{AskId, Time};

use super::failure::Failure;
use super::uuid;
use crate::confided_before;

pub(super) async fn put(
    client: &Client,
    ask: AskId,
    name: &Digest,
    closed: &[u8],
) -> Result<(), Failure> {
    let sql = "INSERT INTO confided (ask, name, closed) VALUES ($1, $2, $3)
        ON CONFLICT (ask, name) DO UPDATE SET closed = excluded.closed";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&uuid(ask.ulid()), &name.0.as_slice(), &closed]).await?;
    Ok(())
}

/// Reads it, and notes the first reading.
pub(super) async fn read(
    client: &Client,
    ask: AskId,
    name: &Digest,
    now: Time,
) -> Result<Option<Vec<u8>>, Failure> {
    let sql = "UPDATE confided SET read_at = coalesce(read_at, $3)
        WHERE ask = $1 AND name = $2 AND (read_at IS NULL OR read_at > $4) RETURNING closed";
    let statement = client.prepare_cached(sql).await?;
    let gone = confided_before(now).millis();
    let (ask, name) = (uuid(ask.ulid()), name.0.as_slice());
    let row = client.query_opt(&statement, &[&ask, &name, &now.millis(), &gone]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// The same, for our own use.
pub(super) async fn lent(
    client: &Client,
    ask: AskId,
    name: &Digest,
) -> Result<Option<Vec<u8>>, Failure> {
    let sql = "SELECT closed FROM confided WHERE ask = $1 AND name = $2";
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_opt(&statement, &[&uuid(ask.ulid()), &name.0.as_slice()]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

pub(super) async fn forget(
    client: &Client,
    ask: AskId,
    name: Option<&Digest>,
) -> Result<(), Failure> {
    let sql = "DELETE FROM confided WHERE ask = $1 AND ($2::bytea IS NULL OR name = $2)";
    let statement = client.prepare_cached(sql).await?;
    let name = name.map(|name| name.0.as_slice());
    client.execute(&statement, &[&uuid(ask.ulid()), &name]).await?;
    Ok(())
}

/// Forgets what was read long enough ago.
pub(super) async fn sweep(client: &Client, now: Time) -> Result<(), Failure> {
    let statement = client.prepare_cached("DELETE FROM confided WHERE read_at <= $1").await?;
    client.execute(&statement, &[&confided_before(now).millis()]).await?;
    Ok(())
}

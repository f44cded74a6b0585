//! Wake-ups: when something is due on an ask. A claim stores the time from which the wake-up can be
//! claimed again, so claimed asks are out of the way.

use std::time::Duration;

use deadpool_postgres::Client;
use kernel::{AskId, Time};
use tokio_postgres::Row;

use super::failure::Failure;
use super::ulid;
use crate::later;
use crate::rows::int;

pub(super) async fn due(client: &Client, now: Time, limit: usize) -> Result<Vec<AskId>, Failure> {
    let sql = "SELECT ask FROM wake WHERE at <= $1 ORDER BY at, ask LIMIT $2";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&now.millis(), &int(limit)]).await?;
    rows.iter().map(id).collect()
}

/// Nodes that claim at the same time skip the rows another is just claiming.
pub(super) async fn claim(
    client: &Client,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<AskId>, Failure> {
    let sql = "WITH due AS (
            SELECT ask, at FROM wake WHERE at <= $1 ORDER BY at, ask LIMIT $2
            FOR UPDATE SKIP LOCKED
        ), claimed AS (
            UPDATE wake SET at = $3 FROM due WHERE wake.ask = due.ask RETURNING due.ask, due.at
        )
        SELECT ask FROM claimed ORDER BY at, ask";
    let statement = client.prepare_cached(sql).await?;
    let until = later(now, lease).millis();
    let rows = client.query(&statement, &[&now.millis(), &int(limit), &until]).await?;
    rows.iter().map(id).collect()
}

pub(super) async fn next(client: &Client) -> Result<Option<Time>, Failure> {
    let statement = client.prepare_cached("SELECT at FROM wake ORDER BY at LIMIT 1").await?;
    let row = client.query_opt(&statement, &[]).await?;
    Ok(row.map(|row| row.try_get(0).map(Time::from_millis)).transpose()?)
}

fn id(row: &Row) -> Result<AskId, Failure> {
    Ok(AskId::new(ulid(row.try_get(0)?)))
}

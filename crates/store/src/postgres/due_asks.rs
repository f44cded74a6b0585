//! Asks on which something is due, and closed asks that still have their text. A claim stores the
//! time from which the row can be claimed again, so a query for due rows skips claimed asks.

use std::time::Duration;

use deadpool_postgres::Client;
use kernel::{AskId, ProjectId, Time};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::failure::PostgresFailure;
use super::ulid;
use crate::columns::int;
use crate::later;

/// Nodes that claim at the same time skip the rows another is just claiming.
pub(super) async fn claim_due(
    client: &Client,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<AskId>, PostgresFailure> {
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

pub(super) async fn next_due(client: &Client) -> Result<Option<Time>, PostgresFailure> {
    let statement = client.prepare_cached("SELECT at FROM wake ORDER BY at LIMIT 1").await?;
    let row = client.query_opt(&statement, &[]).await?;
    Ok(row.map(|row| row.try_get(0).map(Time::from_millis)).transpose()?)
}

/// Nodes that claim at the same time skip the rows another is just claiming. A trigger of the
/// database maintains the table.
pub(super) async fn claim_ended(
    client: &Client,
    project: &ProjectId,
    since: Time,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<AskId>, PostgresFailure> {
    let sql = "WITH over AS (
            SELECT ask, at FROM ended
            WHERE project = $5 AND at <= $1 AND leased_until <= $2
            ORDER BY at, ask LIMIT $3 FOR UPDATE SKIP LOCKED
        ), claimed AS (
            UPDATE ended SET leased_until = $4 FROM over WHERE ended.ask = over.ask
            RETURNING over.ask, over.at
        )
        SELECT ask FROM claimed ORDER BY at, ask";
    let statement = client.prepare_cached(sql).await?;
    let (since, until) = (since.millis(), later(now, lease).millis());
    let wanted: [&(dyn ToSql + Sync); 5] =
        [&since, &now.millis(), &int(limit), &until, &project.as_str()];
    let rows = client.query(&statement, &wanted).await?;
    rows.iter().map(id).collect()
}

fn id(row: &Row) -> Result<AskId, PostgresFailure> {
    Ok(AskId::new(ulid(row.try_get(0)?)))
}

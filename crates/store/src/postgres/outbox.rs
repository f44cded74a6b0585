//! The outbox: claimed with a lease, settled or claimed again. Nodes that claim at the same time
//! pass over what another is just claiming.

use std::time::Duration;

use deadpool_postgres::{Client, GenericClient};
use kernel::ask::Priority;
use kernel::{Effect, Time};

use super::{Failure, int, uint};
use crate::{BACKLOG_COUNTED, Backlog, Delivery, Settlement, later};

/// A lease is the moment from which a row may be claimed again, so claimed rows are out of the way
/// of the next claim, like those to be tried later and those given up.
pub(super) async fn claim(
    client: &Client,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<Delivery>, Failure> {
    let sql = "UPDATE outbox SET due_at = $1, attempt = attempt + 1
        WHERE id = ANY (ARRAY (
            SELECT id FROM outbox WHERE NOT dead AND rank = $2 AND due_at <= $3
            ORDER BY due_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
        ))
        RETURNING id, attempt, written_at, effect";
    let statement = client.prepare_cached(sql).await?;
    let until = later(now, lease).millis();
    let mut claimed = Vec::new();
    for priority in Priority::ALL {
        let left = limit - claimed.len().min(limit);
        if left == 0 {
            break;
        }
        let rank = i16::from(priority.rank());
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&until, &rank, &now.millis(), &int(left)];
        let mut found = Vec::new();
        for row in client.query(&statement, &params).await? {
            let (id, attempt): (i64, i32) = (row.try_get(0)?, row.try_get(1)?);
            let written_at = Time::from_millis(row.try_get(2)?);
            match serde_json::from_str::<Effect>(row.try_get(3)?) {
                Ok(effect) => {
                    let (id, attempt) = (uint(id), attempt.unsigned_abs());
                    found.push(Delivery { id, effect, attempt, written_at });
                }
                // It must not stand in the way of those behind it, and it must show.
                Err(error) => {
                    tracing::error!(delivery.id = id, %error, "an outbox row cannot be read");
                    bury(client, id, &error.to_string()).await?;
                }
            }
        }
        // An update gives its rows back in any order.
        found.sort_by_key(|delivery| (delivery.written_at, delivery.id));
        claimed.append(&mut found);
    }
    Ok(claimed)
}

pub(super) async fn settle(
    client: &mut Client,
    settled: &[(u64, Settlement)],
) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    let done: Vec<i64> = (settled.iter())
        .filter(|(_, settlement)| *settlement == Settlement::Done)
        .map(|(id, _)| int(*id))
        .collect();
    let delete = transaction.prepare_cached("DELETE FROM outbox WHERE id = ANY ($1)").await?;
    transaction.execute(&delete, &[&done]).await?;
    for (id, settlement) in settled {
        match settlement {
            Settlement::Done => {}
            Settlement::Retry { at, error } => {
                let sql = "UPDATE outbox SET due_at = $2, error = $3 WHERE id = $1 AND NOT dead";
                let retry = transaction.prepare_cached(sql).await?;
                transaction.execute(&retry, &[&int(*id), &at.millis(), error]).await?;
            }
            Settlement::Dead { error } => bury(&transaction, int(*id), error).await?,
        }
    }
    Ok(transaction.commit().await?)
}

async fn bury(client: &impl GenericClient, id: i64, error: &str) -> Result<(), Failure> {
    let sql = "UPDATE outbox SET dead = true, error = $2 WHERE id = $1";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&id, &error]).await?;
    Ok(())
}

pub(super) async fn backlog(client: &Client) -> Result<Backlog, Failure> {
    let sql = "SELECT
        (SELECT count(*) FROM (SELECT FROM outbox WHERE NOT dead LIMIT $1) AS waiting),
        (SELECT count(*) FROM (SELECT FROM outbox WHERE dead LIMIT $1) AS dead)";
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_one(&statement, &[&int(BACKLOG_COUNTED)]).await?;
    Ok(Backlog { waiting: uint(row.try_get(0)?), dead: uint(row.try_get(1)?) })
}

//! The outbox: claimed with a lease, settled or claimed again. Nodes that claim at the same time
//! pass over what another is just claiming.

use std::time::Duration;

use deadpool_postgres::{Client, GenericClient};
use kernel::ask::Priority;
use kernel::{Effect, Time};

use super::failure::{Failure, damaged};
use super::write::EFFECTS;
use crate::rows::{int, uint};
use crate::{BACKLOG_COUNTED, Backlog, Delivery, Settlement, later};

/// A lease is the moment from which a row may be claimed again. Those to be tried later and those
/// given up are out of the way; passed over is what is just being worked on, which is never much.
pub(super) async fn claim(
    client: &Client,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<Delivery>, Failure> {
    let sql = "WITH due AS (
            SELECT id, was.rank, due_at FROM unnest($2::smallint[]) AS was (rank)
            CROSS JOIN LATERAL (
                SELECT id, due_at FROM outbox
                WHERE NOT dead AND outbox.rank = was.rank AND due_at <= $3 AND leased_until <= $3
                ORDER BY due_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
            ) AS found LIMIT $4
        ), claimed AS (
            UPDATE outbox SET leased_until = $1, attempt = attempt + 1 FROM due WHERE outbox.id = due.id
            RETURNING outbox.id, attempt, written_at, effect, due.rank, due.due_at AS was_due_at
        )
        SELECT id, attempt, written_at, effect FROM claimed ORDER BY rank, was_due_at, id";
    let statement = client.prepare_cached(sql).await?;
    let until = later(now, lease).millis();
    let ranks = Priority::ALL.map(|priority| i16::from(priority.rank()));
    let rows = client.query(&statement, &[&until, &&ranks[..], &now.millis(), &int(limit)]).await?;
    let mut claimed = Vec::with_capacity(rows.len());
    for row in rows {
        let (id, attempt): (i64, i32) = (row.try_get(0)?, row.try_get(1)?);
        let written_at = Time::from_millis(row.try_get(2)?);
        match serde_json::from_str::<Effect>(row.try_get(3)?) {
            Ok(effect) => {
                let (id, attempt) = (uint(id), attempt.unsigned_abs());
                claimed.push(Delivery { id, effect, attempt, written_at });
            }
            // It must not stand in the way of those behind it, and it must show.
            Err(error) => {
                tracing::error!(delivery.id = id, %error, "an outbox row cannot be read");
                bury(client, id, &error.to_string()).await?;
            }
        }
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
            Settlement::Split { into, at } => {
                // Whoever comes second finds nothing to split.
                if transaction.execute(&delete, &[&vec![int(*id)]]).await? == 1 {
                    let texts =
                        into.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
                    let texts = texts.map_err(|error| damaged("effect", error))?;
                    let ranks: Vec<i16> = into.iter().map(|one| i16::from(one.rank())).collect();
                    let moments = vec![at.millis(); into.len()];
                    let insert = transaction.prepare_cached(EFFECTS).await?;
                    transaction.execute(&insert, &[&ranks, &moments, &texts]).await?;
                }
            }
            Settlement::Retry { at, error } => {
                let sql = "UPDATE outbox SET due_at = $2, leased_until = 0, error = $3
                    WHERE id = $1 AND NOT dead";
                let retry = transaction.prepare_cached(sql).await?;
                transaction.execute(&retry, &[&int(*id), &at.millis(), &plain(error)]).await?;
            }
            Settlement::Dead { error } => bury(&transaction, int(*id), error).await?,
        }
    }
    Ok(transaction.commit().await?)
}

async fn bury(client: &impl GenericClient, id: i64, error: &str) -> Result<(), Failure> {
    let error = plain(error);
    let sql = "UPDATE outbox SET dead = true, error = $2 WHERE id = $1";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&id, &error]).await?;
    Ok(())
}

/// Whatever a channel reports, in what the database takes for text.
fn plain(error: &str) -> String {
    error.replace('\0', "")
}

pub(super) async fn backlog(client: &Client) -> Result<Backlog, Failure> {
    let sql = "SELECT
        (SELECT count(*) FROM (SELECT FROM outbox WHERE NOT dead LIMIT $1) AS waiting),
        (SELECT count(*) FROM (SELECT FROM outbox WHERE dead LIMIT $1) AS dead)";
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_one(&statement, &[&int(BACKLOG_COUNTED)]).await?;
    Ok(Backlog { waiting: uint(row.try_get(0)?), dead: uint(row.try_get(1)?) })
}

//! The webhook delivery log.

use deadpool_postgres::{Client, GenericClient};
use kernel::{Time, WebhookId};

use super::failure::Failure;
use super::uuid;
use crate::rows::{int, read_state, state};
use crate::work_queue::{Entry, LogQuery, Logged, unlogged_before};

const LOG: &str = "log of deliveries";

/// Logs the outcome of a delivery.
pub(super) async fn note(client: &impl GenericClient, entry: &Entry) -> Result<(), Failure> {
    let before = find(client, entry.webhook, &entry.message.id).await?;
    put(client, &entry.clone().onto(before)).await
}

/// One delivery, locked until the end of the transaction.
pub(super) async fn find(
    client: &impl GenericClient,
    webhook: WebhookId,
    id: &str,
) -> Result<Option<Logged>, Failure> {
    let sql = "SELECT state FROM delivery_log WHERE webhook = $1 AND message = $2 FOR UPDATE";
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_opt(&statement, &[&uuid(webhook.ulid()), &id]).await?;
    row.map(|row| Ok(read_state(LOG, row.try_get(0)?)?)).transpose()
}

pub(super) async fn put(client: &impl GenericClient, logged: &Logged) -> Result<(), Failure> {
    let sql = "INSERT INTO delivery_log (webhook, message, at, status, updated_at, state)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (webhook, message) DO UPDATE
            SET status = excluded.status, updated_at = excluded.updated_at, state = excluded.state";
    let state = state(LOG, logged)?;
    let statement = client.prepare_cached(sql).await?;
    let (webhook, at) = (uuid(logged.webhook.ulid()), logged.message.at.millis());
    let (status, updated) = (logged.status.as_str(), logged.updated_at.millis());
    client
        .execute(&statement, &[&webhook, &logged.message.id, &at, &status, &updated, &state])
        .await?;
    Ok(())
}

pub(super) async fn list(client: &Client, wanted: &LogQuery) -> Result<Vec<Logged>, Failure> {
    // One statement, so that all rows come from one snapshot and a delivery settled
    // meanwhile appears once.
    let sql = "SELECT found.state FROM unnest($1::text[]) AS wanted (status), LATERAL (
            SELECT state FROM delivery_log
            WHERE status = wanted.status AND webhook = $2 AND (at, message) < ($3, $4)
            ORDER BY at DESC, message DESC LIMIT $5) AS found";
    let statement = client.prepare_cached(sql).await?;
    let ((at, message), webhook) = (wanted.place(), uuid(wanted.webhook.ulid()));
    let statuses: Vec<_> = wanted.statuses().iter().map(|status| status.as_str()).collect();
    let limit = int(wanted.limit);
    let mut found = Vec::new();
    for row in client.query(&statement, &[&statuses, &webhook, &at, &message, &limit]).await? {
        found.push(read_state(LOG, row.try_get(0)?)?);
    }
    Ok(wanted.newest(found))
}

/// Deletes some of the log of an endpoint. Returns how many.
pub(super) async fn forget(
    client: &Client,
    webhook: WebhookId,
    limit: usize,
) -> Result<usize, Failure> {
    let sql = "DELETE FROM delivery_log WHERE webhook = $1 AND message IN (
            SELECT message FROM delivery_log WHERE webhook = $1 ORDER BY message LIMIT $2)";
    let statement = client.prepare_cached(sql).await?;
    let gone = client.execute(&statement, &[&uuid(webhook.ulid()), &int(limit)]).await?;
    Ok(usize::try_from(gone).unwrap_or(limit))
}

/// Deletes some of the entries that are old enough. Returns how many.
pub(super) async fn sweep(client: &Client, now: Time, limit: usize) -> Result<usize, Failure> {
    let sql = "DELETE FROM delivery_log WHERE (webhook, message) IN (
            SELECT webhook, message FROM delivery_log WHERE updated_at <= $1
            ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
    let statement = client.prepare_cached(sql).await?;
    let gone = client.execute(&statement, &[&unlogged_before(now).millis(), &int(limit)]).await?;
    Ok(usize::try_from(gone).unwrap_or(limit))
}

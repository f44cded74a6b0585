//! The outbox: claimed with a lease, settled or claimed again. Nodes that claim at the same time
//! skip the rows that another node is claiming.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Client, GenericClient, Transaction};
use kernel::ask::Priority;
use kernel::{Time, WebhookId};
use tokio_postgres::Row;

use super::connect::on;
use super::failure::{Failure, damaged};
use super::write::EFFECTS;
use super::{Postgres, delivery_log};
use crate::rows::{int, uint};
use crate::work_queue::{Entry, LogQuery, Logged, WorkQueue};
use crate::{
    BACKLOG_COUNTED, Backlog, Delivery, Result as Stored, Settlement, StoreError, Work, later,
};

#[async_trait]
impl WorkQueue for Postgres {
    async fn claim(
        &self,
        lane: &str,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Stored<Vec<Delivery>> {
        self.writers()?;
        Ok(on!(self.database, client => claim(client, lane, now, lease, limit))?)
    }

    async fn lanes(&self, after: &str, now: Time, limit: usize) -> Stored<Vec<(String, bool)>> {
        Ok(on!(self.database, client => lanes(client, after, now, limit))?)
    }

    async fn settle(&self, settled: Vec<(u64, Settlement)>, log: Vec<Entry>) -> Stored<()> {
        self.writers()?;
        Ok(on!(self.database, client => settle(client, &settled, &log))?)
    }

    async fn hasten(&self, effect: Work, now: Time) -> Stored<()> {
        self.writers()?;
        Ok(on!(self.database, client => hasten(client, &effect, now))?)
    }

    async fn backlog(&self) -> Stored<Backlog> {
        Ok(on!(self.database, client => backlog(client))?)
    }

    async fn logged(&self, wanted: LogQuery) -> Stored<Vec<Logged>> {
        Ok(on!(self.database, client => delivery_log::list(client, &wanted))?)
    }

    async fn redeliver(&self, webhook: WebhookId, id: &str, now: Time) -> Stored<Option<Logged>> {
        self.writers()?;
        Ok(on!(self.database, client => redeliver(client, webhook, id, now))?)
    }

    async fn unlog(&self, webhook: WebhookId, limit: usize) -> Stored<usize> {
        self.writers()?;
        Ok(on!(self.database, client => delivery_log::forget(client, webhook, limit))?)
    }
}

/// The lane of people, by priority.
const PEOPLE: &str = "WITH due AS (
        SELECT id, was.rank, due_at FROM unnest($4::smallint[]) AS was (rank)
        CROSS JOIN LATERAL (
            SELECT id, due_at FROM work
            WHERE NOT dead AND lane = '' AND work.rank = was.rank
                AND due_at <= $2 AND leased_until <= $2
            ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
        ) AS found LIMIT $3
    ), claimed AS (
        UPDATE work SET leased_until = $1, attempt = attempt + 1 FROM due WHERE work.id = due.id
        RETURNING work.id, attempt, written_at, effect, due.rank, due.due_at AS was_due_at
    )
    SELECT id, attempt, written_at, effect FROM claimed ORDER BY rank, was_due_at, id";

/// Any other lane, in order of time.
const LANE: &str = "WITH due AS (
        SELECT id, due_at FROM work
        WHERE NOT dead AND lane <> '' AND lane = $4 AND due_at <= $2 AND leased_until <= $2
        ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
    ), claimed AS (
        UPDATE work SET leased_until = $1, attempt = attempt + 1 FROM due WHERE work.id = due.id
        RETURNING work.id, attempt, written_at, effect, due.due_at AS was_due_at
    )
    SELECT id, attempt, written_at, effect FROM claimed ORDER BY was_due_at, id";

/// Claims due rows. A lease is the moment from which a row may be claimed again. The index excludes
/// rows to be retried later and rows that were given up. Rows in progress are skipped;
/// there are never many.
async fn claim(
    client: &Client,
    lane: &str,
    now: Time,
    lease: Duration,
    limit: usize,
) -> Result<Vec<Delivery>, Failure> {
    let (until, now, limit) = (later(now, lease).millis(), now.millis(), int(limit));
    let rows: Vec<Row> = if lane == Work::PEOPLE {
        let ranks = Priority::ALL.map(|priority| i16::from(priority.rank()));
        let statement = client.prepare_cached(PEOPLE).await?;
        client.query(&statement, &[&until, &now, &limit, &&ranks[..]]).await?
    } else {
        let statement = client.prepare_cached(LANE).await?;
        client.query(&statement, &[&until, &now, &limit, &lane]).await?
    };
    let mut claimed = Vec::with_capacity(rows.len());
    for row in rows {
        let (id, attempt): (i64, i32) = (row.try_get(0)?, row.try_get(1)?);
        let written_at = Time::from_millis(row.try_get(2)?);
        match serde_json::from_str::<Work>(row.try_get(3)?) {
            Ok(effect) => {
                let (id, attempt) = (uint(id), attempt.unsigned_abs());
                claimed.push(Delivery { id, work: effect, attempt, written_at });
            }
            // An unreadable row must not block the rows behind it, and operators must see it.
            Err(error) => {
                tracing::error!(delivery.id = id, %error, "an outbox row cannot be read");
                bury(client, id, &error.to_string()).await?;
            }
        }
    }
    Ok(claimed)
}

/// Finds the lanes with waiting work by jumping from one to the next in the index. Only rows in
/// progress are read.
async fn lanes(
    client: &Client,
    after: &str,
    now: Time,
    limit: usize,
) -> Result<Vec<(String, bool)>, Failure> {
    let sql = "WITH RECURSIVE found (lane) AS (
            SELECT (SELECT lane FROM work WHERE NOT dead AND lane <> '' AND lane > $1
                ORDER BY lane LIMIT 1)
            UNION ALL
            SELECT (SELECT work.lane FROM work
                WHERE NOT dead AND work.lane <> '' AND work.lane > found.lane
                ORDER BY work.lane LIMIT 1)
            FROM found WHERE lane IS NOT NULL
        )
        SELECT lane, EXISTS (SELECT FROM work
            WHERE NOT dead AND work.lane <> '' AND work.lane = found.lane
                AND due_at <= $2 AND leased_until <= $2)
        FROM found WHERE lane IS NOT NULL LIMIT $3";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&after, &now.millis(), &int(limit)]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

async fn settle(
    client: &mut Client,
    settled: &[(u64, Settlement)],
    log: &[Entry],
) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    let done: Vec<i64> = (settled.iter())
        .filter(|(_, settlement)| *settlement == Settlement::Done)
        .map(|(id, _)| int(*id))
        .collect();
    let delete = transaction.prepare_cached("DELETE FROM work WHERE id = ANY ($1)").await?;
    transaction.execute(&delete, &[&done]).await?;
    for (id, settlement) in settled {
        match settlement {
            Settlement::Done => {}
            Settlement::Split { into } => {
                // If another node settled the delivery first, there is nothing to split.
                if transaction.execute(&delete, &[&vec![int(*id)]]).await? == 1 {
                    put(&transaction, into).await?;
                }
            }
            Settlement::Retry { at, error } => {
                let sql = "UPDATE work SET due_at = $2, leased_until = 0, error = $3
                    WHERE id = $1 AND NOT dead";
                let retry = transaction.prepare_cached(sql).await?;
                transaction.execute(&retry, &[&int(*id), &at.millis(), &plain(error)]).await?;
            }
            Settlement::Back { at } => {
                let sql = "UPDATE work SET due_at = $2, leased_until = 0,
                    attempt = greatest(attempt - 1, 0) WHERE id = $1 AND NOT dead";
                let back = transaction.prepare_cached(sql).await?;
                transaction.execute(&back, &[&int(*id), &at.millis()]).await?;
            }
            Settlement::Dead { error } => bury(&transaction, int(*id), error).await?,
        }
    }
    for entry in log {
        delivery_log::note(&transaction, entry).await?;
    }
    Ok(transaction.commit().await?)
}

/// Writes the work that replaces a delivery, unless work of the same name waits already.
async fn put(transaction: &Transaction<'_>, into: &[(Time, Work)]) -> Result<(), Failure> {
    let texts = into.iter().map(|(_, one)| serde_json::to_string(one));
    let texts = texts.collect::<Result<Vec<_>, _>>().map_err(|error| damaged("effect", error))?;
    let ranks: Vec<i16> = into.iter().map(|(_, one)| i16::from(one.rank())).collect();
    let moments: Vec<i64> = into.iter().map(|(at, _)| at.millis()).collect();
    let lanes: Vec<_> = into.iter().map(|(_, one)| one.lane().into_owned()).collect();
    let names: Vec<Option<String>> = into.iter().map(|(_, one)| one.name()).collect();
    let insert = transaction.prepare_cached(EFFECTS).await?;
    transaction.execute(&insert, &[&ranks, &moments, &texts, &lanes, &names]).await?;
    Ok(())
}

/// Replaces waiting work of the same name with this and makes it due at once. If
/// none waits, writes it.
async fn hasten(client: &mut Client, effect: &Work, now: Time) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    let sql = "UPDATE work SET due_at = $2, attempt = 0, effect = $3
        WHERE name = $1 AND NOT dead";
    let text = serde_json::to_string(effect).map_err(|error| damaged("effect", error))?;
    let found = match effect.name() {
        Some(name) => {
            let hasten = transaction.prepare_cached(sql).await?;
            transaction.execute(&hasten, &[&name, &now.millis(), &text]).await?
        }
        None => 0,
    };
    if found == 0 {
        put(&transaction, &[(now, effect.clone())]).await?;
    }
    Ok(transaction.commit().await?)
}

async fn bury(client: &impl GenericClient, id: i64, error: &str) -> Result<(), Failure> {
    let error = plain(error);
    let sql = "UPDATE work SET dead = true, error = $2 WHERE id = $1";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&id, &error]).await?;
    Ok(())
}

/// An error message without NUL characters, which `PostgreSQL` does not accept in text.
fn plain(error: &str) -> String {
    error.replace('\0', "")
}

/// Repeats the delivery that the log has under this id.
async fn redeliver(
    client: &mut Client,
    webhook: WebhookId,
    id: &str,
    now: Time,
) -> Result<Option<Logged>, Failure> {
    let transaction = client.transaction().await?;
    let Some(logged) = delivery_log::find(&transaction, webhook, id).await? else {
        return Ok(None);
    };
    let effect = logged.again();
    let lane = effect.lane();
    let sql = "UPDATE work SET due_at = $3, leased_until = 0, attempt = 0
        WHERE id = $1 AND lane = $2 AND NOT dead RETURNING id";
    let waits = match logged.delivery {
        Some(delivery) => {
            let hurry = transaction.prepare_cached(sql).await?;
            transaction.query_opt(&hurry, &[&int(delivery), &&*lane, &now.millis()]).await?
        }
        None => None,
    };
    let row = if let Some(row) = waits {
        row
    } else {
        let sql = "INSERT INTO work (rank, due_at, written_at, effect, lane)
            VALUES ($1, $2, $2, $3, $4) RETURNING id";
        let json = serde_json::to_string(&effect).map_err(|source| StoreError::Damaged {
            what: "effect".to_owned(),
            source: source.into(),
        })?;
        let put = transaction.prepare_cached(sql).await?;
        let rank = i16::from(effect.rank());
        transaction.query_one(&put, &[&rank, &now.millis(), &json, &&*lane]).await?
    };
    let logged = logged.awaiting(uint(row.try_get(0)?), now);
    delivery_log::put(&transaction, &logged).await?;
    transaction.commit().await?;
    Ok(Some(logged))
}

async fn backlog(client: &Client) -> Result<Backlog, Failure> {
    let sql = "SELECT
        (SELECT count(*) FROM (SELECT FROM work WHERE NOT dead LIMIT $1) AS waiting),
        (SELECT count(*) FROM (SELECT FROM work WHERE dead LIMIT $1) AS dead),
        (SELECT count(*) FROM (
            SELECT FROM delivery_log WHERE status = 'dead' LIMIT $1) AS letters)";
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_one(&statement, &[&int(BACKLOG_COUNTED)]).await?;
    let (dead, letters) = (uint(row.try_get(1)?), uint(row.try_get(2)?));
    Ok(Backlog { waiting: uint(row.try_get(0)?), dead: (dead + letters).min(BACKLOG_COUNTED) })
}

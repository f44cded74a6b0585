//! Work: claimed with a lease, settled or claimed again. Nodes that claim at the same time
//! skip the rows that another node is claiming.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::Client;
use kernel::Time;
use kernel::ask::Priority;
use tokio_postgres::Row;

use super::Postgres;
use super::connect::on;
use super::failure::PostgresFailure;
use crate::columns::{int, uint};
use crate::work_queue::{DeliveryLogUpdate, WorkQueue};
use crate::{
    BACKLOG_COUNTED, Backlog, ClaimedWork, Result as Stored, Settlement, Work, later, sql,
};

#[async_trait]
impl WorkQueue for Postgres {
    async fn claim(
        &self,
        lane: &str,
        now: Time,
        lease: Duration,
        limit: usize,
    ) -> Stored<Vec<ClaimedWork>> {
        self.writers()?;
        Ok(on!(self.database, client => claim(client, lane, now, lease, limit))?)
    }

    async fn lanes(&self, after: &str, now: Time, limit: usize) -> Stored<Vec<(String, bool)>> {
        sql::lanes(self, after, now, limit).await
    }

    async fn settle(
        &self,
        settled: Vec<(u64, Settlement)>,
        log: Vec<DeliveryLogUpdate>,
    ) -> Stored<()> {
        sql::settle(self, settled, log).await
    }

    async fn make_due(&self, work: Work, now: Time) -> Stored<()> {
        sql::make_due(self, work, now).await
    }

    async fn backlog(&self) -> Stored<Backlog> {
        Ok(on!(self.database, client => backlog(client))?)
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
) -> Result<Vec<ClaimedWork>, PostgresFailure> {
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
            Ok(work) => {
                let (id, attempt) = (uint(id), attempt.unsigned_abs());
                claimed.push(ClaimedWork { id, work, attempt, written_at });
            }
            // An unreadable row must not block the rows behind it, and operators must see it.
            Err(error) => {
                tracing::error!(delivery.id = id, %error, "cannot read a unit of work; it is not \
                     executed");
                mark_dead(client, id, &error.to_string()).await?;
            }
        }
    }
    Ok(claimed)
}

/// Marks unreadable work as dead: the row stays, and no worker claims it again.
async fn mark_dead(client: &Client, id: i64, error: &str) -> Result<(), PostgresFailure> {
    let sql = "UPDATE work SET dead = true, error = $2 WHERE id = $1";
    let statement = client.prepare_cached(sql).await?;
    // PostgreSQL stores no NUL, which the message may quote from the row.
    client.execute(&statement, &[&id, &error.replace('\0', "")]).await?;
    Ok(())
}

async fn backlog(client: &Client) -> Result<Backlog, PostgresFailure> {
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

//! Positions of followers, and which node runs each.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::Client;
use kernel::Time;
use kernel::audit::RecordRow;
use tokio_postgres::types::ToSql;
use ulid::Ulid;

use super::connect::on;
use super::failure::PostgresFailure;
use super::write::work_columns;
use super::{Postgres, uuid};
use crate::columns::int;
use crate::followers::{FollowerAdvance, FollowerStore};
use crate::{AuditFeed, FeedQuery, Result as Stored, later, sql};

/// Both or neither. A follower that another node has moved on writes nothing.
const ADVANCE: &str = "WITH moved AS (
        UPDATE follower SET position = $3 WHERE name = $1 AND position = $2 RETURNING 1
    ), written AS (
        INSERT INTO work (rank, due_at, written_at, effect, lane, name)
        SELECT rank, at, at, effect, lane, new.name
        FROM unnest($4::smallint[], $5::bigint[], $6::text[], $7::text[], $8::text[])
            WITH ORDINALITY AS new (rank, at, effect, lane, name, place)
        WHERE EXISTS (SELECT FROM moved)
        ORDER BY place
        ON CONFLICT (name) WHERE name IS NOT NULL AND NOT dead DO NOTHING
    )
    SELECT count(*) FROM moved";

/// A lease whose end is too far in the future was taken before the clock was set back, and no
/// longer counts. The limit is twice the lease, because the clocks of two nodes differ a little.
const LEAD: &str = "UPDATE follower SET node = $2, leased_until = $4
    WHERE name = $1 AND (node = $2 OR leased_until <= $3 OR leased_until > $4 + ($4 - $3))";

#[async_trait]
impl FollowerStore for Postgres {
    async fn follower(&self, name: &'static str) -> Stored<u64> {
        sql::follower(self, name).await
    }

    /// Another node may have changed the directory, and this one learns of it only a little later.
    async fn events_after(&self, position: u64, limit: usize) -> Stored<Vec<RecordRow>> {
        let rows = self.rows(FeedQuery::After(position), limit).await?;
        if !rows.is_empty() {
            on!(self.database, client => self.published.refresh(&*client))?;
        }
        Ok(rows)
    }

    async fn advance(&self, step: FollowerAdvance) -> Stored<bool> {
        self.writers()?;
        Ok(on!(self.database, client => advance(client, &step))?)
    }

    async fn acquire_lead(
        &self,
        name: &'static str,
        node: Ulid,
        now: Time,
        lease: Duration,
    ) -> Stored<bool> {
        self.writers()?;
        Ok(on!(self.database, client => lead(client, name, node, now, lease))?)
    }
}

async fn advance(client: &Client, step: &FollowerAdvance) -> Result<bool, PostgresFailure> {
    let (from, to) = (int(step.from), int(step.to));
    let work = work_columns(&step.work)?;
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![&step.follower, &from, &to];
    params.extend(work.iter().map(|one| &**one as &(dyn ToSql + Sync)));
    let statement = client.prepare_cached(ADVANCE).await?;
    let row = client.query_one(&statement, &params).await?;
    Ok(row.try_get::<_, i64>(0)? == 1)
}

async fn lead(
    client: &Client,
    name: &str,
    node: Ulid,
    now: Time,
    lease: Duration,
) -> Result<bool, PostgresFailure> {
    let statement = client.prepare_cached(LEAD).await?;
    let until = later(now, lease).millis();
    let led = client.execute(&statement, &[&name, &uuid(node), &now.millis(), &until]).await?;
    Ok(led == 1)
}

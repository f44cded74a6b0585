//! The audit records and the feed.
//!
//! A damaged row is returned wherever its subject can be parsed: the verifier reports what is wrong
//! with it. Only a row without a readable subject is a store error.

use deadpool_postgres::{Client, GenericClient};
use kernel::audit::{self, Digest, Record};
use kernel::{AgentId, AskId, ProjectId, Subject, Time};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::failure::Failure;
use crate::listing::Scope;
use crate::rows::{digest, int, opened, subject, uint};
use crate::{Change, News};

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(super) async fn changes(
    client: &impl GenericClient,
    position: u64,
    limit: usize,
) -> Result<Vec<Change>, Failure> {
    let sql = "SELECT position, subject, seq, at, what FROM feed JOIN record USING (subject, seq)
        WHERE position > $1 ORDER BY position LIMIT $2";
    told(client, sql, &[&int(position), &int(limit)]).await
}

/// Changes to announce.
pub(super) struct Page {
    pub(super) news: Vec<News>,
    /// The last position of the changes; `None` if there are none.
    pub(super) end: Option<u64>,
    /// Whether no further changes follow.
    pub(super) is_last: bool,
}

/// Skips a record without a readable subject: it must not block the announcement of the
/// records after it.
pub(super) async fn news(client: &Client, position: u64, limit: usize) -> Result<Page, Failure> {
    let sql = "SELECT position, subject, seq, at, what, lists FROM feed
        JOIN record USING (subject, seq) WHERE position > $1 ORDER BY position LIMIT $2";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&int(position), &int(limit)]).await?;
    let end = rows.last().map(|row| row.try_get(0).map(uint)).transpose()?;
    let is_last = rows.len() < limit;
    let mut news = Vec::with_capacity(rows.len());
    for row in &rows {
        match change(row) {
            Ok(change) => {
                let lists = Scope::read(row.try_get(5)?).into();
                news.push(News { change, lists, follow_ups: None });
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "in the feed");
            }
        }
    }
    Ok(Page { news, end, is_last })
}

pub(super) async fn history(
    client: &impl GenericClient,
    ask: AskId,
    seq: u64,
    limit: usize,
) -> Result<Vec<Change>, Failure> {
    let sql = "SELECT position, subject, seq, at, what FROM feed JOIN record USING (subject, seq)
        WHERE subject = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    told(client, sql, &[&ask.to_string(), &int(seq), &int(limit)]).await
}

/// One range of the index per agent, merged.
pub(super) async fn stream(
    client: &impl GenericClient,
    agents: &[AgentId],
    position: u64,
    limit: usize,
) -> Result<Vec<Change>, Failure> {
    let sql = "SELECT found.position, subject, seq, at, what
        FROM unnest($1::text[]) AS wanted (agent)
        CROSS JOIN LATERAL (
            SELECT position, subject, seq FROM feed
            WHERE feed.agent = wanted.agent AND position > $2 ORDER BY position LIMIT $3
        ) AS found
        JOIN record USING (subject, seq)
        ORDER BY found.position LIMIT $3";
    let agents: Vec<&str> = agents.iter().map(AgentId::as_str).collect();
    told(client, sql, &[&agents, &int(position), &int(limit)]).await
}

async fn told(
    client: &impl GenericClient,
    sql: &str,
    params: Params<'_>,
) -> Result<Vec<Change>, Failure> {
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, params).await?;
    rows.iter().map(change).collect()
}

fn change(row: &Row) -> Result<Change, Failure> {
    let seq = uint(row.try_get(2)?);
    Ok(Change {
        position: uint(row.try_get(0)?),
        subject: subject(row.try_get(1)?, seq)?,
        seq,
        at: Time::from_millis(row.try_get(3)?),
        what: row.try_get(4)?,
    })
}

/// Records without a position yet are included, without one.
pub(super) async fn chain(
    client: &impl GenericClient,
    of: &Subject,
    seq: u64,
    limit: usize,
) -> Result<Vec<Record>, Failure> {
    let sql = "SELECT NULL::bigint, subject, seq, at, what, prev, hash, body, contents FROM record
        WHERE subject = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let rows = raw(client, sql, &[&of.to_string(), &int(seq), &int(limit)]).await?;
    rows.into_iter().map(record).collect()
}

/// The records of the tasks of these projects: one range of the index each, merged.
pub(super) async fn of_tasks(
    client: &impl GenericClient,
    projects: &[ProjectId],
    position: u64,
    limit: usize,
) -> Result<Vec<(u64, Record)>, Failure> {
    let sql = "SELECT found.position, subject, seq, at, what, prev, hash, body, contents
        FROM (SELECT DISTINCT unnest($1::text[]) AS project) AS wanted
        CROSS JOIN LATERAL (
            SELECT position, subject, seq FROM feed
            WHERE feed.project = wanted.project AND position > $2 ORDER BY position LIMIT $3
        ) AS found
        JOIN record USING (subject, seq)
        ORDER BY found.position LIMIT $3";
    let projects: Vec<&str> = projects.iter().map(ProjectId::as_str).collect();
    let rows = raw(client, sql, &[&projects, &int(position), &int(limit)]).await?;
    rows.into_iter().map(|row| Ok((row.position, record(row)?))).collect()
}

/// The last position of the feed; 0 if it is empty.
pub(super) async fn last_position(client: &impl GenericClient) -> Result<u64, Failure> {
    let statement = client.prepare_cached("SELECT coalesce(max(position), 0) FROM feed").await?;
    Ok(uint(client.query_one(&statement, &[]).await?.try_get(0)?))
}

/// The position of a record in the feed.
pub(super) async fn position(
    client: &impl GenericClient,
    of: &Subject,
    seq: u64,
) -> Result<Option<u64>, Failure> {
    let sql = "SELECT position FROM feed WHERE subject = $1 AND seq = $2";
    let statement = client.prepare_cached(sql).await?;
    let row = client.query_opt(&statement, &[&of.to_string(), &int(seq)]).await?;
    Ok(row.map(|row| row.try_get(0).map(uint)).transpose()?)
}

pub(super) async fn hashes(
    client: &impl GenericClient,
    position: u64,
    limit: usize,
) -> Result<Vec<(u64, Digest)>, Failure> {
    let sql = "SELECT position, hash FROM feed JOIN record USING (subject, seq)
        WHERE position > $1 ORDER BY position LIMIT $2";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&int(position), &int(limit)]).await?;
    rows.iter().map(|row| Ok((uint(row.try_get(0)?), digest(row.try_get(1)?)))).collect()
}

/// Records as stored.
pub(super) async fn rows(
    client: &impl GenericClient,
    position: u64,
    limit: usize,
) -> Result<Vec<audit::Row>, Failure> {
    let sql = "SELECT position, subject, seq, at, what, prev, hash, body, contents
        FROM feed JOIN record USING (subject, seq)
        WHERE position > $1 ORDER BY position LIMIT $2";
    raw(client, sql, &[&int(position), &int(limit)]).await
}

pub(super) async fn raw(
    client: &impl GenericClient,
    sql: &str,
    params: Params<'_>,
) -> Result<Vec<audit::Row>, Failure> {
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, params).await?;
    rows.iter().map(row).collect()
}

fn row(row: &Row) -> Result<audit::Row, Failure> {
    Ok(audit::Row {
        position: row.try_get::<_, Option<i64>>(0)?.map_or(0, uint),
        subject: row.try_get(1)?,
        seq: uint(row.try_get(2)?),
        at: Time::from_millis(row.try_get(3)?),
        what: row.try_get(4)?,
        prev: digest(row.try_get(5)?),
        hash: digest(row.try_get(6)?),
        body: row.try_get(7)?,
        contents: row.try_get(8)?,
    })
}

fn record(row: audit::Row) -> Result<Record, Failure> {
    let subject = subject(&row.subject, row.seq)?;
    Ok(opened(row, subject))
}

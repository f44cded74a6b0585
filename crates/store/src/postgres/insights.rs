//! Counts: made from the feed by one node at a time, so that no two wait for a row of each other's.

use std::collections::BTreeMap;

use async_trait::async_trait;
use deadpool_postgres::Client;
use kernel::insight::summary::Line;
use kernel::insight::{Day, Measure, Tally, Whose};
use kernel::{Ask, AskId};
use uuid::Uuid;

use super::connect::on;
use super::failure::Failure;
use super::query::read_ask;
use super::{Postgres, record, uuid};
use crate::insights::Behind;
use crate::rows::{int, uint};
use crate::{Counted, Counts, Insights, Result};

const READ: &str = "SELECT which, what, day, bin, n
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS whose (project, agent, which)
    CROSS JOIN unnest($3::text[]) WITH ORDINALITY AS measures (measure, what)
    CROSS JOIN LATERAL (
        SELECT day, bin, n FROM tally
        WHERE tally.project = whose.project AND tally.agent = whose.agent
            AND tally.measure = measures.measure AND day BETWEEN $4 AND $5
    ) AS found
    ORDER BY which, what, day, bin COLLATE \"C\"";

#[async_trait]
impl Insights for Postgres {
    async fn count_on(&self, limit: usize) -> Result<Counted> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            self.number(client).await?;
            count_on(client, limit).await
        })?)
    }

    async fn counts(&self, wanted: Counts) -> Result<Vec<Line>> {
        Ok(on!(self.database, client => counts(client, &wanted))?)
    }
}

async fn count_on(client: &mut Client, limit: usize) -> Result<Counted, Failure> {
    let work = client.transaction().await?;
    let sql = "SELECT position FROM tally_place FOR UPDATE SKIP LOCKED";
    let Some(row) = work.query_opt(sql, &[]).await? else { return Ok(Counted::default()) };
    let behind = Behind::new(record::rows(&work, uint(row.try_get(0)?), limit).await?);
    let Some(to) = behind.position() else { return Ok(Counted::default()) };
    let ids: Vec<Uuid> = behind.asks().iter().map(|id: &AskId| uuid(id.ulid())).collect();
    let statement = work.prepare_cached("SELECT id, state FROM ask WHERE id = ANY ($1)").await?;
    let mut asks: BTreeMap<AskId, Ask> = BTreeMap::new();
    for row in work.query(&statement, &[&ids]).await? {
        match read_ask(&row) {
            Ok(ask) => drop(asks.insert(ask.id, ask)),
            Err(error) => {
                tracing::warn!(%error, "a request cannot be read and is not counted");
            }
        }
    }
    let counted = behind.counted(&asks);
    add(&work, &counted.tally).await?;
    let on = work.prepare_cached("UPDATE tally_place SET position = $1").await?;
    work.execute(&on, &[&int(to)]).await?;
    work.commit().await?;
    Ok(counted)
}

async fn add(work: &deadpool_postgres::Transaction<'_>, tally: &Tally) -> Result<(), Failure> {
    if tally.is_empty() {
        return Ok(());
    }
    let (mut projects, mut agents, mut measures) = (Vec::new(), Vec::new(), Vec::new());
    let (mut days, mut bins, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (cell, n) in tally.cells() {
        projects.push(cell.whose.project());
        agents.push(cell.whose.agent());
        measures.push(cell.measure.as_str());
        days.push(cell.day.number());
        bins.push(cell.bin);
        counts.push(int(n));
    }
    let sql = "INSERT INTO tally (project, agent, measure, day, bin, n)
        SELECT * FROM unnest(
            $1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[]
        )
        ON CONFLICT (project, agent, measure, day, bin) DO UPDATE SET n = tally.n + excluded.n";
    let put = work.prepare_cached(sql).await?;
    work.execute(&put, &[&projects, &agents, &measures, &days, &bins, &counts]).await?;
    Ok(())
}

async fn counts(client: &Client, wanted: &Counts) -> Result<Vec<Line>, Failure> {
    let projects: Vec<&str> = wanted.whose.iter().map(Whose::project).collect();
    let agents: Vec<&str> = wanted.whose.iter().map(Whose::agent).collect();
    let measures: Vec<&str> = wanted.measures.iter().map(|measure| measure.as_str()).collect();
    let statement = client.prepare_cached(READ).await?;
    let (from, to) = (wanted.from.number(), wanted.to.number());
    let rows = client.query(&statement, &[&projects, &agents, &measures, &from, &to]).await?;
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let (whose, measure) = (nth(&wanted.whose, row.try_get(0)?), row.try_get(1)?);
        let measure: Option<&Measure> = nth(&wanted.measures, measure);
        let (Some(whose), Some(measure)) = (whose, measure) else { continue };
        lines.push(Line {
            whose: whose.clone(),
            measure: *measure,
            day: Day::numbered(row.try_get(2)?),
            bin: row.try_get(3)?,
            n: uint(row.try_get(4)?),
        });
    }
    Ok(lines)
}

/// What the database numbered from 1.
fn nth<T>(of: &[T], n: i64) -> Option<&T> {
    usize::try_from(n - 1).ok().and_then(|place| of.get(place))
}

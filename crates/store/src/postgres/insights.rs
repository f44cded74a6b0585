//! Counts, computed from the feed by one node at a time, so that nodes do not wait for each
//! other's row locks.

use std::collections::BTreeMap;

use async_trait::async_trait;
use deadpool_postgres::Client;
use kernel::insight::summary::StoredCount;
use kernel::insight::{CountKey, CountScope, Day, Tally};
use kernel::{Ask, AskId};
use uuid::Uuid;

use super::connect::on;
use super::failure::PostgresFailure;
use super::query::read_ask;
use super::{Postgres, record, uuid};
use crate::columns::{int, uint};
use crate::insights::{DailyIncreases, UncountedRecords};
use crate::{CountedRecords, CountsQuery, Grain, InsightStore, Result};

/// The requested bins, with the last total before the range if there is one.
const WANTED: &str =
    "FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS whose (project, agent, which)
    CROSS JOIN unnest($3::text[], $4::text[]) WITH ORDINALITY AS bins (measure, bin, what)
    LEFT JOIN LATERAL (
        SELECT total FROM running
        WHERE running.project = whose.project AND running.agent = whose.agent
            AND running.measure = bins.measure AND running.bin = bins.bin AND day < $5
        ORDER BY day DESC LIMIT 1
    ) AS earlier ON true";

/// The last total of a range of days.
const LAST: &str = "CROSS JOIN LATERAL (
        SELECT $6::bigint AS day, total FROM running
        WHERE running.project = whose.project AND running.agent = whose.agent
            AND running.measure = bins.measure AND running.bin = bins.bin
            AND running.day BETWEEN $5 AND $6
        ORDER BY running.day DESC LIMIT 1
    ) AS found";

/// All totals of a range of days.
const EACH: &str = "CROSS JOIN LATERAL (
        SELECT day, total FROM running
        WHERE running.project = whose.project AND running.agent = whose.agent
            AND running.measure = bins.measure AND running.bin = bins.bin
            AND running.day BETWEEN $5 AND $6
    ) AS found";

#[async_trait]
impl InsightStore for Postgres {
    async fn count_next(&self, limit: usize) -> Result<CountedRecords> {
        self.writers()?;
        Ok(on!(self.database, client => async {
            self.number(client).await?;
            count_on(client, limit).await
        })?)
    }

    async fn counts(&self, wanted: CountsQuery) -> Result<Vec<StoredCount>> {
        Ok(on!(self.database, client => counts(client, &wanted))?)
    }

    async fn forget_counts(&self, before: Day, limit: usize) -> Result<u64> {
        self.writers()?;
        Ok(on!(self.database, client => forget(client, before, limit))?)
    }
}

async fn count_on(client: &mut Client, limit: usize) -> Result<CountedRecords, PostgresFailure> {
    let work = client.transaction().await?;
    let sql = "SELECT position FROM tally_place FOR UPDATE SKIP LOCKED";
    let Some(row) = work.query_opt(sql, &[]).await? else { return Ok(CountedRecords::default()) };
    let behind = UncountedRecords::new(record::rows(&work, uint(row.try_get(0)?), limit).await?);
    let Some(to) = behind.position() else { return Ok(CountedRecords::default()) };
    let ids: Vec<Uuid> = behind.asks().iter().map(|id: &AskId| uuid(id.ulid())).collect();
    let statement = work.prepare_cached("SELECT id, state FROM ask WHERE id = ANY ($1)").await?;
    let mut asks: BTreeMap<AskId, Ask> = BTreeMap::new();
    for row in work.query(&statement, &[&ids]).await? {
        match read_ask(&row) {
            Ok(ask) => drop(asks.insert(ask.id, ask)),
            Err(error) => {
                tracing::warn!(%error, "skipped a request that cannot be read; insights do not \
                                        count it");
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

/// Raises the totals of a day and of later days, which exist only if the day is counted late. Then
/// it inserts the missing totals, day by day, so that each finds the previous one.
async fn add(
    work: &deadpool_postgres::Transaction<'_>,
    tally: &Tally,
) -> Result<(), PostgresFailure> {
    let mut days: BTreeMap<Day, Vec<(&CountKey, u64)>> = BTreeMap::new();
    for (cell, n) in tally.cells() {
        days.entry(cell.day).or_default().push((cell, n));
    }
    let sql = "UPDATE running SET total = running.total + new.n
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $6::bigint[])
            AS new (project, agent, measure, bin, n)
        WHERE running.project = new.project AND running.agent = new.agent
            AND running.measure = new.measure AND running.bin = new.bin AND running.day >= $5";
    let raise = work.prepare_cached(sql).await?;
    let sql = "INSERT INTO running (project, agent, measure, bin, day, total)
        SELECT new.project, new.agent, new.measure, new.bin, $5, new.n + COALESCE(earlier.total, 0)
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $6::bigint[])
            AS new (project, agent, measure, bin, n)
        LEFT JOIN LATERAL (
            SELECT total FROM running
            WHERE running.project = new.project AND running.agent = new.agent
                AND running.measure = new.measure AND running.bin = new.bin AND running.day < $5
            ORDER BY running.day DESC LIMIT 1
        ) AS earlier ON true
        ON CONFLICT (project, agent, measure, bin, day) DO NOTHING";
    let put = work.prepare_cached(sql).await?;
    for (day, cells) in days {
        let projects: Vec<&str> = cells.iter().map(|(cell, _)| cell.scope.project()).collect();
        let agents: Vec<&str> = cells.iter().map(|(cell, _)| cell.scope.agent()).collect();
        let measures: Vec<&str> = cells.iter().map(|(cell, _)| cell.measure.as_str()).collect();
        let bins: Vec<&str> = cells.iter().map(|(cell, _)| cell.bin).collect();
        let counts: Vec<i64> = cells.iter().map(|(_, n)| int(*n)).collect();
        let day = day.number();
        for statement in [&raise, &put] {
            work.execute(statement, &[&projects, &agents, &measures, &bins, &day, &counts]).await?;
        }
    }
    Ok(())
}

async fn counts(
    client: &Client,
    wanted: &CountsQuery,
) -> Result<Vec<StoredCount>, PostgresFailure> {
    let since = client.query_opt("SELECT since FROM tally_place", &[]).await?;
    let since: Option<i64> = since.map(|row| row.try_get(0)).transpose()?.flatten();
    let (from, to) = (wanted.from.number().max(since.unwrap_or(i64::MIN)), wanted.to.number());
    let projects: Vec<&str> = wanted.whose.iter().map(CountScope::project).collect();
    let agents: Vec<&str> = wanted.whose.iter().map(CountScope::agent).collect();
    let bins = wanted.bins();
    let measures: Vec<&str> = bins.iter().map(|(measure, _)| measure.as_str()).collect();
    let names: Vec<&str> = bins.iter().map(|(_, bin)| *bin).collect();
    let found = match wanted.grain {
        Grain::Day => EACH,
        Grain::Span => LAST,
    };
    let sql = format!(
        "SELECT which, what, COALESCE(earlier.total, 0), day, found.total
         {WANTED} {found} ORDER BY which, what, day"
    );
    let statement = client.prepare_cached(&sql).await?;
    let rows =
        client.query(&statement, &[&projects, &agents, &measures, &names, &from, &to]).await?;
    let mut lines = Vec::with_capacity(rows.len());
    let (mut at, mut steps) = ((0, 0), DailyIncreases::from(0));
    for row in rows {
        let place: (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        if place != at {
            (at, steps) = (place, DailyIncreases::from(uint(row.try_get(2)?)));
        }
        let (whose, bin) = (nth(&wanted.whose, place.0), nth(&bins, place.1));
        let (Some(whose), Some((measure, bin))) = (whose, bin) else { continue };
        let (whose, measure, bin) = (whose.clone(), *measure, (*bin).to_owned());
        let day = Day::from_number(row.try_get(3)?);
        let new = steps.to(uint(row.try_get(4)?));
        lines.extend(new.map(|n| StoredCount { scope: whose, measure, day, bin, n }));
    }
    Ok(lines)
}

/// Deletes totals that a later one before the day supersedes. The last total before the day stays,
/// because later counts are differences to it.
async fn forget(client: &mut Client, before: Day, limit: usize) -> Result<u64, PostgresFailure> {
    let work = client.transaction().await?;
    // A counting node waits here, so that both do not lock the same rows in different order.
    let sql = "UPDATE tally_place SET since = GREATEST(COALESCE(since, $1), $1)";
    let since = work.prepare_cached(sql).await?;
    work.execute(&since, &[&before.number()]).await?;
    let sql = "DELETE FROM running USING (
            SELECT project, agent, measure, bin, day FROM running AS old
            WHERE day < $1 AND EXISTS (
                SELECT 1 FROM running AS later
                WHERE later.project = old.project AND later.agent = old.agent
                    AND later.measure = old.measure AND later.bin = old.bin
                    AND later.day > old.day AND later.day < $1
            )
            LIMIT $2
        ) AS old
        WHERE running.project = old.project AND running.agent = old.agent
            AND running.measure = old.measure AND running.bin = old.bin AND running.day = old.day";
    let delete = work.prepare_cached(sql).await?;
    let gone = work.execute(&delete, &[&before.number(), &int(limit as u64)]).await?;
    work.commit().await?;
    Ok(gone)
}

/// The element for an ordinality of the database, which counts from 1.
fn nth<T>(of: &[T], n: i64) -> Option<&T> {
    usize::try_from(n - 1).ok().and_then(|place| of.get(place))
}

//! Counts: a reader computes them from the audit log, and the writer adds them together
//! with the position.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::insight::summary::StoredCount;
use kernel::insight::{Day, Tally};
use rusqlite::{Connection, Row, params};

use super::transaction::one;
use super::{Sqlite, failed, query, record};
use crate::columns::{int, uint};
use crate::insights::{DailyIncreases, UncountedRecords};
use crate::{CountedRecords, CountsQuery, Grain, InsightStore, Result, StoreError};

/// The last total before a range of days, and the last total in it.
const TOTALS: &str = "SELECT
    (SELECT total FROM running
        WHERE project = ?1 AND agent = ?2 AND measure = ?3 AND bin = ?4 AND day < ?5
        ORDER BY day DESC LIMIT 1),
    (SELECT total FROM running
        WHERE project = ?1 AND agent = ?2 AND measure = ?3 AND bin = ?4 AND day <= ?6
        ORDER BY day DESC LIMIT 1)";

const DAYS: &str = "SELECT day, total FROM running
    WHERE project = ?1 AND agent = ?2 AND measure = ?3 AND bin = ?4 AND day BETWEEN ?5 AND ?6
    ORDER BY day";

/// Totals that a later one before the day supersedes. The last total before the day stays, because
/// later counts are differences to it.
const OLD: &str = "SELECT project, agent, measure, bin, day FROM running
    WHERE day < ?1 AND EXISTS (
        SELECT 1 FROM running AS later
        WHERE later.project = running.project AND later.agent = running.agent
            AND later.measure = running.measure AND later.bin = running.bin
            AND later.day > running.day AND later.day < ?1
    )
    LIMIT ?2";

#[async_trait]
impl InsightStore for Sqlite {
    async fn count_next(&self, limit: usize) -> Result<CountedRecords> {
        let Some(behind) = self.readers.run(move |conn| uncounted_range(conn, limit)).await? else {
            return Ok(CountedRecords::default());
        };
        let CountedRange { from, to, counted } = behind;
        let add = move |conn: &Connection| {
            let added = add(conn, from, to, &counted.tally)?;
            Ok(if added { counted } else { CountedRecords::default() })
        };
        self.in_writer(move |writing| writing.savepoint(add)).await
    }

    async fn counts(&self, wanted: CountsQuery) -> Result<Vec<StoredCount>> {
        self.readers.run(move |conn| counts(conn, &wanted)).await
    }

    async fn forget_counts(&self, before: Day, limit: usize) -> Result<u64> {
        let keys = self.readers.run(move |conn| old(conn, before, limit)).await?;
        self.in_writer(move |writing| writing.savepoint(|conn| forget(conn, before, &keys))).await
    }
}

/// Counts, and the range of positions they cover.
struct CountedRange {
    from: u64,
    to: u64,
    counted: CountedRecords,
}

fn uncounted_range(conn: &Connection, limit: usize) -> Result<Option<CountedRange>> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let place = one(&moment, "SELECT position FROM tally_place", [], |row| row.get(0).map(uint))?;
    let from = place.unwrap_or(0);
    let behind = UncountedRecords::new(record::rows(&moment, from, limit)?);
    let Some(to) = behind.position() else { return Ok(None) };
    let mut asks = BTreeMap::new();
    for id in behind.asks() {
        match query::ask(&moment, id) {
            Ok(ask) => asks.extend(ask.map(|ask| (id, ask))),
            Err(StoreError::Damaged { .. }) => {
                tracing::warn!(ask = %id, "skipped a request that cannot be read; insights do not \
                                           count it");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Some(CountedRange { from, to, counted: behind.counted(&asks) }))
}

/// Adds counts, unless another task was faster. Returns whether it did.
fn add(conn: &Connection, from: u64, to: u64, tally: &Tally) -> Result<bool> {
    let moved = conn
        .prepare_cached("UPDATE tally_place SET position = ?2 WHERE position = ?1")
        .and_then(|mut put| put.execute([int(from), int(to)]))
        .map_err(failed)?;
    if moved == 0 {
        return Ok(false);
    }
    // Raise the existing totals of the day and of later days, which exist only if the day is
    // counted late. Then insert the missing totals, day by day for each bin.
    let sql = "UPDATE running SET total = total + ?6
        WHERE project = ?1 AND agent = ?2 AND measure = ?3 AND bin = ?4 AND day >= ?5";
    let mut raise = conn.prepare_cached(sql).map_err(failed)?;
    let sql = "INSERT INTO running (project, agent, measure, bin, day, total)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6 + COALESCE((
            SELECT total FROM running
            WHERE project = ?1 AND agent = ?2 AND measure = ?3 AND bin = ?4 AND day < ?5
            ORDER BY day DESC LIMIT 1
        ), 0))
        ON CONFLICT DO NOTHING";
    let mut put = conn.prepare_cached(sql).map_err(failed)?;
    for (cell, n) in tally.cells() {
        let (project, agent) = (cell.scope.project(), cell.scope.agent());
        let (measure, day) = (cell.measure.as_str(), cell.day.number());
        let of = params![project, agent, measure, cell.bin, day, int(n)];
        raise.execute(of).map_err(failed)?;
        put.execute(of).map_err(failed)?;
    }
    Ok(true)
}

/// Two totals of each bin, and those between them if each day is requested separately.
fn counts(conn: &Connection, wanted: &CountsQuery) -> Result<Vec<StoredCount>> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let since = one(&moment, "SELECT since FROM tally_place", [], |row| row.get(0))?;
    let (from, to) = (wanted.from.number().max(since.flatten().unwrap_or(i64::MIN)), wanted.to);
    let bins = wanted.bins();
    let mut lines = Vec::new();
    let mut totals = moment.prepare_cached(TOTALS).map_err(failed)?;
    let mut days = moment.prepare_cached(DAYS).map_err(failed)?;
    for whose in &wanted.whose {
        let (project, agent) = (whose.project(), whose.agent());
        for (measure, bin) in &bins {
            let mut line = |day: Day, n: u64| {
                let (whose, bin) = (whose.clone(), (*bin).to_owned());
                lines.push(StoredCount { scope: whose, measure: *measure, day, bin, n });
            };
            let of = params![project, agent, measure.as_str(), bin, from, to.number()];
            let both = |row: &Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get(1)?));
            let (before, last): (_, Option<i64>) = totals.query_row(of, both).map_err(failed)?;
            let (before, last) = (before.map_or(0, uint), last.map_or(0, uint));
            let mut steps = DailyIncreases::from(before);
            match wanted.grain {
                Grain::Span => steps.to(last).into_iter().for_each(|n| line(to, n)),
                Grain::Day if last == before => {}
                Grain::Day => {
                    let day = |row: &Row<'_>| Ok((row.get(0)?, row.get(1).map(uint)?));
                    for found in days.query_map(of, day).map_err(failed)? {
                        let (day, total): (i64, u64) = found.map_err(failed)?;
                        steps.to(total).into_iter().for_each(|n| line(Day::from_number(day), n));
                    }
                }
            }
        }
    }
    Ok(lines)
}

/// The key of a total.
type TotalKey = (String, String, String, String, i64);

fn old(conn: &Connection, before: Day, limit: usize) -> Result<Vec<TotalKey>> {
    let mut select = conn.prepare_cached(OLD).map_err(failed)?;
    let of = params![before.number(), int(limit as u64)];
    let key = |row: &Row<'_>| -> rusqlite::Result<TotalKey> { row.try_into() };
    let keys = select.query_map(of, key).map_err(failed)?;
    keys.collect::<rusqlite::Result<_>>().map_err(failed)
}

fn forget(conn: &Connection, before: Day, keys: &[TotalKey]) -> Result<u64> {
    conn.prepare_cached("UPDATE tally_place SET since = MAX(COALESCE(since, ?1), ?1)")
        .and_then(|mut put| put.execute([before.number()]))
        .map_err(failed)?;
    let sql = "DELETE FROM running
        WHERE project = ?1 AND agent = ?2 AND measure = ?3 AND bin = ?4 AND day = ?5";
    let mut delete = conn.prepare_cached(sql).map_err(failed)?;
    let mut gone = 0;
    for (project, agent, measure, bin, day) in keys {
        gone += delete.execute(params![project, agent, measure, bin, day]).map_err(failed)?;
    }
    Ok(gone as u64)
}

#[cfg(test)]
mod tests {
    use kernel::insight::{CountScope, Measure};

    use super::*;
    use crate::sqlite::migrate::{MIGRATIONS, migrate};

    /// Charts read totals by key: one total, or the totals of some days. No ask and no record is
    /// read, however many there are.
    #[test]
    fn counts_are_found_by_their_key() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        let key = "USING PRIMARY KEY (project=? AND agent=? AND measure=? AND bin=? AND day<?)";
        let days =
            "USING PRIMARY KEY (project=? AND agent=? AND measure=? AND bin=? AND day>? AND day<?)";
        for (sql, expected) in [(TOTALS, &[key, key][..]), (DAYS, &[days])] {
            let mut select = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let of = ["acme", "", "intent", "plan", "1", "9"];
            let detail = |row: &Row<'_>| row.get("detail");
            let steps = select.query_map(rusqlite::params_from_iter(of), detail).unwrap();
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            let steps: Vec<&String> =
                steps.iter().filter(|step| step.contains("running")).collect();
            assert_eq!(steps.len(), expected.len(), "{steps:?}");
            assert!(steps.iter().zip(expected).all(|(step, key)| step.contains(key)), "{steps:?}");
        }
    }

    /// After an upgrade, former counts by day are running totals.
    #[test]
    fn counts_of_before_become_totals() {
        let mut conn = Connection::open_in_memory().unwrap();
        let (old, _) =
            MIGRATIONS.split_at(MIGRATIONS.iter().position(|m| m.version == 20).unwrap());
        migrate(&mut conn, old).unwrap();
        conn.execute_batch(
            "INSERT INTO tally (project, agent, measure, day, bin, n) VALUES
                 ('', '', 'ended', 7, 'answered', 3), ('', '', 'ended', 9, 'answered', 4),
                 ('', '', 'ended', 9, 'expired', 1), ('acme', '', 'ended', 9, 'answered', 2)",
        )
        .unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        let told = |from, grain| {
            let (from, to) = (Day::from_number(from), Day::from_number(9));
            let (whose, measures) = (vec![CountScope::All], vec![Measure::Ended]);
            let lines = counts(&conn, &CountsQuery { whose, measures, from, to, grain }).unwrap();
            let line = |line: StoredCount| (line.bin, line.day.number(), line.n);
            lines.into_iter().map(line).collect::<Vec<_>>()
        };
        let (answered, expired) = ("answered".to_owned(), "expired".to_owned());
        let (first, then) = ((answered.clone(), 7, 3), (answered.clone(), 9, 4));
        let late = (expired, 9, 1);
        assert_eq!(told(7, Grain::Day), [first, then.clone(), late.clone()]);
        assert_eq!(told(8, Grain::Day), [then.clone(), late.clone()]);
        assert_eq!(told(7, Grain::Span), [(answered, 9, 7), late.clone()]);
        assert_eq!(told(8, Grain::Span), [then, late]);
    }
}

//! Counts: read behind the record by a reader, added by the writer together with where they have come.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::insight::summary::Line;
use kernel::insight::{Day, Tally};
use rusqlite::{Connection, Row, params};

use super::ledger::one;
use super::{Sqlite, failed, query, record};
use crate::insights::Behind;
use crate::rows::{int, uint};
use crate::{Counted, Counts, Insights, Result, StoreError};

const READ: &str = "SELECT day, bin, n FROM tally
    WHERE project = ?1 AND agent = ?2 AND measure = ?3 AND day BETWEEN ?4 AND ?5 ORDER BY day, bin";

#[async_trait]
impl Insights for Sqlite {
    async fn count_on(&self, limit: usize) -> Result<Counted> {
        let Some(behind) = self.readers.run(move |conn| behind(conn, limit)).await? else {
            return Ok(Counted::default());
        };
        let Place { from, to, counted } = behind;
        let add = move |conn: &Connection| {
            let added = add(conn, from, to, &counted.tally)?;
            Ok(if added { counted } else { Counted::default() })
        };
        self.write(move |ledger| ledger.savepoint(add)).await
    }

    async fn counts(&self, wanted: Counts) -> Result<Vec<Line>> {
        self.readers.run(move |conn| counts(conn, &wanted)).await
    }
}

/// What was counted, and from where to where in the record.
struct Place {
    from: u64,
    to: u64,
    counted: Counted,
}

fn behind(conn: &Connection, limit: usize) -> Result<Option<Place>> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let place = one(&moment, "SELECT position FROM tally_place", [], |row| row.get(0).map(uint))?;
    let from = place.unwrap_or(0);
    let behind = Behind::new(record::rows(&moment, from, limit)?);
    let Some(to) = behind.position() else { return Ok(None) };
    let mut asks = BTreeMap::new();
    for id in behind.asks() {
        match query::ask(&moment, id) {
            Ok(ask) => asks.extend(ask.map(|ask| (id, ask))),
            Err(StoreError::Damaged { .. }) => {
                tracing::warn!(ask = %id, "a request cannot be read and is not counted");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Some(Place { from, to, counted: behind.counted(&asks) }))
}

/// Adds counts, unless somebody was quicker; whether it did.
fn add(conn: &Connection, from: u64, to: u64, tally: &Tally) -> Result<bool> {
    let moved = conn
        .prepare_cached("UPDATE tally_place SET position = ?2 WHERE position = ?1")
        .and_then(|mut put| put.execute([int(from), int(to)]))
        .map_err(failed)?;
    if moved == 0 {
        return Ok(false);
    }
    let sql = "INSERT INTO tally (project, agent, measure, day, bin, n)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (project, agent, measure, day, bin) DO UPDATE SET n = n + ?6";
    let mut put = conn.prepare_cached(sql).map_err(failed)?;
    for (cell, n) in tally.cells() {
        let (project, agent) = (cell.whose.project(), cell.whose.agent());
        let (measure, day) = (cell.measure.as_str(), cell.day.number());
        put.execute(params![project, agent, measure, day, cell.bin, int(n)]).map_err(failed)?;
    }
    Ok(true)
}

/// One range of the table for each measure of each.
fn counts(conn: &Connection, wanted: &Counts) -> Result<Vec<Line>> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let mut lines = Vec::new();
    let mut select = moment.prepare_cached(READ).map_err(failed)?;
    for whose in &wanted.whose {
        for measure in &wanted.measures {
            let line = |row: &Row<'_>| {
                let (day, n): (i64, i64) = (row.get(0)?, row.get(2)?);
                let (whose, measure, day) = (whose.clone(), *measure, Day::numbered(day));
                Ok(Line { whose, measure, day, bin: row.get(1)?, n: uint(n) })
            };
            let (from, to) = (wanted.from.number(), wanted.to.number());
            let of = params![whose.project(), whose.agent(), measure.as_str(), from, to];
            for found in select.query_map(of, line).map_err(failed)? {
                lines.push(found.map_err(failed)?);
            }
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::migrate::{MIGRATIONS, migrate};

    /// What a chart is drawn from is a range of the counts, found by their key; no ask and no record
    /// is looked at, however many there are.
    #[test]
    fn counts_are_a_range_of_their_key() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn, MIGRATIONS).unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {READ}");
        let mut select = conn.prepare(&plan).unwrap();
        let steps: Vec<String> = select
            .query_map(params!["acme", "", "intent", 1, 9], |row| row.get("detail"))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let key = "USING PRIMARY KEY (project=? AND agent=? AND measure=? AND day>? AND day<?)";
        assert!(matches!(&steps[..], [step] if step.contains(key)), "{steps:?}");
    }
}

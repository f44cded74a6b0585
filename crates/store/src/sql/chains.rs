//! The audit log by subject, with the state of each subject, as the verification reads it.

use std::collections::HashMap;
use std::str::FromStr;

use kernel::audit::RecordRow;
use kernel::{ArtifactId, AskId, TaskId};
use ulid::Ulid;

use super::audit_feed::record_row;
use super::{SqlDialect, SqlRow, SqlValue, Statements, values};
use crate::chains::{between, stop};
use crate::columns::int;
use crate::{ChainPage, Result, StoreError, StoredState};

/// The kinds whose states are stored in `entity`, read from the table: the directory loads a row
/// whatever its kind, so a row of an unknown kind must be verified too. Each step is one seek.
const KINDS: &str = "WITH RECURSIVE found (kind) AS (
        SELECT (SELECT min(kind) FROM entity)
        UNION ALL
        SELECT (SELECT min(kind) FROM entity WHERE kind > found.kind)
        FROM found WHERE found.kind IS NOT NULL
    ) SELECT kind FROM found WHERE kind IS NOT NULL";

/// The chains of the subjects after `after`, in the order of their names, each complete and with
/// its state in the same snapshot; about `limit` records.
pub(super) async fn chains(
    sql: &mut dyn Statements,
    after: Option<&str>,
    limit: usize,
) -> Result<ChainPage> {
    let (mut rows, next) = records(sql, after, limit).await?;
    if sql.dialect() == SqlDialect::Postgres {
        place_unnumbered(sql, &mut rows).await?;
    }
    let mut states = states(sql, after, next.as_deref()).await?;
    states.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(ChainPage::join(rows, states, next))
}

async fn records(
    sql: &mut dyn Statements,
    after: Option<&str>,
    limit: usize,
) -> Result<(Vec<RecordRow>, Option<String>)> {
    let source = sql.dialect().pick("record", "record LEFT JOIN feed USING (subject, seq)");
    let select = format!(
        "SELECT position, subject, seq, at, what, prev, hash, body, contents FROM {source}
        WHERE (subject, seq) > ($1, $2) ORDER BY subject, seq LIMIT $3"
    );
    let mut rows: Vec<RecordRow> = Vec::with_capacity(limit);
    // Behind every event of the previous subject.
    let first = || (String::new(), i64::MIN);
    let mut from = after.map_or_else(first, |after| (after.to_owned(), i64::MAX));
    let chunk = limit.max(1);
    loop {
        let start = from.clone();
        let more = sql.query(&select, &values![&from.0, from.1, chunk]).await?;
        let last_page = more.len() < chunk;
        for row in more {
            let row = record_row(row)?;
            if let Some(next) = stop(&rows, &row, limit) {
                return Ok((rows, Some(next)));
            }
            from = (row.subject.clone(), int(row.seq));
            rows.push(row);
        }
        if last_page {
            return Ok((rows, None));
        }
        // A subject that is not text can sort after the text it is read as. The same page would
        // then be read again and again.
        if from <= start {
            return Err(StoreError::Damaged {
                what: from.0,
                source: "the subject of a record is not text".into(),
            });
        }
    }
}

/// Gives committed records without a position one after the end of the feed, in the order they were
/// written. A record in neither table was removed from the feed and keeps position 0.
async fn place_unnumbered(sql: &mut dyn Statements, rows: &mut [RecordRow]) -> Result<()> {
    if rows.iter().all(|row| row.position > 0) {
        return Ok(());
    }
    let select = "SELECT subject, seq, row_number() OVER (ORDER BY n, place)
            + (SELECT coalesce(max(position), 0) FROM feed)
        FROM pending, unnest(subjects, seqs) WITH ORDINALITY AS event (subject, seq, place)";
    let mut places: HashMap<(String, u64), u64> = HashMap::new();
    for mut row in sql.query(select, &[]).await? {
        places.insert((row.get(0)?, row.get(1)?), row.get(2)?);
    }
    for row in rows.iter_mut().filter(|row| row.position == 0) {
        row.position = places.get(&(row.subject.clone(), row.seq)).copied().unwrap_or_default();
    }
    Ok(())
}

/// The states of the subjects after `after`, up to and including `to`, as stored.
async fn states(
    sql: &mut dyn Statements,
    after: Option<&str>,
    to: Option<&str>,
) -> Result<Vec<(String, StoredState)>> {
    // Sorts after every name.
    const END: &str = "\u{10ffff}";
    let (from, last) = (after.unwrap_or_default(), to.unwrap_or(END));
    let mut states = Vec::new();
    let entities = "SELECT id, version, state FROM entity
        WHERE kind = $1 AND id > $2 AND id <= $3";
    for mut kind in sql.query(KINDS, &[]).await? {
        let kind: String = kind.get(0)?;
        for row in sql.query(entities, &values![&kind, from, last]).await? {
            states.push(named(row)?);
        }
    }
    let entries = "SELECT id, version, state FROM entry WHERE id > $1 AND id <= $2";
    for row in sql.query(entries, &values![from, last]).await? {
        states.push(named(row)?);
    }
    let names = (after, to);
    with_ids(sql, "ask", AskId::PREFIX, names, AskId::ulid, &mut states).await?;
    with_ids(sql, "task", TaskId::PREFIX, names, TaskId::ulid, &mut states).await?;
    with_ids(sql, "artifact", ArtifactId::PREFIX, names, ArtifactId::ulid, &mut states).await?;
    Ok(states)
}

fn named(mut row: SqlRow) -> Result<(String, StoredState)> {
    Ok((row.any_text(0).unwrap_or_default(), stored(row)?))
}

/// The same for subjects with ids of one kind.
async fn with_ids<T: FromStr>(
    sql: &mut dyn Statements,
    table: &str,
    prefix: &str,
    (after, to): (Option<&str>, Option<&str>),
    ulid: fn(T) -> Ulid,
    states: &mut Vec<(String, StoredState)>,
) -> Result<()> {
    let Some((from, to)) = between::<T>(prefix, after, to) else { return Ok(()) };
    let (from, to) = (from.map(|id| SqlValue::Id(ulid(id))), to.map(|id| SqlValue::Id(ulid(id))));
    let bounds = match (&from, &to) {
        (None, None) => "",
        (Some(_), None) => "WHERE id > $1",
        (None, Some(_)) => "WHERE id <= $1",
        (Some(_), Some(_)) => "WHERE id > $1 AND id <= $2",
    };
    let select = format!("SELECT id, version, state FROM {table} {bounds} ORDER BY id");
    let bounds: Vec<SqlValue> = from.into_iter().chain(to).collect();
    for mut row in sql.query(&select, &bounds).await? {
        // A tampered column can hold any bytes.
        let name = row.id_or_text(0).map_or_else(|other| other, |id| id.to_string());
        states.push((format!("{prefix}{name}"), stored(row)?));
    }
    Ok(())
}

fn stored(mut row: SqlRow) -> Result<StoredState> {
    Ok(StoredState { version: row.get(1)?, state: row.any_text(2).unwrap_or_default() })
}

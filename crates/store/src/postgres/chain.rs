//! The audit log by subject, with the state of each subject, as the verification reads it.

use std::collections::HashMap;
use std::str::FromStr;

use deadpool_postgres::{Client, Transaction};
use kernel::audit::Row;
use kernel::{ArtifactId, AskId, TaskId};
use ulid::Ulid;
use uuid::Uuid;

use super::failure::Failure;
use super::{query, record, ulid, uuid};
use crate::chains::{between, stop};
use crate::rows::{int, uint};
use crate::{Chains, Held};

/// The chains of the subjects after `after`, in the order of their names, each complete and with
/// its state in the same snapshot; about `limit` records.
pub(super) async fn chains(
    client: &mut Client,
    after: Option<&str>,
    limit: usize,
) -> Result<Chains, Failure> {
    let moment = query::moment(client).await?;
    let (mut rows, next) = rows(&moment, after, limit).await?;
    place_behind(&moment, &mut rows).await?;
    let mut held = states(&moment, after, next.as_deref()).await?;
    held.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(Chains::join(rows, held, next))
}

async fn rows(
    moment: &Transaction<'_>,
    after: Option<&str>,
    limit: usize,
) -> Result<(Vec<Row>, Option<String>), Failure> {
    let sql = "SELECT position, subject, seq, at, what, prev, hash, body, contents
        FROM record LEFT JOIN feed USING (subject, seq)
        WHERE (subject, seq) > ($1, $2) ORDER BY subject, seq LIMIT $3";
    let mut rows: Vec<Row> = Vec::with_capacity(limit);
    // Behind every event of the previous subject.
    let mut from = (after.unwrap_or_default().to_owned(), i64::MAX);
    loop {
        let chunk = int(limit.max(1));
        let more = record::raw(moment, sql, &[&from.0, &from.1, &chunk]).await?;
        let last_page = int(more.len()) < chunk;
        for row in more {
            if let Some(next) = stop(&rows, &row, limit) {
                return Ok((rows, Some(next)));
            }
            from = (row.subject.clone(), int(row.seq));
            rows.push(row);
        }
        if last_page {
            return Ok((rows, None));
        }
    }
}

/// Gives committed records without a position one after the end of the feed, in the order they were
/// written. A record in neither table was removed from the feed and keeps position 0.
async fn place_behind(moment: &Transaction<'_>, rows: &mut [Row]) -> Result<(), Failure> {
    if rows.iter().all(|row| row.position > 0) {
        return Ok(());
    }
    let sql = "SELECT subject, seq, row_number() OVER (ORDER BY n, place)
            + (SELECT coalesce(max(position), 0) FROM feed)
        FROM pending, unnest(subjects, seqs) WITH ORDINALITY AS event (subject, seq, place)";
    let statement = moment.prepare_cached(sql).await?;
    let mut places: HashMap<(String, u64), u64> = HashMap::new();
    for row in moment.query(&statement, &[]).await? {
        places.insert((row.try_get(0)?, uint(row.try_get(1)?)), uint(row.try_get(2)?));
    }
    for row in rows.iter_mut().filter(|row| row.position == 0) {
        row.position = places.get(&(row.subject.clone(), row.seq)).copied().unwrap_or_default();
    }
    Ok(())
}

/// The states of the subjects after `after`, up to and including `to`, as stored.
async fn states(
    moment: &Transaction<'_>,
    after: Option<&str>,
    to: Option<&str>,
) -> Result<Vec<(String, Held)>, Failure> {
    // Sorts after every name.
    const END: &str = "\u{10ffff}";
    let sql = "SELECT id, version, state FROM entity WHERE id > $1 AND id <= $2
        UNION ALL SELECT id, version, state FROM entry WHERE id > $1 AND id <= $2";
    let statement = moment.prepare_cached(sql).await?;
    let rows = moment.query(&statement, &[&after.unwrap_or_default(), &to.unwrap_or(END)]).await?;
    let mut states = Vec::new();
    for row in rows {
        let held = Held { version: uint(row.try_get(1)?), state: row.try_get(2)? };
        states.push((row.try_get(0)?, held));
    }
    let stretch = (after, to);
    let asks = "SELECT id, version, state FROM ask WHERE id > $1 AND id <= $2 ORDER BY id";
    made(moment, asks, AskId::PREFIX, stretch, AskId::ulid, &mut states).await?;
    let tasks = "SELECT id, version, state FROM task WHERE id > $1 AND id <= $2 ORDER BY id";
    made(moment, tasks, TaskId::PREFIX, stretch, TaskId::ulid, &mut states).await?;
    let made_of = "SELECT id, version, state FROM artifact WHERE id > $1 AND id <= $2 ORDER BY id";
    made(moment, made_of, ArtifactId::PREFIX, stretch, ArtifactId::ulid, &mut states).await?;
    Ok(states)
}

/// The same for subjects with ids of one kind.
async fn made<T: FromStr>(
    moment: &Transaction<'_>,
    sql: &str,
    prefix: &str,
    (after, to): (Option<&str>, Option<&str>),
    of: fn(T) -> Ulid,
    states: &mut Vec<(String, Held)>,
) -> Result<(), Failure> {
    let Some((from, to)) = between::<T>(prefix, after, to) else { return Ok(()) };
    let (from, to) =
        (from.map_or(Uuid::nil(), |id| uuid(of(id))), to.map_or(Uuid::max(), |id| uuid(of(id))));
    let statement = moment.prepare_cached(sql).await?;
    for row in moment.query(&statement, &[&from, &to]).await? {
        let held = Held { version: uint(row.try_get(1)?), state: row.try_get(2)? };
        states.push((format!("{prefix}{}", ulid(row.try_get(0)?)), held));
    }
    Ok(())
}

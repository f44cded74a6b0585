//! Writes the changes of a batch of jobs in one statement, whatever their number: each table is a
//! part of it, and only parts with rows are sent.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use deadpool_postgres::Client;
use kernel::audit::{Erasure, Record};
use kernel::{Ask, AskId, Entity, Subject, Time};
use serde::Serialize;
use tokio_postgres::types::ToSql;

use super::batch::{BatchWrites, FeedColumns, ScopedKey};
use super::failure::PostgresFailure;
use super::{task_rows, uuid};
use crate::columns::{int, similarity_column};
use crate::job::{IdempotencyRecord, expired_before};
use crate::listing::{Deadline, ListEntry};
use crate::usage::CounterGrowth;
use crate::{Result, SideRow, StoreError, Work};

const NEW_ASKS: &str = "INSERT INTO ask (id, version, state)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[])";

/// Asks that are closed when they are created: messages that a person writes to an agent. A trigger
/// of the database adds those that end later.
const ENDED: &str = "INSERT INTO ended (ask, at, project)
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[]) ON CONFLICT DO NOTHING";

const CHANGED_ASKS: &str = "UPDATE ask SET version = new.version, state = new.state
    FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[])
        AS new (id, version, state, read)
    WHERE ask.id = new.id AND ask.version = new.read";

const WAKES: &str = "INSERT INTO wake (ask, at) SELECT * FROM unnest($1::uuid[], $2::bigint[])
    ON CONFLICT (ask) DO UPDATE SET at = excluded.at";

const ASLEEP: &str = "DELETE FROM wake WHERE ask = ANY ($1::uuid[])";

const NO_DRAFTS: &str = "DELETE FROM side WHERE kind = 'draft' AND ask = ANY ($1::uuid[])";

const NO_RECEIPT_SIGNATURES: &str = "DELETE FROM receipt_signature WHERE ask = ANY ($1::uuid[])";

const UNLISTED: &str = "DELETE FROM listing
    USING unnest($1::text[], $2::text[], $3::smallint[], $4::uuid[]) AS old (scope, phase, rank, id)
    WHERE listing.scope = old.scope AND listing.phase = old.phase AND listing.rank = old.rank
        AND listing.id = old.id";

const LISTED: &str = "INSERT INTO listing
        (scope, phase, rank, id, kind, priority, agent_label, project_label, fold)
    SELECT * FROM unnest($1::text[], $2::text[], $3::smallint[], $4::uuid[], $5::text[],
        $6::smallint[], $7::text[], $8::text[], $9::bigint[])";

const NOT_EXPIRING: &str = "DELETE FROM deadline
    USING unnest($1::text[], $2::bigint[], $3::uuid[]) AS old (scope, at, id)
    WHERE deadline.scope = old.scope AND deadline.at = old.at AND deadline.id = old.id";

const EXPIRING: &str = "INSERT INTO deadline (scope, at, id)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::uuid[])";

/// Each connection has a shard of every counter, so that they do not wait for each other.
const COUNTERS: &str = "INSERT INTO usage AS known (name, shard, used)
    SELECT name, pg_backend_pid() % 1024, used
    FROM unnest($1::text[], $2::bigint[]) AS new (name, used)
    ON CONFLICT (name, shard) DO UPDATE SET used = known.used + excluded.used";

const ENTITIES: &str = "INSERT INTO entity AS old (kind, id, version, changed, state)
    SELECT new.kind, new.id, new.version, directory.version + 1, new.state
    FROM directory, unnest($1::text[], $2::text[], $3::bigint[], $4::text[])
        AS new (kind, id, version, state)
    ON CONFLICT (kind, id) DO UPDATE
        SET version = excluded.version, changed = excluded.changed, state = excluded.state";

const DIRECTORY: &str = "UPDATE directory SET version = version + 1";

const RECORDS: &str = "INSERT INTO record (subject, seq, at, what, prev, hash, body, contents)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[],
        $6::bytea[], $7::text[], $8::text[])";

const PENDING: &str = "INSERT INTO pending (subjects, seqs, agents, lists, projects)
    VALUES ($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[])";

const ERASED: &str = "UPDATE record SET contents = NULL
    FROM unnest($1::text[], $2::bigint[]) AS erased (subject, before)
    WHERE record.subject = erased.subject AND record.seq < erased.before
        AND record.contents IS NOT NULL";

const EARLIER: &str = "SELECT seq, body FROM record
    WHERE subject = $1 AND seq < $2 AND contents IS NOT NULL";

const ERASED_SOME: &str =
    "UPDATE record SET contents = NULL WHERE subject = $1 AND seq = ANY ($2::bigint[])";

/// Work that is written once, unless work of the same name waits already.
pub(super) const WORK: &str = "INSERT INTO work
        (rank, due_at, written_at, effect, lane, name)
    SELECT rank, at, at, effect, lane, name
    FROM unnest($1::smallint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
        WITH ORDINALITY AS new (rank, at, effect, lane, name, place)
    ORDER BY place
    ON CONFLICT (name) WHERE name IS NOT NULL AND NOT dead DO NOTHING";

const SECRETS: &str = "INSERT INTO side (kind, key, ask, version, value)
    SELECT kind, key, ask, 1, value
    FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bytea[]) AS new (kind, key, ask, value)
    ON CONFLICT (kind, key) DO UPDATE SET version = side.version + 1, value = excluded.value";

/// In place of one that is too old to count, never of another.
const REMEMBERED: &str = "INSERT INTO idempotency AS old
        (scope, key, fingerprint, ask, at, task, seq)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::uuid[], $5::bigint[], $6::uuid[],
        $7::bigint[])
    ON CONFLICT (scope, key) DO UPDATE
        SET fingerprint = excluded.fingerprint, ask = excluded.ask, at = excluded.at,
            task = excluded.task, seq = excluded.seq
        WHERE old.at <= $8::bigint";

pub(super) type Param = Box<dyn ToSql + Sync + Send>;

/// A change of one table, its parameters, and the number of rows it must affect.
pub(super) struct TableChange {
    pub(super) sql: &'static str,
    pub(super) params: Vec<Param>,
    pub(super) rows: Option<u64>,
}

/// Writes all changes in the open transaction.
pub(super) async fn write(
    client: &Client,
    out: &BatchWrites,
    now: Time,
) -> Result<(), PostgresFailure> {
    let parts = parts(out, now)?;
    let statement = client.prepare_cached(&combined_statement(&parts)).await?;
    let expected: Vec<u64> = parts.iter().filter_map(|part| part.rows).collect();
    let params: Vec<Param> = parts.into_iter().flat_map(|part| part.params).collect();
    let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|one| &**one as _).collect();
    let row = client.query_one(&statement, &params).await?;
    for (at, expected) in expected.into_iter().enumerate() {
        if row.try_get::<_, i64>(at)? != int(expected) {
            return Err(PostgresFailure::Conflict);
        }
    }
    erase(client, &out.records).await
}

/// Deletes the contents of erased records. It is a separate statement, because the one that writes
/// records does not see the rows it writes.
async fn erase(client: &Client, records: &[(Record, FeedColumns)]) -> Result<(), PostgresFailure> {
    let (mut subjects, mut before) = (Vec::new(), Vec::new());
    for (record, _) in records {
        let Some(erasure) = record.erasure() else { continue };
        let subject = record.subject.to_string();
        if erasure == Erasure::Everything {
            subjects.push(subject);
            before.push(int(record.seq));
            continue;
        }
        let earlier = client.prepare_cached(EARLIER).await?;
        let mut erased: Vec<i64> = Vec::new();
        for row in client.query(&earlier, &[&subject, &int(record.seq)]).await? {
            if erasure.erases(row.try_get(1)?) {
                erased.push(row.try_get(0)?);
            }
        }
        let statement = client.prepare_cached(ERASED_SOME).await?;
        client.execute(&statement, &[&subject, &erased]).await?;
    }
    if !subjects.is_empty() {
        let statement = client.prepare_cached(ERASED).await?;
        client.execute(&statement, &[&subjects, &before]).await?;
    }
    Ok(())
}

/// Combines the parts into one statement. It returns the number of affected rows for each part that
/// requires one. All parts see the tables as they were before.
fn combined_statement(parts: &[TableChange]) -> String {
    let mut sql = "WITH ".to_owned();
    let mut counts = Vec::new();
    let mut params = 0;
    for (n, part) in parts.iter().enumerate() {
        let comma = if n > 0 { ", " } else { "" };
        let _ = write!(sql, "{comma}part{n} AS (");
        let mut pieces = part.sql.split('$');
        sql.extend(pieces.next());
        for piece in pieces {
            // The number of a parameter is one digit; shift it by the parameters before this part.
            let (number, rest) = piece.split_at(1);
            let number = params + number.parse::<usize>().unwrap_or_default();
            let _ = write!(sql, "${number}{rest}");
        }
        sql.push_str(" RETURNING 1)");
        params += part.params.len();
        if part.rows.is_some() {
            counts.push(format!("(SELECT count(*) FROM part{n})"));
        }
    }
    let _ = write!(sql, " SELECT {}", counts.join(", "));
    sql
}

fn parts(out: &BatchWrites, now: Time) -> Result<Vec<TableChange>> {
    let (changed, new): (Vec<_>, Vec<_>) = out.asks.values().partition(|(read, _)| read.is_some());
    let (states, changed_states) = (states(&new)?, states(&changed)?);
    let counters = counters(out, &new, &states);
    let all = [
        asks(NEW_ASKS, &new, states),
        ended(&new),
        asks(CHANGED_ASKS, &changed, changed_states),
        wakes(out),
        asleep(out),
        no_drafts(&changed),
        no_receipt_signatures(out),
        unlisted(&out.unlisted),
        listed(out),
        deadlines(NOT_EXPIRING, &out.not_expiring),
        deadlines(EXPIRING, &out.expiring),
        counters,
        entities(out)?,
        directory(out),
        records(&out.records)?,
        pending(&out.records),
        work(&out.in_commit)?,
        secrets(&out.secrets),
        remembered(out, now),
    ];
    Ok(all.into_iter().flatten().chain(task_rows::parts(out, now)?).collect())
}

/// A part without rows is not sent.
pub(super) fn if_any<T>(rows: &[T]) -> Option<()> {
    (!rows.is_empty()).then_some(())
}

fn states(asks: &[&(Option<u64>, Ask)]) -> Result<Vec<String>> {
    asks.iter().map(|(_, ask)| json(ask, || ask.id.to_string())).collect()
}

fn asks(
    sql: &'static str,
    asks: &[&(Option<u64>, Ask)],
    states: Vec<String>,
) -> Option<TableChange> {
    if_any(asks)?;
    let mut params: Vec<Param> = vec![
        Box::new(column(asks, |(_, ask)| uuid(ask.id.ulid()))),
        Box::new(column(asks, |(_, ask)| int(ask.head.seq))),
        Box::new(states),
    ];
    let read: Vec<i64> = asks.iter().filter_map(|(read, _)| read.map(int)).collect();
    if !read.is_empty() {
        params.push(Box::new(read));
    }
    Some(TableChange { sql, params, rows: Some(asks.len() as u64) })
}

/// The growth of counters by new asks and new places in lists. Triggers of the database count
/// everything else.
fn counters(
    out: &BatchWrites,
    new: &[&(Option<u64>, Ask)],
    states: &[String],
) -> Option<TableChange> {
    let mut growth = CounterGrowth::default();
    out.listed.iter().for_each(|(entry, _)| growth.listed(entry, 1));
    for ((_, ask), state) in new.iter().zip(states) {
        growth.stored(ask, int(state.len()));
    }
    let (names, used): (Vec<String>, Vec<i64>) = growth.take().unzip();
    if_any(&names)?;
    Some(TableChange { sql: COUNTERS, params: vec![Box::new(names), Box::new(used)], rows: None })
}

fn ended(new: &[&(Option<u64>, Ask)]) -> Option<TableChange> {
    let rows: Vec<(&Ask, Time)> =
        new.iter().filter_map(|(_, ask)| ask.retention_start().map(|at| (ask, at))).collect();
    if_any(&rows)?;
    let params: Vec<Param> = vec![
        Box::new(column(&rows, |(ask, _)| uuid(ask.id.ulid()))),
        Box::new(column(&rows, |(_, at)| at.millis())),
        Box::new(column(&rows, |(ask, _)| ask.project.to_string())),
    ];
    Some(TableChange { sql: ENDED, params, rows: None })
}

fn wakes(out: &BatchWrites) -> Option<TableChange> {
    let rows: Vec<(&AskId, Time)> =
        out.wakes.iter().filter_map(|(id, at)| at.map(|at| (id, at))).collect();
    if_any(&rows)?;
    let params: Vec<Param> = vec![
        Box::new(column(&rows, |(id, _)| uuid(id.ulid()))),
        Box::new(column(&rows, |(_, at)| at.millis())),
    ];
    Some(TableChange { sql: WAKES, params, rows: None })
}

fn asleep(out: &BatchWrites) -> Option<TableChange> {
    let rows: Vec<&AskId> =
        out.wakes.iter().filter(|(_, at)| at.is_none()).map(|(id, _)| id).collect();
    if_any(&rows)?;
    let params: Vec<Param> = vec![Box::new(column(&rows, |id| uuid(id.ulid())))];
    Some(TableChange { sql: ASLEEP, params, rows: None })
}

/// Deletes the drafts of asks that ended.
fn no_drafts(changed: &[&(Option<u64>, Ask)]) -> Option<TableChange> {
    let over: Vec<uuid::Uuid> = changed
        .iter()
        .filter(|(_, ask)| !ask.is_open())
        .map(|(_, ask)| uuid(ask.id.ulid()))
        .collect();
    if_any(&over)?;
    Some(TableChange { sql: NO_DRAFTS, params: vec![Box::new(over)], rows: None })
}

/// Deletes the receipt signatures of asks whose receipt claims changed.
fn no_receipt_signatures(out: &BatchWrites) -> Option<TableChange> {
    let changed: Vec<uuid::Uuid> =
        out.changed_receipts.iter().map(|ask| uuid(ask.ulid())).collect();
    if_any(&changed)?;
    Some(TableChange { sql: NO_RECEIPT_SIGNATURES, params: vec![Box::new(changed)], rows: None })
}

fn unlisted(entries: &BTreeSet<(ListEntry, AskId)>) -> Option<TableChange> {
    let rows: Vec<&(ListEntry, AskId)> = entries.iter().collect();
    if_any(&rows)?;
    Some(TableChange { sql: UNLISTED, params: entry_columns(&rows), rows: None })
}

fn listed(out: &BatchWrites) -> Option<TableChange> {
    let rows: Vec<(&(ListEntry, AskId), &Ask)> = (out.listed.iter())
        .filter_map(|row| out.asks.get(&row.1).map(|(_, ask)| (row, ask)))
        .collect();
    if_any(&rows)?;
    let mut params = entry_columns(&column(&rows, |(row, _)| *row));
    let more: [Param; 5] = [
        Box::new(column(&rows, |(_, ask)| ask.kind.as_str().to_owned())),
        Box::new(column(&rows, |(_, ask)| i16::from(ask.priority.rank()))),
        Box::new(column(&rows, |(_, ask)| ask.labels.agent.clone())),
        Box::new(column(&rows, |(_, ask)| ask.labels.project.clone())),
        Box::new(column(&rows, |((_, id), _)| out.folds.get(id).copied().map(similarity_column))),
    ];
    params.extend(more);
    Some(TableChange { sql: LISTED, params, rows: None })
}

fn deadlines(sql: &'static str, rows: &BTreeSet<(Deadline, AskId)>) -> Option<TableChange> {
    let rows: Vec<&(Deadline, AskId)> = rows.iter().collect();
    if_any(&rows)?;
    let params: Vec<Param> = vec![
        Box::new(column(&rows, |(deadline, _)| deadline.scope.clone())),
        Box::new(column(&rows, |(deadline, _)| deadline.at.millis())),
        Box::new(column(&rows, |(_, id)| uuid(id.ulid()))),
    ];
    Some(TableChange { sql, params, rows: None })
}

fn entry_columns(rows: &[&(ListEntry, AskId)]) -> Vec<Param> {
    vec![
        Box::new(column(rows, |(entry, _)| entry.scope.clone())),
        Box::new(column(rows, |(entry, _)| entry.phase.as_str().to_owned())),
        Box::new(column(rows, |(entry, _)| i16::from(entry.rank))),
        Box::new(column(rows, |(_, id)| uuid(id.ulid()))),
    ]
}

/// This transaction holds the directory lock, so no other one can have changed these rows.
fn entities(out: &BatchWrites) -> Result<Option<TableChange>> {
    let rows: Vec<(&Subject, &Entity)> =
        out.entities.iter().map(|(subject, (_, entity))| (subject, entity)).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let states: Result<Vec<String>> =
        rows.iter().map(|(subject, entity)| json(entity, || subject.to_string())).collect();
    let params: Vec<Param> = vec![
        Box::new(column(&rows, |(subject, _)| subject.kind().to_owned())),
        Box::new(column(&rows, |(subject, _)| subject.to_string())),
        Box::new(column(&rows, |(_, entity)| int(entity.head().seq))),
        Box::new(states?),
    ];
    Ok(Some(TableChange { sql: ENTITIES, params, rows: Some(rows.len() as u64) }))
}

/// Raises the version of the directory if it changed.
fn directory(out: &BatchWrites) -> Option<TableChange> {
    (!out.entities.is_empty()).then(|| TableChange {
        sql: DIRECTORY,
        params: Vec::new(),
        rows: Some(1),
    })
}

fn records(rows: &[(Record, FeedColumns)]) -> Result<Option<TableChange>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let contents = |record: &Record| {
        let some = !record.contents.is_empty();
        some.then(|| json(&record.contents, || record.subject.to_string())).transpose()
    };
    let contents: Result<Vec<Option<String>>> =
        rows.iter().map(|(record, _)| contents(record)).collect();
    let params: Vec<Param> = vec![
        Box::new(column(rows, |(record, _)| record.subject.to_string())),
        Box::new(column(rows, |(record, _)| int(record.seq))),
        Box::new(column(rows, |(record, _)| record.at.millis())),
        Box::new(column(rows, |(record, _)| record.what)),
        Box::new(column(rows, |(record, _)| record.prev.0.to_vec())),
        Box::new(column(rows, |(record, _)| record.hash.0.to_vec())),
        Box::new(column(rows, |(record, _)| record.body.clone())),
        Box::new(contents?),
    ];
    Ok(Some(TableChange { sql: RECORDS, params, rows: Some(rows.len() as u64) }))
}

fn pending(rows: &[(Record, FeedColumns)]) -> Option<TableChange> {
    if_any(rows)?;
    let params: Vec<Param> = vec![
        Box::new(column(rows, |(record, _)| record.subject.to_string())),
        Box::new(column(rows, |(record, _)| int(record.seq))),
        Box::new(column(rows, |(_, about)| about.agent.clone())),
        Box::new(column(rows, |(_, about)| about.lists.clone())),
        Box::new(column(rows, |(_, about)| about.project.clone())),
    ];
    Some(TableChange { sql: PENDING, params, rows: None })
}

fn work(rows: &[(Time, Work)]) -> Result<Option<TableChange>> {
    if rows.is_empty() {
        return Ok(None);
    }
    Ok(Some(TableChange { sql: WORK, params: work_columns(rows)?, rows: None }))
}

/// The parameters of [`WORK`].
pub(super) fn work_columns(rows: &[(Time, Work)]) -> Result<Vec<Param>> {
    let texts: Result<Vec<String>> =
        rows.iter().map(|(_, work)| json(work, || "effect".to_owned())).collect();
    Ok(vec![
        Box::new(column(rows, |(_, work)| i16::from(work.rank()))),
        Box::new(column(rows, |(at, _)| at.millis())),
        Box::new(texts?),
        Box::new(column(rows, |(_, work)| work.lane().into_owned())),
        Box::new(column(rows, |(_, work)| work.name())),
    ])
}

fn secrets(rows: &[SideRow]) -> Option<TableChange> {
    if_any(rows)?;
    let params: Vec<Param> = vec![
        Box::new(column(rows, |row| row.kind.as_str().to_owned())),
        Box::new(column(rows, |row| row.key.clone())),
        Box::new(column(rows, |row| row.ask.map(|ask| uuid(ask.ulid())))),
        Box::new(column(rows, |row| row.value.clone())),
    ];
    Some(TableChange { sql: SECRETS, params, rows: None })
}

fn remembered(out: &BatchWrites, now: Time) -> Option<TableChange> {
    let rows: Vec<(&ScopedKey, &IdempotencyRecord)> = out.remembered.iter().collect();
    if_any(&rows)?;
    let params: Vec<Param> = vec![
        Box::new(column(&rows, |((scope, _), _)| scope.clone())),
        Box::new(column(&rows, |((_, key), _)| key.clone())),
        Box::new(column(&rows, |(_, one)| one.fingerprint.0.to_vec())),
        Box::new(column(&rows, |(_, one)| one.ask.map(|id| uuid(id.ulid())))),
        Box::new(column(&rows, |(_, one)| one.at.millis())),
        Box::new(column(&rows, |(_, one)| one.place.map(|(task, _)| uuid(task.ulid())))),
        Box::new(column(&rows, |(_, one)| one.place.map(|(_, seq)| int(seq)))),
        Box::new(expired_before(now).millis()),
    ];
    Some(TableChange { sql: REMEMBERED, params, rows: Some(rows.len() as u64) })
}

pub(super) fn column<T, C>(rows: &[T], of: impl Fn(&T) -> C) -> Vec<C> {
    rows.iter().map(of).collect()
}

pub(super) fn json<T: Serialize>(value: &T, what: impl FnOnce() -> String) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| StoreError::Damaged { what: what(), source: error.into() })
}

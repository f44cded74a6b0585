//! Queries on the database, on any connection.

use deadpool_postgres::{Client, GenericClient, Transaction};
use kernel::{Ask, AskId, Entity, Time};
use serde::de::DeserializeOwned;
use tokio_postgres::IsolationLevel;
use uuid::Uuid;

use super::failure::{PostgresFailure, damaged};
use super::listing::FetchedList;
use super::{record, ulid, uuid};
use crate::columns::{int, uint};
use crate::estimates::Estimates;
use crate::job::{expired_before, renewed, renewed_since};
use crate::listing::{AskListPage, AskListQuery, Count, ExpiringQuery, ListScope, MAX_EXAMINED};
use crate::paging::{self, CHUNK, every_stretch};

/// The most unnumbered transactions whose records are counted.
const COUNTED: i64 = 500;

pub(super) async fn ping(client: &Client) -> Result<(), PostgresFailure> {
    Ok(client.simple_query("SELECT 1").await.map(drop)?)
}

/// All entities of the directory that changed after a version, and the version this leads to.
pub(super) async fn entities(
    client: &impl GenericClient,
    after: u64,
) -> Result<(u64, Vec<Entity>), PostgresFailure> {
    // One statement, so that the version matches these states.
    let sql = "SELECT directory.version, entity.id, entity.state FROM directory
        LEFT JOIN entity ON entity.changed > $1";
    let statement = client.prepare_cached(sql).await?;
    let (mut version, mut entities) = (after, Vec::new());
    for row in client.query(&statement, &[&int(after)]).await? {
        version = uint(row.try_get(0)?);
        if let Some(id) = row.try_get::<_, Option<&str>>(1)? {
            let state: &str = row.try_get(2)?;
            let entity = serde_json::from_str(state).map_err(|error| damaged(id, error))?;
            entities.push(entity);
        }
    }
    Ok((version, entities))
}

pub(super) async fn ask(client: &Client, id: AskId) -> Result<Option<Ask>, PostgresFailure> {
    let statement = client.prepare_cached("SELECT id, state FROM ask WHERE id = $1").await?;
    let row = client.query_opt(&statement, &[&uuid(id.ulid())]).await?;
    row.as_ref().map(read_ask).transpose()
}

/// Asks that are due soon: a range of each scope, merged.
pub(super) async fn expiring(
    client: &Client,
    wanted: &ExpiringQuery,
) -> Result<Vec<Ask>, PostgresFailure> {
    let sql = "SELECT ask.id, ask.state FROM (
            SELECT DISTINCT found.at, found.id FROM unnest($1::text[]) AS wanted (scope)
            CROSS JOIN LATERAL (
                SELECT at, id FROM deadline
                WHERE deadline.scope = wanted.scope AND (at, id) > ($2, $3) AND at <= $4
                ORDER BY at, id LIMIT $5
            ) AS found
            ORDER BY found.at, found.id LIMIT $5
        ) AS soon JOIN ask ON ask.id = soon.id ORDER BY soon.at, soon.id";
    let statement = client.prepare_cached(sql).await?;
    let scopes: Vec<String> = wanted.scopes.iter().map(ListScope::key).collect();
    let (at, id) =
        wanted.after.map_or((i64::MIN, Uuid::nil()), |(at, id)| (at.millis(), uuid(id.ulid())));
    let until = wanted.until.millis();
    let rows = client.query(&statement, &[&scopes, &at, &id, &until, &int(wanted.limit)]).await?;
    rows.iter().map(read_ask).collect()
}

pub(super) async fn list(
    client: &mut Client,
    list: &AskListQuery,
) -> Result<AskListPage, PostgresFailure> {
    // One transaction, so that the rows and their asks come from the same snapshot.
    let snapshot = snapshot(client).await?;
    let n = list.limit.saturating_add(1).min(MAX_EXAMINED);
    let found = FetchedList::read(&snapshot, list, n, paging::page).await?;
    let ids: Vec<Uuid> = found.ids.iter().map(|id| uuid(id.ulid())).collect();
    let sql =
        "SELECT ask.id, ask.state FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, place)
        JOIN ask ON ask.id = wanted.id ORDER BY place";
    let statement = snapshot.prepare_cached(sql).await?;
    let rows = snapshot.query(&statement, &[&ids]).await?;
    let asks: Vec<Ask> = rows.iter().map(read_ask).collect::<Result<_, _>>()?;
    match found.ids.iter().find(|id| !asks.iter().any(|ask| ask.id == **id)) {
        Some(missing) => Err(damaged(&missing.to_string(), "it is listed but missing")),
        None => Ok(AskListPage { asks, next: found.next }),
    }
}

/// A read-only transaction with one snapshot.
pub(super) async fn snapshot(client: &mut Client) -> Result<Transaction<'_>, PostgresFailure> {
    let reading = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    Ok(reading.read_only(true).start().await?)
}

pub(super) async fn count(
    client: &mut Client,
    estimates: &Estimates,
    list: &AskListQuery,
) -> Result<Count, PostgresFailure> {
    let snapshot = snapshot(client).await?;
    let end = written(&snapshot).await?;
    if let Some(count) = end.and_then(|end| estimates.find(list, end)) {
        return Ok(count);
    }
    // As many rows of every stretch as a count reads first.
    let n = (MAX_EXAMINED / every_stretch(list).len().max(1)).clamp(1, CHUNK);
    let count = FetchedList::read(&snapshot, list, n, paging::count).await?;
    if let Some(end) = end.filter(|_| !count.exact) {
        estimates.keep(list, end, count);
    }
    Ok(count)
}

/// The number of records, including those without a position; `None` if there are many of those.
async fn written(snapshot: &Transaction<'_>) -> Result<Option<u64>, PostgresFailure> {
    let sql = "SELECT count(*), coalesce(sum(cardinality(seqs)), 0)
        FROM (SELECT seqs FROM pending ORDER BY n LIMIT $1) AS pending";
    let statement = snapshot.prepare_cached(sql).await?;
    let row = snapshot.query_one(&statement, &[&COUNTED]).await?;
    let (transactions, records): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    let end = record::last_position(snapshot).await?;
    Ok((transactions < COUNTED).then(|| end + uint(records)))
}

/// What a sweep of idempotency keys did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SweptBatch {
    /// The number of keys examined.
    pub(super) seen: usize,
    /// The number of keys deleted.
    pub(super) forgotten: u64,
    /// The number of keys kept because of their ask.
    pub(super) renewed: u64,
}

/// Examines up to `limit` idempotency keys that are too old to count by themselves. A key whose ask
/// is open counts from now, and one whose ask ended recently counts from that end; the others are
/// deleted. Each key is examined at most once a day, and its ask is found by id. A key that another
/// node reused meanwhile has another use time, and stays. Keys that another node sweeps at the same
/// time are left to it.
pub(super) async fn sweep(
    client: &Client,
    now: Time,
    limit: usize,
) -> Result<SweptBatch, PostgresFailure> {
    // The end of a closed ask is in a separate table; the state is read only if it
    // is missing there.
    let sql = "SELECT ask.id, CASE WHEN ended.at IS NULL THEN ask.state END,
            old.scope, old.key, old.at, ended.at
        FROM (SELECT scope, key, ask, at FROM idempotency WHERE at <= $1 LIMIT $2) AS old
        LEFT JOIN ask ON ask.id = old.ask LEFT JOIN ended ON ended.ask = old.ask";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&expired_before(now).millis(), &int(limit)]).await?;
    let mut swept = SweptBatch { seen: rows.len(), ..SweptBatch::default() };
    let (mut forgotten, mut kept) = (OldKeys::default(), OldKeys::default());
    for row in &rows {
        let ended: Option<i64> = row.try_get(5)?;
        let from = match (ended, row.try_get::<_, Option<&str>>(1)?) {
            (Some(ended), _) => renewed_since(Some(Time::from_millis(ended)), now),
            (None, Some(_)) => renewed(&read_ask(row)?, now),
            (None, None) => None,
        };
        let keys = if from.is_some() { &mut kept } else { &mut forgotten };
        keys.scopes.push(row.try_get(2)?);
        keys.keys.push(row.try_get(3)?);
        keys.at.push(row.try_get(4)?);
        keys.from.extend(from.map(Time::millis));
    }
    if !kept.from.is_empty() {
        let sql = "WITH mine AS (
                SELECT key.scope, key.key, new.moved FROM idempotency AS key
                JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
                    AS new (scope, key, at, moved) USING (scope, key, at)
                FOR UPDATE OF key SKIP LOCKED
            )
            UPDATE idempotency AS key SET at = mine.moved FROM mine
            WHERE key.scope = mine.scope AND key.key = mine.key";
        let statement = client.prepare_cached(sql).await?;
        let OldKeys { scopes, keys, at, from } = &kept;
        swept.renewed = client.execute(&statement, &[scopes, keys, at, from]).await?;
    }
    if !forgotten.keys.is_empty() {
        let sql = "DELETE FROM idempotency WHERE (scope, key) IN (
                SELECT key.scope, key.key FROM idempotency AS key
                JOIN unnest($1::text[], $2::text[], $3::bigint[]) AS old (scope, key, at)
                    USING (scope, key, at)
                FOR UPDATE OF key SKIP LOCKED
            )";
        let statement = client.prepare_cached(sql).await?;
        let OldKeys { scopes, keys, at, .. } = &forgotten;
        swept.forgotten = client.execute(&statement, &[scopes, keys, at]).await?;
    }
    Ok(swept)
}

/// Keys that are too old to count by themselves, column by column.
#[derive(Default)]
struct OldKeys {
    scopes: Vec<String>,
    keys: Vec<String>,
    at: Vec<i64>,
    /// Their new use times.
    from: Vec<i64>,
}

/// Parses a stored state.
pub(super) fn read_state<T: DeserializeOwned>(
    state: &str,
    what: impl FnOnce() -> String,
) -> Result<T, PostgresFailure> {
    serde_json::from_str(state).map_err(|error| damaged(&what(), error))
}

/// An ask from its id and state.
pub(super) fn read_ask(row: &tokio_postgres::Row) -> Result<Ask, PostgresFailure> {
    let state: &str = row.try_get(1)?;
    serde_json::from_str(state).map_err(|error| {
        let id = row.try_get(0).map(|id| AskId::new(ulid(id)).to_string());
        damaged(id.as_deref().unwrap_or("ask"), error)
    })
}

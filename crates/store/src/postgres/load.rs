//! What the jobs of a transaction read before they are decided, in one round trip.

use std::collections::BTreeSet;

use deadpool_postgres::Client;
use futures_util::try_join;
use kernel::{Ask, AskId, Time};
use tokio_postgres::{Row, Statement};
use uuid::Uuid;

use super::books::Key;
use super::failure::{Failure, damaged};
use super::query::read_ask;
use super::{ulid, uuid};
use crate::job::Remembered;
use crate::rows::{digest, uint};

/// Held by whoever decides on the directory as it is, and alone by whoever changes it: no decision is
/// made on one that is just being replaced.
const LOCK: i64 = 0x636f_756e_7465_7274;

pub(super) struct Loaded {
    /// The version of the directory.
    pub(super) version: u64,
    /// The time of the database.
    pub(super) now: Time,
    pub(super) asks: Vec<Ask>,
    pub(super) remembered: Vec<(Key, Remembered)>,
}

/// Begins a transaction with it.
pub(super) async fn begin(
    client: &Client,
    alone: bool,
    asks: &BTreeSet<AskId>,
    keys: &BTreeSet<Key>,
) -> Result<Loaded, Failure> {
    let lock = if alone {
        "SELECT pg_advisory_xact_lock($1)"
    } else {
        "SELECT pg_advisory_xact_lock_shared($1)"
    };
    let head = "SELECT version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        FROM directory";
    let recall = "SELECT scope, key, fingerprint, ask, at FROM idempotency
        WHERE (scope, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))";
    // All prepared before the first is sent: preparing waits, and the lock must come first.
    let (lock, head, found, recall) = (
        client.prepare_cached(lock).await?,
        client.prepare_cached(head).await?,
        client.prepare_cached(ASKS).await?,
        client.prepare_cached(recall).await?,
    );
    let (scopes, names): (Vec<&str>, Vec<&str>) =
        keys.iter().map(|(scope, key)| (scope.as_str(), key.as_str())).unzip();
    let ((), _, head, asks, remembered) = try_join!(
        async { Ok(client.batch_execute("BEGIN").await?) },
        async { Ok::<_, Failure>(client.query(&lock, &[&LOCK]).await?) },
        async { Ok(client.query_one(&head, &[]).await?) },
        locked(client, &found, asks),
        async {
            if keys.is_empty() {
                return Ok(Vec::new());
            }
            Ok(client.query(&recall, &[&scopes, &names]).await?)
        },
    )?;
    Ok(Loaded {
        version: uint(head.try_get(0)?),
        now: Time::from_millis(head.try_get(1)?),
        asks,
        remembered: remembered.iter().map(read_remembered).collect::<Result<_, _>>()?,
    })
}

/// More asks, which a decision turned out to need.
pub(super) async fn asks(client: &Client, ids: &BTreeSet<AskId>) -> Result<Vec<Ask>, Failure> {
    let statement = client.prepare_cached(ASKS).await?;
    locked(client, &statement, ids).await
}

/// Locked in the order of their ids, so that two transactions seldom wait for each other.
const ASKS: &str = "SELECT id, state, version FROM ask WHERE id = ANY ($1) ORDER BY id FOR UPDATE";

async fn locked(
    client: &Client,
    statement: &Statement,
    ids: &BTreeSet<AskId>,
) -> Result<Vec<Ask>, Failure> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = ids.iter().map(|id| uuid(id.ulid())).collect();
    let rows = client.query(statement, &[&ids]).await?;
    rows.iter()
        .map(|row| {
            let ask = read_ask(row)?;
            let version = uint(row.try_get(2)?);
            if version == ask.head.seq {
                Ok(ask)
            } else {
                Err(damaged(&ask.id.to_string(), "its row has another version than its state"))
            }
        })
        .collect()
}

fn read_remembered(row: &Row) -> Result<(Key, Remembered), Failure> {
    let ask: Option<Uuid> = row.try_get(3)?;
    let remembered = Remembered {
        fingerprint: digest(row.try_get(2)?),
        ask: ask.map(|id| AskId::new(ulid(id))),
        at: Time::from_millis(row.try_get(4)?),
    };
    Ok(((row.try_get(0)?, row.try_get(1)?), remembered))
}

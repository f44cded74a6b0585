//! Loads what the jobs of a transaction read before they are decided, in one round trip.

use std::collections::BTreeSet;

use deadpool_postgres::Client;
use futures_util::try_join;
use kernel::audit::Head;
use kernel::task::{Artifact, Entry};
use kernel::{ArtifactId, Ask, AskId, Loaded, Subject, Task, TaskId, Time, UploadId};
use serde::de::DeserializeOwned;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};
use uuid::Uuid;

use super::batch::ScopedKey;
use super::connect::{is_durable, not_durable};
use super::failure::{PostgresFailure, damaged};
use super::query::read_state;
use super::{ulid, uuid};
use crate::columns::{digest, uint};
use crate::job::IdempotencyRecord;

/// Held shared by transactions that decide on the current directory, and exclusively by one that
/// changes it: no decision uses a directory that is just being replaced.
const LOCK: i64 = 0x636f_756e_7465_7274;

pub(super) struct LoadedBatch {
    /// The version of the directory.
    pub(super) version: u64,
    /// The time of the database clock.
    pub(super) now: Time,
    pub(super) found: Loaded,
    pub(super) remembered: Vec<(ScopedKey, IdempotencyRecord)>,
}

/// Begins a transaction and loads this data.
pub(super) async fn begin(
    client: &Client,
    alone: bool,
    subjects: &BTreeSet<Subject>,
    keys: &BTreeSet<ScopedKey>,
) -> Result<LoadedBatch, PostgresFailure> {
    let lock = if alone {
        "SELECT pg_advisory_xact_lock($1)"
    } else {
        "SELECT pg_advisory_xact_lock_shared($1)"
    };
    let head = "SELECT version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
        current_setting('synchronous_commit')
        FROM directory";
    let recall = "SELECT scope, key, fingerprint, ask, at, task, seq FROM idempotency
        WHERE (scope, key) IN (SELECT * FROM unnest($1::text[], $2::text[]))";
    // Prepare all statements before the first is sent: preparing waits, and the lock
    // must come first.
    let (lock, head, recall) = (
        client.prepare_cached(lock).await?,
        client.prepare_cached(head).await?,
        client.prepare_cached(recall).await?,
    );
    let wanted = LoadStatements::new(client, subjects).await?;
    let (scopes, names): (Vec<&str>, Vec<&str>) =
        keys.iter().map(|(scope, key)| (scope.as_str(), key.as_str())).unzip();
    let ((), _, head, found, remembered) = try_join!(
        async { Ok(client.batch_execute("BEGIN").await?) },
        async { Ok::<_, PostgresFailure>(client.query(&lock, &[&LOCK]).await?) },
        async { Ok(client.query_one(&head, &[]).await?) },
        wanted.locked(client),
        async {
            if keys.is_empty() {
                return Ok(Vec::new());
            }
            Ok(client.query(&recall, &[&scopes, &names]).await?)
        },
    )?;
    // Checked in the transaction itself, because a connection pooler may have given us another
    // session than the one that was set up.
    let commit: String = head.try_get(2)?;
    if !is_durable(&commit) {
        return Err(PostgresFailure::NotDurable(not_durable(&commit)));
    }
    Ok(LoadedBatch {
        version: uint(head.try_get(0)?),
        now: Time::from_millis(head.try_get(1)?),
        found,
        remembered: remembered.iter().map(read_remembered).collect::<Result<_, _>>()?,
    })
}

/// Loads more data, which a decision turned out to need.
pub(super) async fn load_more(
    client: &Client,
    subjects: &BTreeSet<Subject>,
) -> Result<Loaded, PostgresFailure> {
    LoadStatements::new(client, subjects).await?.locked(client).await
}

/// Those of these uploads that a job may use. They are locked, so they are not discarded meanwhile.
pub(super) async fn usable_uploads(
    client: &Client,
    ids: &[UploadId],
) -> Result<BTreeSet<UploadId>, PostgresFailure> {
    let sql = "SELECT id FROM upload
        WHERE id = ANY ($1) AND checksum IS NOT NULL AND NOT given_up ORDER BY id FOR UPDATE";
    let ids: Vec<Uuid> = ids.iter().map(|id| uuid(id.ulid())).collect();
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&ids]).await?;
    rows.iter().map(|row| Ok(UploadId::new(ulid(row.try_get(0)?)))).collect()
}

// Locked in the order of their ids, so that two transactions seldom wait for each other.
const ASKS: &str = "SELECT id, state, version FROM ask WHERE id = ANY ($1) ORDER BY id FOR UPDATE";
const TASKS: &str =
    "SELECT id, state, version FROM task WHERE id = ANY ($1) ORDER BY id FOR UPDATE";
const ARTIFACTS: &str =
    "SELECT id, state, version FROM artifact WHERE id = ANY ($1) ORDER BY id FOR UPDATE";
const ENTRIES: &str =
    "SELECT id, state, version FROM entry WHERE id = ANY ($1) ORDER BY id FOR UPDATE";

/// The data to load, with the statements that load it; `None` where nothing is needed.
#[derive(Default)]
struct LoadStatements {
    asks: Option<(Statement, Vec<Uuid>)>,
    tasks: Option<(Statement, Vec<Uuid>)>,
    artifacts: Option<(Statement, Vec<Uuid>)>,
    entries: Option<(Statement, Vec<String>)>,
}

impl LoadStatements {
    async fn new(client: &Client, subjects: &BTreeSet<Subject>) -> Result<Self, PostgresFailure> {
        let (mut asks, mut tasks) = (Vec::new(), Vec::new());
        let (mut artifacts, mut entries) = (Vec::new(), Vec::new());
        for subject in subjects {
            match subject {
                Subject::Ask(id) => asks.push(uuid(id.ulid())),
                Subject::Task(id) => tasks.push(uuid(id.ulid())),
                Subject::Artifact(id) => artifacts.push(uuid(id.ulid())),
                Subject::Entry(id) => entries.push(id.to_string()),
                // These are in the directory.
                Subject::Project(_)
                | Subject::Agent(_)
                | Subject::Human(_)
                | Subject::Key(_)
                | Subject::Rule(_)
                | Subject::Webhook(_) => {}
            }
        }
        Ok(Self {
            asks: prepared(client, ASKS, asks).await?,
            tasks: prepared(client, TASKS, tasks).await?,
            artifacts: prepared(client, ARTIFACTS, artifacts).await?,
            entries: prepared(client, ENTRIES, entries).await?,
        })
    }

    async fn locked(&self, client: &Client) -> Result<Loaded, PostgresFailure> {
        let (asks, tasks, artifacts, entries) = try_join!(
            locked(client, self.asks.as_ref(), AskId::PREFIX, |ask: &Ask| ask.head),
            locked(client, self.tasks.as_ref(), TaskId::PREFIX, |task: &Task| task.head),
            locked(client, self.artifacts.as_ref(), ArtifactId::PREFIX, |made: &Artifact| {
                made.head
            }),
            locked(client, self.entries.as_ref(), "", |entry: &Entry| entry.head),
        )?;
        Ok(Loaded {
            asks: asks.into_iter().map(|ask| (ask.id, Some(ask))).collect(),
            tasks: tasks.into_iter().map(|task| (task.id, Some(task))).collect(),
            artifacts: artifacts.into_iter().map(|made| (made.id, Some(made))).collect(),
            entries: entries.into_iter().map(|entry| (entry.id, Some(entry))).collect(),
        })
    }
}

async fn prepared<T>(
    client: &Client,
    sql: &str,
    ids: Vec<T>,
) -> Result<Option<(Statement, Vec<T>)>, PostgresFailure> {
    if ids.is_empty() {
        return Ok(None);
    }
    Ok(Some((client.prepare_cached(sql).await?, ids)))
}

async fn locked<I, T: DeserializeOwned>(
    client: &Client,
    wanted: Option<&(Statement, Vec<I>)>,
    prefix: &str,
    head: impl Fn(&T) -> Head,
) -> Result<Vec<T>, PostgresFailure>
where
    Vec<I>: ToSql + Sync,
{
    let Some((statement, ids)) = wanted else { return Ok(Vec::new()) };
    let rows = client.query(statement, &[ids]).await?;
    let state = |row: &Row| {
        let state: T = read_state(row.try_get(1)?, || name(row, prefix))?;
        if uint(row.try_get(2)?) == head(&state).seq {
            Ok(state)
        } else {
            Err(damaged(&name(row, prefix), "its row has another version than its state"))
        }
    };
    rows.iter().map(state).collect()
}

/// The name of a row: from its id, or the id itself if that is a name.
fn name(row: &Row, prefix: &str) -> String {
    let id = row.try_get(0).map(|id| format!("{prefix}{}", ulid(id)));
    id.or_else(|_| row.try_get(0)).unwrap_or_else(|_| "state".to_owned())
}

fn read_remembered(row: &Row) -> Result<(ScopedKey, IdempotencyRecord), PostgresFailure> {
    let (ask, task): (Option<Uuid>, Option<Uuid>) = (row.try_get(3)?, row.try_get(5)?);
    let seq: Option<i64> = row.try_get(6)?;
    let remembered = IdempotencyRecord {
        fingerprint: digest(row.try_get(2)?),
        ask: ask.map(|id| AskId::new(ulid(id))),
        place: task.map(|id| TaskId::new(ulid(id))).zip(seq.map(uint)),
        at: Time::from_millis(row.try_get(4)?),
    };
    Ok(((row.try_get(0)?, row.try_get(1)?), remembered))
}

//! The write transaction of the file: what a job reads and writes.

use std::sync::Arc;

use kernel::audit::{Erasure, Record};
use kernel::directory::Directory;
use kernel::task::{self, Artifact};
use kernel::{
    AgentId, ArtifactId, Ask, AskId, Entity, EntryId, ProjectId, Refusal, Subject, Task, TaskId,
    Time, UploadId,
};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use serde::Serialize;

use super::statements::execute;
use super::{Published, SqliteFailure, failed, listing, query, task_rows, work_queue};
use crate::columns::{int, uint};
use crate::job::{FeedMetadata, IdempotencyRecord, JobWrites, UnitOfWork};
use crate::listing::{ChangedAsk, ListScope};
use crate::sql::{SIDE_BY_ASK, values};
use crate::usage::CounterGrowth;
use crate::{AnnouncedChange, Change, Idempotency, Result, StoreError, Work};

/// The writing connection, with the changes of the open transaction.
pub(super) struct WriteTransaction {
    conn: Connection,
    /// The working copy; shared with readers until a job of this transaction changes it.
    directory: Arc<Directory>,
    news: Vec<AnnouncedChange>,
    published: Arc<Published>,
    /// The id of the last work ever written: ids are not used again.
    last_work: i64,
    /// The growth of the counters that is not written yet.
    counters: CounterGrowth,
}

impl WriteTransaction {
    pub(super) fn new(conn: Connection, published: Arc<Published>) -> Result<Self> {
        let last_work = work_queue::newest(&conn)?;
        let directory = published.directory();
        let (news, counters) = (Vec::new(), CounterGrowth::default());
        Ok(Self { conn, directory, news, published, last_work, counters })
    }

    pub(super) fn begin(&mut self) -> Result<(), SqliteFailure> {
        // A transaction that could not be rolled back must not become part of the next one.
        if self.is_intact() {
            self.bare("ROLLBACK").map_err(|error| SqliteFailure::Commit(Arc::new(error)))?;
        }
        self.bare("BEGIN IMMEDIATE").map_err(|error| SqliteFailure::Commit(Arc::new(error)))
    }

    /// Whether the transaction is still open: some errors make `SQLite` roll all of it back.
    pub(super) fn is_intact(&self) -> bool {
        !self.conn.is_autocommit()
    }

    /// Commits the transaction to disk.
    pub(super) fn commit(&mut self) -> Result<(), SqliteFailure> {
        self.write_counters()
            .and_then(|()| self.bare("COMMIT"))
            .map_err(|error| SqliteFailure::Commit(Arc::new(error)))
    }

    /// Writes the counters, once for all jobs since the last call.
    fn write_counters(&mut self) -> rusqlite::Result<()> {
        for (name, by) in self.counters.take() {
            self.conn
                .prepare_cached(
                    "INSERT INTO usage (name, used) VALUES (?1, ?2)
                     ON CONFLICT (name) DO UPDATE SET used = used + excluded.used",
                )?
                .execute(params![name, by])?;
        }
        Ok(())
    }

    /// The changes to announce after the commit.
    pub(super) fn take_news(&mut self) -> Vec<AnnouncedChange> {
        std::mem::take(&mut self.news)
    }

    /// Reverts everything since the last commit.
    pub(super) fn abandon(&mut self, directory: Arc<Directory>) {
        self.directory = directory;
        self.news.clear();
        self.counters = CounterGrowth::default();
        self.roll_back();
    }

    /// Ends the transaction. The writer sees that it is no longer intact.
    fn roll_back(&self) {
        if self.is_intact()
            && let Err(error) = self.bare("ROLLBACK")
        {
            tracing::error!(%error, "could not roll back a transaction");
        }
    }

    pub(super) fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    pub(super) fn conn(&self) -> &Connection {
        &self.conn
    }

    /// Writes work, unless work of the same name waits already. Returns the id of the last row.
    pub(super) fn put_work(&mut self, work: &[(Time, Work)]) -> Result<u64> {
        for (at, work) in work {
            self.last_work += 1;
            work_queue::put(&self.conn, self.last_work, work, *at)?;
        }
        Ok(uint(self.last_work))
    }

    /// Runs some work atomically, whatever happens to the other work of the transaction.
    pub(super) fn savepoint<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.atomically(|writing| work(&writing.conn))
    }

    /// The same for work that also writes work of the queue.
    pub(super) fn atomically<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        // The work may read or change the counters.
        self.write_counters().map_err(|error| {
            self.roll_back();
            failed(error)
        })?;
        self.bare("SAVEPOINT task").map_err(failed)?;
        let result = work(self);
        if result.is_err() && self.is_intact() {
            self.or_abandon("ROLLBACK TO task")?;
        }
        if self.is_intact() {
            self.or_abandon("RELEASE task")?;
        }
        result
    }

    /// Runs a statement that must succeed for the rest of the transaction to be valid.
    fn or_abandon(&self, sql: &str) -> Result<()> {
        self.bare(sql).map_err(|error| {
            self.roll_back();
            failed(error)
        })
    }

    fn bare(&self, sql: &str) -> rusqlite::Result<()> {
        self.conn.prepare_cached(sql)?.execute([]).map(drop)
    }
}

impl UnitOfWork for WriteTransaction {
    fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory)
    }

    fn ask(&mut self, id: AskId) -> Result<Option<Ask>> {
        // A cached ask is the last committed version. Only this thread changes asks, so the cached
        // one is current unless this transaction has changed it.
        let subject = Subject::Ask(id);
        if !self.news.iter().any(|news| news.change.subject == subject)
            && let Ok(ask) = self.published.recent.find(id)
        {
            return Ok(Some(Ask::clone(&ask)));
        }
        query::ask(&self.conn, id)
    }

    fn task(&mut self, id: TaskId) -> Result<Option<Task>> {
        task_rows::state(&self.conn, "task", &id.to_string(), id.into())
    }

    fn artifact(&mut self, id: ArtifactId) -> Result<Option<Artifact>> {
        task_rows::state(&self.conn, "artifact", &id.to_string(), id.into())
    }

    fn entry(&mut self, id: EntryId) -> Result<Option<task::Entry>> {
        let name = id.to_string();
        task_rows::state(&self.conn, "entry", &name, name.as_str().into())
    }

    fn idempotency_record(&mut self, scope: &str, key: &str) -> Result<Option<IdempotencyRecord>> {
        query::remembered(&self.conn, scope, key)
    }

    fn write(
        &mut self,
        work: &JobWrites,
        remember: Option<(&Idempotency, IdempotencyRecord)>,
    ) -> Result<()> {
        // For a job on a single subject, only the first statement can fail because of the job
        // itself: the id is taken, or the row has another version than the one read. It has changed
        // nothing then, so the page copies of a savepoint are not needed. A later failure comes
        // from the disk or from damage, and ends the whole transaction.
        let alone = work.is_single();
        let counters = CounterGrowth::default();
        let mut job = JobWriter { changed: false, last_work: self.last_work, counters };
        let written = if alone {
            let written = job.put(&self.conn, work, remember);
            if job.changed && written.is_err() {
                self.roll_back();
            }
            written
        } else {
            self.savepoint(|conn| job.put(conn, work, remember))
        };
        self.last_work = job.last_work;
        self.news.extend(written?);
        self.counters.extend(job.counters);
        if !work.entities.is_empty() {
            let directory = Arc::make_mut(&mut self.directory);
            work.entities.iter().cloned().for_each(|entity| directory.put(entity));
        }
        Ok(())
    }
}

/// The state of writing one job.
struct JobWriter {
    /// Whether any row was changed.
    changed: bool,
    /// The id of the last work.
    last_work: i64,
    /// The growth of the counters.
    counters: CounterGrowth,
}

impl JobWriter {
    fn put(
        &mut self,
        conn: &Connection,
        work: &JobWrites,
        remember: Option<(&Idempotency, IdempotencyRecord)>,
    ) -> Result<Vec<AnnouncedChange>> {
        if let Some(id) = work.uses {
            use_upload(conn, id, work.now)?;
        }
        for moved in &work.asks {
            let growth = put_ask(conn, work, moved)?;
            self.changed = true;
            self.counters.stored(&moved.after, growth);
            listing::relist(conn, moved, &mut self.counters)?;
            if moved.ended() {
                let draft = format!("DELETE FROM {SIDE_BY_ASK} WHERE kind = 'draft' AND ask = $1");
                execute(conn, &draft, &values![moved.after.id])?;
            }
            if moved.changes_receipt() {
                let signatures = "DELETE FROM receipt_signature WHERE ask = $1";
                execute(conn, signatures, &values![moved.after.id])?;
            }
        }
        for moved in &work.tasks {
            task_rows::put(conn, work, moved)?;
            self.changed = true;
            task_rows::relist(conn, moved)?;
        }
        for made in &work.artifacts {
            task_rows::put_artifact(conn, work, made)?;
            self.changed = true;
        }
        for entry in &work.entries {
            task_rows::put_entry(conn, work, entry)?;
            self.changed = true;
        }
        for entity in &work.entities {
            put_entity(conn, work, entity)?;
        }
        for contract in work.contracts() {
            task_rows::put_contract(conn, contract)?;
        }
        for one in &work.in_commit {
            self.last_work += 1;
            work_queue::put(conn, self.last_work, one, work.now)?;
        }
        if let Some(row) = &work.secret {
            execute(conn, PUT_SECRET, &values![row.kind.as_str(), &row.key, row.ask, &row.value])?;
        }
        if let Some((request, remembered)) = remember {
            query::remember(conn, request, &remembered)?;
        }
        let append = |(record, follow_ups)| {
            append(conn, record, work.feed_metadata(record)).map(|(change, lists)| {
                AnnouncedChange { change, lists, follow_ups: Some(follow_ups) }
            })
        };
        work.followed().map(append).collect()
    }
}

const PUT_SECRET: &str = "INSERT INTO side (kind, key, ask, version, value)
    VALUES ($1, $2, $3, 1, $4)
    ON CONFLICT (kind, key) DO UPDATE SET version = version + 1, value = excluded.value";

/// Marks a finished upload as used.
fn use_upload(conn: &Connection, id: UploadId, at: Time) -> Result<()> {
    let sql = "UPDATE upload SET used = TRUE, at = $2
        WHERE id = $1 AND checksum IS NOT NULL AND NOT given_up";
    match execute(conn, sql, &values![id, at])? {
        1 => Ok(()),
        _ => Err(Refusal::NotFound { what: "upload" }.into()),
    }
}

/// Writes the state of an ask. Returns by how many bytes it grew.
fn put_ask(conn: &Connection, work: &JobWrites, moved: &ChangedAsk) -> Result<i64> {
    let ask = &moved.after;
    let id = ask.id.ulid().to_bytes();
    let wake_at = ask.wake_at().map(Time::millis);
    let over_at = ask.retention_start().map(Time::millis);
    let state = json(ask, || ask.id.to_string())?;
    let version = int(ask.head.seq);
    let length = int(state.len());
    if moved.before.is_none() {
        let new = conn
            .prepare_cached(
                "INSERT INTO ask (id, version, wake_at, over_at, state)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )
            .and_then(|mut insert| insert.execute(params![id, version, wake_at, over_at, state]));
        match new {
            Ok(_) => {}
            Err(error) if is_taken(&error) => {
                return Err(Refusal::Exists { what: "request" }.into());
            }
            Err(error) => return Err(failed(error)),
        }
        Ok(length)
    } else {
        let read = int(work.version_before(&Subject::Ask(ask.id)));
        let sql = "SELECT octet_length(state) FROM ask WHERE id = ?1";
        let before: Option<i64> = one(conn, sql, [id], |row| row.get(0))?;
        let found = conn
            .prepare_cached(
                "UPDATE ask SET version = ?2, wake_at = ?3, over_at = ?4, state = ?5
                 WHERE id = ?1 AND version = ?6",
            )
            .and_then(|mut update| {
                update.execute(params![id, version, wake_at, over_at, state, read])
            })
            .map_err(failed)?;
        expect_one(found, || ask.id.to_string())?;
        Ok(length - before.unwrap_or(length))
    }
}

fn put_entity(conn: &Connection, work: &JobWrites, entity: &Entity) -> Result<()> {
    let subject = entity.subject();
    let read = int(work.version_before(&subject));
    let (id, version) = (subject.to_string(), int(entity.head().seq));
    let state = json(entity, || id.clone())?;
    let found = conn
        .prepare_cached(
            "INSERT INTO entity (kind, id, version, state) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (kind, id) DO UPDATE SET version = ?3, state = ?4 WHERE version = ?5",
        )
        .and_then(|mut put| put.execute(params![subject.kind(), id, version, state, read]))
        .map_err(failed)?;
    expect_one(found, || id)
}

/// Appends a record to a chain. The unique key keeps a chain from forking.
fn append(
    conn: &Connection,
    record: &Record,
    about: FeedMetadata<'_>,
) -> Result<(Change, Arc<[ListScope]>)> {
    let subject = record.subject.to_string();
    let contents = if record.contents.is_empty() {
        None
    } else {
        Some(json(&record.contents, || subject.clone())?)
    };
    conn.prepare_cached(
        "INSERT INTO record (subject, seq, at, what, prev, hash, body, contents, agent, project)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )
    .and_then(|mut insert| {
        insert.execute(params![
            subject,
            int(record.seq),
            record.at.millis(),
            record.what,
            record.prev.0,
            record.hash.0,
            record.body,
            contents,
            about.agent.map(AgentId::as_str),
            about.project.map(ProjectId::as_str),
        ])
    })
    .map_err(|error| {
        if is_taken(&error) {
            let what = format!("{subject} event {}", record.seq);
            StoreError::Damaged { what, source: error.into() }
        } else {
            failed(error)
        }
    })?;
    let position = uint(conn.last_insert_rowid());
    if let Some(erasure) = record.erasure() {
        erase(conn, &subject, int(record.seq), &erasure)?;
    }
    let (subject, what) = (record.subject.clone(), record.what.to_owned());
    let change = Change { position, subject, seq: record.seq, at: record.at, what };
    Ok((change, about.lists))
}

/// Deletes the contents of the records of a subject before one that erases them.
fn erase(conn: &Connection, subject: &str, before: i64, erasure: &Erasure) -> Result<()> {
    if *erasure == Erasure::Everything {
        return conn
            .prepare_cached("UPDATE record SET contents = NULL WHERE subject = ?1 AND seq < ?2")
            .and_then(|mut erase| erase.execute(params![subject, before]))
            .map(drop)
            .map_err(failed);
    }
    let sql = "SELECT seq, body FROM record
         WHERE subject = ?1 AND seq < ?2 AND contents IS NOT NULL";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    let earlier: Vec<(i64, String)> = conn
        .prepare_cached(sql)
        .and_then(|mut query| query.query_map(params![subject, before], read)?.collect())
        .map_err(failed)?;
    for (seq, _) in earlier.iter().filter(|(_, body)| erasure.erases(body)) {
        conn.prepare_cached("UPDATE record SET contents = NULL WHERE subject = ?1 AND seq = ?2")
            .and_then(|mut erase| erase.execute(params![subject, seq]))
            .map_err(failed)?;
    }
    Ok(())
}

pub(super) fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// The check of every update: the row must have the version that was read.
pub(super) fn expect_one(found: usize, what: impl FnOnce() -> String) -> Result<()> {
    if found == 1 {
        return Ok(());
    }
    let source = "the row changed after it was read".into();
    Err(StoreError::Damaged { what: what(), source })
}

pub(super) fn json<T: Serialize>(value: &T, what: impl FnOnce() -> String) -> Result<String> {
    // A new ask takes about 1.5 KiB; a buffer that starts empty would be copied several times.
    let mut text = Vec::with_capacity(2048);
    serde_json::to_writer(&mut text, value)
        .map_err(Into::into)
        .and_then(|()| String::from_utf8(text).map_err(Into::into))
        .map_err(|source| StoreError::Damaged { what: what(), source })
}

/// Runs a query for at most one row.
pub(super) fn one<T>(
    conn: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    read: impl FnOnce(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    conn.prepare_cached(sql)
        .and_then(|mut query| query.query_row(params, read).optional())
        .map_err(failed)
}

//! The write side of the file inside one transaction: what a job reads and writes.

use std::sync::Arc;

use kernel::audit::{Erasure, Record};
use kernel::directory::Directory;
use kernel::task::{self, Artifact};
use kernel::{
    AgentId, ArtifactId, Ask, AskId, Effect, Entity, EntryId, ProjectId, Refusal, Subject, Task,
    TaskId, Time, WebhookId,
};
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use serde::Serialize;

use super::{
    Failure, Published, delivery_log, failed, listing, outbox, query, receipts, side, task_rows,
    tasks, uploads,
};
use crate::job::{About, Books, Remembered, Work};
use crate::listing::Moved;
use crate::outbox::{Entry, Logged};
use crate::rows::{int, uint};
use crate::{Change, Idempotency, News, Result, Settlement, StoreError};

/// The writing connection with what the open transaction has changed so far.
pub(super) struct Ledger {
    conn: Connection,
    /// The working copy; shared with everyone until a job of this transaction changes it.
    directory: Arc<Directory>,
    news: Vec<News>,
    published: Arc<Published>,
    /// The id of the last delivery, done or not.
    deliveries: i64,
}

impl Ledger {
    pub(super) fn new(conn: Connection, published: Arc<Published>) -> Result<Self> {
        let deliveries = outbox::newest(&conn)?;
        let directory = published.directory();
        Ok(Self { conn, directory, news: Vec::new(), published, deliveries })
    }

    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        // A transaction that could not be rolled back must not become part of this one.
        if self.is_intact() {
            self.bare("ROLLBACK").map_err(|error| Failure::Commit(Arc::new(error)))?;
        }
        self.bare("BEGIN IMMEDIATE").map_err(|error| Failure::Commit(Arc::new(error)))
    }

    /// Whether there is still a transaction: some errors make `SQLite` roll all of it back.
    pub(super) fn is_intact(&self) -> bool {
        !self.conn.is_autocommit()
    }

    /// Makes everything durable.
    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        self.bare("COMMIT").map_err(|error| Failure::Commit(Arc::new(error)))
    }

    /// What changes with the next commit.
    pub(super) fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// Undoes everything since the last commit.
    pub(super) fn abandon(&mut self, directory: Arc<Directory>) {
        self.directory = directory;
        self.news.clear();
        self.roll_back();
    }

    /// Ends the transaction; whoever runs it sees that it is no longer intact.
    fn roll_back(&self) {
        if self.is_intact()
            && let Err(error) = self.bare("ROLLBACK")
        {
            tracing::error!(%error, "the store could not roll back");
        }
    }

    pub(super) fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    pub(super) fn conn(&self) -> &Connection {
        &self.conn
    }

    /// Settles deliveries; what comes in the place of one is counted like any other.
    pub(super) fn settle(&mut self, settled: &[(u64, Settlement)], log: Vec<Entry>) -> Result<()> {
        let mut deliveries = self.deliveries;
        let done = self.savepoint(|conn| outbox::settle(conn, settled, log, &mut deliveries));
        self.deliveries = deliveries;
        done
    }

    /// Whether an ask is there and open.
    pub(super) fn is_open(&mut self, ask: AskId) -> Result<bool> {
        Ok(self.ask(ask)?.is_some_and(|ask| ask.is_open()))
    }

    /// Has something done now.
    pub(super) fn hasten(&mut self, effect: &Effect, now: Time) -> Result<()> {
        let next = self.deliveries + 1;
        self.savepoint(|conn| {
            if outbox::hasten(conn, effect, now)? {
                return Ok(());
            }
            outbox::put(conn, next, effect, now)
        })?;
        self.deliveries = next;
        Ok(())
    }

    /// Has an endpoint told once more what the log has under this id.
    pub(super) fn redeliver(
        &mut self,
        webhook: WebhookId,
        id: &str,
        now: Time,
    ) -> Result<Option<Logged>> {
        let next = self.deliveries + 1;
        let again = self.savepoint(|conn| {
            let Some(logged) = delivery_log::find(conn, webhook, id)? else { return Ok(None) };
            let effect = logged.again();
            let waits = match logged.delivery {
                Some(delivery) => outbox::hurry(conn, delivery, &effect.lane(), now)?,
                None => false,
            };
            let delivery = logged.delivery.filter(|_| waits).unwrap_or_else(|| uint(next));
            if !waits {
                outbox::put(conn, next, &effect, now)?;
            }
            let logged = logged.awaiting(delivery, now);
            delivery_log::put(conn, &logged)?;
            Ok(Some(logged))
        })?;
        self.deliveries = next;
        Ok(again)
    }

    /// Does some work whole or not at all, whatever becomes of its neighbours.
    pub(super) fn savepoint<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.bare("SAVEPOINT task").map_err(failed)?;
        let result = work(&self.conn);
        if result.is_err() && self.is_intact() {
            self.or_abandon("ROLLBACK TO task")?;
        }
        if self.is_intact() {
            self.or_abandon("RELEASE task")?;
        }
        result
    }

    /// What must succeed for the rest of the transaction to be trusted.
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

impl Books for Ledger {
    fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.directory)
    }

    fn ask(&mut self, id: AskId) -> Result<Option<Ask>> {
        // What was read lately is as it was committed last. Nobody but this thread changes that, so
        // it is the truth unless this very transaction has changed it.
        let subject = Subject::Ask(id);
        if !self.news.iter().any(|news| news.change.subject == subject)
            && let Ok(ask) = self.published.recent.find(id)
        {
            return Ok(Some(Ask::clone(&ask)));
        }
        query::ask(&self.conn, id)
    }

    fn task(&mut self, id: TaskId) -> Result<Option<Task>> {
        tasks::task(&self.conn, id)
    }

    fn artifact(&mut self, id: ArtifactId) -> Result<Option<Artifact>> {
        tasks::artifact(&self.conn, id)
    }

    fn entry(&mut self, id: EntryId) -> Result<Option<task::Entry>> {
        tasks::entry(&self.conn, id)
    }

    fn remembered(&mut self, scope: &str, key: &str) -> Result<Option<Remembered>> {
        query::remembered(&self.conn, scope, key)
    }

    fn write(&mut self, work: &Work, remember: Option<(&Idempotency, Remembered)>) -> Result<()> {
        // The first statement of work on a single thing is the only one that can fail for a reason of
        // its own: the id is taken, or the row is not the version that was read. It has changed
        // nothing then, so the copies of pages a savepoint keeps are spared. What fails later is the
        // disk or damage, and takes the whole transaction along.
        let alone = work.is_single();
        let mut pen = Pen { begun: false, deliveries: self.deliveries };
        let written = if alone {
            let written = pen.put(&self.conn, work, remember);
            if pen.begun && written.is_err() {
                self.roll_back();
            }
            written
        } else {
            self.savepoint(|conn| pen.put(conn, work, remember))
        };
        self.deliveries = pen.deliveries;
        self.news.extend(written?);
        if !work.entities.is_empty() {
            let directory = Arc::make_mut(&mut self.directory);
            work.entities.iter().cloned().for_each(|entity| directory.put(entity));
        }
        Ok(())
    }
}

/// What is known while a job is written.
struct Pen {
    /// Whether anything was changed.
    begun: bool,
    /// The id of the last delivery.
    deliveries: i64,
}

impl Pen {
    /// Writes everything.
    fn put(
        &mut self,
        conn: &Connection,
        work: &Work,
        remember: Option<(&Idempotency, Remembered)>,
    ) -> Result<Vec<News>> {
        if let Some(id) = work.uses {
            uploads::use_up(conn, id, work.now)?;
        }
        for moved in &work.asks {
            put_ask(conn, work, moved)?;
            self.begun = true;
            listing::relist(conn, moved)?;
            if moved.ended() {
                side::delete_draft(conn, moved.after.id)?;
            }
            if moved.changes_receipt() {
                receipts::delete(conn, moved.after.id)?;
            }
        }
        for moved in &work.tasks {
            task_rows::put(conn, work, moved)?;
            self.begun = true;
            task_rows::relist(conn, moved)?;
        }
        for made in &work.artifacts {
            task_rows::put_artifact(conn, work, made)?;
            self.begun = true;
        }
        for entry in &work.entries {
            task_rows::put_entry(conn, work, entry)?;
            self.begun = true;
        }
        for entity in &work.entities {
            put_entity(conn, work, entity)?;
        }
        for contract in work.contracts() {
            task_rows::put_contract(conn, contract)?;
        }
        for effect in &work.effects {
            self.deliveries += 1;
            outbox::put(conn, self.deliveries, effect, work.now)?;
        }
        if let Some((request, remembered)) = remember {
            query::remember(conn, request, &remembered)?;
        }
        work.records.iter().map(|record| append(conn, record, work.about(record))).collect()
    }
}

fn put_ask(conn: &Connection, work: &Work, moved: &Moved) -> Result<()> {
    let ask = &moved.after;
    let id = ask.id.ulid().to_bytes();
    let wake_at = ask.wake_at().map(Time::millis);
    let over_at = ask.kept_since().map(Time::millis);
    let state = json(ask, || ask.id.to_string())?;
    let version = int(ask.head.seq);
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
    } else {
        let read = int(work.version_before(&Subject::Ask(ask.id)));
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
    }
    Ok(())
}

fn put_entity(conn: &Connection, work: &Work, entity: &Entity) -> Result<()> {
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

/// Writes one link of a chain. Its unique place keeps a chain from forking.
fn append(conn: &Connection, record: &Record, about: About<'_>) -> Result<News> {
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
    Ok(News { change, lists: about.lists })
}

/// Drops the contents of the records of a subject before one that erases them.
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
    for (seq, _) in earlier.iter().filter(|(_, body)| erasure.takes(body)) {
        conn.prepare_cached("UPDATE record SET contents = NULL WHERE subject = ?1 AND seq = ?2")
            .and_then(|mut erase| erase.execute(params![subject, seq]))
            .map_err(failed)?;
    }
    Ok(())
}

pub(super) fn is_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// The guard of every update: the row must be the version that was read.
pub(super) fn expect_one(found: usize, what: impl FnOnce() -> String) -> Result<()> {
    if found == 1 {
        return Ok(());
    }
    let source = "the row is not the version that was read".into();
    Err(StoreError::Damaged { what: what(), source })
}

pub(super) fn json<T: Serialize>(value: &T, what: impl FnOnce() -> String) -> Result<String> {
    // A new ask is a kilobyte and a half; grown from nothing it would be copied several times.
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

//! Removes erased text from the files a server has open.
//!
//! Two places keep text after it was deleted. FTS5 only marks the rows of a contentless table as
//! deleted; their terms stay in the index until its segments are merged. And a write-ahead log
//! holds earlier versions of pages until it is checkpointed and truncated. This module handles
//! both, on separate connections, in small steps, and never in the transaction that erased.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::failed;
use super::transaction::one;
use crate::Result;

/// How many pages of the index one step merges. A search or an update of the index may wait
/// for one step.
const PAGES: i64 = 256;
/// A pass rewrites the whole index. Before the next one it pauses this many times as long as
/// the pass took.
const REST: u32 = 9;
/// How long the truncation of a log waits for readers. Commits wait during this time.
const PATIENCE: Duration = Duration::from_millis(20);

/// Counts the erasures, and the erasures up to which the index was merged. An index from before
/// this table existed may contain erased terms, so it starts with one pending erasure.
pub(super) const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS erasure (
        one    INTEGER PRIMARY KEY CHECK (one = 1),
        wanted INTEGER NOT NULL,
        merged INTEGER NOT NULL
    ) STRICT;
    INSERT OR IGNORE INTO erasure (one, wanted, merged) VALUES (1, 1, 0);";

/// The pending work. State lost with the process is safe: after a start, both logs are truncated
/// and an unfinished pass starts again.
pub(super) struct Purge {
    store: PathBuf,
    index: PathBuf,
    /// The number of erasures that the current pass removes; `None` if no pass is running.
    pass: Option<i64>,
    /// How long the steps of this pass took.
    took: Duration,
    /// The earliest start of the next pass.
    not_before: Option<Instant>,
    /// Set by other threads to request the truncation of the logs, without waiting for a step.
    wanted: Arc<AtomicBool>,
    store_log: bool,
    index_log: bool,
}

impl Purge {
    pub(super) fn new(store: &Path, index: &Path) -> Self {
        Self {
            store: store.to_owned(),
            index: index.to_owned(),
            pass: None,
            took: Duration::ZERO,
            not_before: None,
            wanted: Arc::new(AtomicBool::new(true)),
            store_log: false,
            index_log: false,
        }
    }

    /// The flag that requests the truncation of both logs with the next step.
    pub(super) fn wanted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.wanted)
    }

    /// Does one step. Returns whether the index needs more steps. A log that a reader keeps from
    /// being truncated is retried with the next step.
    pub(super) fn step(&mut self, conn: &Connection) -> Result<bool> {
        if self.wanted.swap(false, Ordering::Relaxed) {
            self.store_log = true;
            self.index_log = true;
        }
        if self.store_log {
            self.store_log = !truncated(&self.store)?;
        }
        let more = self.merge(conn)?;
        if self.index_log && !more {
            self.index_log = !truncated(&self.index)?;
        }
        Ok(more)
    }

    /// Merges a part of the index, if it still contains erased terms. Returns whether
    /// there is more.
    fn merge(&mut self, conn: &Connection) -> Result<bool> {
        let began = Instant::now();
        let (pass, pages) = match self.pass {
            Some(pass) => (pass, PAGES),
            None if self.not_before.is_some_and(|then| began < then) => return Ok(false),
            None => match unmerged(conn)? {
                // A negative number starts a merge of all segments into one.
                Some(wanted) => (wanted, -PAGES),
                None => return Ok(false),
            },
        };
        let before = conn.total_changes();
        conn.prepare_cached("INSERT INTO text (text, rank) VALUES ('merge', ?1)")
            .and_then(|mut merge| merge.execute([pages]))
            .map_err(failed)?;
        self.took += began.elapsed();
        // A merge with work to do changes the structure and at least one page.
        if conn.total_changes().saturating_sub(before) >= 2 {
            self.pass = Some(pass);
            return Ok(true);
        }
        conn.execute("UPDATE erasure SET merged = ?1", [pass]).map_err(failed)?;
        self.pass = None;
        self.not_before = Some(Instant::now() + self.took * REST);
        self.took = Duration::ZERO;
        self.index_log = true;
        Ok(false)
    }
}

/// The number of erasures, if the index was not merged since the last one.
fn unmerged(conn: &Connection) -> Result<Option<i64>> {
    let sql = "SELECT wanted FROM erasure WHERE wanted <> merged";
    one(conn, sql, [], |row| row.get(0))
}

/// Records an erasure, in the transaction that deletes the terms from the index.
pub(super) fn erased(conn: &Connection) -> Result<()> {
    conn.execute("UPDATE erasure SET wanted = wanted + 1", []).map(drop).map_err(failed)
}

/// Checkpoints and truncates the log of a database. Returns `false` if a reader prevented it.
fn truncated(path: &Path) -> Result<bool> {
    let mut log = OsString::from(path);
    log.push("-wal");
    if std::fs::metadata(log).map_or(0, |log| log.len()) == 0 {
        return Ok(true);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(failed)?;
    conn.busy_timeout(PATIENCE).map_err(failed)?;
    // The first checkpoint blocks no one, so that the second one, which does, has little to do.
    for mode in ["PASSIVE", "TRUNCATE"] {
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        let busy: i64 = conn.query_row(&sql, [], |row| row.get(0)).map_err(failed)?;
        if busy != 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

//! The full-text index: FTS5 in a file beside the store's. It is built from the audit log after
//! the commits, on a separate connection, so no commit waits for it. If the file is lost, the
//! server rebuilds it.
//!
//! It contains only tokens, without their positions. The row id of a document is the row number of
//! its ask, so the newest matches are found by reading backwards, however many there are.
//!
//! Deleting a document only marks it as deleted. [`purge`] removes the terms of erased ones.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kernel::audit::Digest;
use kernel::{Ask, AskId, Subject};
use rusqlite::{Connection, OpenFlags, params};

use super::purge::{self, Purge};
use super::transaction::one;
use super::{failed, record};
use crate::columns::{digest, int, uint};
use crate::search::{MAX_RESULTS, SearchQuery, SearchTerms, changes_tokens, tokens};
use crate::{Result, StoreError};

/// Prefixes of these lengths are indexed.
const PREFIXES: [usize; 3] = [2, 3, 4];
/// How many asks are examined for a longer prefix.
const MAX_EXAMINED: usize = 1_000;
/// If at most this many asks match the words, the marker tokens are not looked up.
const FEW_MATCHES: usize = 20;

const SCHEMA: &str = "
    CREATE VIRTUAL TABLE IF NOT EXISTS text USING fts5(
        words, content='', contentless_delete=1, detail=none, prefix='2 3 4', tokenize='ascii'
    );
    CREATE TABLE IF NOT EXISTS place (
        one      INTEGER PRIMARY KEY CHECK (one = 1),
        position INTEGER NOT NULL,
        hash     BLOB    NOT NULL
    ) STRICT;
    INSERT OR IGNORE INTO place (one, position, hash) VALUES (1, 0, x'');";

/// The connection that writes the index.
#[derive(Clone)]
pub(super) struct IndexWriter {
    conn: Arc<Mutex<Connection>>,
    purge: Arc<Mutex<Purge>>,
    /// Set to request the truncation of the logs.
    truncate: Arc<AtomicBool>,
}

/// The tokens of an ask; empty to remove it from the index.
struct AskTokens {
    /// The row number of the ask.
    n: i64,
    tokens: BTreeSet<String>,
}

/// The changes since the last update of the index.
pub(super) struct UnindexedChanges {
    changes: usize,
    position: u64,
    hash: Digest,
    found: Vec<AskTokens>,
    /// Whether text of an ask was erased.
    erased: bool,
    /// Whether any text was erased.
    erased_any: bool,
}

impl UnindexedChanges {
    pub(super) fn is_empty(&self) -> bool {
        self.changes == 0
    }

    /// Whether text of any subject was erased.
    pub(super) fn erased_any(&self) -> bool {
        self.erased_any
    }
}

/// The position of the index in the feed.
#[derive(Clone)]
pub(super) struct IndexPosition {
    position: u64,
    hash: Vec<u8>,
}

/// The path of the index of a store.
pub(super) fn path(store: &Path) -> PathBuf {
    let mut name = OsString::from(store);
    name.push(".search");
    PathBuf::from(name)
}

/// Attaches the index to a reader, if it exists. A store can be read without one.
pub(super) fn attach(conn: &Connection, store: &Path) {
    let path = path(store);
    if path.exists()
        && let Err(error) = conn.execute("ATTACH ?1 AS search", [path.to_string_lossy()])
    {
        tracing::warn!(error = %error, "cannot read the search index");
    }
}

impl IndexWriter {
    /// Opens the index, or rebuilds it if it cannot be read.
    pub(super) fn open(store: &Path) -> Result<Self> {
        let path = path(store);
        let conn = prepared(&path).or_else(|error| {
            tracing::warn!(error = %error, "the search index is damaged; rebuilding it");
            for end in ["", "-wal", "-shm"] {
                let mut name = OsString::from(&path);
                name.push(end);
                // A file that does not exist need not be deleted.
                let _ = std::fs::remove_file(PathBuf::from(name));
            }
            prepared(&path)
        })?;
        let purge = Purge::new(store, &path);
        let (truncate, purge) = (purge.wanted(), Arc::new(Mutex::new(purge)));
        Ok(Self { conn: Arc::new(Mutex::new(conn)), purge, truncate })
    }

    /// Removes some of the erased text from the files. Returns whether there is more to do.
    pub(super) async fn purge(&self) -> Result<bool> {
        let purge = Arc::clone(&self.purge);
        let step = move |conn: &mut Connection| {
            purge.lock().unwrap_or_else(PoisonError::into_inner).step(conn)
        };
        self.run(step).await
    }

    /// Requests the truncation of the logs with the next step of [`IndexWriter::purge`].
    pub(super) fn truncate_logs(&self) {
        self.truncate.store(true, Ordering::Relaxed);
    }

    /// Runs a closure on a blocking thread.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    {
        let conn = Arc::clone(&self.conn);
        let working = move || work(&mut conn.lock().unwrap_or_else(PoisonError::into_inner));
        let done = tokio::task::spawn_blocking(working).await;
        done.map_err(|error| StoreError::Unavailable(error.into()))?
    }
}

fn prepared(path: &Path) -> Result<Connection> {
    let unavailable = |error: std::io::Error| StoreError::Unavailable(error.into());
    File::options().create(true).append(true).mode(0o600).open(path).map_err(unavailable)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(failed)?;
    conn.busy_timeout(std::time::Duration::from_secs(5)).map_err(failed)?;
    // Not synced at every commit: changes lost in a crash are indexed again, and the
    // file stays consistent.
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;
         PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;
         PRAGMA journal_size_limit = 16777216;",
    )
    .map_err(failed)?;
    conn.execute_batch(SCHEMA).map_err(failed)?;
    conn.execute_batch(purge::SCHEMA).map_err(failed)?;
    Ok(conn)
}

pub(super) fn index_position(conn: &Connection) -> Result<IndexPosition> {
    let sql = "SELECT position, hash FROM place";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(IndexPosition { position: uint(row.get(0)?), hash: row.get(1)? })
    };
    let none = IndexPosition { position: 0, hash: Vec::new() };
    Ok(one(conn, sql, [], read)?.unwrap_or(none))
}

/// The changes after a position, read from the store. `None` if the position is not one of this
/// feed: then the index belongs to another database and is rebuilt.
pub(super) fn unindexed_changes(
    conn: &Connection,
    from: &IndexPosition,
    limit: usize,
) -> Result<Option<UnindexedChanges>> {
    let moment = conn.unchecked_transaction().map_err(failed)?;
    if from.position > 0
        && hash_at(&moment, from.position)?.map(|hash| hash.0.to_vec()).as_ref() != Some(&from.hash)
    {
        return Ok(None);
    }
    let changes = record::changes(&moment, from.position, limit)?;
    let position = changes.last().map_or(from.position, |change| change.position);
    let hash = hash_at(&moment, position)?.unwrap_or(Digest::ZERO);
    let mut asks = BTreeSet::new();
    let (mut erased, mut erased_any) = (false, false);
    for change in changes.iter().filter(|change| changes_tokens(&change.what)) {
        let erases = change.what.ends_with("erased");
        erased_any |= erases;
        if let Subject::Ask(id) = change.subject {
            asks.insert(id);
            erased |= erases;
        }
    }
    let mut found = Vec::with_capacity(asks.len());
    for id in asks {
        found.extend(numbered(&moment, id)?.map(|(n, ask)| AskTokens { n, tokens: tokens(&ask) }));
    }
    Ok(Some(UnindexedChanges { changes: changes.len(), position, hash, found, erased, erased_any }))
}

fn hash_at(conn: &Connection, position: u64) -> Result<Option<Digest>> {
    let hash = |row: &rusqlite::Row<'_>| Ok(digest(row.get_ref(0)?.as_bytes().unwrap_or_default()));
    one(conn, "SELECT hash FROM record WHERE position = ?1", [int(position)], hash)
}

fn numbered(conn: &Connection, id: AskId) -> Result<Option<(i64, Ask)>> {
    let sql = "SELECT n, state FROM ask WHERE id = ?1";
    let row = one(conn, sql, [id.ulid().to_bytes()], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
    })?;
    row.map(|(n, state)| Ok((n, parsed(&state, || id.to_string())?))).transpose()
}

fn parsed(state: &str, what: impl FnOnce() -> String) -> Result<Ask> {
    serde_json::from_str(state)
        .map_err(|error| StoreError::Damaged { what: what(), source: error.into() })
}

/// Writes the changes to the index. Returns how many there were.
pub(super) fn catch_up(
    conn: &mut Connection,
    from: &IndexPosition,
    behind: &UnindexedChanges,
) -> Result<usize> {
    let work = conn.transaction().map_err(failed)?;
    // Another update from the same position has written the same changes; there is nothing to do.
    if index_position(&work)?.position != from.position {
        return Ok(behind.changes);
    }
    for AskTokens { n, tokens } in &behind.found {
        let drop = "DELETE FROM text WHERE rowid = ?1";
        work.prepare_cached(drop).and_then(|mut drop| drop.execute([n])).map_err(failed)?;
        if !tokens.is_empty() {
            let words = tokens.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
            let add = "INSERT INTO text (rowid, words) VALUES (?1, ?2)";
            work.prepare_cached(add)
                .and_then(|mut add| add.execute(params![n, words]))
                .map_err(failed)?;
        }
    }
    if behind.erased {
        purge::erased(&work)?;
    }
    work.prepare_cached("UPDATE place SET position = ?1, hash = ?2")
        .and_then(|mut put| put.execute(params![int(behind.position), behind.hash.0]))
        .map_err(failed)?;
    work.commit().map_err(failed)?;
    Ok(behind.changes)
}

/// Empties the index, to rebuild it.
pub(super) fn clear_index(conn: &mut Connection) -> Result<()> {
    let work = conn.transaction().map_err(failed)?;
    work.execute_batch(
        "INSERT INTO text (text) VALUES ('delete-all'); UPDATE place SET position = 0, hash = x'';",
    )
    .map_err(failed)?;
    work.commit().map_err(failed)
}

/// The newest asks that match. A last word that is longer than the indexed prefixes is searched as
/// a complete word, and among the words with the same indexed prefix.
pub(super) fn search(conn: &Connection, wanted: &SearchQuery) -> Result<Vec<Ask>> {
    let Some(terms) = wanted.terms() else { return Ok(Vec::new()) };
    let moment = conn.unchecked_transaction().map_err(failed)?;
    let length = terms.last.chars().count();
    let limit = wanted.limit();
    let longest = PREFIXES.into_iter().max().unwrap_or_default();
    let mut asks = std::collections::BTreeMap::new();
    if length > longest || !PREFIXES.contains(&length) {
        read(&moment, &terms, &quoted(&terms.last), limit, MAX_RESULTS, &mut asks)?;
    }
    if length > longest {
        let beginning: String = terms.last.chars().take(longest).collect();
        read(&moment, &terms, &prefix_expression(&beginning), limit, MAX_EXAMINED, &mut asks)?;
    } else if PREFIXES.contains(&length) {
        read(&moment, &terms, &prefix_expression(&terms.last), limit, MAX_EXAMINED, &mut asks)?;
    }
    Ok(asks.into_values().rev().take(limit).collect())
}

/// Reads matches, newest first, until there are enough results or enough were examined.
fn read(
    conn: &Connection,
    terms: &SearchTerms,
    last: &str,
    limit: usize,
    looked_at: usize,
    found: &mut std::collections::BTreeMap<AskId, Ask>,
) -> Result<()> {
    let rows = match few_matches(conn, terms, last)? {
        Some(rows) => rows,
        None => matching(conn, &query(terms, last), looked_at)?,
    };
    let mut new = 0;
    for n in rows {
        if new == limit {
            break;
        }
        let state =
            one(conn, "SELECT state FROM ask WHERE n = ?1", [n], |row| row.get::<_, String>(0))?;
        let Some(state) = state else { continue };
        let ask = parsed(&state, || format!("ask {n}"))?;
        // The index may lag; check the current state.
        if terms.admit(&ask) {
            new += 1;
            found.insert(ask.id, ask);
        }
    }
    Ok(())
}

/// The matches of the words alone, if there are few. Nearly every ask has the marker tokens of the
/// lists, so looking those up costs more than checking the matches.
fn few_matches(conn: &Connection, terms: &SearchTerms, last: &str) -> Result<Option<Vec<i64>>> {
    let words = terms.words().map(quoted).chain([last.to_owned()]).collect::<Vec<_>>();
    let rows = matching(conn, &words.join(" AND "), FEW_MATCHES + 1)?;
    Ok((rows.len() <= FEW_MATCHES).then_some(rows))
}

/// The row numbers of the newest asks that match.
fn matching(conn: &Connection, expression: &str, limit: usize) -> Result<Vec<i64>> {
    let sql = "SELECT rowid FROM search.text WHERE text MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
    let mut select = conn.prepare_cached(sql).map_err(failed)?;
    let rows = select.query_map(params![expression, int(limit)], |row| row.get(0));
    rows.and_then(Iterator::collect).map_err(failed)
}

fn query(terms: &SearchTerms, last: &str) -> String {
    let all = terms.all.iter().map(|term| quoted(term));
    let any = terms.any.iter().map(|union| {
        let union: Vec<String> = union.iter().map(|term| quoted(term)).collect();
        format!("({})", union.join(" OR "))
    });
    all.chain(any).chain([last.to_owned()]).collect::<Vec<_>>().join(" AND ")
}

/// An expression for any word with this prefix.
fn prefix_expression(beginning: &str) -> String {
    format!("{} *", quoted(beginning))
}

fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

//! The import of a SQLite store: every row as stored, including positions and hashes, in one
//! transaction. So it is complete or absent, and a repeated import replaces the earlier one.

use std::path::Path;
use std::pin::pin;
use std::thread;

use deadpool_postgres::Transaction;
use rusqlite::types::FromSql;
use rusqlite::{Connection, Row};
use tokio::sync::mpsc;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use super::Postgres;
use super::failure::Failure;
use crate::sqlite::Source;
use crate::{Result, StoreError};

/// Rows per page.
const PAGE: usize = 500;
/// Pages that may wait.
const AHEAD: usize = 4;
/// How often the import is tried.
const TRIES: u32 = 5;

/// A table of this database, and the SQLite query that fills it.
struct Table {
    name: &'static str,
    columns: &'static [(&'static str, Type)],
    select: &'static str,
}

static TABLES: [Table; 32] = [
    Table {
        name: "ask",
        columns: &[("id", Type::UUID), ("version", Type::INT8), ("state", Type::TEXT)],
        select: "SELECT id, version, state FROM ask",
    },
    Table {
        name: "wake",
        columns: &[("ask", Type::UUID), ("at", Type::INT8)],
        select: "SELECT id, wake_at FROM ask WHERE wake_at IS NOT NULL",
    },
    Table {
        name: "ended",
        columns: &[("ask", Type::UUID), ("at", Type::INT8), ("project", Type::TEXT)],
        select: "SELECT id, over_at, state ->> '$.asked.project' FROM ask WHERE over_at NOTNULL",
    },
    Table {
        name: "file_use",
        columns: &[("ask", Type::UUID), ("digest", Type::BYTEA)],
        select: "SELECT ask, digest FROM file_use",
    },
    Table {
        name: "listing",
        columns: &[
            ("scope", Type::TEXT),
            ("phase", Type::TEXT),
            ("rank", Type::INT2),
            ("id", Type::UUID),
            ("kind", Type::TEXT),
            ("priority", Type::INT2),
            ("agent_label", Type::TEXT),
            ("project_label", Type::TEXT),
            ("fold", Type::INT8),
        ],
        select: "SELECT scope, phase, rank, id, kind, priority, agent_label, project_label, fold
                 FROM listing",
    },
    Table {
        name: "deadline",
        columns: &[("scope", Type::TEXT), ("at", Type::INT8), ("id", Type::UUID)],
        select: "SELECT scope, at, id FROM deadline",
    },
    Table {
        name: "entity",
        columns: &[
            ("kind", Type::TEXT),
            ("id", Type::TEXT),
            ("version", Type::INT8),
            ("changed", Type::INT8),
            ("state", Type::TEXT),
        ],
        select: "SELECT kind, id, version, 1, state FROM entity",
    },
    Table { name: "directory", columns: &[("version", Type::INT8)], select: "SELECT 1" },
    Table {
        name: "record",
        columns: &[
            ("subject", Type::TEXT),
            ("seq", Type::INT8),
            ("at", Type::INT8),
            ("what", Type::TEXT),
            ("prev", Type::BYTEA),
            ("hash", Type::BYTEA),
            ("body", Type::TEXT),
            ("contents", Type::TEXT),
        ],
        select: "SELECT subject, seq, at, what, prev, hash, body, contents FROM record
                 ORDER BY position",
    },
    Table {
        name: "feed",
        columns: &[
            ("position", Type::INT8),
            ("subject", Type::TEXT),
            ("seq", Type::INT8),
            ("agent", Type::TEXT),
            ("project", Type::TEXT),
        ],
        select: "SELECT position, subject, seq, agent, project FROM record ORDER BY position",
    },
    Table {
        name: "work",
        columns: &[
            ("rank", Type::INT2),
            ("due_at", Type::INT8),
            ("attempt", Type::INT4),
            ("written_at", Type::INT8),
            ("dead", Type::BOOL),
            ("effect", Type::TEXT),
            ("error", Type::TEXT),
            ("lane", Type::TEXT),
            ("name", Type::TEXT),
        ],
        select: "SELECT rank, due_at, attempt, written_at, dead, effect, error, lane, name
                 FROM work ORDER BY id",
    },
    Table {
        name: "follower",
        columns: &[("name", Type::TEXT), ("position", Type::INT8)],
        select: "SELECT name, position FROM follower",
    },
    Table {
        name: "delivery_log",
        columns: &[
            ("webhook", Type::UUID),
            ("message", Type::TEXT),
            ("at", Type::INT8),
            ("status", Type::TEXT),
            ("updated_at", Type::INT8),
            ("state", Type::TEXT),
        ],
        select: "SELECT webhook, message, at, status, updated_at, state FROM delivery_log",
    },
    Table {
        name: "idempotency",
        columns: &[
            ("scope", Type::TEXT),
            ("key", Type::TEXT),
            ("fingerprint", Type::BYTEA),
            ("ask", Type::UUID),
            ("at", Type::INT8),
            ("task", Type::UUID),
            ("seq", Type::INT8),
        ],
        select: "SELECT scope, key, fingerprint, ask, at, task, seq FROM idempotency",
    },
    Table {
        name: "key_use",
        columns: &[("key", Type::UUID), ("at", Type::INT8)],
        select: "SELECT key, at FROM key_use",
    },
    Table {
        name: "block",
        columns: &[
            ("n", Type::INT8),
            ("first", Type::INT8),
            ("count", Type::INT8),
            ("root", Type::BYTEA),
            ("prev", Type::BYTEA),
            ("at", Type::INT8),
            ("issuer", Type::TEXT),
            ("jws", Type::TEXT),
        ],
        select: "SELECT n, first, count, root, prev, at, issuer, jws FROM block ORDER BY n",
    },
    Table {
        name: "receipt_signature",
        columns: &[
            ("ask", Type::UUID),
            ("claims", Type::BYTEA),
            ("kid", Type::TEXT),
            ("signature", Type::BYTEA),
        ],
        select: "SELECT ask, claims, kid, signature FROM receipt_signature",
    },
    Table {
        name: "side",
        columns: &[
            ("kind", Type::TEXT),
            ("key", Type::TEXT),
            ("ask", Type::UUID),
            ("human", Type::TEXT),
            ("version", Type::INT8),
            ("expires_at", Type::INT8),
            ("value", Type::BYTEA),
        ],
        select: "SELECT kind, key, ask, human, version, expires_at, value FROM side",
    },
    Table {
        name: "message",
        columns: &[
            ("name", Type::BYTEA),
            ("ask", Type::UUID),
            ("medium", Type::TEXT),
            ("recipient", Type::BYTEA),
            ("at", Type::INT8),
            ("posted", Type::TEXT),
            ("thread", Type::TEXT),
            ("over", Type::BOOL),
            ("updated_at", Type::INT8),
            ("state", Type::TEXT),
        ],
        select: "SELECT name, ask, medium, recipient, at, posted, thread, over, updated_at, state
                 FROM message",
    },
    Table {
        name: "task",
        columns: &[
            ("id", Type::UUID),
            ("version", Type::INT8),
            ("over_at", Type::INT8),
            ("state", Type::TEXT),
        ],
        select: "SELECT id, version, over_at, state FROM task",
    },
    Table {
        name: "task_list",
        columns: &[("scope", Type::TEXT), ("id", Type::UUID)],
        select: "SELECT scope, id FROM task_list",
    },
    Table {
        name: "artifact",
        columns: &[("id", Type::UUID), ("version", Type::INT8), ("state", Type::TEXT)],
        select: "SELECT id, version, state FROM artifact",
    },
    Table {
        name: "entry",
        columns: &[
            ("id", Type::TEXT),
            ("version", Type::INT8),
            ("scope", Type::TEXT),
            ("key", Type::TEXT),
            ("state", Type::TEXT),
        ],
        select: "SELECT id, version, scope, key, state FROM entry",
    },
    Table {
        name: "review",
        columns: &[("id", Type::UUID), ("task", Type::UUID)],
        select: "SELECT id, task FROM review",
    },
    Table {
        name: "contract",
        columns: &[
            ("n", Type::INT8),
            ("agent", Type::TEXT),
            ("task", Type::UUID),
            ("seq", Type::INT8),
            ("duty", Type::TEXT),
            ("run", Type::UUID),
            ("at", Type::INT8),
            ("contract", Type::TEXT),
        ],
        select: "SELECT n, agent, task, seq, duty, run, at, contract FROM contract ORDER BY n",
    },
    Table {
        name: "runtime_ack",
        columns: &[("agent", Type::TEXT), ("n", Type::INT8)],
        select: "SELECT agent, n FROM runtime_ack",
    },
    Table {
        name: "upload",
        columns: &[
            ("id", Type::UUID),
            ("owner", Type::TEXT),
            ("length", Type::INT8),
            ("media_type", Type::TEXT),
            ("size", Type::INT8),
            ("pieces", Type::INT8),
            ("checksum", Type::BYTEA),
            ("manifest", Type::BYTEA),
            ("used", Type::BOOL),
            ("given_up", Type::BOOL),
            ("at", Type::INT8),
        ],
        select: "SELECT id, owner, length, media_type, size, pieces, checksum, manifest, used,
                 given_up, at FROM upload",
    },
    Table {
        name: "upload_piece",
        columns: &[
            ("upload", Type::UUID),
            ("n", Type::INT8),
            ("digest", Type::BYTEA),
            ("size", Type::INT8),
        ],
        select: "SELECT upload, n, digest, size FROM upload_piece",
    },
    Table {
        name: "running",
        columns: &[
            ("project", Type::TEXT),
            ("agent", Type::TEXT),
            ("measure", Type::TEXT),
            ("bin", Type::TEXT),
            ("day", Type::INT8),
            ("total", Type::INT8),
        ],
        select: "SELECT project, agent, measure, bin, day, total FROM running",
    },
    Table {
        name: "tally_place",
        columns: &[("position", Type::INT8), ("since", Type::INT8)],
        select: "SELECT position, since FROM tally_place",
    },
    // Triggers on the counted tables create the counters without an expiry.
    Table {
        name: "usage",
        columns: &[
            ("name", Type::TEXT),
            ("shard", Type::INT4),
            ("used", Type::INT8),
            ("until", Type::INT8),
        ],
        select: "SELECT name, 0, used, until FROM usage WHERE until IS NOT NULL",
    },
    Table {
        name: "usage_held",
        columns: &[("holder", Type::UUID), ("name", Type::TEXT), ("bytes", Type::INT8)],
        select: "SELECT holder, name, bytes FROM usage_held",
    },
];

type Cell = Box<dyn ToSql + Sync + Send>;
type Page = Vec<Vec<Cell>>;

/// The result of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taken {
    /// The number of rows in all tables.
    pub rows: u64,
    /// The number of events among them.
    pub events: u64,
}

impl Postgres {
    /// Imports all data of a SQLite store that no process has open, and reports the progress: rows
    /// done, rows in total. Refused if this database has a history that is not the beginning of
    /// the imported one.
    ///
    /// Emptying the tables locks all of them, and a reader of two tables may lock them in the other
    /// order at that moment. The database then aborts one of the two, and the import is retried.
    pub async fn take_over(
        &self,
        from: &Path,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Taken> {
        self.writers()?;
        for _ in 1..TRIES {
            match self.take_over_once(from, progress).await {
                Err(StoreError::Unavailable(error))
                    if matches!(error.downcast_ref(), Some(Failure::Conflict)) => {}
                other => return other,
            }
        }
        self.take_over_once(from, progress).await
    }

    async fn take_over_once(
        &self,
        from: &Path,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<Taken> {
        let source = Source::open(from)?;
        let all = count(&source)?;
        let mut client = self.database.lend().await?;
        let transaction = client.transaction().await.map_err(Failure::from)?;
        // Without a time limit; other nodes wait.
        let alone =
            "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
            LOCK TABLE directory IN ACCESS EXCLUSIVE MODE";
        transaction.batch_execute(alone).await.map_err(Failure::from)?;
        fits(&transaction, &source).await?;
        let names: Vec<&str> =
            TABLES.iter().map(|table| table.name).chain(["pending", "search"]).collect();
        // The search index is rebuilt from the imported data.
        let emptied =
            format!("TRUNCATE {}; UPDATE search_place SET position = 0", names.join(", "));
        transaction.batch_execute(&emptied).await.map_err(Failure::from)?;
        let mut taken = Taken::default();
        for table in &TABLES {
            let before = taken.rows;
            let mut pages = read(&source, table)?;
            let columns: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
            let copy =
                format!("COPY {} ({}) FROM STDIN (FORMAT binary)", table.name, columns.join(", "));
            let sink = transaction.copy_in(&copy).await.map_err(Failure::from)?;
            let types: Vec<Type> = table.columns.iter().map(|(_, kind)| kind.clone()).collect();
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
            while let Some(page) = pages.recv().await {
                for row in page? {
                    let row: Vec<&(dyn ToSql + Sync)> =
                        row.iter().map(|cell| &**cell as &(dyn ToSql + Sync)).collect();
                    writer.as_mut().write(&row).await.map_err(Failure::from)?;
                    taken.rows += 1;
                }
                progress(taken.rows, all);
            }
            writer.as_mut().finish().await.map_err(Failure::from)?;
            if table.name == "record" {
                taken.events = taken.rows - before;
            }
        }
        transaction.commit().await.map_err(Failure::from)?;
        Ok(taken)
    }
}

fn count(source: &Source) -> Result<u64> {
    let conn = source.reader()?;
    let mut all: u64 = 0;
    for table in &TABLES {
        let sql = format!("SELECT count(*) FROM ({})", table.select);
        let rows = conn.query_row(&sql, [], |row| row.get::<_, i64>(0)).map_err(unreadable)?;
        all += rows.unsigned_abs();
    }
    Ok(all)
}

/// Fails unless the history of this database is the beginning of the imported one: an earlier
/// copy of it.
async fn fits(transaction: &Transaction<'_>, source: &Source) -> Result<()> {
    let sql = "SELECT feed.position, record.hash FROM feed
        JOIN record USING (subject, seq) ORDER BY feed.position DESC LIMIT 1";
    let last = transaction.query_opt(sql, &[]).await.map_err(Failure::from)?;
    let waiting = transaction.query_one("SELECT count(*) FROM pending", &[]).await;
    let waiting: i64 = waiting.and_then(|row| row.try_get(0)).map_err(Failure::from)?;
    let ours = match last {
        None => waiting == 0,
        Some(row) => {
            let position: i64 = row.try_get(0).map_err(Failure::from)?;
            let hash: Vec<u8> = row.try_get(1).map_err(Failure::from)?;
            let sql = "SELECT hash FROM record WHERE position = ?1";
            let theirs =
                source.reader()?.query_row(sql, [position], |row| row.get::<_, Vec<u8>>(0));
            waiting == 0 && theirs.is_ok_and(|theirs| theirs == hash)
        }
    };
    if ours { Ok(()) } else { Err(StoreError::Unavailable(Occupied.into())) }
}

/// The import was refused: the database has a history of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the database has a history of its own; take an empty one")]
pub struct Occupied;

/// Reads a table in pages, on a separate thread.
fn read(source: &Source, table: &'static Table) -> Result<mpsc::Receiver<Result<Page>>> {
    let (send, pages) = mpsc::channel(AHEAD);
    let conn = source.reader()?;
    let reading = move || {
        if let Err(error) = send_pages(&conn, table, &send) {
            // The receiver may be gone.
            let _ = send.blocking_send(Err(error));
        }
    };
    thread::Builder::new()
        .name("store-source".to_owned())
        .spawn(reading)
        .map_err(|error| StoreError::Unavailable(error.into()))?;
    Ok(pages)
}

fn send_pages(conn: &Connection, table: &Table, to: &mpsc::Sender<Result<Page>>) -> Result<()> {
    let mut statement = conn.prepare(table.select).map_err(unreadable)?;
    let mut rows = statement.query([]).map_err(unreadable)?;
    let mut page = Vec::with_capacity(PAGE);
    while let Some(row) = rows.next().map_err(unreadable)? {
        let cells = table.columns.iter().enumerate();
        let cells = cells.map(|(place, (_, kind))| cell(row, place, kind));
        page.push(cells.collect::<Result<_, _>>().map_err(unreadable)?);
        if page.len() == PAGE && to.blocking_send(Ok(std::mem::take(&mut page))).is_err() {
            return Ok(());
        }
    }
    // Send the last page, unless the receiver is gone.
    let _ = to.blocking_send(Ok(page));
    Ok(())
}

fn cell(row: &Row<'_>, place: usize, kind: &Type) -> rusqlite::Result<Cell> {
    fn boxed<T: FromSql + ToSql + Sync + Send + 'static>(
        row: &Row<'_>,
        place: usize,
    ) -> rusqlite::Result<Cell> {
        Ok(Box::new(row.get::<_, Option<T>>(place)?))
    }
    match *kind {
        Type::INT2 => boxed::<i16>(row, place),
        Type::INT4 => boxed::<i32>(row, place),
        Type::INT8 => boxed::<i64>(row, place),
        Type::BOOL => boxed::<bool>(row, place),
        Type::BYTEA => boxed::<Vec<u8>>(row, place),
        Type::UUID => {
            let id: Option<[u8; 16]> = row.get(place)?;
            Ok(Box::new(id.map(Uuid::from_bytes)))
        }
        _ => boxed::<String>(row, place),
    }
}

fn unreadable(error: rusqlite::Error) -> StoreError {
    StoreError::Damaged { what: "embedded store".to_owned(), source: error.into() }
}

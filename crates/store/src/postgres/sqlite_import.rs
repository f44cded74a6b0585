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
use super::failure::PostgresFailure;
use crate::sqlite::ImportSource;
use crate::{Result, StoreError};

/// Rows per page.
const PAGE: usize = 500;
/// Pages that may wait.
const AHEAD: usize = 4;
/// How often the import is tried.
const TRIES: u32 = 5;

/// A table of this database, and the SQLite query that fills it. The types of the columns are those
/// of this database.
struct Table {
    name: &'static str,
    columns: &'static str,
    /// Absent where the SQLite table has the same name and columns.
    select: Option<&'static str>,
}

impl Table {
    const fn same(name: &'static str, columns: &'static str) -> Self {
        Self { name, columns, select: None }
    }

    fn select(&self) -> String {
        let same = || format!("SELECT {} FROM {}", self.columns, self.name);
        self.select.map_or_else(same, str::to_owned)
    }

    async fn types(&self, transaction: &Transaction<'_>) -> Result<Vec<Type>, PostgresFailure> {
        let sql = format!("SELECT {} FROM {}", self.columns, self.name);
        let statement = transaction.prepare(&sql).await?;
        Ok(statement.columns().iter().map(|column| column.type_().clone()).collect())
    }
}

static TABLES: [Table; 32] = [
    Table::same("ask", "id, version, state"),
    Table {
        name: "wake",
        columns: "ask, at",
        select: Some("SELECT id, wake_at FROM ask WHERE wake_at IS NOT NULL"),
    },
    Table {
        name: "ended",
        columns: "ask, at, project",
        select: Some(
            "SELECT id, over_at, state ->> '$.asked.project' FROM ask WHERE over_at NOTNULL",
        ),
    },
    Table::same("file_use", "ask, digest"),
    Table::same(
        "listing",
        "scope, phase, rank, id, kind, priority, agent_label, project_label, fold",
    ),
    Table::same("deadline", "scope, at, id"),
    Table {
        name: "entity",
        columns: "kind, id, version, changed, state",
        select: Some("SELECT kind, id, version, 1, state FROM entity"),
    },
    Table { name: "directory", columns: "version", select: Some("SELECT 1") },
    Table {
        name: "record",
        columns: "subject, seq, at, what, prev, hash, body, contents",
        select: Some(
            "SELECT subject, seq, at, what, prev, hash, body, contents FROM record ORDER BY position",
        ),
    },
    Table {
        name: "feed",
        columns: "position, subject, seq, agent, project",
        select: Some("SELECT position, subject, seq, agent, project FROM record ORDER BY position"),
    },
    Table {
        name: "work",
        columns: "rank, due_at, attempt, written_at, dead, effect, error, lane, name",
        select: Some(
            "SELECT rank, due_at, attempt, written_at, dead, effect, error, lane, name FROM work ORDER BY id",
        ),
    },
    Table::same("follower", "name, position"),
    Table::same("delivery_log", "webhook, message, at, status, updated_at, state"),
    Table::same("idempotency", "scope, key, fingerprint, ask, at, task, seq"),
    Table::same("key_use", "key, at"),
    Table {
        name: "block",
        columns: "n, first, count, root, prev, at, issuer, jws",
        select: Some("SELECT n, first, count, root, prev, at, issuer, jws FROM block ORDER BY n"),
    },
    Table::same("receipt_signature", "ask, claims, kid, signature"),
    Table::same("side", "kind, key, ask, human, version, expires_at, value"),
    Table::same(
        "message",
        "name, ask, medium, recipient, at, posted, thread, over, updated_at, state",
    ),
    Table::same("task", "id, version, over_at, state"),
    Table::same("task_list", "scope, id"),
    Table::same("artifact", "id, version, state"),
    Table::same("entry", "id, version, scope, key, state"),
    Table::same("review", "id, task"),
    Table {
        name: "contract",
        columns: "n, agent, task, seq, duty, run, at, contract",
        select: Some(
            "SELECT n, agent, task, seq, duty, run, at, contract FROM contract ORDER BY n",
        ),
    },
    Table::same("runtime_ack", "agent, n"),
    Table::same(
        "upload",
        "id, owner, length, media_type, size, pieces, checksum, manifest, used, given_up, at",
    ),
    Table::same("upload_piece", "upload, n, digest, size"),
    Table::same("running", "project, agent, measure, bin, day, total"),
    Table::same("tally_place", "position, since"),
    // A trigger on `usage_held` adds the bytes of files.
    Table {
        name: "usage",
        columns: "name, shard, used, until",
        select: Some(
            "SELECT name, 0, used - COALESCE((
                 SELECT sum(bytes) FROM usage_held WHERE usage_held.name = usage.name
             ), 0), until FROM usage",
        ),
    },
    Table::same("usage_held", "holder, name, bytes"),
];

type ImportCell = Box<dyn ToSql + Sync + Send>;
type ImportPage = Vec<Vec<ImportCell>>;

/// The result of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SqliteImport {
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
    pub async fn import_sqlite(
        &self,
        from: &Path,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<SqliteImport> {
        self.writers()?;
        for _ in 1..TRIES {
            match self.import_sqlite_once(from, progress).await {
                Err(StoreError::Unavailable(error))
                    if matches!(error.downcast_ref(), Some(PostgresFailure::Conflict)) => {}
                other => return other,
            }
        }
        self.import_sqlite_once(from, progress).await
    }

    async fn import_sqlite_once(
        &self,
        from: &Path,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<SqliteImport> {
        let source = ImportSource::open(from)?;
        let all = count(&source)?;
        let mut client = self.database.checkout().await?;
        let transaction = client.transaction().await.map_err(PostgresFailure::from)?;
        // Without a time limit; other nodes wait.
        let alone =
            "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
            LOCK TABLE directory IN ACCESS EXCLUSIVE MODE";
        transaction.batch_execute(alone).await.map_err(PostgresFailure::from)?;
        fits(&transaction, &source).await?;
        let names: Vec<&str> =
            TABLES.iter().map(|table| table.name).chain(["pending", "search"]).collect();
        // The search index is rebuilt from the imported data.
        let emptied =
            format!("TRUNCATE {}; UPDATE search_place SET position = 0", names.join(", "));
        transaction.batch_execute(&emptied).await.map_err(PostgresFailure::from)?;
        let mut imported = SqliteImport::default();
        for table in &TABLES {
            let before = imported.rows;
            let types = table.types(&transaction).await?;
            let mut pages = read(&source, table, types.clone())?;
            let copy =
                format!("COPY {} ({}) FROM STDIN (FORMAT binary)", table.name, table.columns);
            let sink = transaction.copy_in(&copy).await.map_err(PostgresFailure::from)?;
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &types));
            while let Some(page) = pages.recv().await {
                for row in page? {
                    let row: Vec<&(dyn ToSql + Sync)> =
                        row.iter().map(|cell| &**cell as &(dyn ToSql + Sync)).collect();
                    writer.as_mut().write(&row).await.map_err(PostgresFailure::from)?;
                    imported.rows += 1;
                }
                progress(imported.rows, all);
            }
            writer.as_mut().finish().await.map_err(PostgresFailure::from)?;
            if table.name == "record" {
                imported.events = imported.rows - before;
            }
        }
        transaction.commit().await.map_err(PostgresFailure::from)?;
        Ok(imported)
    }
}

fn count(source: &ImportSource) -> Result<u64> {
    let conn = source.reader()?;
    let mut all: u64 = 0;
    for table in &TABLES {
        let sql = format!("SELECT count(*) FROM ({})", table.select());
        let rows = conn.query_row(&sql, [], |row| row.get::<_, i64>(0)).map_err(unreadable)?;
        all += rows.unsigned_abs();
    }
    Ok(all)
}

/// Fails unless the history of this database is the beginning of the imported one: an earlier
/// copy of it.
async fn fits(transaction: &Transaction<'_>, source: &ImportSource) -> Result<()> {
    let sql = "SELECT feed.position, record.hash FROM feed
        JOIN record USING (subject, seq) ORDER BY feed.position DESC LIMIT 1";
    let last = transaction.query_opt(sql, &[]).await.map_err(PostgresFailure::from)?;
    let waiting = transaction.query_one("SELECT count(*) FROM pending", &[]).await;
    let waiting: i64 = waiting.and_then(|row| row.try_get(0)).map_err(PostgresFailure::from)?;
    let ours = match last {
        None => waiting == 0,
        Some(row) => {
            let position: i64 = row.try_get(0).map_err(PostgresFailure::from)?;
            let hash: Vec<u8> = row.try_get(1).map_err(PostgresFailure::from)?;
            let sql = "SELECT hash FROM record WHERE position = ?1";
            let theirs =
                source.reader()?.query_row(sql, [position], |row| row.get::<_, Vec<u8>>(0));
            waiting == 0 && theirs.is_ok_and(|theirs| theirs == hash)
        }
    };
    if ours { Ok(()) } else { Err(StoreError::Unavailable(DatabaseNotEmpty.into())) }
}

/// The import was refused: the database has a history of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the target database is not empty; use an empty database")]
pub struct DatabaseNotEmpty;

/// Reads a table in pages, on a separate thread.
fn read(
    source: &ImportSource,
    table: &'static Table,
    types: Vec<Type>,
) -> Result<mpsc::Receiver<Result<ImportPage>>> {
    let (send, pages) = mpsc::channel(AHEAD);
    let conn = source.reader()?;
    let reading = move || {
        if let Err(error) = send_pages(&conn, table, &types, &send) {
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

fn send_pages(
    conn: &Connection,
    table: &Table,
    types: &[Type],
    to: &mpsc::Sender<Result<ImportPage>>,
) -> Result<()> {
    let mut statement = conn.prepare(&table.select()).map_err(unreadable)?;
    let mut rows = statement.query([]).map_err(unreadable)?;
    let mut page = Vec::with_capacity(PAGE);
    while let Some(row) = rows.next().map_err(unreadable)? {
        let cells = types.iter().enumerate().map(|(place, kind)| cell(row, place, kind));
        page.push(cells.collect::<Result<_, _>>().map_err(unreadable)?);
        if page.len() == PAGE && to.blocking_send(Ok(std::mem::take(&mut page))).is_err() {
            return Ok(());
        }
    }
    // Send the last page, unless the receiver is gone.
    let _ = to.blocking_send(Ok(page));
    Ok(())
}

fn cell(row: &Row<'_>, place: usize, kind: &Type) -> rusqlite::Result<ImportCell> {
    fn boxed<T: FromSql + ToSql + Sync + Send + 'static>(
        row: &Row<'_>,
        place: usize,
    ) -> rusqlite::Result<ImportCell> {
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

//! Opens connections and sets them up.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::sqlite::{DatabaseLocked, SqliteFailure, failed};
use crate::{Result, StoreError};

/// How long a connection waits for another process, a backup or a checkpoint.
const PATIENCE: Duration = Duration::from_secs(5);

/// The one connection that writes.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    // Create the file before SQLite does, readable by its owner only. SQLite gives its other files
    // the same mode.
    File::options()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .map_err(|error| StoreError::Unavailable(error.into()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(failed)?;
    conn.busy_timeout(PATIENCE).map_err(failed)?;
    prepare_once(&conn)?;
    let mode: String =
        conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        return Err(StoreError::Unavailable(SqliteFailure::NoWal(mode).into()));
    }
    // FULL: the log is synced before a commit is acknowledged. secure_delete: erased data is
    // overwritten and not only unlinked, because the law requires it. The log may grow a little
    // before a checkpoint, so that a page touched by many commits is copied once.
    conn.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA secure_delete = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF;
         PRAGMA cache_size = -32768;
         PRAGMA wal_autocheckpoint = 4000;
         PRAGMA journal_size_limit = 67108864;",
    )
    .map_err(failed)?;
    Ok(conn)
}

/// A read-only connection. It uses no memory map: a lost disk must be an error, not a signal.
pub(super) fn reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(failed)?;
    conn.busy_timeout(PATIENCE).map_err(failed)?;
    prepare_once(&conn)?;
    conn.execute_batch(
        "PRAGMA query_only = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF;
         PRAGMA cache_size = -8192;",
    )
    .map_err(failed)?;
    Ok(conn)
}

/// Prepares statements once and caches them. Without the flag, SQLite prepares a statement that may
/// use a partial index again whenever a bound value changes. For a claim that is every time.
fn prepare_once(conn: &Connection) -> Result<()> {
    conn.set_prepared_statement_cache_capacity(64);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
    Ok(())
}

/// Keeps a second process from writing: its copy of the directory would be stale after the first
/// change. The lock is released when dropped or when the process dies.
pub(super) fn lock(path: &Path) -> Result<File> {
    let mut name = OsString::from(path);
    name.push(".lock");
    let unavailable = |error: std::io::Error| StoreError::Unavailable(error.into());
    let file = File::options()
        .create(true)
        .write(true)
        .truncate(false)
        .open(PathBuf::from(name))
        .map_err(unavailable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Unavailable(DatabaseLocked.into())),
        Err(TryLockError::Error(error)) => Err(unavailable(error)),
    }
}

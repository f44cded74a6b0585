//! How connections are opened and set up.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::sqlite::{Failure, Locked, failed};
use crate::{Result, StoreError};

/// How long a connection waits for another process, a backup or a checkpoint.
const PATIENCE: Duration = Duration::from_secs(5);

/// The one connection that writes.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    // Made before SQLite does, for its owner only; the files beside it take after it.
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
        return Err(StoreError::Unavailable(Failure::NoWal(mode).into()));
    }
    // FULL: the log is synced before a commit is acknowledged. secure_delete: what is erased by law
    // is overwritten, not only unlinked. The log is let grow a little before it is copied back, so
    // that a page touched by many commits is copied once.
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

/// A connection that only reads. No memory map: a vanished disk must be an error, not a signal.
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

/// Statements are prepared once and kept. Without the flag SQLite prepares again what it ran with a
/// partial index in sight whenever a bound value changed, which for a claim is every time.
fn prepare_once(conn: &Connection) -> Result<()> {
    conn.set_prepared_statement_cache_capacity(64);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(failed)?;
    Ok(())
}

/// Keeps a second process from writing: its directory would be stale from the first change on.
/// Held until dropped; a process that dies lets go of it.
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
        Err(TryLockError::WouldBlock) => Err(StoreError::Unavailable(Locked.into())),
        Err(TryLockError::Error(error)) => Err(unavailable(error)),
    }
}

//! A copy of the database, made while a server continues to write to it.

use std::ffi::c_int;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{Sqlite, SqliteFailure, connect, failed, migrate};
use crate::columns::uint;
use crate::{Result, StoreError};

/// Pages copied between two syncs: 4 MiB.
const STEP: c_int = 1024;

impl Sqlite {
    /// Copies the database in `from` into `to`, which must not exist. A server may have it open.
    /// The copy is a consistent snapshot in a single file, and on disk when this returns.
    /// `progress` receives the bytes copied and the total. After an error, discard `to`.
    pub fn backup(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        let source = connect::reader(from)?;
        // One read transaction spans all steps, so the copy is the snapshot of its start. Without
        // it, SQLite restarts the copy after every commit of another connection, and beside a busy
        // server it would never end. The writer does not wait for readers. But its log cannot be
        // checkpointed beyond the start of the copy, and grows until the copy ends.
        let moment = source.unchecked_transaction().map_err(failed)?;
        migrate::check_current(&moment, migrate::MIGRATIONS)?;
        let size: i64 =
            moment.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(failed)?;

        let io = |error: std::io::Error| StoreError::Unavailable(error.into());
        // Readable by its owner only. Keep it open until the end: closing it would
        // release SQLite's locks.
        let file = File::options().write(true).create_new(true).mode(0o600).open(to).map_err(io)?;
        let mut copy = Connection::open(to).map_err(failed)?;
        // A failed copy is discarded, so no journal is needed.
        copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
            .map_err(failed)?;
        let backup = Backup::new(&moment, &mut copy).map_err(failed)?;
        loop {
            let step = backup.step(STEP).map_err(failed)?;
            // Sync in small steps: on some file systems the sync of a server waits for all writes
            // of other processes.
            file.sync_data().map_err(io)?;
            let (left, all) = (backup.progress().remaining, backup.progress().pagecount);
            progress(uint(i64::from(all - left) * size), uint(i64::from(all) * size));
            match step {
                StepResult::More => {}
                StepResult::Done => break,
                // No other process knows the copy, and the source is only read.
                _ => return Err(StoreError::Unavailable(SqliteFailure::CopyInUse.into())),
            }
        }
        drop(backup);
        // So that the copy can be read on a read-only disk; a server sets the mode back.
        copy.execute_batch("PRAGMA journal_mode = DELETE;").map_err(failed)?;
        copy.close().map_err(|(_, error)| failed(error))?;
        file.sync_all().map_err(io)
    }
}

//! A copy of the database, made while a server goes on writing to it.

use std::ffi::c_int;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::{Failure, Sqlite, connect, failed, migrate};
use crate::rows::uint;
use crate::{Result, StoreError};

/// Pages copied between two looks at the disk: 4 MiB.
const STEP: c_int = 1024;

impl Sqlite {
    /// Copies the database in `from` into `to`, which must not exist, whether or not a server has it
    /// open. The copy is the database of one moment, in one file that needs no other beside it, and
    /// on disk when this returns. `progress` hears how many bytes are copied, and of how many. After
    /// an error `to` is of no use.
    pub fn backup(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        let source = connect::reader(from)?;
        // One read transaction around all steps: it sees the database of its first look, whatever is
        // committed meanwhile. Without it SQLite begins anew after every commit of somebody else, and
        // beside a busy server the copy would never end. The writer does not wait for readers; only
        // its log cannot be folded in further than to where the copy began, and grows until it ends.
        let moment = source.unchecked_transaction().map_err(failed)?;
        migrate::check_current(&moment, migrate::MIGRATIONS)?;
        let size: i64 =
            moment.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(failed)?;

        let io = |error: std::io::Error| StoreError::Unavailable(error.into());
        // For its owner only. Open until the end: closing it would take SQLite's locks with it.
        let file = File::options().write(true).create_new(true).mode(0o600).open(to).map_err(io)?;
        let mut copy = Connection::open(to).map_err(failed)?;
        // Who fails starts over, so nothing has to be undone in the copy.
        copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
            .map_err(failed)?;
        let backup = Backup::new(&moment, &mut copy).map_err(failed)?;
        loop {
            let step = backup.step(STEP).map_err(failed)?;
            // Little by little: on some file systems a server's sync waits for all that others wrote.
            file.sync_data().map_err(io)?;
            let (left, all) = (backup.progress().remaining, backup.progress().pagecount);
            progress(uint(i64::from(all - left) * size), uint(i64::from(all) * size));
            match step {
                StepResult::More => {}
                StepResult::Done => break,
                // Nobody else knows the copy, and the source is only read.
                _ => return Err(StoreError::Unavailable(Failure::CopyInUse.into())),
            }
        }
        drop(backup);
        // So that it can be looked at where nothing may be written; a server sets it back.
        copy.execute_batch("PRAGMA journal_mode = DELETE;").map_err(failed)?;
        copy.close().map_err(|(_, error)| failed(error))?;
        file.sync_all().map_err(io)
    }
}

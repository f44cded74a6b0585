//! A store that no process has open, to be read as stored.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{connect, migrate};
use crate::Result;

/// The file, locked until this is dropped.
pub(crate) struct ImportSource {
    path: PathBuf,
    _lock: File,
}

impl ImportSource {
    /// Fails while a server has the file open: its further writes would be missing from the copy.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let source = Self { path: path.to_owned(), _lock: connect::lock(path)? };
        migrate::check_current(&source.reader()?, migrate::MIGRATIONS)?;
        Ok(source)
    }

    /// A new connection.
    pub(crate) fn reader(&self) -> Result<Connection> {
        connect::reader(&self.path)
    }
}

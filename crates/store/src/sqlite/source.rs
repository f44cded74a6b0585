//! A store nobody has open, to be read as it lies there.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{connect, migrate};
use crate::Result;

/// The file, kept from everybody else until this is dropped.
pub(crate) struct Source {
    path: PathBuf,
    _lock: File,
}

impl Source {
    /// Refused while a server has it open: what that writes meanwhile would be left behind.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let source = Self { path: path.to_owned(), _lock: connect::lock(path)? };
        migrate::check_current(&source.reader()?, migrate::MIGRATIONS)?;
        Ok(source)
    }

    /// A connection of one's own.
    pub(crate) fn reader(&self) -> Result<Connection> {
        connect::reader(&self.path)
    }
}

//! Schemas and how they got there: numbered files, forward only, never edited once released. What
//! every backend has in common; each runs its own files.

use kernel::audit::Digest;

use crate::StoreError;

/// One step. A released file is never edited: its checksum is stored where it ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

impl Migration {
    pub(crate) fn checksum(&self) -> String {
        Digest::of(self.sql.as_bytes()).to_string()
    }
}

/// A step that ran on a database: its version, its name, its checksum.
pub(crate) type Applied = (i64, String, String);

/// Why a database does not fit this program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A newer program wrote it.
    #[error(
        "the database has version {found}, this program knows versions up to {known}; use a newer \
         one"
    )]
    Newer {
        /// The version of the database.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// An older program wrote it and it is opened only for reading.
    #[error(
        "the database has version {found} and must be opened for writing once to reach {known}"
    )]
    Older {
        /// The version of the database.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// A step ran there with other contents than this program has.
    #[error("migration {version} ({name}) is not the one that was applied to this database")]
    Edited {
        /// Which.
        version: i64,
        /// Its name.
        name: String,
    },
}

impl From<SchemaError> for StoreError {
    fn from(error: SchemaError) -> Self {
        Self::Damaged { what: "schema".to_owned(), source: error.into() }
    }
}

/// The version of a database on which these steps ran, if every one of them is one we know.
pub(crate) fn check(applied: Vec<Applied>, steps: &[Migration]) -> Result<i64, SchemaError> {
    let mut found = 0;
    for (version, name, sha256) in applied {
        let Some(step) = steps.iter().find(|step| step.version == version) else {
            return Err(SchemaError::Newer { found: version, known: newest(steps) });
        };
        if step.checksum() != sha256 {
            return Err(SchemaError::Edited { version, name });
        }
        found = version;
    }
    Ok(found)
}

/// Checks that a database that cannot be changed has the newest version.
pub(crate) fn check_current(found: i64, steps: &[Migration]) -> Result<(), SchemaError> {
    let known = newest(steps);
    if found < known { Err(SchemaError::Older { found, known }) } else { Ok(()) }
}

fn newest(steps: &[Migration]) -> i64 {
    steps.last().map_or(0, |step| step.version)
}

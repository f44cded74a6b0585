//! Schema migrations: numbered files, forward only, never edited once released. This is the part
//! all backends share; each runs its own files.

use kernel::audit::Digest;

use crate::StoreError;

/// One migration. A released file is never edited: each database stores the checksum of the
/// file it ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    pub(crate) version: i64,
    /// The oldest schema version a program may know to still work with a database
    /// after this migration.
    pub(crate) serves: i64,
    pub(crate) name: &'static str,
    pub(crate) sql: &'static str,
}

impl Migration {
    pub(crate) fn checksum(&self) -> String {
        Digest::of(self.sql.as_bytes()).to_string()
    }
}

/// A migration that ran on a database.
#[derive(Debug, Clone)]
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) name: String,
    pub(crate) sha256: String,
    pub(crate) serves: i64,
}

/// Why this program cannot use a database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// A newer program migrated it.
    #[error(
        "the database has schema version {found}, but this program supports versions up to \
         {known}; use a newer release"
    )]
    Newer {
        /// The version of the database.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// Its schema is older than this program's, and it is opened for reading only.
    #[error(
        "the database has schema version {found} and needs version {known}; open it for writing \
         once to migrate it"
    )]
    Older {
        /// The version of the database.
        found: i64,
        /// The newest version this program knows.
        known: i64,
    },
    /// A migration ran there with other contents than this program has.
    #[error("migration {version} ({name}) differs from the one that was applied to this database")]
    Edited {
        /// The version of the migration.
        version: i64,
        /// The name of the migration.
        name: String,
    },
}

impl From<SchemaError> for StoreError {
    fn from(error: SchemaError) -> Self {
        Self::Damaged { what: "schema".to_owned(), source: error.into() }
    }
}

/// The schema version of a database. Fails unless this program knows every applied migration, or
/// the migration still supports this program.
pub(crate) fn check(applied: Vec<Applied>, steps: &[Migration]) -> Result<i64, SchemaError> {
    let mut found = 0;
    let known = newest(steps);
    for Applied { version, name, sha256, serves } in applied {
        match steps.iter().find(|step| step.version == version) {
            Some(step) if step.checksum() == sha256 => {}
            Some(_) => return Err(SchemaError::Edited { version, name }),
            None if version > known && serves <= known => {}
            None => return Err(SchemaError::Newer { found: version, known }),
        }
        found = version;
    }
    Ok(found)
}

/// Fails unless a read-only database has the newest version.
pub(crate) fn check_current(found: i64, steps: &[Migration]) -> Result<(), SchemaError> {
    let known = newest(steps);
    if found < known { Err(SchemaError::Older { found, known }) } else { Ok(()) }
}

fn newest(steps: &[Migration]) -> i64 {
    steps.last().map_or(0, |step| step.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(version: i64) -> Migration {
        Migration { version, serves: version, name: "step", sql: "SELECT 1" }
    }

    fn ran(version: i64, serves: i64) -> Applied {
        let sha256 = step(version).checksum();
        Applied { version, name: "step".to_owned(), sha256, serves }
    }

    #[test]
    fn a_newer_database_is_refused_unless_it_serves_us() {
        let steps = [step(1), step(2)];
        assert_eq!(check(vec![], &steps), Ok(0));
        assert_eq!(check(vec![ran(1, 1), ran(2, 1)], &steps), Ok(2));
        assert_eq!(check(vec![ran(1, 1), ran(2, 1), ran(3, 2)], &steps), Ok(3));
        let newer = |found| Err(SchemaError::Newer { found, known: 2 });
        assert_eq!(check(vec![ran(1, 1), ran(2, 1), ran(3, 3)], &steps), newer(3));
        assert_eq!(check(vec![ran(1, 1), ran(2, 1), ran(3, 2), ran(4, 3)], &steps), newer(4));
    }

    #[test]
    fn an_edited_step_is_refused() {
        let edited = Applied { sha256: "other".to_owned(), ..ran(1, 1) };
        assert!(matches!(check(vec![edited], &[step(1)]), Err(SchemaError::Edited { .. })));
    }
}

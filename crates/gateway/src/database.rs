//! Selects the store by its URL.

use std::path::{Path, PathBuf};

use anyhow::bail;
use channels::SecretString;
use serde::{Deserialize, Serialize};
use store::postgres::redacted;

/// The kind of store.
#[derive(Debug, Clone)]
pub enum DatabaseLocation {
    /// SQLite, in this file.
    Sqlite(PathBuf),
    /// PostgreSQL, shared by any number of nodes.
    Postgres(DatabaseUrl),
    /// In memory, lost when the process ends.
    Memory,
}

/// The URL of a database. It may contain a password, so it is printed without it.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct DatabaseUrl(SecretString);

impl DatabaseUrl {
    /// The full URL.
    pub fn reveal(&self) -> &str {
        self.0.reveal()
    }

    /// The store that the URL names. Without a URL, a file in the data directory.
    pub fn database(this: Option<Self>, data: &Path) -> anyhow::Result<DatabaseLocation> {
        let Some(this) = this else {
            return Ok(DatabaseLocation::Sqlite(data.join("countersign.db")));
        };
        let text = this.reveal();
        if text == "memory:" {
            return Ok(DatabaseLocation::Memory);
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(DatabaseLocation::Postgres(this));
        }
        match text.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => {
                let path = path.strip_prefix("//").unwrap_or(path);
                Ok(DatabaseLocation::Sqlite(PathBuf::from(path)))
            }
            _ => bail!("database: expected postgres://…, sqlite:FILE or memory:"),
        }
    }
}

impl std::str::FromStr for DatabaseUrl {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(SecretString::new(text)))
    }
}

impl std::fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = self.reveal();
        if text.starts_with("sqlite:") || text == "memory:" {
            return f.write_str(text);
        }
        f.write_str(&redacted(text))
    }
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for DatabaseUrl {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl std::fmt::Display for DatabaseLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => write!(f, "{url}"),
            Self::Memory => f.write_str("memory:"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(text: &str) -> anyhow::Result<DatabaseLocation> {
        DatabaseUrl::database(Some(text.parse()?), Path::new("data"))
    }

    #[test]
    fn every_address_names_its_store_and_hides_its_password() {
        let shown = |text| database(text).unwrap().to_string();
        assert_eq!(shown("memory:"), "memory:");
        assert_eq!(shown("sqlite:///var/x.db"), "sqlite:/var/x.db");
        assert_eq!(shown("postgres://ann:s3cret@db:5433/x"), "postgres://ann:***@db:5433/x");
        assert_eq!(shown("postgresql://db/x?password=s3cret"), "postgresql://db/x?password=***");
        assert!(!shown("postgres://[:s3cret@").contains("s3cret"));
        assert_eq!(
            DatabaseUrl::database(None, Path::new("data")).unwrap().to_string(),
            "sqlite:data/countersign.db"
        );
        for wrong in ["mysql:x", "sqlite:", "", "x.db"] {
            assert!(database(wrong).unwrap_err().to_string().contains("expected postgres://"));
        }
    }
}

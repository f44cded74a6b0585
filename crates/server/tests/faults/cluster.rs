//! A `PostgreSQL` of its own, to be killed.

use tempfile::TempDir;

use super::test_storage::{server, skipped};

pub(crate) struct Cluster {
    // Before its folder: it is stopped first.
    server: faults::postgres::PostgresCluster,
    _folder: TempDir,
    pub(crate) url: String,
}

impl Cluster {
    /// Nothing where there is no `PostgreSQL`. Says so, and in CI there must be one.
    pub(crate) fn start() -> Option<Self> {
        server()?;
        let folder = tempfile::tempdir().unwrap();
        let Ok(started) = faults::postgres::PostgresCluster::start(folder.path(), Vec::new())
        else {
            skipped("PostgreSQL is not installed here");
            return None;
        };
        let url = started.url.clone();
        Some(Self { server: started, _folder: folder, url })
    }

    /// `kill -9`, the whole of it at once.
    pub(crate) fn kill(&self) {
        self.server.kill().unwrap();
    }

    /// Starts it again, on what it had on disk.
    pub(crate) fn restart(&self) {
        self.server.restart().unwrap();
    }
}

//! A `PostgreSQL` of its own, to be killed.

use tempfile::TempDir;

use super::place::{server, skipped};

pub(crate) struct Cluster {
    // Before its folder: it is stopped first.
    cluster: faults::postgres::Cluster,
    _folder: TempDir,
    pub(crate) url: String,
}

impl Cluster {
    /// Nothing where there is no `PostgreSQL`. Says so, and in CI there must be one.
    pub(crate) fn start() -> Option<Self> {
        server()?;
        let folder = tempfile::tempdir().unwrap();
        let Ok(cluster) = faults::postgres::Cluster::start(folder.path(), Vec::new()) else {
            skipped("PostgreSQL is not installed here");
            return None;
        };
        let url = cluster.url.clone();
        Some(Self { cluster, _folder: folder, url })
    }

    /// `kill -9`, the whole of it at once.
    pub(crate) fn kill(&self) {
        self.cluster.kill().unwrap();
    }

    /// Starts it again, on what it had on disk.
    pub(crate) fn restart(&self) {
        self.cluster.restart().unwrap();
    }
}

//! A line to the database that can be cut and held up.

pub(crate) use faults::proxy::Line;

/// Session settings have no effect, as behind a connection pooler that gives every transaction another
/// session: the one setting that is raised becomes another of the same length.
pub(crate) const RESETS: Line =
    Line::Replaces("SET SESSION synchronous_commit =", "SET SESSION application_name   =");

pub(crate) struct Proxy {
    pub(crate) url: String,
    proxy: faults::proxy::Proxy,
}

impl Proxy {
    pub(crate) async fn before(url: &str) -> Self {
        let (proxy, url) = faults::proxy::Proxy::before(url, 5432).await.unwrap();
        Self { url, proxy }
    }

    pub(crate) fn set(&self, line: Line) {
        self.proxy.set(line);
    }
}

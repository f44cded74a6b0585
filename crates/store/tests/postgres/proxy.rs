//! A line to the database that can be cut and held up.

pub(crate) use faults::proxy::ProxyMode;

/// Session settings have no effect, as behind a connection pooler that gives every transaction
/// another session: the one setting that is raised becomes another of the same length.
pub(crate) const RESETS: ProxyMode =
    ProxyMode::Replaces("SET SESSION synchronous_commit =", "SET SESSION application_name   =");

pub(crate) struct Proxy {
    pub(crate) url: String,
    proxy: faults::proxy::FaultProxy,
}

impl Proxy {
    pub(crate) async fn before(url: &str) -> Self {
        let (proxy, url) = faults::proxy::FaultProxy::start_for_url(url, 5432).await.unwrap();
        Self { url, proxy }
    }

    pub(crate) fn set(&self, line: ProxyMode) {
        self.proxy.set(line);
    }
}

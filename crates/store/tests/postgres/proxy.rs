//! A line to the database that can be cut and held up.

pub(crate) use faults::proxy::Line;

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

//! A TCP proxy on loopback whose connections can be cut, stalled, or stalled in one direction.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

/// The state of all connections through a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyMode {
    /// Requests and responses pass unchanged.
    Up,
    /// Every connection is closed, and so is every new one.
    Cut,
    /// Nothing is closed and nothing passes.
    Stuck,
    /// Requests do not arrive, but responses do.
    NoRequests,
    /// Requests arrive, but responses do not.
    NoResponses,
    /// Everything passes, and one text in requests is replaced by another of the same length.
    Replaces(&'static str, &'static str),
}

impl ProxyMode {
    fn holds_requests(self) -> bool {
        matches!(self, Self::Stuck | Self::NoRequests)
    }

    /// Applies the replacement, if the line has one.
    fn change(self, bytes: &mut [u8]) {
        let Self::Replaces(old, new) = self else { return };
        let found = bytes.windows(old.len()).position(|part| part == old.as_bytes());
        let place = found.and_then(|at| bytes.get_mut(at..at + new.len()));
        if let Some(place) = place.filter(|place| place.len() == old.len()) {
            place.copy_from_slice(new.as_bytes());
        }
    }

    fn holds_responses(self) -> bool {
        matches!(self, Self::Stuck | Self::NoResponses)
    }
}

/// A running proxy. Its connections end when it is dropped.
pub struct FaultProxy {
    /// The address it listens on.
    pub address: SocketAddr,
    line: Arc<watch::Sender<ProxyMode>>,
    _tasks: JoinSet<()>,
}

impl FaultProxy {
    /// A proxy to an address such as `127.0.0.1:5432`.
    pub async fn start(target: String) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let line = Arc::new(watch::Sender::new(ProxyMode::Up));
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, target, Arc::clone(&line)));
        Ok(Self { address, line, _tasks: tasks })
    }

    /// A proxy to the server of a URL, and the same URL through the proxy.
    pub async fn start_for_url(url: &str, default_port: u16) -> anyhow::Result<(Self, String)> {
        let mut url = Url::parse(url).context("not a URL")?;
        let host = url.host_str().context("the URL names no host")?;
        let target = format!("{host}:{}", url.port().unwrap_or(default_port));
        let proxy = Self::start(target).await?;
        url.set_host(Some("127.0.0.1")).context("the URL takes no host")?;
        let port = Some(proxy.address.port());
        url.set_port(port).map_err(|()| anyhow::anyhow!("the URL takes no port"))?;
        Ok((proxy, url.into()))
    }

    /// Changes the state of all connections, open and new.
    pub fn set(&self, line: ProxyMode) {
        self.line.send_replace(line);
    }
}

async fn accept(listener: TcpListener, target: String, line: Arc<watch::Sender<ProxyMode>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((near, _)) = listener.accept().await else { continue };
        while connections.try_join_next().is_some() {}
        if *line.borrow() == ProxyMode::Cut {
            continue;
        }
        let (target, line) = (target.clone(), line.subscribe());
        connections.spawn(async move {
            // If the target is down, the connection closes, as it would without a proxy.
            let Ok(far) = TcpStream::connect(target).await else { return };
            let ((from_near, to_near), (from_far, to_far)) = (near.into_split(), far.into_split());
            tokio::select! {
                () = carry(from_near, to_far, line.clone(), ProxyMode::holds_requests) => {}
                () = carry(from_far, to_near, line, ProxyMode::holds_responses) => {}
            }
        });
    }
}

/// Copies bytes until either side or the line ends.
async fn carry(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut line: watch::Receiver<ProxyMode>,
    holds: fn(ProxyMode) -> bool,
) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read.unwrap_or(0),
            _ = line.wait_for(|line| *line == ProxyMode::Cut) => return,
        };
        if read == 0 || line.wait_for(|line| !holds(*line)).await.is_err() {
            return;
        }
        let Some(bytes) = buffer.get_mut(..read) else { return };
        let now = *line.borrow();
        now.change(bytes);
        if *line.borrow() == ProxyMode::Cut || to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// An echo server, and the number of bytes that reached it.
    async fn echo() -> (String, watch::Receiver<usize>, JoinSet<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, arrived) = watch::channel(0);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                let (mut line, _) = listener.accept().await.unwrap();
                let mut byte = [0];
                while line.read(&mut byte).await.is_ok_and(|n| n == 1) {
                    sender.send_modify(|n| *n += 1);
                    line.write_all(&byte).await.unwrap();
                }
            }
        });
        (address, arrived, tasks)
    }

    #[tokio::test]
    async fn each_direction_can_be_held_up_and_everything_can_be_cut() {
        let (target, mut arrived, _server) = echo().await;
        let proxy = FaultProxy::start(target).await.unwrap();
        let mut line = TcpStream::connect(proxy.address).await.unwrap();
        let mut byte = [0];
        line.write_all(b"a").await.unwrap();
        line.read_exact(&mut byte).await.unwrap();

        proxy.set(ProxyMode::NoResponses);
        line.write_all(b"b").await.unwrap();
        arrived.wait_for(|n| *n == 2).await.unwrap();
        let short = Duration::from_millis(50);
        assert!(tokio::time::timeout(short, line.read_exact(&mut byte)).await.is_err());
        proxy.set(ProxyMode::Up);
        line.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"b");

        proxy.set(ProxyMode::NoRequests);
        line.write_all(b"c").await.unwrap();
        assert!(tokio::time::timeout(short, arrived.wait_for(|n| *n == 3)).await.is_err());
        proxy.set(ProxyMode::Cut);
        assert!(!matches!(line.read(&mut byte).await, Ok(1)));
        assert_eq!(*arrived.borrow(), 2, "what was held up is gone");
    }
}

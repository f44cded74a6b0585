//! A line to the database that can be cut and held up.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// How the line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// Everything passes.
    Up,
    /// Every connection is closed, and so is every new one.
    Cut,
    /// Nothing is closed and nothing passes.
    Stuck,
    /// Everything passes, but session settings have no effect: as behind a connection pooler that
    /// gives every transaction another session.
    Resets,
}

pub(crate) struct Proxy {
    pub(crate) url: String,
    line: Arc<watch::Sender<Line>>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    pub(crate) async fn before(url: &str) -> Self {
        let config: Config = url.parse().unwrap();
        let [Host::Tcp(host), ..] = config.get_hosts() else { panic!("not over TCP: {url}") };
        let to = format!("{host}:{}", config.get_ports().first().unwrap_or(&5432));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (before, name) = url.rsplit_once('/').unwrap();
        let (scheme, rest) = before.split_once("://").unwrap();
        let user = rest.rsplit_once('@').map_or("", |(user, _)| user);
        let url = format!("{scheme}://{user}@127.0.0.1:{port}/{name}");
        let line = Arc::new(watch::Sender::new(Line::Up));
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, to, Arc::clone(&line)));
        Self { url, line, _tasks: tasks }
    }

    pub(crate) fn set(&self, line: Line) {
        self.line.send_replace(line);
    }
}

async fn accept(listener: TcpListener, to: String, line: Arc<watch::Sender<Line>>) {
    let mut lines = JoinSet::new();
    loop {
        let (near, _) = listener.accept().await.unwrap();
        if *line.borrow() == Line::Cut {
            continue;
        }
        let (to, line) = (to.clone(), line.subscribe());
        lines.spawn(async move {
            let far = TcpStream::connect(to).await.unwrap();
            let ((from_near, to_near), (from_far, to_far)) = (near.into_split(), far.into_split());
            tokio::select! {
                () = carry(from_near, to_far, line.clone()) => {}
                () = carry(from_far, to_near, line) => {}
            }
        });
    }
}

/// Until either side or the line ends.
async fn carry(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut line: watch::Receiver<Line>,
) {
    let mut buffer = vec![0; 8192];
    loop {
        let n = tokio::select! {
            n = from.read(&mut buffer) => n.unwrap_or(0),
            _ = line.wait_for(|line| *line == Line::Cut) => return,
        };
        if n == 0 || line.wait_for(|line| *line != Line::Stuck).await.is_err() {
            return;
        }
        if *line.borrow() == Line::Resets {
            forget_settings(&mut buffer[..n]);
        }
        if *line.borrow() == Line::Cut || to.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}

/// Turns the one setting we raise into another of the same length.
fn forget_settings(bytes: &mut [u8]) {
    let (wanted, other) =
        (b"SET SESSION synchronous_commit =", b"SET SESSION application_name   =");
    if let Some(at) = bytes.windows(wanted.len()).position(|part| part == wanted) {
        bytes[at..at + other.len()].copy_from_slice(other);
    }
}

//! Load: the same request over and over on keep-alive connections, one at a time on each. Written
//! by hand, so that making the load costs little of the two cores it shares with what it measures.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// How long connections are warmed up before they count.
const WARM_UP: Duration = Duration::from_millis(300);

/// A request, ready to be sent.
#[derive(Clone)]
pub(crate) struct Shot(Vec<u8>);

impl Shot {
    pub(crate) fn post(path: &str, key: &str, body: &str) -> Self {
        Self::new("POST", path, key, body)
    }

    pub(crate) fn get(path: &str, key: &str) -> Self {
        Self::new("GET", path, key, "")
    }

    fn new(method: &str, path: &str, key: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        Self([head.as_bytes(), body.as_bytes()].concat())
    }
}

/// What came of some seconds of load.
#[derive(Default)]
pub(crate) struct Measured {
    took: Duration,
    answers: Vec<Duration>,
}

impl Measured {
    pub(crate) fn add(&mut self, mut other: Self) {
        self.took += other.took;
        self.answers.append(&mut other.answers);
        self.answers.sort_unstable();
    }

    /// Answers a second.
    #[expect(clippy::cast_precision_loss, reason = "nobody counts that far")]
    pub(crate) fn rate(&self) -> f64 {
        self.answers.len() as f64 / self.took.as_secs_f64()
    }

    /// What this part of the answers took at most.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a list from a part of its length"
    )]
    pub(crate) fn percentile(&self, part: f64) -> Duration {
        let place = (self.answers.len() as f64 * part) as usize;
        self.answers.get(place).copied().unwrap_or_default()
    }
}

/// Sends one request and gives the body of its answer.
pub(crate) async fn once(address: SocketAddr, shot: &Shot) -> anyhow::Result<Vec<u8>> {
    let mut connection = Connection::open(address).await?;
    connection.call(shot).await?;
    Ok(connection.body)
}

/// Sends as much as `connections` can, for a while.
pub(crate) async fn fire(
    address: SocketAddr,
    shot: &Shot,
    connections: usize,
    time: Duration,
) -> anyhow::Result<Measured> {
    let begin = Instant::now() + WARM_UP;
    let end = begin + time;
    let mut workers = JoinSet::new();
    for _ in 0..connections {
        let shot = shot.clone();
        workers.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut answers = Vec::new();
            loop {
                let sent = Instant::now();
                if sent >= end {
                    return anyhow::Ok(answers);
                }
                connection.call(&shot).await?;
                if sent >= begin {
                    answers.push(sent.elapsed());
                }
            }
        });
    }
    let mut measured = Measured { took: time, answers: Vec::new() };
    while let Some(worker) = workers.join_next().await {
        measured.answers.append(&mut worker??);
    }
    Ok(measured)
}

/// A connection that is used again and again.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    body: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(4096), body: Vec::new() })
    }

    async fn call(&mut self, shot: &Shot) -> anyhow::Result<()> {
        self.stream.write_all(&shot.0).await?;
        self.buffer.clear();
        loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server hung up");
            let Some(head) = self.buffer.windows(4).position(|end| end == b"\r\n\r\n") else {
                continue;
            };
            let (head, rest) = self.buffer.split_at(head + 4);
            let length = read_head(head)?;
            if rest.len() >= length {
                self.body.clear();
                self.body.extend_from_slice(rest);
                return Ok(());
            }
        }
    }
}

/// How long the body is, if the answer is a good one.
fn read_head(head: &[u8]) -> anyhow::Result<usize> {
    let head = str::from_utf8(head)?;
    if !head.starts_with("HTTP/1.1 2") {
        bail!("refused: {head}");
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
    });
    length.with_context(|| format!("no length in {head}"))
}

//! A minimal HTTP/1.1 client, so that generating the load uses little of the shared cores.
//! WebSocket frames from a server are not masked, so their text can be searched directly.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// The timeout of every wait. Only failures take longer.
const PATIENCE: Duration = Duration::from_secs(90);

/// A request, ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct PreparedRequest(Arc<[u8]>);

impl PreparedRequest {
    pub(crate) fn post(path: &str, key: &str, body: &str) -> Self {
        Self::new("POST", path, key, "content-type: application/json\r\n", body)
    }

    pub(crate) fn put(path: &str, key: &str, body: &str) -> Self {
        Self::new("PUT", path, key, "content-type: application/json\r\n", body)
    }

    pub(crate) fn get(path: &str, key: &str) -> Self {
        Self::new("GET", path, key, "", "")
    }

    /// With additional header lines, each with its line end.
    pub(crate) fn get_with(path: &str, key: &str, headers: &str) -> Self {
        Self::new("GET", path, key, headers, "")
    }

    /// The request of a submitted form, with the browser's cookies.
    pub(crate) fn form(path: &str, cookies: &str, body: &str) -> Self {
        let headers = format!("content-type: application/x-www-form-urlencoded\r\n{cookies}");
        Self::new("POST", path, "", &headers, body)
    }

    fn new(method: &str, path: &str, key: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
             {headers}content-length: {length}\r\n\r\n"
        );
        Self([head.as_bytes(), body.as_bytes()].concat().into())
    }
}

/// A keep-alive connection.
pub(crate) struct HttpConnection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The bytes after the last header section.
    pub(crate) body: Vec<u8>,
}

impl HttpConnection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        Self::from(TcpStream::connect(address).await?)
    }

    /// Connects from one of the loopback addresses. Each has its own ports.
    pub(crate) async fn open_from(source: u8, address: SocketAddr) -> anyhow::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, source)), 0))?;
        Self::from(socket.connect(address).await?)
    }

    fn from(stream: TcpStream) -> anyhow::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new(), body: Vec::new() })
    }

    pub(crate) async fn send(&mut self, shot: &PreparedRequest) -> anyhow::Result<()> {
        self.buffer.clear();
        Ok(self.stream.write_all(&shot.0).await?)
    }

    /// Waits for the header section of an answer and returns the status.
    pub(crate) async fn head(&mut self) -> anyhow::Result<u16> {
        let (status, _) = self.read_head().await?;
        Ok(status)
    }

    /// Waits for a whole answer and returns the status.
    pub(crate) async fn answer(&mut self) -> anyhow::Result<u16> {
        let (status, length) = self.read_head().await?;
        // A 304 has no body.
        let length = if status == 304 { 0 } else { length.context("no length")? };
        while self.body.len() < length {
            let read = self.stream.read_buf(&mut self.body).await?;
            ensure!(read > 0, "the server hung up");
        }
        Ok(status)
    }

    /// Sends a request. Fails unless the answer is successful.
    pub(crate) async fn call(&mut self, shot: &PreparedRequest) -> anyhow::Result<()> {
        self.send(shot).await?;
        let status = self.answer().await?;
        if !(200..300).contains(&status) && status != 304 {
            bail!("refused with {status}: {}", String::from_utf8_lossy(&self.body));
        }
        Ok(())
    }

    /// A header of the last answer.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        header(str::from_utf8(&self.buffer).ok()?, name).map(ToOwned::to_owned)
    }

    /// The cookies that the last answer sets.
    pub(crate) fn cookies(&self) -> anyhow::Result<String> {
        let head = str::from_utf8(&self.buffer)?;
        let set = head.lines().filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("set-cookie").then(|| value.split(';').next())?
        });
        Ok(format!("cookie: {}\r\n", set.collect::<Vec<_>>().join("; ")))
    }

    /// Reads until the body contains this text.
    pub(crate) async fn until(&mut self, said: &[u8]) -> anyhow::Result<()> {
        let heard = async {
            while !self.body.windows(said.len()).any(|part| part == said) {
                let read = self.stream.read_buf(&mut self.body).await?;
                ensure!(read > 0, "the server hung up before it said what was waited for");
            }
            Ok(())
        };
        tokio::time::timeout(PATIENCE, heard).await?
    }

    /// Whether the connection is open and received only keepalives.
    pub(crate) fn is_quiet(&self) -> bool {
        let mut said = Vec::new();
        let end = loop {
            match self.stream.try_read_buf(&mut said) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => break error.kind(),
            }
        };
        // Comments, between the lengths of their chunks.
        let is_beat = |line: &[u8]| match line.trim_ascii() {
            [b':', ..] => true,
            length => length.iter().all(u8::is_ascii_hexdigit),
        };
        end == std::io::ErrorKind::WouldBlock && said.split(|byte| *byte == b'\n').all(is_beat)
    }

    /// The status, and the length of the body if it has one.
    async fn read_head(&mut self) -> anyhow::Result<(u16, Option<usize>)> {
        loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the server hung up");
            if let Some(end) = self.buffer.windows(4).position(|end| end == b"\r\n\r\n") {
                let (head, rest) = self.buffer.split_at(end + 4);
                let parsed = parse_head(head)?;
                self.body.clear();
                self.body.extend_from_slice(rest);
                return Ok(parsed);
            }
        }
    }
}

fn parse_head(head: &[u8]) -> anyhow::Result<(u16, Option<usize>)> {
    let head = str::from_utf8(head)?;
    let status = head.get(9..12).and_then(|status| status.parse().ok());
    let length = header(head, "content-length").and_then(|value| value.parse().ok());
    Ok((status.with_context(|| format!("no status in {head}"))?, length))
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| {
        let (has, value) = line.split_once(": ")?;
        has.eq_ignore_ascii_case(name).then_some(value)
    })
}

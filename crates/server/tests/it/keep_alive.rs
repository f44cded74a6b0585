//! Connections that stay open: a request that is refused before its body was read does not spoil
//! the next one, as Python's httpx and requests send it. Over HTTP/2, the refusal itself arrives.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::world::{World, soon};

/// A connection that sends whole requests one after the other, as a client with a pool does.
struct Line {
    stream: TcpStream,
    /// What was read behind the last answer.
    rest: Vec<u8>,
}

/// One answer.
struct Answer {
    status: u16,
    head: String,
}

impl Answer {
    fn closes(&self) -> bool {
        self.head.to_ascii_lowercase().contains("connection: close")
    }
}

impl Line {
    async fn open(world: &World) -> Self {
        let stream = TcpStream::connect(world.address()).await.unwrap();
        Self { stream, rest: Vec::new() }
    }

    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads one answer, and exactly that.
    async fn read(&mut self) -> Answer {
        let head = loop {
            let end = self.rest.windows(4).position(|bytes| bytes == b"\r\n\r\n");
            if let Some(end) = end {
                let head = self.rest.drain(..end + 4).collect::<Vec<u8>>();
                break String::from_utf8(head).unwrap();
            }
            self.more().await;
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        if status == 100 {
            return Answer { status, head };
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
        });
        let length: usize = length.unwrap();
        while self.rest.len() < length {
            self.more().await;
        }
        self.rest.drain(..length);
        Answer { status, head }
    }

    async fn more(&mut self) {
        let mut bytes = [0; 4096];
        let read = soon("an answer", self.stream.read(&mut bytes)).await.unwrap();
        assert!(read > 0, "the connection was closed without notice");
        self.rest.extend_from_slice(&bytes[..read]);
    }

    /// Whether the server ends the connection now.
    async fn ends(&mut self) -> bool {
        let mut bytes = [0; 64];
        let read = soon("the end", self.stream.read(&mut bytes)).await;
        // What was sent and not read makes the end a reset.
        self.rest.is_empty() && read.map_or(true, |read| read == 0)
    }
}

fn post(path: &str, key: &str, more: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n"
    )
}

const GOOD: &str = "GET /api/v1/asks HTTP/1.1\r\nHost: localhost\r\n\
    Authorization: Bearer dev-agent-key\r\n\r\n";

/// Addresses that answer before they read: no credential, no such address, no such method.
const REFUSED: [(&str, &str, u16); 9] = [
    ("/api/v1/asks", "wrong", 401),
    ("/hxp/v1/requests", "wrong", 401),
    ("/hitl/v1/cases", "wrong", 401),
    ("/a2h/v1/function_calls", "wrong", 401),
    ("/hacp/v1/ops/task.list", "wrong", 401),
    ("/hacp/v1/ops/no.such", "dev-agent-key", 404),
    ("/api/v1/nowhere", "dev-agent-key", 404),
    ("/hxp/v1/nowhere", "dev-agent-key", 404),
    ("/hacp/v1/events", "dev-agent-key", 405),
];

/// Head and body apart, as Python's clients send them: the answer may be there before the body is.
#[tokio::test]
async fn a_refused_body_does_not_spoil_the_next_request() {
    let world = World::dev().await;
    let body = "x".repeat(20_000);
    for (path, key, status) in REFUSED {
        let mut line = Line::open(&world).await;
        for round in 0..3 {
            line.send(&post(path, key, "", body.len())).await;
            line.send(&body).await;
            let answer = line.read().await;
            assert_eq!((answer.status, answer.closes()), (status, false), "{path} {round}");
            line.send(GOOD).await;
            assert_eq!(line.read().await.status, 200, "{path} {round}: the next request");
        }
    }
    world.end().await;
}

/// Pieces whose length is not told beforehand are read, too.
#[tokio::test]
async fn pieces_do_not_spoil_it_either() {
    let world = World::dev().await;
    let mut line = Line::open(&world).await;
    let head =
        "POST /api/v1/asks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    line.send(head).await;
    line.send("5\r\nhello\r\n0\r\n\r\n").await;
    assert_eq!(line.read().await.status, 401);
    line.send(GOOD).await;
    assert_eq!(line.read().await.status, 200);
    world.end().await;
}

/// A body larger than any that would be taken is not read: the connection ends, and says so.
#[tokio::test]
async fn what_is_too_large_ends_the_connection_and_says_so() {
    let world = World::dev().await;
    for (path, key, status) in
        [("/api/v1/asks", "wrong", 401), ("/api/v1/asks", "dev-agent-key", 413)]
    {
        let mut line = Line::open(&world).await;
        line.send(&post(path, key, "", 1 << 30)).await;
        let answer = line.read().await;
        assert_eq!((answer.status, answer.closes()), (status, true), "{key}");
        assert!(line.ends().await);
    }
    world.end().await;
}

/// RFC 9110 §10.1.1: a client that waits for a word before it sends its body gets the refusal
/// instead of the word.
#[tokio::test]
async fn a_client_that_waits_is_refused_before_it_sends() {
    let world = World::dev().await;
    let expect = "Expect: 100-continue\r\n";
    let mut line = Line::open(&world).await;
    line.send(&post("/api/v1/asks", "wrong", expect, 20_000)).await;
    let answer = line.read().await;
    assert_eq!((answer.status, answer.closes()), (401, true));
    assert!(line.ends().await);
    // Whoever is let in is told to go on.
    let mut line = Line::open(&world).await;
    let body = r#"{"question":{"prompt":"Go?","kind":"approve"}}"#;
    line.send(&post("/api/v1/asks", "dev-agent-key", expect, body.len())).await;
    assert_eq!(line.read().await.status, 100);
    line.send(body).await;
    assert_eq!(line.read().await.status, 201);
    line.send(GOOD).await;
    assert_eq!(line.read().await.status, 200);
    world.end().await;
}

/// Issue 21, point 17: over HTTP/2 the server reset the stream while the client still sent, and
/// curl reported the reset instead of the answer.
#[tokio::test]
async fn a_refusal_over_http2_arrives() {
    let world = World::dev().await;
    let body = world.folder().join("body");
    for size in [70_000, 1_200_000] {
        tokio::fs::write(&body, vec![b'x'; size]).await.unwrap();
        for (path, key, status) in REFUSED.into_iter().chain([("/api/v1/asks", "dev-agent-key", 0)])
        {
            let status = match (status, size) {
                (0, 70_000) => 400,
                (0, _) => 413,
                (status, _) => status,
            };
            let mut curl = Command::new("curl");
            curl.args(["--silent", "--show-error", "--http2-prior-knowledge", "--max-time", "30"])
                // Without it curl would ask before it sends a large body.
                .args(["-H", "Expect:", "-H", "Content-Type: application/json"])
                .args(["-H", &format!("Authorization: Bearer {key}")])
                .args(["-o", "/dev/null", "-w", "%{http_version} %{http_code}"])
                .arg("--data-binary")
                .arg(format!("@{}", body.display()))
                .arg(format!("http://{}{path}", world.address()));
            let out = curl.output().await.expect("curl, with HTTP/2, is installed");
            let said = String::from_utf8_lossy(&out.stdout).into_owned();
            let error = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(out.status.success(), "{path} {size}: {said} {error}");
            assert_eq!(said, format!("2 {status}"), "{path} {size}");
        }
    }
    world.end().await;
}

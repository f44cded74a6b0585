//! `countersign listen`: events reach a local address as signed webhooks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use standardwebhooks::Webhook;

use super::support::{PATIENCE, Server};
use super::{asked, at, cli};

/// A call that was received: its headers and body.
struct Call {
    headers: Vec<(String, String)>,
    body: String,
}

impl Call {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or_else(|| panic!("no {name}"), |(_, value)| value)
    }

    fn read(stream: &mut TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let mut headers = Vec::new();
        loop {
            line.clear();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim().split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut call = Self { headers, body: String::new() };
        let mut body = vec![0; call.header("content-length").parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        call.body = String::from_utf8(body).unwrap();
        call
    }
}

/// A program that is being developed: it answers these statuses, then 204.
fn receiver(statuses: &'static [u16]) -> (String, Receiver<Call>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (calls, received) = channel();
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let call = Call::read(&mut stream);
            let status = statuses.get(n).copied().unwrap_or(204);
            let head =
                format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
            if calls.send(call).is_err() {
                return;
            }
        }
    });
    (url, received)
}

/// A command that listens, and the lines that it prints.
struct Listening {
    child: Child,
    lines: Receiver<String>,
}

impl Listening {
    fn start(server: &Server, args: &[&str]) -> Self {
        let mut command = at(server, &[&["listen", "--json"], args].concat());
        command.env("COUNTERSIGN_API_KEY", "dev-agent-key");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (say, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let _ = say.send(line);
            }
        });
        Self { child, lines }
    }

    fn next(&self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(PATIENCE).unwrap()).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn events_are_forwarded_with_a_signature_that_verifies() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let (url, received) = receiver(&[]);
    let listening = Listening::start(&server, &["--forward-to", &url]);
    let begun = listening.next();
    let secret = begun["secret"].as_str().unwrap();
    let id = asked(&server, &["Deploy?"]);
    cli(&server, &["answer", &id, "--approve"]).ok();
    let call = received.recv_timeout(PATIENCE).unwrap();
    let mut headers = axum::http::HeaderMap::new();
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        headers.insert(name, call.header(name).parse().unwrap());
    }
    Webhook::new(secret).unwrap().verify(call.body.as_bytes(), &headers).unwrap();
    let body: Value = serde_json::from_str(&call.body).unwrap();
    assert_eq!(body["type"], "ask.answered", "{body}");
    assert_eq!(body["data"]["ask"]["id"], id.as_str());
    assert_eq!(body["data"]["ask"]["result"]["answer"]["verdict"], "approved");
    assert!(body["data"]["ask"]["receipt"].is_string(), "{body}");
    assert!(body["timestamp"].is_string());
    let line = listening.next();
    assert_eq!(
        (line["event"].as_str(), line["status"].as_u64()),
        (Some("ask.answered"), Some(204))
    );
    drop(listening);

    // The secret stays the same, and the stream resumes after a position.
    let before = begun["position"].to_string();
    let all = ["--forward-to", &url, "--after", &before, "--event", "ask.created"];
    let again = Listening::start(&server, &all);
    assert_eq!(again.next()["secret"], secret);
    let call = received.recv_timeout(PATIENCE).unwrap();
    let body: Value = serde_json::from_str(&call.body).unwrap();
    assert_eq!(
        (body["type"].as_str(), body["data"]["ask"]["id"].as_str()),
        (Some("ask.created"), Some(id.as_str()))
    );
    drop(again);
    assert!(received.recv_timeout(Duration::ZERO).is_err(), "nothing else was wanted");
    server.stop();
}

#[test]
fn a_receiver_that_is_busy_is_tried_again_with_the_same_id() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let (url, received) = receiver(&[503, 204, 500]);
    let listening = Listening::start(&server, &["--forward-to", &url]);
    listening.next();
    let ask = || {
        let id = asked(&server, &["Deploy?"]);
        cli(&server, &["answer", &id, "reject"]).ok();
    };
    ask();
    let first = received.recv_timeout(PATIENCE).unwrap();
    let second = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    let line = listening.next();
    assert_eq!((line["status"].as_u64(), line["attempts"].as_u64()), (Some(204), Some(2)));
    // Another error is the receiver's own, and reported at once.
    ask();
    let line = listening.next();
    assert_eq!((line["status"].as_u64(), line["attempts"].as_u64()), (Some(500), Some(1)));
    server.stop();
}

//! SIGTERM: whoever waits is told, nobody new is let in, and the process ends in order.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use reqwest::Method;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use super::agent::{AGENT, Caller, answer};
use super::support::{Server, verify};

/// Far below the ten seconds requests in flight are given: nobody here needs them.
const PROMPT: Duration = Duration::from_secs(4);

const SOCKETS: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_poll_ends_with_what_there_is() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::dev(data.path());
    let caller = Caller::of(&server);
    let (_, id) = caller.ask("Deploy?").await.unwrap();
    let path = format!("/api/v1/asks/{}", id.replacen("hxp_", "ask_", 1));
    let request = caller.request(Method::GET, &path, AGENT).header("prefer", "wait=60");
    let mut waiting = JoinSet::new();
    waiting.spawn(answer(request));
    counted(&caller, "countersign_watched_asks 1").await;

    server.signal("TERM");
    let told = Instant::now();
    let (status, shown) = waiting.join_next().await.unwrap().unwrap().expect("an answer");
    assert_eq!((status, &shown["state"]), (200, &Value::from("pending")));
    assert_eq!(server.ended().code(), Some(0), "{}", server.stderr());
    assert!(told.elapsed() < PROMPT, "took {:?}", told.elapsed());
    assert!(caller.ask("Still there?").await.is_err());

    let files: Vec<_> = data.path().read_dir().unwrap().map(|f| f.unwrap().file_name()).collect();
    assert!(!files.iter().any(|name| name == "countersign.db-wal"), "the log is folded in");
    assert_eq!(verify(data.path()).0, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_socket_is_closed_with_a_reason_to_come_back() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::dev(data.path());
    let caller = Caller::of(&server);
    let (_, id) = caller.ask("Deploy?").await.unwrap();
    let address = format!("ws://127.0.0.1:{}/hxp/ws/{id}?token={AGENT}", server.port());
    let mut sockets = Vec::new();
    for _ in 0..SOCKETS {
        sockets.push(connect_async(&address).await.unwrap().0);
    }
    counted(&caller, &format!("countersign_websockets {SOCKETS}")).await;

    server.signal("TERM");
    let told = Instant::now();
    for socket in &mut sockets {
        let closed = loop {
            match socket.next().await {
                Some(Ok(Message::Close(frame))) => break frame,
                Some(Ok(_)) => {}
                other => panic!("a socket broke off: {other:?}"),
            }
        };
        assert_eq!(u16::from(closed.unwrap().code), 1001);
        // The answer to the close frame; the server may have hung up already.
        let _ = socket.flush().await;
    }
    assert_eq!(server.ended().code(), Some(0), "{}", server.stderr());
    assert!(told.elapsed() < PROMPT, "took {:?}", told.elapsed());
}

/// Creates under load while the server stops: each is acknowledged and kept, or refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_in_flight_end() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::dev(data.path());
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let caller = Caller::of(&server);
        workers.spawn(async move {
            let mut kept = Vec::new();
            while let Ok((status, id)) = caller.ask("Deploy?").await {
                assert_eq!(status, 201);
                kept.push(id);
            }
            kept
        });
    }
    let caller = Caller::of(&server);
    while caller.total().await < 50 {}
    server.signal("TERM");
    let kept: Vec<String> = workers.join_all().await.concat();
    assert_eq!(server.ended().code(), Some(0));

    let server = Server::dev(data.path());
    let caller = Caller::of(&server);
    assert!(caller.total().await >= kept.len() as u64);
    for id in &kept {
        caller.poll(id).await;
    }
}

/// A signal in the middle of a connection that says nothing must not hold the server up.
#[tokio::test]
async fn an_idle_connection_holds_nobody_up() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::dev(data.path());
    let idle = std::net::TcpStream::connect(format!("127.0.0.1:{}", server.port())).unwrap();
    Caller::of(&server).ask("Deploy?").await.unwrap();
    server.signal("INT");
    let told = Instant::now();
    assert_eq!(server.ended().code(), Some(0));
    assert!(told.elapsed() < PROMPT, "took {:?}", told.elapsed());
    drop(idle);
}

/// Until the metrics have a line.
async fn counted(caller: &Caller, line: &str) {
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let request = caller.request(Method::GET, "/metrics", AGENT);
        let metrics = request.send().await.unwrap().text().await.unwrap();
        if metrics.lines().any(|other| other == line) {
            return;
        }
        assert!(Instant::now() < until, "in vain: {line} in {metrics}");
    }
}

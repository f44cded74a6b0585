//! The bytes of artifacts: any size in constant memory, and going on after a break of any kind.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use kernel::audit::Digest;
use reqwest::{Body, Method};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::agent::{AGENT, Caller};
use super::support::{PATIENCE, Server};
use super::test_storage::Place;

const UPLOADS: &str = "/hacp/v1/uploads";
pub(crate) const MIB: u64 = 1 << 20;
/// By how much the server may grow.
const GROWTH: u64 = 96 * MIB;
/// How long a gibibyte may take on a busy machine: there and back.
const LONGEST: Duration = Duration::from_secs(150);

/// A mebibyte like no other.
fn mebibyte(n: u64) -> Bytes {
    let mut bytes = vec![0x5a; usize::try_from(MIB).unwrap()];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    bytes.into()
}

pub(crate) fn body(range: std::ops::Range<u64>) -> Body {
    Body::wrap_stream(stream::iter(range.map(|n| Ok::<_, std::io::Error>(mebibyte(n)))))
}

pub(crate) fn checksum(mebibytes: u64) -> String {
    let mut hash = Sha256::new();
    (0..mebibytes).for_each(|n| hash.update(mebibyte(n)));
    format!("sha256:{}", Digest(hash.finalize().into()))
}

/// The most memory the server ever had, in bytes.
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

pub(crate) async fn sent(
    caller: &Caller,
    method: Method,
    path: &str,
    offset: u64,
    body: Body,
) -> Value {
    let request = caller.request(method, path, AGENT).header("upload-offset", offset);
    let answer = request.body(body).send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    answer.json().await.unwrap_or_default()
}

pub(crate) async fn begun(caller: &Caller, mebibytes: u64) -> String {
    let request = caller.request(Method::POST, UPLOADS, AGENT);
    let request = request.header("upload-length", mebibytes * MIB);
    let begun: Value = request.send().await.unwrap().json().await.unwrap();
    format!("{UPLOADS}/{}", begun["upload"].as_str().unwrap())
}

async fn offset(caller: &Caller, path: &str) -> u64 {
    let head = caller.request(Method::HEAD, path, AGENT).send().await.unwrap();
    head.headers()["upload-offset"].to_str().unwrap().parse().unwrap()
}

/// Waits until so much has arrived.
async fn arrived(caller: &Caller, path: &str, least: u64) -> u64 {
    let until = Instant::now() + PATIENCE;
    loop {
        let offset = offset(caller, path).await;
        if offset >= least {
            return offset;
        }
        assert!(Instant::now() < until, "{offset} of {least} arrived");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What comes back to an ordinary client.
pub(crate) async fn fetched(caller: &Caller, path: &str) -> (u64, String) {
    let read = caller.request(Method::GET, &format!("{path}/content"), AGENT).send().await.unwrap();
    assert_eq!(read.status(), 200);
    let mut pieces = read.bytes_stream();
    let (mut size, mut hash) = (0, Sha256::new());
    while let Some(piece) = pieces.next().await {
        let piece = piece.unwrap();
        size += piece.len() as u64;
        hash.update(&piece);
    }
    (size, format!("sha256:{}", Digest(hash.finalize().into())))
}

/// A request on a line of its own, written by hand: a client must not be what takes the time. What
/// comes back, as far as the body.
fn asked(server: &Server, request: &str, mebibytes: u64, hash: &mut Sha256) -> TcpStream {
    let mut line = TcpStream::connect(("127.0.0.1", server.port().parse().unwrap())).unwrap();
    line.set_read_timeout(Some(LONGEST)).unwrap();
    let length = mebibytes * MIB;
    write!(
        line,
        "{request} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {AGENT}\r\n\
         Connection: close\r\nContent-Length: {length}\r\n\r\n",
    )
    .unwrap();
    for n in 0..mebibytes {
        let bytes = mebibyte(n);
        hash.update(&bytes);
        line.write_all(&bytes).unwrap();
    }
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        line.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 20"), "{head}");
    line
}

/// Sends so much at once; where it is then, and what it hashes to.
fn put(server: &Server, mebibytes: u64) -> (String, String) {
    let mut hash = Sha256::new();
    let mut line = asked(server, &format!("PUT {UPLOADS}"), mebibytes, &mut hash);
    let mut said = String::new();
    line.read_to_string(&mut said).unwrap();
    let kept: Value = serde_json::from_str(&said).unwrap();
    let checksum = format!("sha256:{}", Digest(hash.finalize().into()));
    assert_eq!((&kept["size"], &kept["checksum"]), (&json!(mebibytes * MIB), &json!(checksum)));
    (format!("{UPLOADS}/{}", kept["upload"].as_str().unwrap()), checksum)
}

/// How much comes back, and what it hashes to.
fn get(server: &Server, path: &str) -> (u64, String) {
    let mut line = asked(server, &format!("GET {path}/content"), 0, &mut Sha256::new());
    let (mut size, mut hash) = (0, Sha256::new());
    let mut buffer = vec![0; usize::try_from(MIB).unwrap()];
    loop {
        let read = line.read(&mut buffer).unwrap();
        if read == 0 {
            return (size, format!("sha256:{}", Digest(hash.finalize().into())));
        }
        size += read as u64;
        hash.update(&buffer[..read]);
    }
}

/// HACP-028: a gibibyte there and back, and what a server needs for it.
#[test]
fn a_gibibyte_comes_and_goes_in_constant_memory() {
    comes_and_goes(Place::sqlite().dev(), 9, 1024);
}

/// The same where nodes share a database. Every connection to it keeps room for a piece or two once
/// it had one, so all of them have some before it counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_mebibytes_come_and_go_through_postgres() {
    if let Some(place) = Place::postgres().await {
        comes_and_goes(place.dev(), 96, 288);
    }
}

pub(crate) fn comes_and_goes(server: Server, before: u64, mebibytes: u64) {
    // Whatever is made once is there.
    let (small, _) = put(&server, before);
    get(&server, &small);
    let (before, started) = (peak(&server), Instant::now());
    let (path, checksum) = put(&server, mebibytes);
    let (there, up) = (peak(&server), started.elapsed());
    assert_eq!(get(&server, &path), (mebibytes * MIB, checksum));
    let (back, took) = (peak(&server), started.elapsed());
    eprintln!(
        "{mebibytes} MiB up in {up:?}, up and down in {took:?}; memory {} MiB, then {}, then {}",
        before / MIB,
        there / MIB,
        back / MIB,
    );
    assert!(back - before < GROWTH, "grew from {before} to {there} to {back}");
    assert!(took < LONGEST, "{took:?}");
    server.stop();
}

/// A connection that breaks keeps what came, and the rest makes it whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_connection_loses_nothing_that_arrived() {
    let place = Place::sqlite();
    let server = place.dev();
    let caller = Caller::of(&server);
    let path = begun(&caller, 11).await;
    let mut line = TcpStream::connect(("127.0.0.1", server.port().parse().unwrap())).unwrap();
    write!(
        line,
        "PATCH {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {AGENT}\r\n\
         Upload-Offset: 0\r\nContent-Length: {}\r\n\r\n",
        11 * MIB
    )
    .unwrap();
    (0..6).for_each(|n| line.write_all(&mebibyte(n)).unwrap());
    drop(line);
    let kept = arrived(&caller, &path, 6 * MIB).await;
    assert_eq!(kept, 6 * MIB, "all of it, not only whole pieces");
    let whole = sent(&caller, Method::PATCH, &path, kept, body(6..11)).await;
    assert_eq!(whole["checksum"], checksum(11));
    assert_eq!(fetched(&caller, &path).await, (11 * MIB, checksum(11)));
    server.stop();
}

/// `kill -9` in the middle of an upload loses nothing that was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_goes_on_after_the_server_was_killed() {
    goes_on(&Place::sqlite()).await;
}

/// The same on another node.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_goes_on_at_another_node() {
    if let Some(place) = Place::postgres().await {
        goes_on(&place).await;
    }
}

async fn goes_on(place: &Place) {
    let mut nodes = place.nodes();
    let first = nodes.remove(0);
    let caller = Caller::of(&first);
    let path = begun(&caller, 14).await;
    sent(&caller, Method::PATCH, &path, 0, body(0..2)).await;
    assert_eq!(offset(&caller, &path).await, 2 * MIB, "acknowledged");
    // One that never ends by itself.
    let frames = stream::iter((2..8).map(|n| Ok::<_, std::io::Error>(mebibyte(n))));
    let endless = Body::wrap_stream(frames.chain(stream::pending()));
    let request = caller.request(Method::PATCH, &path, AGENT).header("upload-offset", 2 * MIB);
    let mut sending = JoinSet::new();
    sending.spawn(request.body(endless).send());
    let told = arrived(&caller, &path, 6 * MIB).await;
    first.kill();
    assert!(sending.join_next().await.unwrap().unwrap().is_err());

    let server = nodes.pop().unwrap_or_else(|| place.dev());
    let caller = Caller::of(&server);
    let kept = offset(&caller, &path).await;
    assert_eq!(kept, told, "whole pieces are there as soon as they are told");
    let whole = sent(&caller, Method::PATCH, &path, kept, body(kept / MIB..14)).await;
    assert_eq!(whole["checksum"], checksum(14));
    assert_eq!(fetched(&caller, &path).await, (14 * MIB, checksum(14)));
    place.sound().await;
}

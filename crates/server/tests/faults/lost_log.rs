//! A write-ahead log that was damaged or cut loses acknowledged requests that are in no block yet:
//! the next start refuses and says which, and so does `audit verify`.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;

use super::agent::Caller;
use super::proxy::{Proxy, RESETS};
use super::support::{Server, countersign, eventually, serve, verify};
use super::test_storage::{Place, query};

fn head(data: &Path) -> Option<u64> {
    let marked = fs::read(data.join("sealed.json")).ok()?;
    serde_json::from_slice::<Value>(&marked).unwrap()["head"]["position"].as_u64()
}

fn server(data: &Path) -> Server {
    Server::start(serve(data).arg("--dev").args(["--seal-seconds", "86400"]))
}

/// A server that was killed after its last requests were acknowledged, unsealed, and their place in
/// the feed was written down; the position of the last.
async fn killed(data: &Path) -> u64 {
    let server = server(data);
    let caller = Caller::of(&server);
    for n in 0..20 {
        assert_eq!(caller.ask(&format!("Number {n}?")).await.unwrap().0, 201);
    }
    let (code, said) = verify(data);
    assert_eq!(code, Some(0), "{said}");
    let events = said.split_once(" events").unwrap().0.rsplit(' ').next().unwrap();
    let events: u64 = events.parse().unwrap();
    eventually("the head is kept", || head(data).filter(|kept| *kept >= events));
    server.kill();
    assert_eq!(verify(data).0, Some(0), "nothing is lost by a kill");
    head(data).unwrap()
}

/// What a start and a check say.
fn refused(data: &Path) -> String {
    let (code, checked) = verify(data);
    assert_eq!(code, Some(1), "{checked}");
    let Err((status, said)) = Server::try_start(serve(data).arg("--dev")) else {
        panic!("it started although events are lost")
    };
    assert_eq!(status.code(), Some(4), "{said}");
    for said in [&checked, &said] {
        assert!(said.contains("acknowledged event"), "{said}");
        assert!(said.contains("of the feed, recorded"), "{said}");
    }
    assert!(said.contains("--accept-loss") && said.contains("restore a backup"), "{said}");
    checked
}

#[tokio::test]
async fn a_log_that_was_cut_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let last = killed(data).await;
    let log = data.join("countersign.db-wal");
    let size = fs::metadata(&log).unwrap().len();
    OpenOptions::new().write(true).open(&log).unwrap().set_len(size - 60_000).unwrap();
    let said = refused(data);
    assert!(said.contains(&format!("to {last} of the feed")), "{said}");

    // Who accepts it goes on, and what was lost stays written down.
    let server = Server::start(
        serve(data).arg("--dev").arg("--accept-loss").args(["--seal-seconds", "86400"]),
    );
    assert!(server.stderr().contains("an operator accepted a loss"), "{}", server.stderr());
    assert_eq!(Caller::of(&server).ask("And now?").await.unwrap().0, 201);
    server.stop();
    let (code, said) = verify(data);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Note: accepted by an operator: "), "{said}");
    server_starts(data);
    let again = Server::try_start(serve(data).arg("--dev").arg("--accept-loss"));
    let (_, said) = again.err().expect("nothing is lost any more");
    assert!(said.contains("no events are missing"), "{said}");
}

fn server_starts(data: &Path) {
    server(data).stop();
}

#[tokio::test]
async fn a_log_with_a_damaged_byte_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    killed(data).await;
    let log = data.join("countersign.db-wal");
    let size = fs::metadata(&log).unwrap().len();
    let mut file = OpenOptions::new().read(true).write(true).open(&log).unwrap();
    let at = SeekFrom::Start(size / 2);
    let mut byte = [0];
    file.seek(at).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(at).unwrap();
    file.write_all(&[byte[0] ^ 0x40]).unwrap();
    drop(file);
    refused(data);
}

#[tokio::test]
async fn a_log_or_a_database_that_is_gone_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let last = killed(data).await;
    let kept = folder.path().join("countersign.db-wal");
    fs::remove_file(&kept).unwrap();
    let said = refused_or_unreadable(data);
    assert!(said.contains("acknowledged events are missing") || said.contains("cannot"), "{said}");

    // An empty database in its place is no new installation.
    for name in ["countersign.db", "countersign.db-wal", "countersign.db-shm"] {
        let _ = fs::remove_file(data.join(name));
    }
    let Err((status, said)) = Server::try_start(serve(data).arg("--dev")) else {
        panic!("it started on nothing")
    };
    assert_eq!(status.code(), Some(4), "{said}");
    assert!(said.contains(&format!("positions 1 to {last} of the feed")), "{said}");
    assert!(said.contains("the feed is empty"), "{said}");
}

/// Without its log the file may be older than its schema.
fn refused_or_unreadable(data: &Path) -> String {
    let mut check = countersign();
    let out = check.args(["audit", "verify", "--data"]).arg(data).output().unwrap();
    assert_ne!(out.status.code(), Some(0));
    String::from_utf8([out.stdout, out.stderr].concat()).unwrap()
}

/// A graceful stop writes the head down, whatever happened in the last second.
#[tokio::test]
async fn a_stop_keeps_the_head() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let caller = Caller::of(&server);
    caller.ask("Deploy?").await.unwrap();
    server.stop();
    let (code, said) = verify(folder.path());
    assert_eq!(code, Some(0), "{said}");
    let events = format!(": {} events", head(folder.path()).unwrap());
    assert!(said.contains(&events), "{said}: {events}");
}

/// A node that finds events missing from the shared database goes on, says so, and `audit verify`
/// on that node does not hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_notices_a_shared_database_that_lost_events() {
    let Some(place) = Place::postgres().await else { return };
    let node = place.dev();
    let caller = Caller::of(&node);
    for _ in 0..3 {
        caller.ask("Deploy?").await.unwrap();
    }
    node.stop();
    assert_eq!(place.verify().0, Some(0));
    let last = head(place.data()).expect("a node with a data folder keeps the head");
    // As after a failover to a standby that was behind.
    query(place.url(), &format!("DELETE FROM feed WHERE position > {}", last - 2)).await;
    let (code, said) = place.verify();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("2 acknowledged events are missing"), "{said}");
    let node = place.dev();
    let log = node.stderr();
    assert!(log.contains("the database lost acknowledged events"), "{log}");
    node.stop();
    let (code, said) = place.verify();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("2 acknowledged events are missing"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_behind_a_pooler_that_resets_settings_refuses_to_start() {
    let Some(place) = Place::postgres().await else { return };
    let name = place.url().rsplit_once('/').unwrap().1.to_owned();
    query(place.url(), &format!("ALTER DATABASE {name} SET synchronous_commit = off")).await;
    let proxy = Proxy::before(place.url()).await;
    proxy.set(RESETS);
    let refused = Server::try_start(place.through(&proxy.url).arg("--dev"));
    let (status, said) = refused.err().expect("it must not start");
    assert_eq!(status.code(), Some(4), "{said}");
    assert!(
        said.contains("synchronous_commit is off although this session set it to on"),
        "{said}"
    );

    // Without the pooler the setting is raised, and everybody may know how it is.
    let node = place.dev();
    let ready = Caller::of(&node).get("/readyz", "").await.unwrap();
    assert_eq!(ready.0, 200);
    let database = &ready.1["database"];
    assert_eq!(database["synchronous_commit"], "on", "{database}");
    for name in ["fsync", "full_page_writes", "synchronous_standby_names"] {
        assert!(database[name].is_string(), "{database}");
    }
    assert!(node.stderr().contains("durability settings of the database"), "{}", node.stderr());
    node.stop();
}

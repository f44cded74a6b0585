//! Data of an earlier release: it is opened, migrated and verified, and what waited is delivered
//! once.
//!
//! `../fixtures/upgrade-0.1` holds a data folder and a PostgreSQL database as that release left
//! them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kernel::Subject;
use serde_json::{Value, json};
use server::config::{SecretString, Settings};
use store::followers::DELIVERIES;
use tokio_postgres::NoTls;

use crate::fake_smtp_server::Post;
use crate::fake_webhook_receiver::{Hook, deliver};
use crate::webhooks::HOOKS;
use crate::world::{World, dev, eventually};

const MASTER_KEY: &str = "0f0e0d0c0b0a09080706050403020100f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/upgrade-0.1")
}

/// What the API of the earlier release said at the end.
fn expected(name: &str) -> Value {
    let text = std::fs::read_to_string(fixture().join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            // A new file, so that it has the mode of what servers write and not that of a checkout.
            private(&target, &std::fs::read(entry.path()).unwrap());
        }
    }
}

/// The feed and the outbox as the earlier release left them.
#[derive(Default)]
struct Left {
    /// The position of the last event.
    head: u64,
    /// The messages that wait for the endpoint.
    messages: BTreeSet<String>,
}

impl Left {
    fn new(head: i64, waiting: impl IntoIterator<Item = String>) -> Self {
        let effects = waiting.into_iter().map(|text| serde_json::from_str(&text).unwrap());
        let told = |effect: Value| effect["told"]["id"].as_str().map(ToOwned::to_owned);
        Self { head: u64::try_from(head).unwrap(), messages: effects.filter_map(told).collect() }
    }
}

/// The effects that wait, in both databases.
const WAITING: &str = "SELECT effect FROM outbox WHERE NOT dead";

/// A file that only its owner reads.
fn private(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(path);
    file.unwrap().write_all(bytes).unwrap();
}

#[tokio::test]
async fn a_data_folder_of_before_is_opened() {
    let expected = expected("sqlite");
    let post = Post::open(&[]).await;
    let now = expected["now"].as_str().unwrap().parse().unwrap();
    let mut left = Left::default();
    let world = World::on(post.carrying(dev()), now, |data| {
        copy(&fixture().join("sqlite"), data);
        let sql = std::fs::read_to_string(fixture().join("sqlite.sql")).unwrap();
        let database = rusqlite::Connection::open(data.join("countersign.db")).unwrap();
        database.execute_batch(&sql).unwrap();
        let head = "SELECT max(position) FROM record";
        let head = database.query_row(head, [], |row| row.get(0)).unwrap();
        let mut select = database.prepare(WAITING).unwrap();
        let waiting = select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap);
        left = Left::new(head, waiting);
    })
    .await;
    holds(world, &post, &expected, &left).await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
async fn a_database_of_before_is_opened() {
    let Ok(server) = std::env::var("DATABASE_URL") else {
        let why = "DATABASE_URL names no PostgreSQL server";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{why}");
        eprintln!("skipped: {why}");
        return;
    };
    let name = format!("upgrade_{}", std::process::id());
    run(&server, &format!("CREATE DATABASE {name}")).await;
    let (before, _) = server.rsplit_once('/').unwrap();
    let url = format!("{before}/{name}");
    run(&url, &std::fs::read_to_string(fixture().join("postgres.sql")).unwrap()).await;
    // Events that have no position yet get the next ones.
    let head = "SELECT coalesce(max(position), 0)
        + (SELECT coalesce(sum(cardinality(seqs)), 0) FROM public.pending)::bigint FROM public.feed";
    let head = rows(&url, head).await[0].get(0);
    let waiting = rows(&url, &WAITING.replace("outbox", "public.outbox")).await;
    let left = Left::new(head, waiting.iter().map(|row| row.get(0)));
    let expected = expected("postgres");
    let post = Post::open(&[]).await;
    let settings = Settings {
        database: Some(url.parse().unwrap()),
        master_key: Some(SecretString::new(MASTER_KEY)),
        ..post.carrying(dev())
    };
    let now = expected["now"].as_str().unwrap().parse().unwrap();
    holds(World::on(settings, now, |_| ()).await, &post, &expected, &left).await;
    run(&server, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
}

/// Runs statements on a connection of its own.
async fn run(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::select! {
        done = client.batch_execute(sql) => done.unwrap(),
        ended = connection => panic!("the connection ended: {ended:?}"),
    }
}

/// Queries on a connection of its own.
async fn rows(url: &str, sql: &str) -> Vec<tokio_postgres::Row> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::select! {
        rows = client.query(sql, &[]) => rows.unwrap(),
        ended = connection => panic!("the connection ended: {ended:?}"),
    }
}

/// The record verifies, everything is read as it was, and what waits is delivered once.
async fn holds(world: World, post: &Post, expected: &Value, left: &Left) {
    let follower = world.gateway().store().follower(DELIVERIES).await.unwrap();
    assert!(follower >= left.head, "the follower begins behind the history, not at {follower}");
    let report = world.audit().await;
    assert!(report.events > 80);
    assert_eq!(report.findings, [], "the record does not hold");
    for (name, was) in expected["asks"].as_object().unwrap() {
        let agent = if name == "other_project" { world.agent_2() } else { world.agent() };
        let path = format!("/api/v1/asks/{}", was["id"].as_str().unwrap());
        let receipt = agent.get(&format!("{path}/receipt")).await;
        assert_eq!(receipt.status, was["receipt"], "the receipt of {name}: {}", receipt.text);
        assert_eq!(agent.get(&path).await.is(200)["state"], was["state"], "{name}");
    }
    for task in expected["tasks"].as_array().unwrap() {
        crate::hacp::done(&world.human(), "task.get", json!({ "task_id": task })).await;
    }
    beside_the_record(&world, expected).await;
    delivered_once(&world, post, expected, left).await;
    world.leave().await;
}

/// What is kept beside the record is still there.
async fn beside_the_record(world: &World, expected: &Value) {
    let (agent, human) = (world.agent(), world.human());
    let ask = |name: &str| expected["asks"][name]["id"].as_str().unwrap().to_owned();
    for (name, secret) in [("secret", "hush-9f3"), ("unread_secret", "hush-unread")] {
        let seen = agent.get(&format!("/api/v1/asks/{}", ask(name))).await.is(200);
        assert_eq!(seen["result"]["answer"]["values"]["token"], secret, "{name}");
    }
    let snoozed = human.get("/api/v1/snoozed").await.is(200);
    assert_eq!(snoozed["snoozed"].as_array().unwrap().len(), 1);
    let draft = world.gateway().store().draft(ask("draft").parse().unwrap()).await.unwrap();
    assert!(draft.is_some());
    let device = human.get("/api/v1/me/push").await.is(200);
    assert!(device.text.contains("phone"), "{}", device.text);
    let told = world
        .gateway()
        .store()
        .notified_devices(vec![ask("waiting").parse().unwrap()])
        .await
        .unwrap();
    assert_eq!(told.len(), 1);
    let upload = format!("/hacp/v1/uploads/{}", expected["upload"].as_str().unwrap());
    let progress =
        crate::hacp_artifacts::send(&agent, reqwest::Method::HEAD, &upload, &[], "").await;
    assert_eq!(progress.header("upload-offset"), "14");
    // The code that was sent still counts: a wrong one is refused as such.
    let contacts = world.member().get("/api/v1/me/notices").await.is(200);
    let way = contacts["ways"].as_array().unwrap().iter();
    let way = way.clone().find(|way| way["means"] == "email:mo@example.com").unwrap();
    let verify = format!("/api/v1/me/contacts/{}/verify", way["id"].as_str().unwrap());
    let wrong = world.member().post(&verify, json!({ "code": "000001" })).await.is(422);
    assert_eq!(wrong["errors"][0]["expected"], "the code of the latest message");
}

/// The endpoint has moved, the mail server is back: each message arrives, and none twice. Of the
/// history only the messages arrive that waited.
async fn delivered_once(world: &World, post: &Post, expected: &Value, left: &Left) {
    let hook = Hook::open(&[]).await;
    let endpoint = format!("{HOOKS}/{}", expected["webhook"].as_str().unwrap());
    let moved = json!({ "agent": "agent_dev", "url": hook.url });
    world.human().put(&endpoint, moved).await.is(200);
    eventually("what waited for the endpoint", async || {
        world.advance(600);
        deliver(world).await;
        !hook.heard().is_empty() && !post.letters().is_empty()
    })
    .await;
    for _ in 0..3 {
        world.advance(600);
        deliver(world).await;
    }
    let heard = hook.heard();
    let ids: BTreeSet<_> = heard
        .iter()
        .map(|(headers, _)| headers["webhook-id"].clone())
        .map(|id| id.to_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), heard.len(), "an endpoint was notified twice");
    assert!(!left.messages.is_empty());
    assert_eq!(of_history(world, ids, left.head).await, left.messages);
    let letters = post.letters();
    let ids: BTreeSet<String> = letters.iter().map(|letter| letter.header("Message-ID")).collect();
    assert_eq!(ids.len(), letters.len(), "an email was sent twice");
}

/// The messages about events up to this position of the feed.
async fn of_history(world: &World, messages: BTreeSet<String>, head: u64) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for message in messages {
        let (ask, seq) = message.trim_start_matches("msg_").split_once('_').unwrap();
        let subject = Subject::Ask(format!("ask_{ask}").parse().unwrap());
        let position = world.gateway().store().position(subject, seq.parse().unwrap()).await;
        if position.unwrap().unwrap() <= head {
            found.insert(message);
        }
    }
    found
}

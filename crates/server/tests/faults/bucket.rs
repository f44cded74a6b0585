//! Files in a bucket: in constant memory, and shared by nodes that share a database.

use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use gateway::files::FileStorage;
use kernel::audit::Digest;
use reqwest::Method;
use server::config::{Config, SecretString, Settings};
use store::FileHolderStore;
use store::postgres::{Postgres, PostgresOptions};
use tokio::task::JoinSet;
use ulid::Ulid;

use super::agent::{AGENT, Caller};
use super::artifacts::{MIB, begun, body, checksum, comes_and_goes, fetched, sent};
use super::store_of_files::{Bucket, KEY, SECRET};
use super::support::{Server, countersign};
use super::test_storage::{Place, query, with_key};

fn with(mut command: Command, bucket: &Bucket) -> Command {
    command
        .env("COUNTERSIGN_FILES", bucket.url())
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET);
    command
}

fn dev(place: &Place, bucket: &Bucket) -> Server {
    Server::start(with(place.serve(), bucket).arg("--dev"))
}

/// HACP-028: what a server needs for much more than fits into one piece.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_mebibytes_come_and_go_through_a_bucket() {
    let (place, bucket) = (Place::sqlite(), Bucket::start().await);
    comes_and_goes(dev(&place, &bucket), 9, 64);
    assert!(bucket.objects().len() >= 16, "in pieces");
    assert!(!place.data().join("files").exists(), "nothing beside the database");
}

/// HACP-028: an upload begun at one node is finished at another, both hand it out, either takes it
/// away, and the database has none of its bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_share_a_bucket() {
    let Some(place) = Place::postgres().await else { return };
    let bucket = Bucket::start().await;
    let (one, other) = (dev(&place, &bucket), dev(&place, &bucket));
    let (at_one, at_other) = (Caller::of(&one), Caller::of(&other));
    let path = begun(&at_one, 10).await;
    sent(&at_one, Method::PATCH, &path, 0, body(0..5)).await;
    let whole = sent(&at_other, Method::PATCH, &path, 5 * MIB, body(5..10)).await;
    assert_eq!(whole["checksum"], checksum(10));
    for caller in [&at_one, &at_other] {
        assert_eq!(fetched(caller, &path).await, (10 * MIB, checksum(10)));
    }
    let rows = query(place.url(), "SELECT count(*) FROM file").await;
    assert_eq!(rows[0].get::<_, i64>(0), 0, "in the bucket, not in the database");
    let gone = at_one.request(Method::DELETE, &path, AGENT).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    assert_eq!(bucket.objects(), Vec::<String>::new());
    one.stop();
    other.stop();
    place.sound().await;
}

/// What was in the folder of a server that moves to nodes goes to the bucket the nodes share.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_installation_moves_to_nodes_and_its_files_to_a_bucket() {
    let Some(to) = Place::postgres().await else { return };
    let (from, bucket) = (Place::sqlite(), Bucket::start().await);
    let server = from.dev();
    let path = begun(&Caller::of(&server), 5).await;
    sent(&Caller::of(&server), Method::PATCH, &path, 0, body(0..5)).await;
    server.stop();
    let mut migrate = with(with_key(countersign()), &bucket);
    let file = format!("sqlite:{}", from.data().join("countersign.db").display());
    migrate.args(["migrate", "--from", &file, "--to", to.url()]);
    let out = migrate.output().unwrap();
    let said = String::from_utf8([out.stdout, out.stderr].concat()).unwrap();
    assert!(out.status.success() && said.contains("3 uploads"), "two pieces and a list: {said}");
    assert_eq!(bucket.objects().len(), 3);
    let node = dev(&to, &bucket);
    assert_eq!(fetched(&Caller::of(&node), &path).await, (5 * MIB, checksum(5)));
    node.stop();
}

/// Two nodes give and take away the same few files at the same time. Whoever was given one and was
/// not taken it away has it, and in the end nothing is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_node_is_given_no_other_takes_away() {
    let Some(place) = Place::postgres().await else { return };
    let bucket = Bucket::start().await;
    let settings = Settings {
        files: Some(bucket.url().parse().unwrap()),
        files_access_key_id: Some(KEY.to_owned()),
        files_secret_access_key: Some(SecretString::new(SECRET)),
        ..Settings::default()
    };
    let config: Config = settings.check().unwrap();
    let mut nodes = Vec::new();
    for _ in 0..2 {
        let store =
            Arc::new(Postgres::open(place.url(), PostgresOptions::default()).await.unwrap());
        let there = config.location.bucket.as_deref().unwrap();
        nodes.push((FileStorage::bucket(there, Some(Arc::clone(&store))).unwrap(), store));
    }
    let mut busy = JoinSet::new();
    for n in 0..8_u128 {
        let (files, store) = nodes[usize::try_from(n % 2).unwrap()].clone();
        busy.spawn(async move {
            for round in 0..12_u128 {
                let holder = Ulid::from(n * 100 + round + 1);
                let bytes = Bytes::from(format!("file {}", round % 2));
                let digest = files.store_for(&*store, holder, bytes).await.unwrap();
                let there = files.read(&digest).await.unwrap();
                assert!(there.is_some(), "{holder} was given it, and somebody took it away");
                files.delete_for(&*store, holder).await.unwrap();
            }
        });
    }
    busy.join_all().await;
    let (files, store) = &nodes[0];
    for n in 0..2 {
        let digest = Digest::of(format!("file {n}").as_bytes());
        assert_eq!(files.read(&digest).await.unwrap(), None, "nobody has it any more");
    }
    assert_eq!(store.own_files(Ulid::from(1_u128)).await.unwrap(), []);
    assert_eq!(bucket.objects(), Vec::<String>::new());
}

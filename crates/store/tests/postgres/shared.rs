//! What nodes share besides the record.

use std::sync::Arc;
use std::time::Duration;

use kernel::audit::Digest;
use store::postgres::{Options, Postgres};
use store::suite::Hands;
use tokio::task::JoinSet;

use super::support::{Database, missing};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_replaced_by_whoever_read_it_last() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let store = Arc::new(database.open(Hands::new()).await);
    assert_eq!(store.secret("a").await.unwrap(), None);
    assert!(!store.put_secret("a", 3, vec![9]).await.unwrap(), "there is no version 3");
    let mut putting = JoinSet::new();
    for n in 0..20 {
        let store = Arc::clone(&store);
        putting.spawn(async move { store.put_secret("a", 0, vec![n]).await.unwrap() });
    }
    let put = putting.join_all().await;
    assert_eq!(put.iter().filter(|put| **put).count(), 1, "one was first");
    assert_eq!(store.secret("a").await.unwrap().unwrap().0, 1);
    assert!(store.put_secret("a", 1, vec![0, 255]).await.unwrap());
    assert!(!store.put_secret("a", 1, vec![7]).await.unwrap());
    assert_eq!(store.secret("a").await.unwrap(), Some((2, vec![0, 255])));
    assert_eq!(store.secret("A").await.unwrap(), None);
}

#[tokio::test]
async fn a_file_is_found_by_its_digest() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let store = database.open(Hands::new()).await;
    let bytes = vec![7; 3 << 20];
    let digest = Digest::of(&bytes);
    assert_eq!(store.file(&digest).await.unwrap(), None);
    for _ in 0..2 {
        store.keep_file(digest, &bytes).await.unwrap();
    }
    assert_eq!(store.file(&digest).await.unwrap(), Some(bytes));
}

/// One at a time, and the next one as soon as the first is done or gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_are_taken() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let one = database.open(Hands::new()).await;
    let other = Arc::new(database.open(Hands::new()).await);
    let turn = one.turn("start").await.unwrap();
    drop(other.turn("another thing").await.unwrap());
    let mut waiting = JoinSet::new();
    let waits = Arc::clone(&other);
    waiting.spawn(async move { waits.turn("start").await.map(drop) });
    let early = tokio::time::timeout(Duration::from_millis(200), waiting.join_next()).await;
    assert!(early.is_err(), "it waits");
    drop(turn);
    waiting.join_next().await.unwrap().unwrap().unwrap();
}

/// Nodes go by the time of the database, not by their own.
#[tokio::test]
async fn the_clock_is_the_databases() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let store = Postgres::open(&database.url, Options::default()).await.unwrap();
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let row = database.raw().await.client.query_one(sql, &[]).await.unwrap();
    let apart = store.clock().now().millis() - row.get::<_, i64>(0);
    assert!(apart.abs() < 2_000, "{apart} ms apart");
}

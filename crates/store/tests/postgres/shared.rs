//! What nodes share besides the record.

use std::sync::Arc;
use std::time::Duration;

use kernel::audit::Digest;
use store::FileHolderStore;
use store::postgres::{Postgres, PostgresOptions};
use store::suite::ManualClock;
use tokio::task::JoinSet;
use ulid::Ulid;

use super::support::{Database, missing};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_replaced_by_whoever_read_it_last() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let store = Arc::new(database.open(ManualClock::new()).await);
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
    let store = database.open(ManualClock::new()).await;
    let bytes = vec![7; 3 << 20];
    let digest = Digest::of(&bytes);
    assert_eq!(store.file(&digest).await.unwrap(), None);
    for _ in 0..2 {
        store.put_file(digest, &bytes).await.unwrap();
    }
    assert_eq!(store.file(&digest).await.unwrap(), Some(bytes));
}

/// Whoever takes files away alone decides whether somebody else has one: until it is gone nobody is
/// given it, and whoever has to do with others waits for nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_given_what_is_just_delete_files() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let one = database.open(ManualClock::new()).await;
    let other = Arc::new(database.open(ManualClock::new()).await);
    let (ann, bob) = (Ulid::from(1_u128), Ulid::from(2_u128));
    let (lone, shared) = (Digest::of(b"lone"), Digest::of(b"shared"));
    for (holder, digest) in [(ann, lone), (ann, shared), (bob, shared)] {
        one.record_file(holder, digest).await.unwrap();
    }
    let mut deletion = one.delete_files(ann).await.unwrap();
    assert_eq!(deletion.next().await.unwrap(), Some(vec![lone]));
    let mut waiting = JoinSet::new();
    let waits = Arc::clone(&other);
    waiting.spawn(async move { waits.record_file(bob, lone).await });
    let early = tokio::time::timeout(Duration::from_millis(200), waiting.join_next()).await;
    assert!(early.is_err(), "it waits");
    other.record_file(bob, Digest::of(b"another")).await.unwrap();
    deletion.confirm().await.unwrap();
    waiting.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(deletion.next().await.unwrap(), None);
    assert_eq!(other.own_files(bob).await.unwrap().len(), 3, "what ann had too is bob's alone now");

    // Whoever goes away in the middle has taken nothing away.
    let mut deletion = one.delete_files(bob).await.unwrap();
    assert_eq!(deletion.next().await.unwrap().unwrap().len(), 3);
    drop(deletion);
    other.record_file(ann, lone).await.unwrap();
    assert_eq!(other.own_files(bob).await.unwrap().len(), 2);
}

/// A page at a time, in order.
#[tokio::test]
async fn files_are_listed() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let store = database.open(ManualClock::new()).await;
    let mut kept: Vec<Digest> = (0..5_u8).map(|n| Digest::of(&[n])).collect();
    for n in 0..5_u8 {
        store.put_file(Digest::of(&[n]), &[n]).await.unwrap();
    }
    kept.sort();
    let first = store.files(None, 3).await.unwrap();
    assert_eq!(first, kept[..3]);
    assert_eq!(store.files(first.last(), 3).await.unwrap(), kept[3..]);
    assert_eq!(store.files(kept.last(), 3).await.unwrap(), []);
    assert!(store.has_file(&kept[0]).await.unwrap());
    assert!(!store.has_file(&Digest::ZERO).await.unwrap());
}

/// One at a time, and the next one as soon as the first is done or gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_is_held_by_one_node_at_a_time() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let one = database.open(ManualClock::new()).await;
    let other = Arc::new(database.open(ManualClock::new()).await);
    let lock = one.lock("start").await.unwrap();
    drop(other.lock("another thing").await.unwrap());
    let mut waiting = JoinSet::new();
    let waits = Arc::clone(&other);
    waiting.spawn(async move { waits.lock("start").await.map(drop) });
    let early = tokio::time::timeout(Duration::from_millis(200), waiting.join_next()).await;
    assert!(early.is_err(), "it waits");
    drop(lock);
    waiting.join_next().await.unwrap().unwrap().unwrap();
}

/// Nodes go by the time of the database, not by their own.
#[tokio::test]
async fn the_clock_is_the_databases() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let store = Postgres::open(&database.url, PostgresOptions::default()).await.unwrap();
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let row = database.raw().await.client.query_one(sql, &[]).await.unwrap();
    let apart = store.clock().now().millis() - row.get::<_, i64>(0);
    assert!(apart.abs() < 2_000, "{apart} ms apart");
}

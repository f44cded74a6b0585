//! A file that cannot be written says so, and what does not match the states in it is found.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::path::Path;
use std::sync::Arc;

use kernel::command::{NewAsk, NewOnExpiry};
use kernel::testing::new_ask;
use rusqlite::Connection;
use store::sqlite::Sqlite;
use store::suite::stage::person;
use store::suite::{ManualClock, Stage};
use store::{Clock, Store, StoreHealth};

async fn stage(folder: &Path) -> (Stage, Arc<Sqlite>) {
    let hands = ManualClock::new();
    let clock = Arc::clone(&hands) as Arc<dyn Clock>;
    let sqlite = Arc::new(Sqlite::open(&folder.join("store.db"), clock).unwrap());
    let stage = Stage::on(Arc::clone(&sqlite) as Arc<dyn Store>, hands, Box::new(()));
    stage.cast().await;
    (stage, sqlite)
}

fn raw(folder: &Path) -> Connection {
    Connection::open(folder.join("store.db")).unwrap()
}

fn pages(folder: &Path) -> i64 {
    raw(folder).query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap()
}

fn expiring() -> NewAsk {
    NewAsk { timeout: Some(60), on_expiry: NewOnExpiry::Fail, ..new_ask() }
}

#[tokio::test]
async fn a_probe_writes_and_the_file_does_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let (_stage, sqlite) = stage(folder.path()).await;
    let log = folder.path().join("store.db-wal");
    let before = std::fs::metadata(&log).unwrap().len();
    sqlite.probe_write().await.unwrap();
    let written = std::fs::metadata(&log).unwrap().len() - before;
    assert!(written >= 64 * 1024, "a probe wrote only {written} bytes");
    let size = pages(folder.path());
    for _ in 0..200 {
        sqlite.probe_write().await.unwrap();
    }
    assert_eq!(pages(folder.path()), size);
}

#[tokio::test]
async fn a_full_file_fails_the_probe_until_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = stage(folder.path()).await;
    let size = u32::try_from(pages(folder.path())).unwrap();
    sqlite.limit_pages(size + 2).await.unwrap();
    let refused = sqlite.probe_write().await.unwrap_err();
    assert!(matches!(refused, store::StoreError::Unavailable(_)), "{refused:?}");
    // Nothing else is harmed by it.
    sqlite.limit_pages(size + 1_000).await.unwrap();
    sqlite.probe_write().await.unwrap();
    stage.ask(new_ask()).await;
    stage.is_sound().await;
}

#[tokio::test]
async fn a_store_that_is_only_read_cannot_be_probed() {
    let folder = tempfile::tempdir().unwrap();
    drop(stage(folder.path()).await);
    let looking = Sqlite::open_read_only(&folder.path().join("store.db")).unwrap();
    assert!(looking.probe_write().await.is_err());
}

#[tokio::test]
async fn what_does_not_match_its_state_is_found() {
    let lists = "its rows in the lists do not match";
    let wake = "its next reminder, escalation or deadline";
    let folder = tempfile::tempdir().unwrap();
    for (n, (spoil, why)) in [
        ("UPDATE listing SET phase = 'over' WHERE scope GLOB 'agent/*'", lists),
        ("DELETE FROM listing WHERE scope GLOB 'project/*'", lists),
        ("UPDATE listing SET project_label = 'other' WHERE scope GLOB 'kind/*'", lists),
        ("UPDATE listing SET priority = priority + 1 WHERE scope GLOB 'kind/*'", lists),
        ("UPDATE listing SET fold = NULL WHERE scope GLOB 'agent/*'", "its similarity key"),
        ("UPDATE deadline SET at = at + 1 WHERE scope GLOB 'kind/*'", "its deadlines"),
        ("DELETE FROM deadline WHERE scope GLOB 'kind/*'", "its deadlines"),
        ("UPDATE ask SET wake_at = wake_at + 1", wake),
        ("UPDATE ask SET wake_at = NULL", wake),
        ("UPDATE ask SET over_at = 1", "the start of its retention period"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = folder.path().join(n.to_string());
        std::fs::create_dir(&folder).unwrap();
        let (stage, sqlite) = stage(&folder).await;
        stage.ask(expiring()).await;
        stage.is_sound().await;
        raw(&folder).execute(spoil, []).unwrap();
        let found = sqlite.inspect().await.unwrap().damages;
        assert!(found.iter().any(|damage| damage.why.contains(why)), "{spoil}: {found:?}");
        let ours = |name: &str| name.starts_with("ask_");
        assert!(
            found.iter().all(|damage| damage.subject.as_deref().is_some_and(ours)),
            "{found:?}"
        );
    }
}

#[tokio::test]
async fn a_search_index_that_lost_words_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = stage(folder.path()).await;
    let id = stage.ask(new_ask()).await;
    stage.run(person("olga"), kernel::AskCommand::Open(id)).await;
    // What is newer than the index is not compared.
    assert_eq!(sqlite.inspect().await.unwrap().damages, []);
    stage.is_sound().await;
    let index = Connection::open(folder.path().join("store.db.search")).unwrap();
    index.execute("DELETE FROM text", []).unwrap();
    let found = sqlite.inspect().await.unwrap().damages;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].subject.as_deref(), Some(id.to_string().as_str()));
    assert!(found[0].why.contains("search index"), "{found:?}");
}

//! A copy of the store in a file is of one moment, holds up nobody, and is as private as the store.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use kernel::testing::new_ask;
use kernel::{AskCommand, AskId};
use rusqlite::Connection;
use store::sqlite::Sqlite;
use store::suite::stage::bot;
use store::suite::{ManualClock, Stage};
use store::{AskStore, Clock, Store};
use tokio::runtime::Handle;

fn open(path: &Path, hands: &Arc<ManualClock>) -> Arc<dyn Store> {
    Arc::new(Sqlite::open(path, Arc::clone(hands) as Arc<dyn Clock>).unwrap())
}

/// A store with a few asks and twelve megabytes beside them, so that the copy takes several steps.
async fn filled(path: &Path) -> (Stage, Vec<AskId>) {
    let hands = ManualClock::new();
    let stage = Stage::on(open(path, &hands), hands, Box::new(()));
    stage.cast().await;
    let mut asks = Vec::new();
    for _ in 0..5 {
        asks.push(stage.ask(new_ask()).await);
    }
    let fill = "CREATE TABLE filler (x);
                INSERT INTO filler SELECT randomblob(1048576)
                FROM migration AS a, migration AS b LIMIT 12;";
    Connection::open(path).unwrap().execute_batch(fill).unwrap();
    (stage, asks)
}

/// Between any two steps others commit. They are not held up, and the copy ends and has none of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_of_one_moment_and_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let (path, to) = (folder.path().join("store.db"), folder.path().join("copy.db"));
    let (stage, before) = filled(&path).await;
    let runtime = Handle::current();
    let store = Arc::clone(&stage.store);
    let jobs: Vec<_> =
        (0..20).map(|_| stage.job(bot(), AskCommand::Create(Box::new(new_ask())))).collect();
    let copying = to.clone();
    let (seen, later) = tokio::task::spawn_blocking(move || {
        let (mut jobs, mut seen, mut later) = (jobs.into_iter(), Vec::new(), Vec::new());
        Sqlite::backup(&path, &copying, &mut |done, all| {
            seen.push((done, all));
            let made = runtime.block_on(store.transact(jobs.next().unwrap())).unwrap();
            later.push(made.ask.unwrap().id);
        })
        .unwrap();
        (seen, later)
    })
    .await
    .unwrap();
    assert!(seen.len() > 3, "{seen:?}");
    assert!(seen.is_sorted(), "{seen:?}");
    let (done, all) = *seen.last().unwrap();
    assert_eq!(done, all);
    assert_eq!(fs::metadata(&to).unwrap().len(), all);
    assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);

    // To look at it is to leave it as it is.
    let looking = Sqlite::open_read_only(&to).unwrap();
    for id in &before {
        assert_eq!(*looking.ask(*id).await.unwrap().unwrap(), stage.seen(*id).await);
    }
    assert_eq!(looking.ask(later[0]).await.unwrap(), None);
    drop(looking);
    let beside: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(
        !beside.iter().any(|name| name.to_string_lossy().starts_with("copy.db-")),
        "{beside:?}"
    );

    let sound: String = Connection::open(&to)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
    let restored = Stage::on(open(&to, &stage.clock), Arc::clone(&stage.clock), Box::new(()));
    assert_eq!(restored.seen(before[0]).await, stage.seen(before[0]).await);
}

#[tokio::test]
async fn nothing_is_written_over_and_nothing_made_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (path, to) = (folder.path().join("store.db"), folder.path().join("copy.db"));
    assert!(Sqlite::backup(&path, &to, &mut |_, _| {}).is_err(), "there is nothing to copy");
    assert!(!to.exists());
    let (_stage, _) = filled(&path).await;
    fs::write(&to, "somebody's").unwrap();
    assert!(Sqlite::backup(&path, &to, &mut |_, _| {}).is_err());
    assert_eq!(fs::read(&to).unwrap(), b"somebody's");
}

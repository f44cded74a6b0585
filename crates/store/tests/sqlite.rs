//! The store in a file passes every check, and a few that only a file can fail.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use kernel::audit::{ChainError, ChainFault, Verifier};
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::question::{Question, QuestionKind};
use kernel::testing::{human, new_ask, yes};
use kernel::{Actor, AskCommand, AskId, Phase, Subject};
use store::Work;
use store::followers::DELIVERIES;
use store::sqlite::Sqlite;
use store::suite::blocks::next_block;
use store::suite::stage::{acme, bot, person};
use store::suite::{Guard, ManualClock, Stage};
use store::{
    AskStore, AuditFeed, Backlog, Clock, ExpiringQuery, Filter, ListScope, SearchQuery, Store,
    StoreError,
};
use tempfile::TempDir;

store::suite!(sqlite, |clock| async {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("store.db"), clock).unwrap();
    (Arc::new(store) as Arc<dyn Store>, Box::new(folder) as Guard)
});

/// A stage on the file in a folder that outlives it.
async fn fresh(folder: &Path) -> (Stage, Arc<Sqlite>) {
    let hands = ManualClock::new();
    let sqlite = open(folder, &hands).unwrap();
    let store = Arc::clone(&sqlite) as Arc<dyn Store>;
    let stage = Stage::on(store, hands, Box::new(()));
    stage.cast().await;
    (stage, sqlite)
}

fn open(folder: &Path, hands: &Arc<ManualClock>) -> store::Result<Arc<Sqlite>> {
    let clock = Arc::clone(hands) as Arc<dyn Clock>;
    Sqlite::open(&folder.join("store.db"), clock).map(Arc::new)
}

fn expiring() -> NewAsk {
    NewAsk { timeout: Some(60), on_expiry: NewOnExpiry::Fail, ..new_ask() }
}

/// Opens the file behind the store's back.
fn raw(folder: &TempDir) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.path().join("store.db")).unwrap()
}

fn why(result: store::Result<Arc<Sqlite>>) -> String {
    let error = result.map(drop).unwrap_err();
    let source = std::error::Error::source(&error).map(ToString::to_string);
    format!("{error}: {}", source.unwrap_or_default())
}

#[tokio::test]
async fn a_restart_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = fresh(folder.path()).await;
    let open_ask = stage.ask(expiring()).await;
    let answered = stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Answer(answered, yes())).await;
    let keyed = stage.keyed(bot(), AskCommand::Create(Box::new(new_ask())), "k", "a");
    let made = stage.store.transact(keyed).await.unwrap().ask.unwrap();
    stage.follow().await;
    stage.ask(new_ask()).await;
    let before = (
        stage.store.follower(DELIVERIES).await.unwrap(),
        stage.seen(open_ask).await,
        stage.seen(answered).await,
        stage.ids(acme(), &Phase::ALL).await,
        stage.store.changes(store::FeedQuery::After(0), 1000).await.unwrap(),
        stage.store.next_due().await.unwrap(),
        stage.store.backlog().await.unwrap(),
        stage.store.records(store::FeedQuery::After(0), 1000).await.unwrap(),
    );
    let hands = Arc::clone(&stage.clock);
    drop((stage, sqlite));
    assert!(!folder.path().join("store.db-wal").exists(), "closed: the log is folded in");

    let sqlite = open(folder.path(), &hands).unwrap();
    let stage = Stage::on(sqlite, hands, Box::new(()));
    let after = (
        stage.store.follower(DELIVERIES).await.unwrap(),
        stage.seen(open_ask).await,
        stage.seen(answered).await,
        stage.ids(acme(), &Phase::ALL).await,
        stage.store.changes(store::FeedQuery::After(0), 1000).await.unwrap(),
        stage.store.next_due().await.unwrap(),
        stage.store.backlog().await.unwrap(),
        stage.store.records(store::FeedQuery::After(0), 1000).await.unwrap(),
    );
    assert_eq!(before, after);
    assert_eq!(stage.store.directory().humans().count(), 4);
    stage.clock.advance(1);
    let replayed = stage.keyed(bot(), AskCommand::Create(Box::new(new_ask())), "k", "a");
    let replayed = stage.store.transact(replayed).await.unwrap();
    assert_eq!((replayed.replayed, replayed.ask.unwrap().id), (true, made.id));
    stage.run(person("olga"), AskCommand::Answer(open_ask, yes())).await;
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, _sqlite) = fresh(folder.path()).await;
    let mut acknowledged = Vec::new();
    for _ in 0..50 {
        acknowledged.push(stage.ask(expiring()).await);
    }
    // What a killed process leaves behind: the file and its log, as they are this moment.
    let crash = tempfile::tempdir().unwrap();
    for name in ["store.db", "store.db-wal"] {
        std::fs::copy(folder.path().join(name), crash.path().join(name)).unwrap();
    }
    let sqlite = open(crash.path(), &stage.clock).unwrap();
    let after = Stage::on(sqlite, Arc::clone(&stage.clock), Box::new(()));
    for id in acknowledged {
        assert_eq!(after.seen(id).await, stage.seen(id).await);
    }
    after.follow().await;
    assert_eq!(after.store.backlog().await.unwrap(), Backlog { waiting: 50, dead: 0 });
    verify_all(&*after.store).await.unwrap();
    after.ask(new_ask()).await;
}

async fn verify_all(store: &dyn Store) -> Result<(), ChainError> {
    let mut verifiers = std::collections::BTreeMap::<Subject, Verifier>::new();
    for (_, record) in store.records(store::FeedQuery::After(0), 10_000).await.unwrap() {
        verifiers.entry(record.subject.clone()).or_default().check(&record)?;
    }
    Ok(())
}

#[tokio::test]
async fn an_edited_migration_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = fresh(folder.path()).await;
    let hands = Arc::clone(&stage.clock);
    drop((stage, sqlite));
    raw(&folder).execute("UPDATE migration SET sha256 = 'other' WHERE version = 1", []).unwrap();
    let why = why(open(folder.path(), &hands));
    assert!(why.contains("migration 1 (begin) differs from the one"), "{why}");
}

/// A database from before there were blocks opens, keeps what it had, and takes blocks.
#[tokio::test]
async fn a_database_of_version_1_opens() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = fresh(folder.path()).await;
    let id = stage.ask(new_ask()).await;
    let timed = NewAsk { timeout: Some(90), on_expiry: NewOnExpiry::Fail, ..new_ask() };
    let timed = stage.ask(timed).await;
    let stays = stage.ask(NewAsk { timeout: Some(80), ..new_ask() }).await;
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let listed = async |stage: &Stage| {
        let mut found = Vec::new();
        for scope in [acme(), ListScope::Kind(QuestionKind::Approve), ListScope::By(human("olga"))]
        {
            found.push(stage.ids(scope, &Phase::ALL).await);
        }
        let (scopes, until) = (ListScope::everything(), stage.now().plus_seconds(90));
        let soon = ExpiringQuery { scopes, until, after: None, limit: 9 };
        let soon = stage.store.expiring(soon).await.unwrap();
        found.push(soon.iter().map(|ask| ask.id).collect());
        found
    };
    let lists = listed(&stage).await;
    let all = vec![stays, timed, id];
    assert_eq!(lists, [all.clone(), all, vec![id], vec![stays, timed]]);
    let before =
        (stage.seen(id).await, stage.store.rows(store::FeedQuery::After(0), 100).await.unwrap());
    let hands = Arc::clone(&stage.clock);
    drop((stage, sqlite));
    raw(&folder)
        .execute_batch(
            "DROP TABLE follower; ALTER TABLE work RENAME TO outbox;
             DROP TABLE usage_held; DROP TABLE usage;
             DROP TABLE running; DROP TABLE tally_place;
             DROP TABLE file_use; DROP INDEX ask_kept; ALTER TABLE ask DROP COLUMN over_at;
             DROP TABLE side; DROP TABLE receipt_signature; DROP TABLE block; DROP INDEX record_agent;
             DROP TABLE deadline; ALTER TABLE listing DROP COLUMN fold;
             DELETE FROM listing WHERE scope GLOB 'kind/*' OR scope GLOB 'by/*';
             UPDATE listing SET rank = 0 WHERE scope NOT GLOB 'human/*';
             DROP TABLE message; DROP INDEX outbox_name; ALTER TABLE outbox DROP COLUMN name;
             DROP TABLE delivery_log; DROP INDEX outbox_people;
             DROP INDEX outbox_lane; ALTER TABLE outbox DROP COLUMN lane;
             CREATE INDEX outbox_waiting ON outbox (rank, due_at) WHERE dead = 0;
             DROP TABLE task; DROP TABLE task_list; DROP TABLE artifact; DROP TABLE entry;
             DROP TABLE review; DROP TABLE contract; DROP TABLE runtime_ack;
             DROP TABLE upload; DROP TABLE upload_piece;
             ALTER TABLE idempotency DROP COLUMN task; ALTER TABLE idempotency DROP COLUMN seq;
             DROP INDEX record_project; ALTER TABLE record DROP COLUMN project;
             ALTER TABLE record DROP COLUMN agent; DELETE FROM migration WHERE version > 1",
        )
        .unwrap();
    assert!(Sqlite::open_to_check(&folder.path().join("store.db")).is_err(), "first for writing");

    let sqlite = open(folder.path(), &hands).unwrap();
    let stage = Stage::on(sqlite, hands, Box::new(()));
    assert_eq!(
        (stage.seen(id).await, stage.store.rows(store::FeedQuery::After(0), 100).await.unwrap()),
        before
    );
    assert_eq!(listed(&stage).await, lists);
    // Counters of what is used begin with what is there.
    let names = ["open_asks/agent/bot", "stored_bytes/project/acme"].map(str::to_owned).to_vec();
    let used = stage.store.used(names).await.unwrap();
    assert!(used[0] == 2 && used[1] > 1_000, "{used:?}");
    let block = next_block(&stage, None, 3).await;
    assert!(stage.store.append_block(block).await.unwrap());
}

/// The index of words is lost, spoilt or of another record: it is made anew.
#[tokio::test]
async fn the_index_is_made_anew_from_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = fresh(folder.path()).await;
    let id = stage.ask(new_ask()).await;
    let hands = Arc::clone(&stage.clock);
    drop((stage, sqlite));
    let index = folder.path().join("store.db.search");
    for spoil in 0..4 {
        let sqlite = open(folder.path(), &hands).unwrap();
        let stage = Stage::on(sqlite, Arc::clone(&hands), Box::new(()));
        while stage.store.index(100).await.unwrap() > 0 {}
        let (words, filter) = ("refund".to_owned(), Filter::default());
        let wanted = SearchQuery { words, scopes: None, filter, open: None, limit: 9 };
        let found = stage.store.search(wanted).await.unwrap();
        assert_eq!(found.iter().map(|ask| ask.id).collect::<Vec<_>>(), [id], "{spoil}");
        drop(stage);
        match spoil {
            0 => std::fs::remove_file(&index).unwrap(),
            1 => std::fs::write(&index, "no database at all, but longer than its header".repeat(9))
                .unwrap(),
            _ => {
                let conn = rusqlite::Connection::open(&index).unwrap();
                let other =
                    "UPDATE place SET hash = x'00'; INSERT INTO text (text) VALUES ('delete-all')";
                conn.execute_batch(other).unwrap();
            }
        }
    }
    assert_eq!(std::fs::metadata(&index).unwrap().permissions().mode() & 0o777, 0o600);
}

/// Which files beside the store hold this text, whatever its case.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let bytes = std::fs::read(entry.path()).unwrap().to_ascii_lowercase();
        if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            found.push(entry.file_name().into_string().unwrap());
        }
    }
    found.sort();
    found
}

/// Issue 21, points 15 and 20: deleted rows kept their terms in the search index, and the logs kept
/// the pages as they were before.
#[tokio::test]
async fn erased_text_leaves_every_file_while_the_store_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, _sqlite) = fresh(folder.path()).await;
    let about = |prompt: &str| {
        let question = Question::new(prompt, None, new_ask().question.body().clone()).unwrap();
        NewAsk { question, ..new_ask() }
    };
    let up_to_date = async || while stage.store.index(7).await.unwrap() > 0 {};
    let mut secret = None;
    for n in 0..40 {
        let words = if n == 20 { "Quuxzebra" } else { "Ordinary" };
        let id = stage.ask(about(&format!("{words} words {n}?"))).await;
        if n == 20 {
            secret = Some(id);
        }
        up_to_date().await;
    }
    let secret = secret.unwrap();
    stage.run(person("olga"), AskCommand::Answer(secret, yes())).await;
    up_to_date().await;
    let held = holding(folder.path(), "quuxzebra");
    assert!(held.iter().any(|file| file.starts_with("store.db.search")), "{held:?}");
    assert!(held.iter().any(|file| !file.contains("search")), "{held:?}");
    stage.run(Actor::System, AskCommand::Erase(secret)).await;
    // A reader keeps the log of the store from being truncated, but not the index from being
    // merged.
    let other = raw(&folder);
    let reading = other.unchecked_transaction().unwrap();
    reading.query_row("SELECT count(*) FROM ask", [], |_| Ok(())).unwrap();
    up_to_date().await;
    eventually(async || {
        up_to_date().await;
        let held = holding(folder.path(), "quuxzebra");
        !held.iter().any(|file| file.starts_with("store.db.search"))
    })
    .await;
    assert!(folder.path().join("store.db-wal").metadata().unwrap().len() > 0);
    drop(reading);
    up_to_date().await;
    assert_eq!(holding(folder.path(), "quuxzebra"), [""; 0]);
    // No beginning of the word either: the index keeps lists of those.
    assert_eq!(holding(folder.path(), "quux"), [""; 0]);
    let (words, filter) = ("ordinary".to_owned(), Filter::default());
    let wanted = SearchQuery { words, scopes: None, filter, open: None, limit: 99 };
    assert_eq!(stage.store.search(wanted).await.unwrap().len(), 39);
    let swept = stage.ask(about("Draft of a quokkazebra?")).await;
    assert!(!holding(folder.path(), "quokkazebra").is_empty());
    stage.run(person("olga"), AskCommand::Answer(swept, yes())).await;
    // What was deleted without an event leaves the log with the next sweep.
    stage.store.sweep(stage.now()).await.unwrap();
    up_to_date().await;
    assert_eq!(folder.path().join("store.db-wal").metadata().unwrap().len(), 0);
}

/// Waits for what rests a moment before it goes on.
async fn eventually(mut holds: impl AsyncFnMut() -> bool) {
    let began = std::time::Instant::now();
    while !holds().await {
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "it never came true");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = fresh(folder.path()).await;
    let hands = Arc::clone(&stage.clock);
    drop((stage, sqlite));
    raw(&folder).execute("INSERT INTO migration VALUES (99, 'later', 'x')", []).unwrap();
    let why = why(open(folder.path(), &hands));
    assert!(why.contains("version 99"), "{why}");
    assert!(Sqlite::open_read_only(&folder.path().join("store.db")).is_err());
}

#[tokio::test]
async fn two_writers_are_one_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = fresh(folder.path()).await;
    let hands = Arc::clone(&stage.clock);
    let second = why(open(folder.path(), &hands));
    assert!(second.contains("another process"), "{second}");
    drop((stage, sqlite));
    open(folder.path(), &hands).unwrap();
}

#[tokio::test]
async fn a_reader_looks_on_while_a_writer_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (stage, sqlite) = fresh(folder.path()).await;
    let id = stage.ask(new_ask()).await;
    let looking = Sqlite::open_read_only(&path).unwrap();
    assert_eq!(*looking.ask(id).await.unwrap().unwrap(), stage.seen(id).await);
    assert_eq!(looking.directory().agents().count(), 2);
    let later = stage.ask(new_ask()).await;
    assert!(looking.ask(later).await.unwrap().is_some());
    verify_all(&looking).await.unwrap();
    looking.ping().await.unwrap();
    let write = stage.job(bot(), AskCommand::Create(Box::new(new_ask())));
    assert!(matches!(looking.transact(write).await, Err(StoreError::Unavailable(_))));
    drop(looking);
    drop((stage, sqlite));
    let alone = Sqlite::open_read_only(&path).unwrap();
    assert!(alone.ask(later).await.unwrap().is_some());
}

#[tokio::test]
async fn nothing_to_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Sqlite::open_read_only(&folder.path().join("store.db")).is_err());
    std::fs::write(folder.path().join("store.db"), "this is not a database, not at all").unwrap();
    assert!(open(folder.path(), &ManualClock::new()).is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_loses_nothing_and_passes() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, sqlite) = fresh(folder.path()).await;
    let kept = stage.ask(expiring()).await;
    let counted = stage.store.changes(store::FeedQuery::After(0), 10_000).await.unwrap().len();
    sqlite.limit_pages(1).await.unwrap();
    let mut made: Vec<AskId> = Vec::new();
    let mut refused = 0;
    for _ in 0..20 {
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let job = stage.job(bot(), AskCommand::Create(Box::new(new_ask())));
            let store = Arc::clone(&stage.store);
            asking.spawn(async move { store.transact(job).await });
        }
        for outcome in asking.join_all().await {
            match outcome {
                Ok(outcome) => made.push(outcome.ask.unwrap().id),
                Err(StoreError::Unavailable(_)) => refused += 1,
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    assert!(refused > 0, "the limit was reached");
    assert_eq!(stage.seen(kept).await.phase(), Phase::Waiting, "reading goes on");
    let changes = stage.store.changes(store::FeedQuery::After(0), 10_000).await.unwrap();
    assert_eq!(changes.len(), counted + made.len(), "what failed left nothing behind");
    verify_all(&*stage.store).await.unwrap();

    sqlite.limit_pages(1_000_000).await.unwrap();
    stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Answer(kept, yes())).await;
    verify_all(&*stage.store).await.unwrap();
    let sound: String =
        raw(&folder).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

#[tokio::test]
async fn a_flipped_byte_is_the_verifiers_to_name() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, _sqlite) = fresh(folder.path()).await;
    for (spoil, expected) in [
        ("body = replace(body, 'acme', 'evil')", ChainFault::Hash),
        ("body = cast(X'ff' || cast(body AS BLOB) AS TEXT)", ChainFault::Hash),
        ("body = ''", ChainFault::Hash),
        ("hash = X'00'", ChainFault::Hash),
        ("prev = X'01'", ChainFault::Link),
        ("seq = seq + 7", ChainFault::Gap),
        ("what = 'answered'", ChainFault::Columns),
        ("what = 'nonsense'", ChainFault::Columns),
        ("at = at + 1", ChainFault::Columns),
        ("contents = replace(contents, 'Refund', 'Retain')", ChainFault::Content),
        ("contents = 'not json'", ChainFault::Content),
    ] {
        let id = stage.ask(new_ask()).await;
        let subject = Subject::Ask(id);
        let spoil = format!("UPDATE record SET {spoil} WHERE subject = ?1");
        assert_eq!(raw(&folder).execute(&spoil, [subject.to_string()]).unwrap(), 1, "{spoil}");
        let records = stage.store.chain(subject, 0, 10).await.unwrap();
        let found = Verifier::default().check(&records[0]).unwrap_err();
        assert_eq!(found.why, expected, "{spoil}");
    }
    raw(&folder).execute("UPDATE record SET subject = 'x' WHERE position = 1", []).unwrap();
    let unnamed = stage.store.records(store::FeedQuery::After(0), 10).await.unwrap_err();
    assert!(unnamed.to_string().contains("record x event 1"), "{unnamed}");
}

#[tokio::test]
async fn a_damaged_ask_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, _sqlite) = fresh(folder.path()).await;
    let (bad, stale) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let spoil = raw(&folder);
    let id = |id: AskId| id.ulid().to_bytes();
    spoil.execute("UPDATE ask SET state = '{}' WHERE id = ?1", [id(bad)]).unwrap();
    spoil.execute("UPDATE ask SET version = 9 WHERE id = ?1", [id(stale)]).unwrap();
    drop(spoil);
    for id in [bad, stale] {
        let refused = stage.attempt(person("olga"), AskCommand::Open(id)).await.unwrap_err();
        assert!(matches!(&refused, StoreError::Damaged { what, .. } if *what == id.to_string()));
    }
    let position = stage.store.changes(store::FeedQuery::After(0), 1000).await.unwrap().len();
    stage.ask(new_ask()).await;
    assert_eq!(
        stage.store.changes(store::FeedQuery::After(0), 1000).await.unwrap().len(),
        position + 1
    );
}

#[tokio::test]
async fn an_unreadable_delivery_does_not_stand_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let (stage, _sqlite) = fresh(folder.path()).await;
    stage.ask(new_ask()).await;
    stage.ask(new_ask()).await;
    stage.follow().await;
    raw(&folder).execute("UPDATE work SET effect = '?' WHERE id = 1", []).unwrap();
    let lease = std::time::Duration::from_secs(1);
    assert_eq!(stage.store.claim(Work::PEOPLE, stage.now(), lease, 10).await.unwrap().len(), 1);
    assert_eq!(stage.store.backlog().await.unwrap(), Backlog { waiting: 1, dead: 1 });
}

/// What grows without bound is never scanned: each of these goes by an index.
/// The directory loads a state whatever its kind, so the verification has to see it.
#[tokio::test]
async fn a_state_of_an_unknown_kind_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let (_stage, sqlite) = fresh(folder.path()).await;
    let insert =
        "INSERT INTO entity (kind, id, version, state) VALUES ('unknown', 'mallory', 1, '{}')";
    raw(&folder).execute(insert, []).unwrap();
    let page = sqlite.chains(None, 1_000).await.unwrap();
    let found = page.chains.iter().find(|chain| chain.subject == "mallory").unwrap();
    assert!(found.rows.is_empty() && found.state.is_some());
}

#[tokio::test]
async fn queries_go_by_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let (_stage, _sqlite) = fresh(folder.path()).await;
    let conn = raw(&folder);
    for sql in [
        "SELECT id FROM ask WHERE wake_at IS NOT NULL AND wake_at <= 1 ORDER BY wake_at, id LIMIT 1",
        "SELECT wake_at FROM ask WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1",
        "SELECT id, attempt, written_at, effect FROM work
         WHERE dead = 0 AND lane = '' AND rank = 1 AND due_at <= 1 ORDER BY due_at, id LIMIT 1",
        "SELECT id, attempt, written_at, effect FROM work
         WHERE dead = 0 AND lane <> '' AND lane = 'a' AND due_at <= 1 ORDER BY due_at, id LIMIT 1",
        "SELECT lane FROM work WHERE dead = 0 AND lane <> '' AND lane > 'a' ORDER BY lane LIMIT 1",
        "SELECT state FROM delivery_log WHERE status = 'dead' AND webhook = x'00'
         AND (at, message) < (1, 'a') ORDER BY at DESC, message DESC LIMIT 1",
        "SELECT rowid FROM delivery_log WHERE updated_at <= 1 ORDER BY updated_at LIMIT 1",
        "SELECT id FROM work WHERE dead = 0 AND name IS NOT NULL AND name = 'a'",
        "SELECT key FROM side WHERE kind = 'a' AND key >= 'b' AND key < 'c'",
        "SELECT value FROM side INDEXED BY side_ask
         WHERE kind = 'a' AND ask IN (SELECT value FROM json_each('[]'))",
        "SELECT value FROM side INDEXED BY side_human
         WHERE kind = 'a' AND human IN (SELECT value FROM json_each('[]'))",
        "DELETE FROM side INDEXED BY side_ask WHERE kind = 'draft' AND ask = X''",
        "SELECT kind, key FROM side WHERE expires_at <= 1 LIMIT 1",
        "SELECT state FROM message WHERE ask = x'00' ORDER BY at DESC, name LIMIT 1",
        "SELECT state FROM message WHERE recipient = x'00' ORDER BY at DESC, name LIMIT 1",
        "SELECT state FROM message WHERE medium = 'a' AND posted = 'b' AND posted IS NOT NULL",
        "SELECT state FROM message WHERE medium = 'a' AND thread = 'b' AND thread IS NOT NULL
         ORDER BY at DESC, name LIMIT 1",
        "SELECT rowid FROM message WHERE over = 1 AND updated_at <= 1 LIMIT 1",
        "SELECT id, kind FROM listing WHERE scope = 'a' AND phase = 'b' AND rank = 0 AND id < X''
         ORDER BY id DESC LIMIT 1",
        "SELECT id FROM listing WHERE scope = 'a' AND phase = 'b' AND rank = 0 ORDER BY id LIMIT 1",
        "SELECT scope, key FROM idempotency WHERE at <= 1 LIMIT 1",
        "SELECT body FROM record WHERE subject = 'a' AND seq > 1 ORDER BY seq LIMIT 1",
        "SELECT body FROM record WHERE subject > 'a' ORDER BY subject, seq",
        "SELECT state FROM ask WHERE id > X'' AND id <= X'ff' ORDER BY id",
        "SELECT state FROM entity WHERE kind = 'key' AND id > 'a' AND id <= 'b'",
        "SELECT position, hash FROM record WHERE position > 1 ORDER BY position LIMIT 1",
        "SELECT n FROM block WHERE first <= 1 ORDER BY first DESC LIMIT 1",
        "SELECT n FROM block WHERE n > 1 ORDER BY n LIMIT 1",
        "SELECT id FROM task_list WHERE scope = 'a' AND id < X'' ORDER BY id DESC LIMIT 1",
        "SELECT 1 FROM task_list WHERE scope = 'a' LIMIT 1",
        "SELECT id FROM task WHERE CASE WHEN json_valid(state) THEN json_extract(state, '$.created.project') END = 'a'
         AND over_at IS NOT NULL AND over_at <= 1 ORDER BY over_at, id LIMIT 1",
        "SELECT id FROM ask WHERE CASE WHEN json_valid(state) THEN json_extract(state, '$.asked.project') END = 'a'
         AND over_at IS NOT NULL AND over_at <= 1 ORDER BY over_at, id LIMIT 1",
        "SELECT total FROM running WHERE project = 'a' AND agent = '' AND measure = 'b' AND bin = 'c'
         AND day <= 2 ORDER BY day DESC LIMIT 1",
        "SELECT state FROM task WHERE id > X'' AND id <= X'ff' ORDER BY id",
        "SELECT state FROM artifact WHERE id > X'' AND id <= X'ff' ORDER BY id",
        "SELECT state FROM entry WHERE id > 'a' AND id <= 'b' ORDER BY id",
        "SELECT id, state FROM entry WHERE scope = 'a' AND key > 'b' ORDER BY key LIMIT 1",
        "SELECT n, contract FROM contract WHERE agent = 'a' AND n > 1 ORDER BY n LIMIT 1",
        "SELECT n FROM contract WHERE agent = 'a' ORDER BY n DESC LIMIT 1",
        "SELECT body FROM record WHERE project = 'a' AND position > 1 ORDER BY position LIMIT 1",
    ] {
        let mut explain = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan: Vec<String> =
            explain.query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        let bad = plan.iter().any(|step| {
            step.contains("TEMP B-TREE") || (step.starts_with("SCAN") && !step.contains("INDEX"))
        });
        assert!(!bad, "{sql}: {plan:?}");
    }
}

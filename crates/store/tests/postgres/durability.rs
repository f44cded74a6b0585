//! Commits are durable whatever the server is set to, and damage is found.

use std::sync::Arc;

use kernel::AskCommand;
use kernel::command::{NewAsk, NewOnExpiry};
use kernel::testing::new_ask;
use store::postgres::Postgres;
use store::suite::stage::bot;
use store::suite::{ManualClock, Stage};
use store::{Clock, StoreError, StoreHealth};

use super::proxy::{Proxy, RESETS};
use super::support::{Database, missing, with};

fn sources(error: &StoreError) -> String {
    let mut error: &dyn std::error::Error = error;
    let mut said = error.to_string();
    while let Some(source) = error.source() {
        said = format!("{said}: {source}");
        error = source;
    }
    said
}

async fn sets(database: &Database, setting: &str) {
    let name = database.url.rsplit_once('/').unwrap().1;
    let sql = format!("ALTER DATABASE {name} SET synchronous_commit = {setting}");
    database.raw().await.client.batch_execute(&sql).await.unwrap();
}

async fn opened(url: &str) -> store::Result<Postgres> {
    Postgres::open(url, with(ManualClock::new() as Arc<dyn Clock>)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_session_waits_for_the_disk() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    for (set, used) in [
        ("off", "on"),
        ("local", "on"),
        ("remote_write", "on"),
        ("on", "on"),
        ("remote_apply", "remote_apply"),
    ] {
        sets(&database, set).await;
        let store = opened(&database.url).await.unwrap();
        // Several at a time, so that several connections are made.
        let all = tokio::join!(store.durability(), store.durability(), store.durability());
        for found in [all.0, all.1, all.2] {
            let found = found.unwrap().unwrap();
            assert_eq!(found.synchronous_commit, used, "{set}");
            assert_eq!((found.fsync.as_str(), found.full_page_writes.as_str()), ("on", "on"));
            assert_eq!(found.synchronous_standby_names, "");
            assert!(found.warnings().is_empty());
        }
    }
    // What the address asks for is raised as well.
    let weak = format!("{}?options=-c%20synchronous_commit%3Doff", database.url);
    let store = opened(&weak).await.unwrap();
    assert_eq!(store.durability().await.unwrap().unwrap().synchronous_commit, "on");
    // Whoever only looks sees what the server is set to.
    sets(&database, "off").await;
    let looking = Postgres::open_to_check(&database.url, with(ManualClock::new())).await.unwrap();
    assert_eq!(looking.durability().await.unwrap().unwrap().synchronous_commit, "off");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_cannot_wait_for_the_disk_is_refused() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    sets(&database, "off").await;
    let proxy = Proxy::before(&database.url).await;
    proxy.set(RESETS);
    let refused = opened(&proxy.url).await.map(drop).unwrap_err();
    let said = sources(&refused);
    assert!(
        said.contains("synchronous_commit is off although this session set it to on"),
        "{said}"
    );
    assert!(said.contains("connection pooler"), "{said}");
}

/// A session that was set up and is weak again does not commit anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_would_not_be_durable_is_not_made() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    // As a pooler would: the role's own setting is put in place of the session's.
    let raw = database.raw().await;
    let weaken = "CREATE FUNCTION weaken() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM set_config('synchronous_commit', 'off', false); RETURN NULL; END $$;
        CREATE TRIGGER weaken AFTER INSERT ON ask EXECUTE FUNCTION weaken();";
    raw.client.batch_execute(weaken).await.unwrap();
    let mut refused = None;
    for _ in 0..64 {
        let job = stage.job(bot(), AskCommand::Create(Box::new(new_ask())));
        if let Err(error) = stage.store.transact(job).await {
            refused = Some(sources(&error));
            break;
        }
    }
    let refused = refused.expect("a weakened session was used for a decision");
    assert!(refused.contains("synchronous_commit is off"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_cannot_be_written_fails_the_probe() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    let raw = database.raw().await;
    let size = async || -> i64 {
        let sql = "SELECT pg_total_relation_size('key_use')";
        raw.client.query_one(sql, &[]).await.unwrap().get(0)
    };
    stage.store.probe_write().await.unwrap();
    let before = size().await;
    for _ in 0..1_000 {
        stage.store.probe_write().await.unwrap();
    }
    assert!(size().await <= before + 64 * 1024, "{before} grew to {}", size().await);

    let full = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file: No space left on device'
            USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON key_use EXECUTE FUNCTION full_disk();";
    raw.client.batch_execute(full).await.unwrap();
    let refused = stage.store.probe_write().await.unwrap_err();
    assert!(sources(&refused).contains("No space left on device"), "{}", sources(&refused));
}

async fn expiring(stage: &Stage) {
    let ask = NewAsk { timeout: Some(60), on_expiry: NewOnExpiry::Fail, ..new_ask() };
    stage.ask(ask).await;
    stage.is_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_match_its_state_is_found() {
    if missing() {
        return;
    }
    let lists = "its rows in the lists do not match";
    for (spoil, why) in [
        ("UPDATE listing SET phase = 'over' WHERE scope LIKE 'agent/%'", lists),
        ("DELETE FROM listing WHERE scope LIKE 'project/%'", lists),
        ("UPDATE listing SET project_label = 'other'", lists),
        ("UPDATE listing SET fold = fold + 1 WHERE scope LIKE 'agent/%'", "its similarity key"),
        ("UPDATE deadline SET at = at + 1", "its deadlines do not match"),
        ("DELETE FROM wake", "its next reminder, escalation or deadline"),
        ("UPDATE wake SET at = at - 1", "its next reminder, escalation or deadline"),
        ("UPDATE search SET words = ''", "its words in the search index"),
    ] {
        let database = Database::new().await;
        let stage = database.stage().await;
        expiring(&stage).await;
        database.raw().await.client.batch_execute(spoil).await.unwrap();
        let found = stage.store.inspect().await.unwrap().damages;
        assert!(found.iter().any(|damage| damage.why.contains(why)), "{spoil}: {found:?}");
        let ours = |name: &str| name.starts_with("ask_");
        assert!(
            found.iter().all(|damage| damage.subject.as_deref().is_some_and(ours)),
            "{found:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_checked_where_amcheck_is_installed() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    expiring(&stage).await;
    let without = stage.store.inspect().await.unwrap();
    assert_eq!(without.notes.len(), 1);
    assert!(without.notes[0].contains("amcheck is not installed"), "{without:?}");
    let install = "CREATE EXTENSION amcheck";
    if let Err(error) = database.raw().await.client.batch_execute(install).await {
        eprintln!("skipped: amcheck cannot be installed: {error}");
        return;
    }
    let with = stage.store.inspect().await.unwrap();
    assert_eq!((with.notes, with.damages), (Vec::new(), Vec::new()));
}

//! A database that kills, waits, goes away and comes back, and rows that make no sense.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kernel::audit::ChainFault;
use kernel::testing::{new_ask, yes};
use kernel::{AskCommand, AskId, Subject, audit::Verifier};
use store::Work;
use store::postgres::{Postgres, PostgresOptions};
use store::suite::stage::{bot, person};
use store::suite::{ManualClock, Stage};
use store::{AskStore, AuditFeed, Backlog, Clock, Job, Store, StoreError, WorkQueue};

use super::proxy::{Proxy, ProxyMode};
use super::support::{Database, Raw, hasty, missing, shared, soon, with};

/// Longer than anything may take on a node with little patience.
const BOUND: Duration = Duration::from_secs(4);

fn new_job(stage: &Stage) -> Job {
    stage.job(bot(), AskCommand::Create(Box::new(new_ask())))
}

async fn execute(raw: &Raw, sql: &str) {
    raw.client.batch_execute(sql).await.unwrap();
}

/// Everything a store is asked answers that it cannot, within bounds.
async fn is_away(stage: &Stage, id: AskId) {
    let begun = Instant::now();
    let away = |error: Option<StoreError>| {
        assert!(matches!(&error, Some(StoreError::Unavailable(_))), "{error:?}");
    };
    let store = &stage.store;
    let (write, read, list, claim, changes, ping) = tokio::join!(
        store.transact(new_job(stage)),
        store.ask(id),
        store.next_due(),
        store.claim(Work::PEOPLE, stage.now(), Duration::from_secs(1), 1),
        store.changes(store::FeedQuery::After(0), 1),
        store.ping(),
    );
    away(write.err());
    away(read.err());
    away(list.err());
    away(claim.err());
    away(changes.err());
    away(ping.err());
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_was_away_is_used_again() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let proxy = Proxy::before(&database.url).await;
    let clock = ManualClock::new();
    let store =
        Postgres::open(&proxy.url, hasty(Arc::clone(&clock) as Arc<dyn Clock>)).await.unwrap();
    let stage = Stage::on(Arc::new(store), clock, Box::new(()));
    stage.cast().await;
    let other = database.node(Arc::clone(&stage.clock)).await;
    let id = stage.ask(new_ask()).await;
    let mut feed = stage.store.feed();
    for line in [ProxyMode::Cut, ProxyMode::Stuck] {
        proxy.set(line);
        is_away(&stage, id).await;
        let meanwhile =
            other.run(bot(), AskCommand::Create(Box::new(new_ask()))).await.ask.unwrap();
        proxy.set(ProxyMode::Up);
        soon("it answers again", async || stage.store.ping().await.is_ok()).await;
        let after = stage.ask(new_ask()).await;
        stage.run(person("olga"), AskCommand::Open(after)).await;
        let mut heard = Vec::new();
        while !heard.contains(&Subject::Ask(after)) {
            let news = tokio::time::timeout(Duration::from_secs(20), feed.recv()).await;
            let news = news.unwrap().unwrap();
            heard.extend(news.iter().map(|news| news.change.subject.clone()));
        }
        assert!(heard.contains(&Subject::Ask(meanwhile.id)), "{line:?}: what it missed is told");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_connection_is_replaced() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    let raw = database.raw().await;
    let mut feed = stage.store.feed();
    for _ in 0..5 {
        let killed = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()";
        assert!(!raw.client.query(killed, &[]).await.unwrap().is_empty());
        let id = stage.ask(new_ask()).await;
        assert!(stage.seen(id).await.is_open());
        let heard = tokio::time::timeout(Duration::from_secs(20), feed.recv()).await;
        assert_eq!(heard.unwrap().unwrap()[0].change.subject, Subject::Ask(id));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_takes_too_long_is_given_up() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    let id = stage.ask(new_ask()).await;
    let hands = Arc::clone(&stage.clock);
    let hasty = Postgres::open(&database.url, hasty(hands as Arc<dyn Clock>)).await.unwrap();
    let raw = database.raw().await;
    execute(&raw, "BEGIN; SELECT * FROM ask FOR UPDATE").await;
    let begun = Instant::now();
    let stuck = hasty.transact(stage.job(person("olga"), AskCommand::Answer(id, yes()))).await;
    assert!(matches!(stuck, Err(StoreError::Unavailable(_))), "{stuck:?}");
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
    assert!(hasty.ask(id).await.unwrap().unwrap().is_open(), "others are not in its way");
    hasty.transact(new_job(&stage)).await.unwrap();
    execute(&raw, "ROLLBACK").await;
    hasty.transact(stage.job(person("olga"), AskCommand::Answer(id, yes()))).await.unwrap();
}

#[tokio::test]
async fn nobody_to_connect_to_is_no_password_told() {
    let clock = ManualClock::new() as Arc<dyn Clock>;
    for url in [
        "postgres://ann:s3cret@127.0.0.1:1/x",
        "postgres://ann:s3cret@127.0.0.1:1/x?sslmode=verify-full",
        "postgres://ann:s3cret@127.0.0.1:one/x",
        "postgres://ann:s3cret@127.0.0.1:1/x?sslrootcert=/nowhere/ca.pem",
        "s3cret",
    ] {
        let begun = Instant::now();
        let error = Postgres::open(url, hasty(Arc::clone(&clock))).await.map(drop).unwrap_err();
        let mut told = format!("{error} {error:?}");
        let mut source = std::error::Error::source(&error);
        while let Some(why) = source {
            told = format!("{told} {why}");
            source = why.source();
        }
        assert!(matches!(error, StoreError::Unavailable(_)) && !told.contains("s3cret"), "{told}");
        assert!(begun.elapsed() < BOUND);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_ask_fails_alone() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    let (bad, stale) = (stage.ask(new_ask()).await, stage.ask(new_ask()).await);
    let raw = database.raw().await;
    let id = |id: AskId| uuid::Uuid::from_bytes(id.ulid().to_bytes());
    let spoil = "UPDATE ask SET state = '{}' WHERE id = $1";
    assert_eq!(raw.client.execute(spoil, &[&id(bad)]).await.unwrap(), 1);
    let spoil = "UPDATE ask SET version = 9 WHERE id = $1";
    assert_eq!(raw.client.execute(spoil, &[&id(stale)]).await.unwrap(), 1);
    let mut together = tokio::task::JoinSet::new();
    for named in [Some(bad), None, Some(stale), None, None] {
        let job = match named {
            Some(id) => stage.job(person("olga"), AskCommand::Open(id)),
            None => new_job(&stage),
        };
        let store = shared(&stage);
        together.spawn(async move { (named, store.transact(job).await) });
    }
    for (named, outcome) in together.join_all().await {
        match (named, outcome) {
            (Some(id), Err(StoreError::Damaged { what, .. })) => assert_eq!(what, id.to_string()),
            (None, Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    let mut feed = stage.store.feed();
    execute(&raw, "UPDATE ask SET state = '{}'").await;
    let told = stage.ask(new_ask()).await;
    let heard = tokio::time::timeout(Duration::from_secs(20), feed.recv()).await;
    assert_eq!(heard.unwrap().unwrap()[0].change.subject, Subject::Ask(told));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreadable_delivery_does_not_stand_in_the_way() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    stage.ask(new_ask()).await;
    stage.ask(new_ask()).await;
    stage.follow().await;
    let spoil = "UPDATE work SET effect = '?' WHERE id = (SELECT min(id) FROM work)";
    execute(&database.raw().await, spoil).await;
    let lease = Duration::from_secs(1);
    assert_eq!(stage.store.claim(Work::PEOPLE, stage.now(), lease, 10).await.unwrap().len(), 1);
    assert_eq!(stage.store.backlog().await.unwrap(), Backlog { waiting: 1, dead: 1 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_altered_record_is_the_verifiers_to_name() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    let raw = database.raw().await;
    for (spoil, expected) in [
        ("body = replace(body, 'acme', 'evil')", ChainFault::Hash),
        ("hash = '\\x00'", ChainFault::Hash),
        ("prev = '\\x01'", ChainFault::Link),
        ("seq = seq + 7", ChainFault::Gap),
        ("what = 'nonsense'", ChainFault::Columns),
        ("at = at + 1", ChainFault::Columns),
        ("contents = 'not json'", ChainFault::Content),
    ] {
        let subject = Subject::Ask(stage.ask(new_ask()).await);
        execute(&raw, &format!("UPDATE record SET {spoil} WHERE subject = '{subject}'")).await;
        let records = stage.store.chain(subject, 0, 10).await.unwrap();
        assert_eq!(Verifier::default().check(&records[0]).unwrap_err().why, expected, "{spoil}");
    }
}

/// Nodes may all die before what they committed has a position; the record is whole nevertheless.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_no_position_yet_stands_behind_what_has() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    let end = stage.store.last_position().await.unwrap();
    let raw = database.raw().await;
    // As whoever gives out positions does.
    execute(&raw, "SELECT pg_advisory_lock(7165074649429406323)").await;
    let id = stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let checking =
        Postgres::open_to_check(&database.url, PostgresOptions::default()).await.unwrap();
    let positions = async || {
        let chains = checking.chains(None, 1000).await.unwrap().chains;
        let chain = chains.into_iter().find(|chain| chain.subject == id.to_string()).unwrap();
        chain.rows.iter().map(|row| row.position).collect::<Vec<_>>()
    };
    assert_eq!(checking.last_position().await.unwrap(), end, "nothing was numbered");
    let behind = positions().await;
    assert!(
        behind.len() >= 2 && behind[0] > end && behind.is_sorted_by(|a, b| a < b),
        "{behind:?}"
    );
    execute(&raw, "DELETE FROM pending").await;
    assert!(positions().await.iter().all(|at| *at == 0), "what is nowhere in the feed shows");
}

/// A store that is only read sees what others write and writes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_looks_on() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let early = Postgres::open_read_only(&database.url, PostgresOptions::default()).await;
    assert!(matches!(early.map(drop), Err(StoreError::Damaged { .. })), "first for writing");
    let stage = database.stage().await;
    let id = stage.ask(new_ask()).await;
    let clock = Arc::clone(&stage.clock) as Arc<dyn Clock>;
    let looking = Postgres::open_read_only(&database.url, with(clock)).await.unwrap();
    assert_eq!(*looking.ask(id).await.unwrap().unwrap(), stage.seen(id).await);
    assert_eq!(looking.directory().agents().count(), 2);
    let all = stage.store.rows(store::FeedQuery::After(0), 1000).await.unwrap();
    assert_eq!(looking.rows(store::FeedQuery::After(0), 1000).await.unwrap(), all);
    looking.ping().await.unwrap();
    for refused in [
        looking.transact(new_job(&stage)).await.err(),
        looking.claim(Work::PEOPLE, stage.now(), Duration::ZERO, 1).await.err(),
        looking.put_secret("a", 0, Vec::new()).await.err(),
    ] {
        assert!(matches!(refused, Some(StoreError::Unavailable(_))), "{refused:?}");
    }
    let checking =
        Postgres::open_to_check(&database.url, PostgresOptions::default()).await.unwrap();
    assert_eq!(checking.directory().agents().count(), 0);
    assert_eq!(checking.chains(None, 1000).await.unwrap().chains.len(), 9);
}

//! The schema: what programs of different ages make of it, what survives, and that nothing scans.

use std::sync::Arc;

use kernel::AskCommand;
use kernel::testing::{new_ask, yes};
use store::followers::DELIVERIES;
use store::postgres::{Postgres, PostgresOptions};
use store::suite::ManualClock;
use store::suite::stage::{bot, person};
use store::{Clock, Store};

use super::support::{Database, missing, with};

/// Why a database was not opened.
async fn why(database: &Database) -> String {
    let error =
        Postgres::open(&database.url, PostgresOptions::default()).await.map(drop).unwrap_err();
    std::error::Error::source(&error).unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_database_is_refused_unless_it_serves() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    drop(database.stage().await);
    let raw = database.raw().await;
    let newer = "INSERT INTO migration VALUES (1000, 'later', 'x', 1)";
    raw.client.batch_execute(newer).await.unwrap();
    drop(database.open(ManualClock::new()).await);
    raw.client
        .batch_execute("UPDATE migration SET serves = 1000 WHERE version = 1000")
        .await
        .unwrap();
    let why = why(&database).await;
    assert!(why.contains("version 1000"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_migration_is_refused() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    drop(database.stage().await);
    let raw = database.raw().await;
    raw.client.batch_execute("UPDATE migration SET sha256 = 'other'").await.unwrap();
    let why = why(&database).await;
    assert!(why.contains("migration 1 (begin) differs from the one"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_keeps_everything() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    let id = stage.ask(new_ask()).await;
    stage.run(person("olga"), AskCommand::Answer(id, yes())).await;
    let keyed = stage.keyed(bot(), AskCommand::Create(Box::new(new_ask())), "k", "a");
    let made = stage.store.transact(keyed).await.unwrap().ask.unwrap();
    stage.follow().await;
    stage.ask(new_ask()).await;
    let before = (
        stage.store.follower(DELIVERIES).await.unwrap(),
        stage.seen(id).await,
        stage.store.rows(store::FeedQuery::After(0), 1000).await.unwrap(),
        stage.store.backlog().await.unwrap(),
        stage.store.directory().humans().count(),
    );
    let hands = Arc::clone(&stage.clock);
    drop(stage);
    let stage = database.node(hands).await;
    let after = (
        stage.store.follower(DELIVERIES).await.unwrap(),
        stage.seen(id).await,
        stage.store.rows(store::FeedQuery::After(0), 1000).await.unwrap(),
        stage.store.backlog().await.unwrap(),
        stage.store.directory().humans().count(),
    );
    assert_eq!(before, after);
    let replayed = stage.keyed(bot(), AskCommand::Create(Box::new(new_ask())), "k", "a");
    let replayed = stage.store.transact(replayed).await.unwrap();
    assert_eq!((replayed.replayed, replayed.ask.unwrap().id), (true, made.id));
}

/// Without a clock of its own a node takes the database's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_has_the_time() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let stage = database.stage().await;
    let node = Postgres::open(&database.url, PostgresOptions::default()).await.unwrap();
    let job = stage.job(bot(), AskCommand::Create(Box::new(new_ask())));
    let at = node.transact(job).await.unwrap().at.millis();
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let now: i64 = database.raw().await.client.query_one(sql, &[]).await.unwrap().get(0);
    assert!((0..60_000).contains(&(now - at)), "{at} and {now}");
}

/// What grows without bound is never scanned: each of these goes by an index, in its order, in the
/// plan that serves all values.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_go_by_an_index() {
    if missing() {
        return;
    }
    let database = Database::new().await;
    let clock = ManualClock::new() as Arc<dyn Clock>;
    drop(Postgres::open(&database.url, with(clock)).await.unwrap());
    let raw = database.raw().await;
    let settings = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
        SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off";
    raw.client.batch_execute(settings).await.unwrap();
    for (types, sql, values) in [
        ("bigint, bigint", "SELECT ask FROM wake WHERE at <= $1 ORDER BY at, ask LIMIT $2", "1, 1"),
        (
            "bigint, bigint, bigint, text",
            "SELECT ask FROM ended WHERE project = $4 AND at <= $1 AND leased_until <= $2
             ORDER BY at, ask LIMIT $3",
            "1, 1, 1, 'acme'",
        ),
        (
            "text, bigint",
            "SELECT id FROM task WHERE project = $1 AND over_at IS NOT NULL AND over_at <= $2
             ORDER BY over_at, id LIMIT 5",
            "'acme', 1",
        ),
        (
            "text, text, text, text, bigint",
            "SELECT total FROM running WHERE project = $1 AND agent = $2 AND measure = $3 AND bin = $4
             AND day <= $5 ORDER BY day DESC LIMIT 1",
            "'acme', '', 'intent', 'plan', 1",
        ),
        (
            "uuid",
            "SELECT digest FROM file_use AS own WHERE ask = $1 AND NOT EXISTS
             (SELECT FROM file_use WHERE digest = own.digest AND ask <> own.ask)",
            "gen_random_uuid()",
        ),
        (
            "smallint, bigint",
            "SELECT id FROM work WHERE NOT dead AND lane = '' AND rank = $1 AND due_at <= $2
             AND leased_until <= $2 ORDER BY due_at, id LIMIT 5",
            "1, 1",
        ),
        (
            "text, bigint",
            "SELECT id FROM work WHERE NOT dead AND lane <> '' AND lane = $1 AND due_at <= $2
             AND leased_until <= $2 ORDER BY due_at, id LIMIT 5",
            "'hook', 1",
        ),
        (
            "text, text",
            "SELECT lane FROM work WHERE NOT dead AND lane <> '' AND lane > $1 AND $2 = ''
             ORDER BY lane LIMIT 1",
            "'hook', ''",
        ),
        (
            "text, uuid, bigint, text",
            "SELECT state FROM delivery_log WHERE status = $1 AND webhook = $2
             AND (at, message) < ($3, $4) ORDER BY at DESC, message DESC LIMIT 5",
            "'done', gen_random_uuid(), 1, 'msg'",
        ),
        (
            "bigint",
            "SELECT webhook FROM delivery_log WHERE updated_at <= $1 ORDER BY updated_at LIMIT 5",
            "1",
        ),
        (
            "text, text, smallint, uuid",
            "SELECT id FROM listing WHERE scope = $1 AND phase = $2 AND rank = $3 AND id < $4
             ORDER BY id DESC LIMIT 5",
            "'a', 'b', 1, gen_random_uuid()",
        ),
        ("bigint", "SELECT key FROM idempotency WHERE at <= $1 LIMIT 5", "1"),
        ("uuid", "SELECT id FROM ask WHERE id > $1 ORDER BY id LIMIT 5", "gen_random_uuid()"),
        (
            "text, bigint",
            "SELECT body FROM record WHERE subject = $1 AND seq > $2 ORDER BY seq LIMIT 5",
            "'a', 1",
        ),
        (
            "text, bigint",
            "SELECT body FROM record WHERE (subject, seq) > ($1, $2) ORDER BY subject, seq LIMIT 5",
            "'a', 1",
        ),
        (
            "bigint",
            "SELECT position, what FROM feed JOIN record USING (subject, seq)
             WHERE position > $1 ORDER BY position LIMIT 5",
            "1",
        ),
        (
            "text, bigint",
            "SELECT position FROM feed WHERE agent = $1 AND position > $2 ORDER BY position LIMIT 5",
            "'a', 1",
        ),
        (
            "text, bigint",
            "SELECT position FROM feed WHERE project = $1 AND position > $2
             ORDER BY position LIMIT 5",
            "'a', 1",
        ),
        (
            "text, uuid",
            "SELECT id FROM task_list WHERE scope = $1 AND id < $2 ORDER BY id DESC LIMIT 5",
            "'a', gen_random_uuid()",
        ),
        (
            "bigint",
            "SELECT id FROM task WHERE over_at IS NOT NULL AND over_at <= $1
             ORDER BY over_at, id LIMIT 5",
            "1",
        ),
        (
            "text, text",
            "SELECT state FROM entry WHERE scope = $1 AND key > $2 ORDER BY key LIMIT 5",
            "'a', 'b'",
        ),
        (
            "text, bigint",
            "SELECT contract FROM contract WHERE agent = $1 AND n IS NOT NULL AND n > $2
             ORDER BY n LIMIT 5",
            "'a', 1",
        ),
        (
            "bigint",
            "SELECT n FROM contract WHERE n IS NOT NULL AND n > $1 ORDER BY n DESC LIMIT 1",
            "1",
        ),
        ("bigint", "SELECT id FROM contract WHERE n IS NULL ORDER BY id LIMIT $1", "1"),
        ("bigint", "SELECT max(position) FROM feed WHERE $1 > 0", "1"),
        ("bigint", "SELECT id FROM entity WHERE changed > $1", "1"),
        ("bigint", "SELECT n FROM block WHERE first <= $1 ORDER BY first DESC LIMIT 1", "1"),
        ("bigint", "SELECT n FROM pending ORDER BY n LIMIT $1", "1"),
    ] {
        let prepare = format!("DEALLOCATE ALL; PREPARE q ({types}) AS {sql}");
        raw.client.batch_execute(&prepare).await.unwrap();
        let explain = format!("EXPLAIN EXECUTE q ({values})");
        let plan: Vec<String> =
            raw.client.query(&explain, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        let bad = |step: &String| step.contains("Seq Scan") || step.contains("Sort");
        assert!(!plan.iter().any(bad), "{sql}: {plan:#?}");
    }
}

//! The follower of the event feed is killed, held up, poisoned and taken over: every webhook
//! arrives, and each message id belongs to one event.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use super::agent::{AGENT, Caller, until, within};
use super::receiver::{Receiver, answered, created};
use super::test_storage::{Place, query};

const WAITING: &str = "countersign_outbox_waiting";
const DEAD: &str = "countersign_outbox_dead";
/// How soon another node runs the follower after its node died.
const TAKEN_OVER: Duration = Duration::from_secs(5);
/// What a debug build on a busy machine may take on top: the ask, and the call of the endpoint.
const SLACK: Duration = Duration::from_secs(2);

/// What a dead process had claimed can be claimed again after a minute of the server's time.
async fn outlive_the_leases(caller: &Caller) {
    let minute = json!({ "advance": "61s" });
    let moved = caller.post("/api/v1/dev/clock", AGENT, &minute).await.unwrap();
    assert_eq!(moved.0, 200, "{moved:?}");
}

async fn at_rest(caller: &Caller) {
    until("nothing waits", async || caller.measured(WAITING).await == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_is_delivered_however_often_the_follower_is_killed() {
    killed_often(Place::sqlite(), 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_is_delivered_however_often_the_node_of_the_follower_is_killed() {
    if let Some(place) = Place::postgres().await {
        killed_often(place, 4).await;
    }
}

/// Agents ask, and people answer. The server is killed as soon as a few are acknowledged, so most
/// of these are committed and not followed yet: the follower waits 20 ms for the end of a burst.
async fn killed_often(place: Place, rounds: usize) {
    let receiver = Receiver::open().await;
    let mut expected = BTreeSet::new();
    let mut left_behind = 0;
    for round in 0..rounds {
        let server = place.dev();
        let caller = Caller::of(&server);
        if round == 0 {
            receiver.register(&caller).await;
        }
        let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
        let mut asking = JoinSet::new();
        for _ in 0..4 {
            let (caller, acknowledged) = (Caller::of(&server), Arc::clone(&acknowledged));
            asking.spawn(async move {
                while let Ok((_, id)) = caller.ask("Deploy?").await {
                    acknowledged.lock().unwrap().insert(created(&id));
                    let Ok((status, _)) = caller.resolve(&id, "approved").await else { return };
                    assert_eq!(status, 200);
                    acknowledged.lock().unwrap().insert(answered(&id));
                }
            });
        }
        let enough = 3 + 5 * round;
        until("some are acknowledged", async || acknowledged.lock().unwrap().len() > enough).await;
        server.kill();
        asking.join_all().await;
        let acknowledged = acknowledged.lock().unwrap().clone();
        left_behind += acknowledged.difference(&receiver.ids()).count();
        expected.extend(acknowledged);
    }
    assert!(left_behind > 0, "never killed in time");
    let server = place.dev();
    let caller = Caller::of(&server);
    outlive_the_leases(&caller).await;
    receiver.all(&expected).await;
    at_rest(&caller).await;
    assert_eq!(caller.measured(DEAD).await, 0);
    receiver.one_id_per_event();
    server.stop();
    place.sound().await;
}

/// The follower dies in its commit, exactly: the database holds the commit back until the node is
/// dead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_is_killed_in_its_commit_loses_and_repeats_nothing() {
    let Some(place) = Place::postgres().await else { return };
    let hold = "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(60); RETURN NEW; END'";
    let receiver = Receiver::open().await;
    let mut server = place.dev();
    receiver.register(&Caller::of(&server)).await;
    place.execute(hold).await;
    let mut expected = BTreeSet::new();
    for _ in 0..3 {
        let caller = Caller::of(&server);
        at_rest(&caller).await;
        place
            .execute(
                "CREATE TRIGGER hold BEFORE UPDATE ON follower FOR EACH ROW
                 WHEN (NEW.position <> OLD.position) EXECUTE FUNCTION hold()",
            )
            .await;
        expected.insert(created(&caller.ask("Deploy?").await.unwrap().1));
        let held = "FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'PgSleep'";
        let holding = format!("SELECT pid {held}");
        until("it commits", async || !query(place.url(), &holding).await.is_empty()).await;
        server.kill();
        // The database would notice by itself, after as long as a statement may take.
        place.execute(&format!("SELECT pg_terminate_backend(pid) {held}")).await;
        place.execute("DROP TRIGGER hold ON follower").await;
        assert!(!expected.is_subset(&receiver.ids()), "the commit was held back");
        server = place.dev();
        receiver.all(&expected).await;
    }
    at_rest(&Caller::of(&server)).await;
    receiver.none_twice();
    receiver.one_id_per_event();
    server.stop();
    place.sound().await;
}

/// Keeps the follower from storing its position, so that it cannot write work.
async fn hold_up(place: &Place) {
    if place.is_shared() {
        place
            .execute(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                 'BEGIN RAISE EXCEPTION ''held up''; END'",
            )
            .await;
        let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON follower FOR EACH ROW
            WHEN (NEW.position <> OLD.position) EXECUTE FUNCTION refuse()";
        return place.execute(refuse).await;
    }
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON follower
        BEGIN SELECT RAISE(ABORT, 'held up'); END";
    place.execute(refuse).await;
}

async fn let_go(place: &Place) {
    let on = if place.is_shared() { " ON follower" } else { "" };
    place.execute(&format!("DROP TRIGGER refuse{on}")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_is_hours_behind_catches_up() {
    hours_behind(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_is_hours_behind_in_postgres_catches_up() {
    if let Some(place) = Place::postgres().await {
        hours_behind(place).await;
    }
}

/// More than one step of the follower, over four hours of the server's time.
async fn hours_behind(place: Place) {
    const HOURS: usize = 4;
    const PER_HOUR: usize = 150;
    let receiver = Receiver::open().await;
    let server = place.dev();
    receiver.register(&Caller::of(&server)).await;
    at_rest(&Caller::of(&server)).await;
    server.stop();

    hold_up(&place).await;
    let server = place.dev();
    let caller = Caller::of(&server);
    let mut expected = BTreeSet::new();
    for _ in 0..HOURS {
        let mut asking = JoinSet::new();
        for _ in 0..8 {
            let caller = caller.clone();
            asking.spawn(async move {
                let mut asked = Vec::new();
                for _ in 0..PER_HOUR / 8 {
                    asked.push(created(&caller.ask("Deploy?").await.unwrap().1));
                }
                asked
            });
        }
        expected.extend(asking.join_all().await.into_iter().flatten());
        let hour = json!({ "advance": "1h" });
        caller.post("/api/v1/dev/clock", AGENT, &hour).await.unwrap();
    }
    assert_eq!(receiver.calls(), [], "the follower was held up");
    server.stop();

    let_go(&place).await;
    let server = place.dev();
    receiver.all(&expected).await;
    let caller = Caller::of(&server);
    at_rest(&caller).await;
    assert_eq!(receiver.ids(), expected);
    receiver.none_twice();
    assert_eq!(caller.measured(DEAD).await, 0);
    server.stop();
    place.sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreadable_event_holds_up_no_other() {
    poisoned(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreadable_event_in_postgres_holds_up_no_other() {
    if let Some(place) = Place::postgres().await {
        poisoned(place).await;
    }
}

/// Somebody changes a record in the database before the follower has read it.
async fn poisoned(place: Place) {
    let receiver = Receiver::open().await;
    let server = place.dev();
    receiver.register(&Caller::of(&server)).await;
    at_rest(&Caller::of(&server)).await;
    server.stop();
    hold_up(&place).await;
    let server = place.dev();
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(Caller::of(&server).ask("Deploy?").await.unwrap().1);
    }
    server.stop();
    let_go(&place).await;
    let ulid = ids[1].trim_start_matches("hxp_");
    let poison = format!("UPDATE record SET body = '{{}}' WHERE subject LIKE '%{ulid}'");
    place.execute(&poison).await;

    let server = place.dev();
    let caller = Caller::of(&server);
    let mut expected: BTreeSet<String> = [created(&ids[0]), created(&ids[2])].into();
    receiver.all(&expected).await;
    until("a dead letter shows", async || caller.measured(DEAD).await == 1).await;
    expected.insert(created(&caller.ask("And now?").await.unwrap().1));
    receiver.all(&expected).await;
    at_rest(&caller).await;
    assert_eq!(receiver.ids(), expected, "no one is notified of it");
    receiver.none_twice();
    server.stop();

    // It is set aside for good.
    let server = place.dev();
    let caller = Caller::of(&server);
    at_rest(&caller).await;
    assert_eq!(caller.measured(DEAD).await, 1);
    server.stop();
}

/// The node that runs the follower is the first: it takes the lease before the other starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_delivers_within_five_seconds() {
    let Some(place) = Place::postgres().await else { return };
    let receiver = Receiver::open().await;
    let mut leader = place.dev();
    receiver.register(&Caller::of(&leader)).await;
    let mut took = Vec::new();
    for _ in 0..3 {
        let before = led(&place).await;
        let other = place.dev();
        let caller = Caller::of(&other);
        // Both are up, and the first runs the follower.
        let (_, id) = caller.ask("Deploy?").await.unwrap();
        receiver.all(&[created(&id)].into()).await;
        at_rest(&caller).await;
        assert_eq!(led(&place).await, before, "the first node runs it");

        let killed = Instant::now();
        leader.kill();
        let (_, id) = caller.ask("Deploy?").await.unwrap();
        let expected = created(&id);
        let limit = TAKEN_OVER + SLACK;
        let arrives = async || receiver.ids().contains(&expected);
        within(limit, "the other node delivers", arrives).await;
        took.push(killed.elapsed());
        leader = other;
    }
    println!("from the kill to the webhook: {took:?}");
    assert!(took.iter().all(|took| *took < TAKEN_OVER + SLACK), "{took:?}");
    receiver.one_id_per_event();
    leader.stop();
    place.sound().await;
}

/// The node that runs the follower, once there is one.
async fn led(place: &Place) -> String {
    let sql = "SELECT node::text FROM follower WHERE name = 'deliveries' AND node IS NOT NULL";
    until("a node runs it", async || !query(place.url(), sql).await.is_empty()).await;
    query(place.url(), sql).await[0].get(0)
}

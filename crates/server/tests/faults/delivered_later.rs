//! A server that dies between a commit and the delivery of its effects: the outbox has them, and the
//! next server delivers them.

use serde_json::json;
use tokio::task::JoinSet;

use super::agent::{AGENT, Caller, until};
use super::place::{Place, query};
use super::support::Server;

const DELIVERED: &str = "countersign_deliveries_total{result=\"done\"}";
const WAITING: &str = "countersign_outbox_waiting";
const DEAD: &str = "countersign_outbox_dead";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_server_left_is_delivered_after_it() {
    left_is_delivered(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_left_is_delivered_by_another() {
    if let Some(place) = Place::postgres().await {
        left_is_delivered(place).await;
    }
}

async fn left_is_delivered(place: Place) {
    // The outbox is worked off at once, so it may take more than one kill to come in time.
    let mut left = 0;
    for _ in 0..10 {
        let server = place.dev();
        let mut asking = JoinSet::new();
        for _ in 0..20 {
            let caller = Caller::of(&server);
            asking.spawn(async move { while caller.ask("Deploy?").await.is_ok() {} });
        }
        let caller = Caller::of(&server);
        until("requests are acknowledged", async || caller.total().await > 0).await;
        server.kill();
        asking.join_all().await;
        left = place.outbox().await.len() as u64;
        if left > 0 {
            break;
        }
    }
    assert!(left > 0, "never killed in time");
    place.sound().await;

    let server = place.dev();
    outlive_the_leases(&server).await;
    worked_off(&server, left).await;
    server.stop();
    place.sound().await;
}

/// A node dies with a delivery in its hands: nobody touches it while the claim holds, and after that
/// another node delivers it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_claimed_is_delivered_when_the_claim_ends() {
    let Some(place) = Place::postgres().await else { return };
    let first = place.dev();
    let caller = Caller::of(&first);
    until("the outbox is empty", async || caller.measured(WAITING).await == 0).await;
    // Whoever settles a delivery gets no further.
    let hold = "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(60); RETURN OLD; END'";
    query(place.url(), hold).await;
    let settle = "CREATE TRIGGER hold BEFORE DELETE ON outbox FOR EACH ROW EXECUTE FUNCTION hold()";
    query(place.url(), settle).await;
    let (_, id) = caller.ask("Deploy?").await.unwrap();
    let held = "FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'";
    let settling = format!("SELECT pid {held}");
    until("it is settled", async || !query(place.url(), &settling).await.is_empty()).await;
    first.kill();
    // The database would notice by itself, after as long as a statement may take.
    query(place.url(), &format!("SELECT pg_terminate_backend(pid) {held}")).await;
    query(place.url(), "DROP TRIGGER hold ON outbox").await;

    let server = place.dev();
    let caller = Caller::of(&server);
    assert_eq!(caller.poll(&id).await["status"], "pending");
    let claimed = place.outbox().await;
    assert!(matches!(&claimed[..], [(_, tries)] if tries == "1"), "not its turn yet: {claimed:?}");
    outlive_the_leases(&server).await;
    worked_off(&server, 1).await;
    server.stop();
    place.sound().await;
}

/// A claim holds for a minute of the server's time.
async fn outlive_the_leases(server: &Server) {
    let minute = json!({ "advance": "61s" });
    let moved = Caller::of(server).post("/api/v1/dev/clock", AGENT, &minute).await.unwrap();
    assert_eq!(moved.0, 200, "{moved:?}");
}

/// Nothing is left, at least so many were delivered, and none was given up.
async fn worked_off(server: &Server, n: u64) {
    let caller = Caller::of(server);
    until("the outbox is empty", async || caller.measured(WAITING).await == 0).await;
    assert!(caller.measured(DELIVERED).await >= n);
    assert_eq!(caller.measured(DEAD).await, 0);
}

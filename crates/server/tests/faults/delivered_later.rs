//! A server that dies between a commit and the deliveries that follow from it: the next server
//! delivers them.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::agent::{AGENT, Caller, until};
use super::receiver::{Receiver, created};
use super::support::Server;
use super::test_storage::{Place, query};

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
    let receiver = Receiver::open().await;
    let mut left = Vec::new();
    for round in 0..10 {
        let server = place.dev();
        if round == 0 {
            receiver.register(&Caller::of(&server)).await;
        }
        let mut asking = JoinSet::new();
        for _ in 0..20 {
            let caller = Caller::of(&server);
            asking.spawn(async move { while caller.ask("Deploy?").await.is_ok() {} });
        }
        let caller = Caller::of(&server);
        until("requests are acknowledged", async || caller.total().await > 0).await;
        until("webhooks are sent", async || !receiver.calls().is_empty()).await;
        server.kill();
        asking.join_all().await;
        left = place.outbox().await;
        if !left.is_empty() {
            break;
        }
    }
    assert!(!left.is_empty(), "never killed in time");
    place.sound().await;

    let server = place.dev();
    outlive_the_leases(&server).await;
    worked_off(&server).await;
    let id = |(effect, _): &(String, String)| {
        let effect: Value = serde_json::from_str(effect).unwrap();
        effect["told"]["id"].as_str().unwrap().to_owned()
    };
    receiver.all(&left.iter().map(id).collect()).await;
    receiver.one_id_per_event();
    server.stop();
    place.sound().await;
}

/// A node dies with a delivery in its hands: nobody touches it while the claim holds, and after
/// that another node delivers it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_claimed_is_delivered_when_the_claim_ends() {
    let Some(place) = Place::postgres().await else { return };
    let receiver = Receiver::open().await;
    let first = place.dev();
    let caller = Caller::of(&first);
    receiver.register(&caller).await;
    until("the outbox is empty", async || caller.measured(WAITING).await == 0).await;
    // Whoever settles a delivery gets no further.
    let hold = "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(60); RETURN OLD; END'";
    query(place.url(), hold).await;
    let settle = "CREATE TRIGGER hold BEFORE DELETE ON work FOR EACH ROW EXECUTE FUNCTION hold()";
    query(place.url(), settle).await;
    let (_, id) = caller.ask("Deploy?").await.unwrap();
    let held = "FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'";
    let settling = format!("SELECT pid {held}");
    until("it is settled", async || !query(place.url(), &settling).await.is_empty()).await;
    first.kill();
    // The database would notice by itself, after as long as a statement may take.
    query(place.url(), &format!("SELECT pg_terminate_backend(pid) {held}")).await;
    query(place.url(), "DROP TRIGGER hold ON work").await;

    let server = place.dev();
    let caller = Caller::of(&server);
    assert_eq!(caller.poll(&id).await["status"], "pending");
    let claimed = place.outbox().await;
    assert!(matches!(&claimed[..], [(_, tries)] if tries == "1"), "not its turn yet: {claimed:?}");
    outlive_the_leases(&server).await;
    worked_off(&server).await;
    assert_eq!(receiver.ids(), [created(&id)].into());
    receiver.one_id_per_event();
    server.stop();
    place.sound().await;
}

/// A claim holds for a minute of the server's time.
async fn outlive_the_leases(server: &Server) {
    let minute = json!({ "advance": "61s" });
    let moved = Caller::of(server).post("/api/v1/dev/clock", AGENT, &minute).await.unwrap();
    assert_eq!(moved.0, 200, "{moved:?}");
}

/// Nothing is left, and none was given up.
async fn worked_off(server: &Server) {
    let caller = Caller::of(server);
    until("the outbox is empty", async || caller.measured(WAITING).await == 0).await;
    assert_eq!(caller.measured(DEAD).await, 0);
}

//! The clock of the database jumps, ahead and back. Nodes go by it, whatever their own clocks say:
//! here it is hours away from that of the machine they run on. The record never runs backwards, and
//! deadlines hold.

use gateway::clock::OsClock;
use serde_json::{Value, json};
use store::Clock;

use super::agent::{Caller, endings, until};
use super::support::Server;
use super::test_storage::{Place, query};

const KEY: &str = "agent-key-of-the-test";
const TOKEN: &str = "token-of-the-owner";

/// Its function stands before the database's own of this name.
const CLOCK: [&str; 4] = [
    "CREATE SCHEMA ours",
    "CREATE TABLE ours.shift (hours integer)",
    "INSERT INTO ours.shift VALUES (0)",
    "CREATE FUNCTION ours.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
        'SELECT pg_catalog.clock_timestamp() + make_interval(hours => hours) FROM ours.shift'",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_go_by_the_clock_of_the_database_wherever_it_jumps() {
    let Some(place) = Place::postgres().await else { return };
    for statement in CLOCK {
        query(place.url(), statement).await;
    }
    let (_, name) = place.url().rsplit_once('/').unwrap();
    let prefer = format!("ALTER DATABASE {name} SET search_path = public, ours, pg_catalog");
    query(place.url(), &prefer).await;
    set(&place, 5).await;
    let start = || {
        let mut serve = place.serve();
        Server::start(serve.env("AGENT_API_KEYS", KEY).env("HUMAN_TOKENS", TOKEN))
    };
    let nodes = [start(), start()];
    let [one, other] = [Caller::of(&nodes[0]), Caller::of(&nodes[1])];

    let before = now(&place).await;
    let asked = ask(&one, None).await;
    let timed = ask(&one, Some(1800)).await;
    let dated = millis(&poll(&other, &asked).await["created_at"]);
    assert!((before..=now(&place).await).contains(&dated), "it is the database's time");
    let here = OsClock.now().millis();
    assert!(dated > here + 4 * 3_600_000, "and not the machine's");

    // Back, to before anything happened: what happens now is dated as what it follows.
    set(&place, 2).await;
    let (status, said) = resolve(&other, &asked).await;
    assert_eq!(status, 200, "{said}");
    let request = poll(&one, &asked).await;
    assert_eq!(request["receipt"]["completed_at"], request["created_at"]);
    for caller in [&one, &other] {
        assert_eq!(poll(caller, &timed).await["status"], "pending");
    }

    // Ahead, past the deadline, which both nodes see.
    set(&place, 6).await;
    let over = async || endings(&place.events().await, &timed) == ["failed"];
    until("the deadline passes", over).await;
    for caller in [&one, &other] {
        let request = poll(caller, &timed).await;
        assert_eq!(request["status"], "failed");
        assert_eq!(request["receipt"]["completed_at"], request["expires_at"]);
        assert_eq!(resolve(caller, &timed).await.0, 408);
    }

    // And back again: what is over stays over.
    set(&place, 0).await;
    assert_eq!(resolve(&one, &timed).await.0, 408);
    assert_eq!(poll(&other, &timed).await["status"], "failed");
    for node in nodes {
        node.stop();
    }
    let ended = place.sound().await;
    assert_eq!(ended.len(), 2, "{ended:?}");
}

/// Sets the clock so many hours ahead of the machine's.
async fn set(place: &Place, hours: u8) {
    query(place.url(), &format!("UPDATE ours.shift SET hours = {hours}")).await;
}

/// The database's time in milliseconds.
async fn now(place: &Place) -> i64 {
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    query(place.url(), sql).await[0].get(0)
}

fn millis(text: &Value) -> i64 {
    let at: kernel::Time = serde_json::from_value(text.clone()).unwrap();
    at.millis()
}

async fn ask(caller: &Caller, seconds: Option<u64>) -> String {
    let mut body = json!({ "action": "APPROVE", "payload": { "item": "Deploy?" } });
    if let Some(seconds) = seconds {
        body["timeout_seconds"] = seconds.into();
        body["fallback"] = "fail".into();
    }
    let (status, created) = caller.post("/hxp/v1/requests", KEY, &body).await.unwrap();
    assert_eq!(status, 201, "{created}");
    created["request_id"].as_str().unwrap().to_owned()
}

async fn poll(caller: &Caller, id: &str) -> Value {
    let (status, request) = caller.get(&format!("/hxp/v1/requests/{id}"), KEY).await.unwrap();
    assert_eq!(status, 200, "{request}");
    request
}

async fn resolve(caller: &Caller, id: &str) -> (u16, Value) {
    let path = format!("/hxp/v1/requests/{id}/resolve");
    caller.post(&path, TOKEN, &json!({ "result": "approved" })).await.unwrap()
}

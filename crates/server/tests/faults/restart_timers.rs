//! Deadlines that pass while no server runs: what is late ends at once, once, dated by its
//! deadline.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::agent::{AGENT, Caller, endings};
use super::support::PATIENCE;
use super::test_storage::Place;

#[tokio::test]
async fn what_is_late_ends_at_once_and_once() {
    late_ends_at_once(Place::sqlite()).await;
}

#[tokio::test]
async fn what_is_late_in_postgres_ends_at_once_and_once() {
    if let Some(place) = Place::postgres().await {
        late_ends_at_once(place).await;
    }
}

async fn late_ends_at_once(place: Place) {
    let server = place.dev();
    let caller = Caller::of(&server);
    let choice = json!({ "question": "Which?", "options": ["a", "b"], "default_option": "b" });
    let ask = async |fallback: &str, seconds: u64| {
        let body = json!({
            "action": "DECIDE", "payload": choice, "timeout_seconds": seconds, "fallback": fallback,
        });
        let (status, created) = caller.post("/hxp/v1/requests", AGENT, &body).await.unwrap();
        assert_eq!(status, 201, "{created}");
        created["request_id"].as_str().unwrap().to_owned()
    };
    let paused = ask("pause", 1).await;
    let failed = ask("fail", 1).await;
    let defaulted = ask("default", 2).await;
    let later = ask("fail", 3600).await;
    let reported = json!({
        "question": { "kind": "approve", "prompt": "Go on?" },
        "timeout_seconds": 1, "on_expiry": { "report": "skip" },
    });
    let (_, reported) = caller.post("/api/v1/asks", AGENT, &reported).await.unwrap();
    let reported = reported["id"].as_str().unwrap().to_owned();
    let asked = Instant::now();
    server.kill();
    // Nobody is there when the deadlines pass.
    assert!(endings(&place.events().await, &failed).is_empty());
    std::thread::sleep(Duration::from_millis(2_100).saturating_sub(asked.elapsed()));

    let server = place.dev();
    // Not read through the server, which would end them by itself.
    loop {
        let events = place.events().await;
        let all = [&failed, &defaulted, &reported].map(|id| endings(&events, id));
        if all.iter().all(|ended| !ended.is_empty()) {
            break;
        }
        assert!(asked.elapsed() < PATIENCE, "late ones do not end: {events:?}");
    }
    assert!(asked.elapsed() < Duration::from_secs(8), "not at once");
    server.kill();
    let server = place.dev();

    let caller = Caller::of(&server);
    let request = caller.poll(&failed).await;
    assert_eq!(request["status"], "failed");
    assert_eq!(request["receipt"]["completed_by"], "system");
    assert_eq!(request["receipt"]["result"], Value::Null);
    assert_eq!(request["receipt"]["completed_at"], request["expires_at"]);
    assert_eq!(request["receipt"]["duration_seconds"], 1);
    let request = caller.poll(&defaulted).await;
    assert_eq!(request["status"], "completed");
    assert_eq!(request["receipt"]["result"], "b");
    assert_eq!(request["receipt"]["completed_by"], "system");
    assert_eq!(request["receipt"]["completed_at"], request["expires_at"]);
    let (_, ask) = caller.get(&format!("/api/v1/asks/{reported}"), AGENT).await.unwrap();
    assert_eq!(ask["state"], "expired");
    assert_eq!(ask["result"]["at"], ask["expires_at"]);
    // Late is a conflict; a paused one stays answerable for ever.
    assert_eq!(caller.resolve(&failed, "a").await.unwrap().0, 408);
    assert_eq!(caller.poll(&paused).await["status"], "pending");
    assert_eq!(caller.resolve(&paused, "a").await.unwrap().0, 200);
    assert_eq!(caller.poll(&later).await["status"], "pending");
    server.stop();

    let events = place.events().await;
    let ended = |id: &str| endings(&events, id);
    assert_eq!(ended(&failed), ["failed"]);
    assert_eq!(ended(&defaulted), ["defaulted"]);
    assert_eq!(ended(&reported), ["expired"]);
    assert_eq!(ended(&paused), ["answered"]);
    assert!(ended(&later).is_empty());
    place.sound().await;
}

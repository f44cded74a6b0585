//! When nobody answers in time, and what a restart does not change.

use serde_json::{Value, json};

use crate::client::{approve, decide, provide, with};
use crate::world::World;

const YEAR: u64 = 365 * 24 * 60 * 60;

fn within(seconds: u64, fallback: &str) -> Value {
    json!({ "timeout_seconds": seconds, "fallback": fallback })
}

/// HXPX-050: `pause` leaves it open for ever, and answerable.
#[tokio::test]
async fn paused_requests_stay_open() {
    let world = World::dev().await;
    let id = world.agent().ask(with(approve("x"), within(10, "pause"))).await;
    world.advance(YEAR);
    world.run_timers().await;
    let open = world.agent().poll(&id).await.is(200);
    assert_eq!((&open["status"], &open["receipt"]), (&json!("pending"), &Value::Null));
    assert_eq!(open["expires_at"], "2026-03-01T09:00:10.000Z");
    assert_eq!(world.human().inbox("").await.ids(), [id.as_str()]);
    world.human().resolve(&id, json!({ "result": "approved" })).await.is(200);
    world.end().await;
}

/// HXPX-051, HXPX-049: `fail` ends with a failure receipt; an answer then is 408, a cancel 409.
#[tokio::test]
async fn failed_requests_have_a_failure_receipt() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent.ask(with(approve("x"), within(10, "fail"))).await;
    world.advance(9);
    world.run_timers().await;
    assert_eq!(agent.poll(&id).await["status"], "pending");
    // Seen late, it still ended when its time was up.
    world.advance(600);
    world.run_timers().await;
    let failed = agent.poll(&id).await.is(200);
    assert_eq!((&failed["status"], failed.header("hxp-status")), (&json!("failed"), "failed"));
    let receipt = &failed["receipt"];
    assert_eq!(
        *receipt,
        json!({
            "request_id": id, "status": "failed", "result": null,
            "reason": "Timeout — no answer", "completed_by": "system",
            "completed_at": "2026-03-01T09:00:10.000Z", "duration_seconds": 10,
            "evidence_hash": receipt["evidence_hash"],
        })
    );
    let late = human.resolve(&id, json!({ "result": "approved" })).await.error(408, "expired");
    assert_eq!(late.header("hxp-status"), "failed");
    human.claim(&id).await.error(408, "expired");
    agent.cancel(&id).await.error(409, "conflict");
    assert_eq!(agent.poll(&id).await.json, failed.json);
    assert_eq!(human.inbox("").await["unresolved"], 0);
    world.end().await;
}

/// HXPX-053, HXPX-054, HXPX-064: `default` completes by `system`, over the whole timeout.
#[tokio::test]
async fn a_default_is_taken_on_silence() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let body = with(decide("Which?", &["a", "b"]), within(30, "default"));
    let id = agent.ask(with(body, json!({ "payload": { "default_option": "b" } }))).await;
    world.advance(5);
    human.claim(&id).await.is(200);
    world.advance(45);
    world.run_timers().await;
    let done = agent.poll(&id).await.is(200);
    let receipt = &done["receipt"];
    assert_eq!(
        *receipt,
        json!({
            "request_id": id, "status": "completed", "result": "b",
            "reason": "Timeout — default option applied", "completed_by": "system",
            "completed_at": "2026-03-01T09:00:30.000Z", "duration_seconds": 30,
            "evidence_hash": receipt["evidence_hash"],
        })
    );
    assert_eq!(done["status"], "completed");
    let verified = agent.post("/hxp/v1/receipts/verify", receipt.clone()).await.is(200);
    assert_eq!(verified["valid"], true);
    let late = human.resolve(&id, json!({ "result": "a" })).await.error(409, "conflict");
    assert!(late["message"].as_str().unwrap().contains("default"), "{}", late.text);
    world.end().await;
}

/// HXPX-049: too late is too late, whether or not a timer ran; polling and lists see it at once.
#[tokio::test]
async fn time_is_up_before_any_timer_runs() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let ask = async || agent.ask(with(approve("x"), within(1, "fail"))).await;
    let ids = [ask().await, ask().await, ask().await, ask().await];
    world.advance(1);
    human.resolve(&ids[0], json!({ "result": "approved" })).await.error(408, "expired");
    assert_eq!(agent.poll(&ids[1]).await.is(200)["status"], "failed");
    agent.cancel(&ids[2]).await.error(409, "conflict");
    assert_eq!(human.inbox("").await.is(200).ids(), [""; 0]);
    assert_eq!(agent.list("").await.is(200)["requests"][0]["status"], "failed");
    world.end().await;
}

/// HXPX-016, HXPX-017: none, a second, ten years.
#[tokio::test]
async fn timeouts_hold_however_short_or_long() {
    let world = World::dev().await;
    let agent = world.agent();
    let none = agent.ask(with(approve("x"), within(0, "fail"))).await;
    let ten = 10 * YEAR;
    let long = agent.ask(with(approve("x"), within(ten, "fail"))).await;
    let short = agent.ask(with(approve("x"), within(1, "fail"))).await;
    let status = async |id: &str| agent.poll(id).await.is(200)["status"].clone();
    let seen = agent.poll(&none).await.is(200);
    assert_eq!((&seen["timeout_seconds"], &seen["expires_at"]), (&json!(0), &Value::Null));
    assert_eq!(agent.poll(&long).await["timeout_seconds"], ten);
    assert_eq!(agent.poll(&long).await["expires_at"], "2036-02-27T09:00:00.000Z");
    world.run_timers().await;
    assert_eq!(status(&short).await, "pending");
    world.advance(1);
    world.run_timers().await;
    assert_eq!((status(&short).await, status(&long).await), (json!("failed"), json!("pending")));
    world.advance(ten - 2);
    world.run_timers().await;
    assert_eq!(status(&long).await, "pending");
    world.advance(1);
    world.run_timers().await;
    assert_eq!((status(&long).await, status(&none).await), (json!("failed"), json!("pending")));
    world.end().await;
}

/// HXPX-052, HXPX-054: over all statuses and both doors, `expired` has no receipt and `completed`
/// always has one.
#[tokio::test]
async fn receipts_come_with_the_right_statuses() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let report = json!({
        "question": { "prompt": "Go?", "kind": "approve" },
        "timeout_seconds": 5, "on_expiry": { "report": "skip" },
    });
    agent.post("/api/v1/asks", report).await.is(201);
    agent.ask(with(approve("x"), within(5, "fail"))).await;
    let default = with(decide("?", &["a", "b"]), within(5, "default"));
    agent.ask(with(default, json!({ "payload": { "default_option": "a" } }))).await;
    agent.ask(with(approve("x"), within(5, "pause"))).await;
    agent.cancel(&agent.ask(approve("x")).await).await.is(200);
    let answered = agent.ask(approve("x")).await;
    human.resolve(&answered, json!({ "result": "rejected" })).await.is(200);
    human.claim(&agent.ask(approve("x")).await).await.is(200);
    world.advance(5);
    world.run_timers().await;
    let list = agent.list("").await.is(200);
    let mut seen: Vec<&str> = Vec::new();
    for request in list["requests"].as_array().unwrap() {
        let status = request["status"].as_str().unwrap();
        let with_receipt = matches!(status, "completed" | "failed" | "cancelled");
        assert_eq!(request["receipt"].is_object(), with_receipt, "{request}");
        if with_receipt {
            assert_eq!(request["receipt"]["status"], status);
        }
        seen.push(status);
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, ["assigned", "cancelled", "completed", "expired", "failed", "pending"]);
    world.end().await;
}

/// HXPX-060: deadlines survive a restart, and those that passed meanwhile end at once.
#[tokio::test]
async fn deadlines_survive_a_restart() {
    let mut world = World::dev().await;
    let passed = world.agent().ask(with(approve("x"), within(60, "fail"))).await;
    let coming = world.agent().ask(with(approve("x"), within(3600, "fail"))).await;
    world.stop().await;
    world.advance(600);
    world.start().await;
    world.run_timers().await;
    let failed = world.agent().poll(&passed).await.is(200);
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["receipt"]["completed_at"], "2026-03-01T09:01:00.000Z");
    assert_eq!(world.agent().poll(&coming).await["status"], "pending");
    world.advance(3000);
    world.run_timers().await;
    assert_eq!(world.agent().poll(&coming).await["status"], "failed");
    world.end().await;
}

/// Acknowledged means on disk: after a restart everything reads as before.
#[tokio::test]
async fn everything_reads_the_same_after_a_restart() {
    let mut world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let answered = agent.ask(provide("text")).await;
    human.resolve(&answered, json!({ "result": "kept" })).await.is(200);
    let taken = agent.ask(with(approve("x"), json!({ "role": "pool" }))).await;
    world.member().claim(&taken).await.is(200);
    agent.cancel(&agent.ask(approve("x")).await).await.is(200);
    agent.ask(decide("Which?", &["a", "b"])).await;
    human.post("/hxp/v1/delegation/rules", json!({ "delegate_to": "user_dev_2" })).await.is(201);
    human.save("people", json!({ "id": "ada", "email": "ada@example.com" })).await.saved();
    world.tidy().await;

    let agent_paths = ["/hxp/v1/requests", "/hxp/v1/stats"];
    let human_paths = [
        "/hxp/v1/inbox",
        "/hxp/v1/inbox?status=completed",
        "/hxp/v1/delegation/rules",
        "/api/v1/people",
        "/api/v1/agents",
        "/api/v1/projects",
    ];
    let read = async |world: &World| {
        let mut seen = vec![world.agent().poll(&answered).await.is(200).text];
        for path in agent_paths {
            seen.push(world.agent().get(path).await.is(200).text);
        }
        for path in human_paths {
            seen.push(world.human().get(path).await.is(200).text);
        }
        seen
    };
    let before = read(&world).await;
    world.restart().await;
    assert_eq!(read(&world).await, before);
    // And life goes on.
    let body = json!({ "result": "approved" });
    world.member().resolve(&taken, body).await.is(200);
    world.end().await;
}

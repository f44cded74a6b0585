//! Asked in one dialect, answered through another door, watched in a third (DESIGN §11).

use serde_json::{Value, json};

use crate::client::{approve, decide, provide};
use crate::hitl::schemas::holds;
use crate::hitl::{Case, approval, of, with};
use crate::world::World;

/// A HITL case is in the inbox, in our own lists and over HXP, and is answered there.
#[tokio::test]
async fn a_case_is_seen_and_answered_everywhere() {
    let world = World::dev().await;
    let case = Case::make(&world, with(approval(), json!({ "priority": "high" }))).await;
    let inbox = world.human().inbox("").await.is(200);
    assert_eq!(inbox.ids(), [case.hxp()]);
    let listed = world.agent().get("/api/v1/asks").await.is(200);
    assert_eq!(listed["asks"][0]["id"], case.ask());
    assert_eq!(listed["asks"][0]["metadata"]["hitl"]["timeout"], "24h");
    let as_hxp = world.agent().poll(&case.hxp()).await.is(200);
    assert_eq!((&as_hxp["action"], &as_hxp["priority"]), (&json!("APPROVE"), &json!("high")));
    assert_eq!(as_hxp["payload"]["details"], json!({ "version": "2.1.0" }));
    let said = json!({ "result": "rejected", "reason": "not today" });
    world.human().resolve(&case.hxp(), said).await.is(200);
    let over = case.status().await;
    let result = &over["result"];
    assert_eq!(
        (&result["action"], &result["data"]),
        (&json!("reject"), &json!({ "feedback": "not today" }))
    );
    assert!(over["responded_by"]["name"].is_string(), "a person who signed in has a name");
    world.end().await;
}

/// Every type, answered over our own API, has its result here.
#[tokio::test]
async fn native_answers_complete_a_case() {
    let world = World::dev().await;
    for (kind, answer, result) in [
        (
            "approval",
            json!({ "verdict": "changes_requested" }),
            json!({ "action": "edit", "data": {"feedback": "so"} }),
        ),
        (
            "selection",
            json!({ "verdict": "chosen", "options": ["b"] }),
            json!({ "action": "select", "data": {"selected": ["b"], "note": "so"} }),
        ),
        (
            "input",
            json!({ "verdict": "provided", "values": {"name": "Ann"} }),
            json!({ "action": "submit", "data": {"name": "Ann", "note": "so"} }),
        ),
        (
            "confirmation",
            json!({ "verdict": "declined" }),
            json!({ "action": "cancel", "data": {"note": "so"} }),
        ),
        (
            "escalation",
            json!({ "verdict": "abort" }),
            json!({ "action": "abort", "data": {"reason": "so"} }),
        ),
    ] {
        let case = Case::make(&world, of(kind)).await;
        let reply = json!({ "answer": answer, "comment": "so" });
        world.human().post(&format!("/api/v1/asks/{}/answer", case.ask()), reply).await.is(200);
        let over = case.status().await;
        let said = json!({ "action": over["result"]["action"], "data": over["result"]["data"] });
        assert_eq!(said, result, "{kind}");
    }
    world.end().await;
}

/// What was asked over HXP or natively is a case for the key that asked.
#[tokio::test]
async fn other_asks_are_cases_for_their_agent() {
    let world = World::dev().await;
    let agent = world.agent();
    for (asked, said, result) in [
        (approve("Deploy"), json!("approved"), json!("approve")),
        (decide("Which?", &["A", "B"]), json!("B"), json!("select")),
        (provide("text"), json!("words"), json!("submit")),
    ] {
        let id = agent.ask(asked).await;
        let path = format!("/hitl/v1/reviews/{}/status", id.replace("hxp_", "review_"));
        let pending = agent.get(&path).await.is(200);
        holds("0.7", "poll-response", &pending.json);
        assert_eq!(
            (&pending["status"], &pending["expires_at"]),
            (&json!("pending"), &json!("9999-12-31T23:59:59Z"))
        );
        assert_eq!(world.agent_2().get(&path).await.status, 404);
        world.human().resolve(&id, json!({ "result": said })).await.is(200);
        let over = agent.get(&path).await.is(200);
        holds("0.7", "poll-response", &over.json);
        assert_eq!(over["result"]["action"], result);
    }
    let question = json!({ "prompt": "Well?", "kind": "converse" });
    let made = agent.post("/api/v1/asks", json!({ "question": question })).await.is(201);
    let id = made["id"].as_str().unwrap();
    let path = format!("/hitl/v1/reviews/{}", id.replace("ask_", "review_"));
    agent.post(&format!("{path}/cancel"), json!({ "reason": "moot" })).await.is(200);
    let over = agent.get(&format!("{path}/status")).await.is(200);
    assert_eq!((&over["status"], &over["reason"]), (&json!("cancelled"), &json!("moot")));
    world.end().await;
}

/// The states of silence: failed and expired over HXP, expired over HITL.
#[tokio::test]
async fn silence_in_both_dialects() {
    let world = World::dev().await;
    let case =
        Case::make(&world, with(approval(), json!({ "timeout": "1m", "default_action": "skip" })))
            .await;
    let failing = json!({
        "action": "APPROVE", "payload": { "item": "x" }, "timeout_seconds": 60, "fallback": "fail",
    });
    let id = world.agent().ask(failing).await;
    world.advance(61);
    assert_eq!(world.agent().poll(&case.hxp()).await["status"], "expired");
    assert_eq!(case.status().await["default_action"], "skip");
    let path = format!("/hitl/v1/reviews/{}/status", id.replace("hxp_", "review_"));
    let failed = world.agent().get(&path).await.is(200);
    holds("0.7", "poll-response", &failed.json);
    assert_eq!(
        (&failed["status"], &failed["default_action"]),
        (&json!("expired"), &json!("abort"))
    );
    assert_eq!(failed["result"], Value::Null);
    world.end().await;
}

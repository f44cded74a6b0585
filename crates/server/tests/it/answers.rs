//! One request from the question to the receipt, for each action.

use serde_json::{Value, json};

use crate::client::{approve, decide, provide, with};
use crate::world::World;

/// HXPX-001, HXPX-010, HXPX-011, HXPX-019, HXPX-020, HXPX-037, HXPX-038, HXPX-042, HXPX-055.
#[tokio::test]
async fn a_decision_from_question_to_receipt() {
    let world = World::dev().await;
    let body = with(
        decide("Which database?", &["PostgreSQL", "SQLite"]),
        json!({
            "request_id": "hxp_mine", "agent_id": "coder", "project_id": "shop",
            "priority": "high", "timeout_seconds": 3600, "fallback": "default",
            "metadata": { "agent_framework": "crewai", "agent_task": "setup" },
            "payload": { "context": "Small team.", "default_option": "SQLite" },
        }),
    );
    let created = world.agent().post("/hxp/v1/requests", body).await.is(201);
    let id = created["request_id"].as_str().unwrap();
    assert!(id.starts_with("hxp_") && id != "hxp_mine", "{id}");
    assert_eq!(
        created.json,
        json!({
            "request_id": id, "status": "pending",
            "created_at": "2026-03-01T09:00:00.000Z", "expires_at": "2026-03-01T10:00:00.000Z",
            "poll_url": format!("/hxp/v1/requests/{id}"),
            "ws_url": format!("ws://{}/hxp/ws/{id}", world.address()),
        })
    );
    assert_eq!(created.header("hxp-status"), "pending");
    assert_eq!(created.header("hxp-request-id"), id);

    let open = world.agent().poll(id).await.is(200);
    assert_eq!((open.header("hxp-status"), open.header("hxp-request-id")), ("pending", id));
    let request = json!({
        "request_id": id, "action": "DECIDE", "role": "owner", "priority": "high",
        "timeout_seconds": 3600, "fallback": "default",
        "agent_id": "coder", "project_id": "shop",
        "metadata": { "agent_framework": "crewai", "agent_task": "setup" },
        "created_at": "2026-03-01T09:00:00.000Z", "expires_at": "2026-03-01T10:00:00.000Z",
        "payload": {
            "question": "Which database?", "options": ["PostgreSQL", "SQLite"],
            "context": "Small team.", "default_option": "SQLite",
        },
        "status": "pending", "receipt": null,
    });
    assert_eq!(open.json, request);

    world.advance(42);
    let body = json!({ "result": "PostgreSQL", "reason": "we know it" });
    let resolved = world.human().resolve(id, body).await.is(200);
    let receipt = &resolved["receipt"];
    assert_eq!(resolved.json.as_object().unwrap().len(), 1);
    assert_eq!(
        (resolved.header("hxp-status"), resolved.header("hxp-request-id")),
        ("completed", id)
    );
    let hash = receipt["evidence_hash"].as_str().unwrap();
    assert_eq!(
        *receipt,
        json!({
            "request_id": id, "status": "completed", "result": "PostgreSQL",
            "reason": "we know it", "completed_by": "user_dev",
            "completed_at": "2026-03-01T09:00:42.000Z", "duration_seconds": 42,
            "evidence_hash": hash,
        })
    );

    let done = world.agent().poll(id).await.is(200);
    assert_eq!(done.header("hxp-status"), "completed");
    let over = with(request, json!({ "status": "completed", "receipt": receipt }));
    assert_eq!(done.json, over);
    world.end().await;
}

/// HXPX-026: the result equals an option, exactly; nothing changes until it does.
#[tokio::test]
async fn a_decision_takes_one_of_its_options_exactly() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent.ask(decide("Go?", &["yes", "no"])).await;
    for result in [json!("Yes"), json!("maybe"), json!(""), json!(1), json!(["yes"]), json!({})] {
        human.resolve(&id, json!({ "result": result })).await.error(422, "invalid_result");
    }
    assert_eq!(agent.poll(&id).await["status"], "pending");
    human.resolve(&id, json!({ "result": "yes" })).await.is(200);
    world.end().await;
}

/// HXPX-027, HXPX-028, HXPX-029.
#[tokio::test]
async fn approvals_and_rejections() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent.ask(approve("Deploy v2.1")).await;
    for result in ["Approved", "yes", "no", "reject"] {
        human.resolve(&id, json!({ "result": result })).await.error(422, "invalid_result");
    }
    let receipt = human.resolve(&id, json!({ "result": "approved" })).await.is(200);
    assert_eq!(receipt["receipt"]["result"], "approved");
    assert_eq!(receipt["receipt"]["reason"], Value::Null);

    let strict = json!({
        "payload": { "details": { "amount": 100 }, "reject_requires_reason": true },
    });
    let id = agent.ask(with(approve("Pay"), strict)).await;
    assert_eq!(agent.poll(&id).await["payload"]["details"], json!({ "amount": 100 }));
    for body in [json!({ "result": "rejected" }), json!({ "result": "rejected", "reason": "  " })] {
        human.resolve(&id, body).await.error(422, "reason_required");
    }
    let body = json!({ "result": "rejected", "reason": "too much" });
    let receipt = human.resolve(&id, body).await.is(200);
    assert_eq!(receipt["receipt"]["result"], "rejected");
    assert_eq!(receipt["receipt"]["reason"], "too much");
    world.end().await;
}

/// HXPX-030 to HXPX-034, HXPX-081: every input type, limits, and numbers as texts.
#[tokio::test]
async fn every_input_type_is_provided_and_checked() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let word = json!({ "pattern": "[a-z]+", "min": 2, "max": 4 });
    let ten = json!({ "min": 1, "max": 10 });
    let colours = json!({ "allowed_values": ["red", "blue"] });
    let stories = [
        ("text", word, json!("abc"), json!("abc"), vec![json!("a"), json!("abcde"), json!("ABC")]),
        ("number", ten, json!("7.5"), json!(7.5), vec![json!(99999), json!("x"), json!(true)]),
        ("number", json!({}), json!(3), json!(3), vec![json!("3 apples")]),
        (
            "url",
            json!({}),
            json!("https://a.example/x"),
            json!("https://a.example/x"),
            vec![json!("a b")],
        ),
        (
            "email",
            json!({}),
            json!("ada@example.com"),
            json!("ada@example.com"),
            vec![json!("ada")],
        ),
        (
            "file",
            json!({}),
            json!("https://a.example/f.pdf"),
            json!("https://a.example/f.pdf"),
            vec![json!("f.pdf")],
        ),
        (
            "file",
            json!({}),
            json!("data:text/plain,hi"),
            json!("data:text/plain,hi"),
            vec![json!(7)],
        ),
        ("selection", colours, json!("blue"), json!("blue"), vec![json!("green"), json!(["red"])]),
    ];
    for (kind, validation, given, kept, refused) in stories {
        let body = with(provide(kind), json!({ "payload": { "validation": validation } }));
        let id = agent.ask(body).await;
        for wrong in refused.into_iter().chain([json!("")]) {
            human.resolve(&id, json!({ "result": wrong })).await.error(422, "invalid_result");
        }
        for nothing in [json!({}), json!({ "result": null })] {
            human.resolve(&id, nothing).await.error(400, "missing_result");
        }
        assert_eq!(agent.poll(&id).await["status"], "pending", "{kind}");
        human.resolve(&id, json!({ "result": given })).await.is(200);
        assert_eq!(agent.poll(&id).await["receipt"]["result"], kept, "{kind}");
    }
    world.end().await;
}

/// HXPX-040, HXPX-046, HXPX-048, HXPX-058.
#[tokio::test]
async fn cancelled_once_and_for_good() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent.ask(approve("Deploy")).await;
    let path = format!("/hxp/v1/requests/{id}/cancel");
    let cancelled = agent.post(&path, json!({ "reason": "found it out" })).await.is(200);
    assert_eq!(cancelled.json, json!({ "request_id": id, "status": "cancelled" }));
    assert_eq!(cancelled.header("hxp-status"), "cancelled");
    let receipt = agent.poll(&id).await["receipt"].clone();
    assert_eq!(receipt["status"], "cancelled");
    assert_eq!(receipt["reason"], "found it out");
    assert_eq!(receipt["completed_by"], "agent_dev");

    agent.cancel(&id).await.error(409, "conflict");
    human.resolve(&id, json!({ "result": "approved" })).await.error(409, "conflict");
    human.claim(&id).await.error(409, "conflict");
    assert_eq!(agent.poll(&id).await["receipt"], receipt);

    let held = agent.ask(approve("Deploy")).await;
    human.claim(&held).await.is(200);
    agent.cancel(&held).await.is(200);
    let done = agent.ask(approve("Deploy")).await;
    human.resolve(&done, json!({ "result": "approved" })).await.is(200);
    agent.cancel(&done).await.error(409, "conflict");
    let nobody = "hxp_01JNB0000000000000000000000";
    agent.cancel(nobody).await.error(404, "not_found");
    agent.poll(nobody).await.error(404, "not_found");
    agent.poll("nonsense").await.error(404, "not_found");
    human.resolve(nobody, json!({ "result": "approved" })).await.error(404, "not_found");
    world.end().await;
}

/// HXPX-048: the second answer learns who was first, whatever it says.
#[tokio::test]
async fn the_second_answer_is_told_who_was_first() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("Deploy")).await;
    let receipt = world.human().resolve(&id, json!({ "result": "approved" })).await.is(200);
    for late in ["rejected", "approved", "nonsense"] {
        let told = world.human().resolve(&id, json!({ "result": late })).await;
        let told = told.error(409, "conflict");
        assert!(told["message"].as_str().unwrap().contains("user_dev"), "{}", told.text);
    }
    assert_eq!(world.agent().poll(&id).await["receipt"], receipt["receipt"]);
    world.end().await;
}

/// HXPX-010: an error about one request names it and its status too.
#[tokio::test]
async fn refusals_name_the_request_they_are_about() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent.ask(approve("Deploy")).await;
    let wrong = human.resolve(&id, json!({ "result": "x" })).await.error(422, "invalid_result");
    assert_eq!((wrong.header("hxp-status"), wrong.header("hxp-request-id")), ("pending", &*id));
    human.resolve(&id, json!({ "result": "approved" })).await.is(200);
    let late = human.resolve(&id, json!({ "result": "approved" })).await.error(409, "conflict");
    assert_eq!((late.header("hxp-status"), late.header("hxp-request-id")), ("completed", &*id));
    let late = agent.cancel(&id).await.error(409, "conflict");
    assert_eq!((late.header("hxp-status"), late.header("hxp-request-id")), ("completed", &*id));
    let late = human.claim(&id).await.error(409, "conflict");
    assert_eq!((late.header("hxp-status"), late.header("hxp-request-id")), ("completed", &*id));
    // Nobody learns about a request they may not know of.
    let hidden = world.member().resolve(&id, json!({ "result": "approved" })).await;
    assert_eq!(hidden.error(404, "not_found").header("hxp-status"), "");
    world.end().await;
}

/// HXPX-047, HXPX-057: taking a request on makes it `assigned`, and its duration begins there.
#[tokio::test]
async fn assigned_begins_when_somebody_takes_it_on() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent.ask(approve("Deploy")).await;
    world.advance(100);
    let taken = human.claim(&id).await.is(200);
    assert_eq!(taken["status"], "assigned");
    assert_eq!(taken.header("hxp-status"), "assigned");
    assert_eq!(agent.poll(&id).await["status"], "assigned");
    human.claim(&id).await.is(200);
    world.advance(7);
    let done = human.resolve(&id, json!({ "result": "approved" })).await.is(200);
    assert_eq!(done["receipt"]["duration_seconds"], 7);
    world.end().await;
}

/// HXPX-044, HXPX-045.
#[tokio::test]
async fn the_info_is_public_and_the_figures_are_not() {
    let world = World::dev().await;
    let info = world.anonymous().get("/hxp").await.is(200);
    assert_eq!(info["protocol"], "hxp");
    assert_eq!(info["version"], "0.1.0");
    assert_eq!(info["actions"], json!(["DECIDE", "APPROVE", "PROVIDE"]));
    assert!(info["name"].is_string() && info["endpoints"]["agent"].is_string());

    let (agent, human) = (world.agent(), world.human());
    for seconds in [10, 20] {
        let id = agent.ask(approve("x")).await;
        world.advance(seconds);
        human.resolve(&id, json!({ "result": "approved" })).await.is(200);
    }
    let failing = json!({ "timeout_seconds": 5, "fallback": "fail" });
    agent.ask(with(approve("x"), failing)).await;
    world.advance(5);
    world.run_timers().await;
    human.claim(&agent.ask(approve("x")).await).await.is(200);
    agent.ask(approve("x")).await;
    world.agent_2().ask(approve("x")).await;
    world.anonymous().get("/hxp/v1/stats").await.is(200);
    world.bearer("nobody").get("/hxp/v1/stats").await.error(401, "unauthorized");
    world.human().get("/hxp/v1/stats").await.error(401, "unauthorized");
    let stats = agent.get("/hxp/v1/stats").await.is(200);
    let expected = json!({
        "total": 5, "pending": 2, "completed": 2, "expired": 0, "failed": 1,
        "avg_duration_seconds": 15,
    });
    assert_eq!(stats.json, expected);
    world.end().await;
}

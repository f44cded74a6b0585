//! Polling: states, tags, limits, and expiry that nobody has to wait for.

use kernel::form::FormProgress;
use kernel::{Actor, AskCommand};
use serde_json::{Value, json};

use crate::hitl::{Case, approval, of, refused, with};
use crate::world::World;

/// HITL-045, HITL-080, HITL-084, HITL-090, HITL-093, HITL-102, HITL-110, HITL-111: from pending to
/// completed.
#[tokio::test]
async fn a_case_from_pending_to_completed() {
    let world = World::dev().await;
    let case = Case::make(&world, of("input")).await;
    let holder = || Actor::link_holder(case.ask_id());
    let pending = case.status().await;
    assert_eq!((&pending["status"], &pending["opened_at"]), (&json!("pending"), &Value::Null));
    assert!(pending.header("retry-after").parse::<u64>().unwrap() >= 1);
    world.advance(5);
    world.gateway().run(holder(), AskCommand::Open(case.ask_id())).await.unwrap();
    let opened = case.status().await;
    assert_eq!(
        (&opened["status"], &opened["opened_at"]),
        (&json!("opened"), &json!("2026-03-01T09:00:05.000Z"))
    );
    world.advance(5);
    world.gateway().run(holder(), AskCommand::Open(case.ask_id())).await.unwrap();
    assert_eq!(case.status().await["opened_at"], opened["opened_at"], "the first look counts");
    let far =
        FormProgress { current_step: 1, total_steps: 1, completed_fields: 1, total_fields: 2 };
    world.gateway().run(holder(), AskCommand::Progress(case.ask_id(), Some(far))).await.unwrap();
    let working = case.status().await;
    assert_eq!(working["status"], "in_progress");
    assert_eq!(working["progress"]["completed_fields"], 1);
    case.respond(json!({ "action": "submit", "data": {"name": "Ann", "pin": "1"} })).await.is(200);
    let over = case.status().await;
    assert_eq!((&over["status"], &over["progress"]), (&json!("completed"), &Value::Null));
    assert_eq!(over["result"]["data"], json!({"name": "Ann", "pin": "1"}));
    assert_eq!(over.header("retry-after"), "", "there is nothing to come back for");
    let signature = &over["result"]["signature"];
    assert_eq!(signature["algorithm"], "EdDSA");
    let jws = signature["value"].as_str().unwrap();
    let claims = dialects::proof::verify(jws, &world.keys()).unwrap();
    assert_eq!(
        (claims.assurance, claims.redacted),
        (Some(kernel::Assurance::AgentAttested), vec!["pin".to_owned()])
    );
    world.end().await;
}

/// HITL-082, HITL-083: weak comparison, lists, `*`, and a tag that changes with every word.
#[tokio::test]
async fn what_was_seen_is_not_sent_again() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let tag = case.status().await.header("etag").to_owned();
    let poll = async |seen: &str| {
        world.anonymous().header("if-none-match", seen).get(&case.path("poll_url")).await
    };
    for seen in [
        tag.clone(),
        format!("W/{tag}"),
        format!("\"x\", {tag}"),
        format!("\"a\" , W/{tag},\"b\""),
        "*".to_owned(),
    ] {
        let same = poll(&seen).await.is(304);
        assert_eq!((same.header("etag"), same.text.as_str()), (tag.as_str(), ""), "{seen}");
    }
    for unseen in ["\"0\"", "\"x\"", "nonsense", "\"", ""] {
        poll(unseen).await.is(200);
    }
    for (command, by) in [
        (AskCommand::Open(case.ask_id()), Actor::link_holder(case.ask_id())),
        (AskCommand::Progress(case.ask_id(), None), Actor::link_holder(case.ask_id())),
        (AskCommand::Cancel(case.ask_id(), None), Actor::link_holder(case.ask_id())),
    ] {
        let tag = case.status().await.header("etag").to_owned();
        world.gateway().run(by, command).await.unwrap();
        let changed = poll(&tag).await.is(200);
        assert_ne!(changed.header("etag"), tag);
    }
    world.end().await;
}

/// HITL-085, HITL-241: sixty a minute for each case, a 304 counts too, and another case is another.
#[tokio::test]
async fn sixty_polls_a_minute() {
    let world = World::dev().await;
    let (case, other) =
        (Case::make(&world, approval()).await, Case::make(&world, approval()).await);
    let first = case.status().await;
    assert_eq!(
        (first.header("x-ratelimit-limit"), first.header("x-ratelimit-remaining")),
        ("60", "59")
    );
    let seen = world.anonymous().header("if-none-match", "*");
    let mut served = 1;
    let refusal = loop {
        let reply = seen.get(&case.path("poll_url")).await;
        match reply.status {
            304 => served += 1,
            _ => break reply,
        }
        // One is given back each second, and a slow machine gets some.
        assert!(served < 200, "no limit");
    };
    assert!(served >= 60, "{served}");
    let refusal = refused(refusal, 429, "rate_limited");
    assert!(refusal.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(
        (refusal.header("x-ratelimit-limit"), refusal.header("x-ratelimit-remaining")),
        ("60", "0")
    );
    other.status().await;
    case.respond(json!({ "action": "approve" })).await.is(200);
    world.tidy().await;
    world.end().await;
}

/// HITL-042, HITL-063, HITL-073, HITL-099, HITL-106, HITL-112, HITL-150, HITL-241: expired is
/// expired for everybody who looks, before any timer runs, and dated by the deadline. C-02, C-28.
#[tokio::test]
async fn expiry_needs_no_timer() {
    let world = World::dev().await;
    for state in ["pending", "in_progress"] {
        let body = with(approval(), json!({ "timeout": "10m", "default_action": "reject" }));
        let case = Case::make(&world, body).await;
        if state == "in_progress" {
            let holder = Actor::link_holder(case.ask_id());
            world.gateway().run(holder, AskCommand::Progress(case.ask_id(), None)).await.unwrap();
        }
        let deadline = case.hitl["expires_at"].clone();
        world.advance(601);
        let late = refused(case.respond(json!({ "action": "approve" })).await, 410, "case_expired");
        assert_eq!(late["case_id"], case.id.as_str());
        refused(case.submit(crate::hitl::inline("approve")).await, 410, "case_expired");
        let cancel = format!("{}?token={}", case.at("cancel"), case.review_token());
        refused(world.anonymous().post(&cancel, json!({})).await, 410, "case_expired");
        let over = case.status().await;
        assert_eq!((&over["status"], &over["expired_at"]), (&json!("expired"), &deadline));
        assert_eq!((&over["default_action"], &over["result"]), (&json!("reject"), &Value::Null));
        let wrong = format!("{}?token={}", case.at("respond"), "x".repeat(43));
        refused(world.anonymous().post(&wrong, json!({})).await, 401, "invalid_token");
    }
    world.end().await;
}

/// HITL-103, HITL-160, HITL-161: reminders go out at their times, several of them, and never after.
#[tokio::test]
async fn reminders() {
    let world = World::dev().await;
    let times = ["2026-03-01T09:01:00Z", "2026-03-01T09:02:00Z", "2026-03-01T10:30:00Z"];
    let case =
        Case::make(&world, with(approval(), json!({ "reminder_at": times, "timeout": "1h" })))
            .await;
    assert_eq!(case.status().await["reminder_sent_at"], Value::Null);
    for sent in ["2026-03-01T09:01:00.000Z", "2026-03-01T09:02:00.000Z"] {
        world.advance(60);
        world.run_timers().await;
        assert_eq!(case.status().await["reminder_sent_at"], sent);
    }
    world.advance(3600);
    world.run_timers().await;
    let over = case.status().await;
    assert_eq!((&over["status"], &over["reminder_sent_at"]), (&json!("expired"), &Value::Null));
    let records = world.agent().get(&format!("/api/v1/asks/{}/audit", case.ask())).await.is(200);
    let reminded = records.text.matches("\"reminded\"").count();
    assert_eq!(reminded, 2, "{}", records.text);
    world.end().await;
}

/// HITL-081, HITL-086: the key that made it reads it too; other keys find nothing, and without a
/// key or a token of the case nobody learns whether it exists.
#[tokio::test]
async fn who_may_poll() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let path = case.at("status");
    world.agent().get(&path).await.is(200);
    refused(world.agent_2().get(&path).await, 404, "not_found");
    refused(world.anonymous().get(&path).await, 401, "invalid_token");
    refused(world.human().get(&path).await, 401, "invalid_token");
    // The service's agent sends along what its service wants; our token is what counts.
    let relayed = world.bearer("a-key-of-the-service").get(&case.path("poll_url")).await;
    relayed.is(200);
    let unknown = "/hitl/v1/reviews/review_01JZ3V5Q8N6M4K2H0G9F7E5D3C/status";
    refused(world.agent().get(unknown).await, 404, "not_found");
    refused(world.agent().get("/hitl/v1/reviews/nonsense/status").await, 404, "not_found");
    let query = format!("{unknown}?token={}", case.poll_token());
    refused(world.anonymous().get(&query).await, 401, "invalid_token");
    world.end().await;
}

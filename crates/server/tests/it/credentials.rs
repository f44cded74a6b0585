//! Who is let in, and how far.

use serde_json::{Value, json};

use crate::client::{Reply, approve, with};
use crate::pages::signed_in;
use crate::world::World;

/// HXPX-002: the two kinds of credential are disjoint, on every call of the protocol.
#[tokio::test]
async fn agent_keys_and_human_tokens_do_not_stand_in_for_each_other() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("Deploy")).await;
    let (agent, human) = (world.agent(), world.human());
    let request = format!("/hxp/v1/requests/{id}");

    for refused in [
        agent.inbox("").await,
        agent.resolve(&id, json!({ "result": "approved" })).await,
        agent.claim(&id).await,
        agent.get("/hxp/v1/delegation/rules").await,
        agent.post("/hxp/v1/delegation/rules", json!({ "delegate_to": "user_dev_2" })).await,
        human.post("/hxp/v1/requests", approve("Deploy")).await,
        human.get(&request).await,
        human.list("").await,
        human.cancel(&id).await,
        human.get("/hxp/v1/stats").await,
    ] {
        refused.error(401, "unauthorized");
    }
    assert_eq!(agent.poll(&id).await["status"], "pending");
    assert_eq!(human.get("/hxp/v1/delegation/rules").await["rules"], json!([]));
    world.end().await;
}

/// HXPX-003.
#[tokio::test]
async fn missing_and_wrong_credentials() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("Deploy")).await;
    let path = format!("/hxp/v1/requests/{id}");
    let with = |value: &str| world.anonymous().header("authorization", value);
    for wrong in ["", "dev-agent-key", "Basic dev-agent-key", "Bearer", "Bearer ", "Bearer nobody"]
    {
        let refused = with(wrong).get(&path).await.error(401, "unauthorized");
        assert_eq!(refused.header("www-authenticate"), "Bearer");
        assert_eq!(refused.header("hxp-request-id"), "");
    }
    world.anonymous().get(&path).await.error(401, "unauthorized");
    // The scheme is written in any case; the key is not.
    for right in ["Bearer dev-agent-key", "bearer dev-agent-key", "BEARER dev-agent-key"] {
        with(right).get(&path).await.is(200);
    }
    with("Bearer DEV-AGENT-KEY").get(&path).await.error(401, "unauthorized");
    world.end().await;
}

/// HXPX-003: what opens a browser is neither a key nor a token.
#[tokio::test]
async fn sessions_and_links_are_no_keys() {
    let world = World::dev().await;
    let link = world.server().welcome().sign_in.clone().unwrap();
    let token = link.split_once("token=").unwrap().1.to_owned();
    let refuse = async |secret: &str| {
        world.bearer(secret).inbox("").await.error(401, "unauthorized");
        world.bearer(secret).list("").await.error(401, "unauthorized");
        world.bearer(secret).get("/api/v1/me").await.problem(401, "unauthorized");
    };
    refuse(&token).await;
    let browser = signed_in(&world).await;
    refuse(&browser.session).await;
    // Nor is a token a session.
    let cookie = world.anonymous().header("cookie", "countersign=dev-human-token");
    assert_eq!(cookie.get("/").await.status, 401);
    world.end().await;
}

/// HXPX-003: a key that was revoked is refused from then on.
#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let world = World::dev().await;
    for body in [json!({ "agent": "agent_dev" }), json!({ "human": "user_dev" })] {
        let issued = world.human().post("/api/v1/keys", body).await.is(201);
        let (id, secret) = (issued["id"].as_str().unwrap(), issued["secret"].as_str().unwrap());
        world.bearer(secret).get("/api/v1/me").await.is(200);
        world.human().delete(&format!("/api/v1/keys/{id}")).await.is(204);
        world.bearer(secret).get("/api/v1/me").await.problem(401, "unauthorized");
        world.bearer(secret).list("").await.error(401, "unauthorized");
        world.bearer(secret).inbox("").await.error(401, "unauthorized");
    }
    world.end().await;
}

/// HXPX-004, HXPX-018: another scope's requests are not there, whatever a body calls itself.
#[tokio::test]
async fn another_agents_requests_are_not_there() {
    let world = World::dev().await;
    let id = world.agent().ask(with(approve("Deploy"), json!({ "agent_id": "shared" }))).await;
    // The same project, another agent.
    let human = world.human();
    let body = json!({ "id": "agent_dev_3", "project": "dev", "owner": "user_dev" });
    human.save("agents", body).await.saved();
    let issued = human.post("/api/v1/keys", json!({ "agent": "agent_dev_3" })).await.is(201);
    let sibling = world.bearer(issued["secret"].as_str().unwrap());

    for stranger in [world.agent_2(), sibling] {
        stranger.poll(&id).await.error(404, "not_found");
        stranger.cancel(&id).await.error(404, "not_found");
        let body = with(approve("Mine"), json!({ "agent_id": "shared", "project_id": "dev" }));
        let own = stranger.ask(body).await;
        let seen = stranger.list("?agent_id=shared").await.is(200);
        assert_eq!(seen.ids(), [own.as_str()]);
        assert_eq!(seen["total"], 1);
        assert_eq!(stranger.get("/hxp/v1/stats").await["total"], 1);
    }
    assert_eq!(world.agent().poll(&id).await["status"], "pending");
    world.end().await;
}

/// HXPX-004: a project-wide key sees its project, whole, and nothing else.
#[tokio::test]
async fn a_project_wide_key_sees_its_project() {
    let world = World::dev().await;
    let human = world.human();
    let body = json!({ "id": "watcher", "project": "dev", "owner": "user_dev" });
    human.save("agents", body).await.saved();
    let body = json!({ "agent": "watcher", "reach": "project" });
    let issued = human.post("/api/v1/keys", body).await.is(201);
    let watcher = world.bearer(issued["secret"].as_str().unwrap());

    let theirs = world.agent().ask(approve("Deploy")).await;
    let own = watcher.ask(approve("Watch")).await;
    let other = world.agent_2().ask(approve("Elsewhere")).await;
    assert_eq!(watcher.list("").await.ids(), [own.as_str(), theirs.as_str()]);
    watcher.poll(&theirs).await.is(200);
    watcher.poll(&other).await.error(404, "not_found");
    watcher.cancel(&other).await.error(404, "not_found");
    watcher.cancel(&theirs).await.is(200);
    world.end().await;
}

/// Request ids: the caller's own if it can be logged, else one of ours.
#[tokio::test]
async fn every_answer_carries_a_request_id() {
    let world = World::dev().await;
    let id = |reply: &Reply| reply.header("x-request-id").to_owned();
    let own = world.agent().header("x-request-id", "run-42").list("").await;
    assert_eq!(id(&own), "run-42");
    for (caller, path) in [
        (world.agent().header("x-request-id", "a b"), "/hxp/v1/requests"),
        (world.agent().header("x-request-id", &"x".repeat(65)), "/hxp/v1/requests"),
        (world.anonymous(), "/hxp/v1/requests"),
        (world.anonymous(), "/nowhere"),
        (world.anonymous(), "/healthz"),
    ] {
        let made = id(&caller.get(path).await);
        assert!(made.len() == 16 && made.bytes().all(|b| b.is_ascii_hexdigit()), "{made}");
    }
    world.end().await;
}

/// For operators, without a credential.
#[tokio::test]
async fn health_and_metrics() {
    let world = World::dev().await;
    world.agent().ask(approve("Deploy")).await;
    let anyone = world.anonymous();
    assert_eq!(anyone.get("/healthz").await.is(200)["status"], "ok");
    assert_eq!(anyone.get("/readyz").await.is(200)["status"], "ready");
    let metrics = anyone.get("/metrics").await.is(200);
    assert_eq!(metrics.json, Value::Null);
    for name in [
        "countersign_commands_total",
        "countersign_http_requests_total",
        "countersign_outbox_waiting",
    ] {
        assert!(metrics.text.contains(name), "{name}: {}", metrics.text);
    }
    world.end().await;
}

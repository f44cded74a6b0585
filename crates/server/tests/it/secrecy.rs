//! What must not be in the log.

use serde_json::json;

use crate::client::{approve, decide, provide, with};
use crate::pages::signed_in;
use crate::world::{World, logged};

/// HXPX-036, HXPX-056: answers, questions and credentials stay out of the log and of the metrics,
/// whatever went wrong.
#[tokio::test]
async fn answers_and_credentials_are_not_logged() {
    let mut world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let id = agent
        .ask(with(provide("number"), json!({ "payload": { "prompt": "w0rds-of-the-agent" } })))
        .await;
    human.resolve(&id, json!({ "result": "s3cret-wrong" })).await.error(422, "invalid_result");
    let id = agent.ask(provide("text")).await;
    let given = json!({ "result": "s3cret-value", "reason": "s3cret-reason" });
    human.resolve(&id, given.clone()).await.is(200);
    human.resolve(&id, given).await.error(409, "conflict");
    let id = agent.ask(decide("w0rds?", &["s3cret-a", "s3cret-b"])).await;
    human.resolve(&id, json!({ "result": "s3cret-b" })).await.is(200);
    agent
        .post_raw("/hxp/v1/requests", r#"{"action":"s3cret-broken"#)
        .await
        .error(400, "invalid_json");
    world.bearer("s3cret-credential").list("").await.error(401, "unauthorized");
    let query = format!("/hxp/ws/{id}?token=s3cret-token");
    world.anonymous().get(&query).await.error(401, "unauthorized");
    world.anonymous().get("/s3cret-path").await.is(404);
    world.anonymous().get("/sign-in?token=s3cret-link").await.is(200);
    let browser = signed_in(&world).await;
    browser.client.get("/").await.is(200);
    let issued = human.post("/api/v1/keys", json!({ "agent": "agent_dev" })).await.is(201);
    let secret = issued["secret"].as_str().unwrap().to_owned();
    world.bearer(&secret).ask(with(approve("x"), json!({ "metadata": { "m": "w0rds" } }))).await;
    world.tidy().await;
    let metrics = world.anonymous().get("/metrics").await.is(200);
    world.restart().await;

    let log = logged();
    assert!(log.contains("request served"), "the log was not captured");
    let hidden = [
        "s3cret-wrong",
        "s3cret-value",
        "s3cret-reason",
        "s3cret-a",
        "s3cret-b",
        "s3cret-broken",
        "s3cret-credential",
        "s3cret-token",
        "s3cret-path",
        "s3cret-link",
        "w0rds",
        &secret,
        &browser.session,
        "dev-agent-key",
        "dev-human-token",
    ];
    for text in hidden {
        let found = log.lines().find(|line| line.contains(text));
        assert!(found.is_none(), "logged: {found:?}");
        assert!(!metrics.text.contains(text), "{text} in the metrics");
    }
    world.end().await;
}

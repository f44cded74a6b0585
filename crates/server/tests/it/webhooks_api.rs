//! Who may manage which endpoints, lists in pages, and what is said of a bad body.

use serde_json::{Value, json};

use crate::client::with;
use crate::fake_webhook_receiver::Hook;
use crate::webhooks::{HOOKS, answer, ask, at, endpoint};
use crate::world::{World, eventually};

const URL: &str = "https://agent.example/hook";

#[tokio::test]
async fn owners_manage_those_of_their_agents() {
    let world = World::dev().await;
    world.add_agent("clerk", "dev", "user_dev_2").await;
    let own = json!({ "agent": "clerk", "url": URL, "description": "mine" });
    let made = world.member().post(HOOKS, own.clone()).await.is(201);
    for foreign in
        [json!({ "agent": "agent_dev", "url": URL }), json!({ "project": "dev", "url": URL })]
    {
        world.member().post(HOOKS, foreign).await.problem(403, "not-allowed");
    }
    let admins = endpoint(&world, URL, json!({})).await;
    let listed = world.member().get(HOOKS).await.is(200);
    assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1);
    assert_eq!(world.human().get(HOOKS).await.is(200)["webhooks"].as_array().unwrap().len(), 2);
    for (method, below) in [
        ("get", ""),
        ("put", ""),
        ("delete", ""),
        ("post", "/rotate"),
        ("post", "/test"),
        ("get", "/deliveries"),
    ] {
        let path = at(&admins, below);
        let reply = match method {
            "get" => world.member().get(&path).await,
            "put" => world.member().put(&path, own.clone()).await,
            "delete" => world.member().delete(&path).await,
            _ => world.member().post(&path, json!({})).await,
        };
        reply.problem(404, "not-found");
    }
    world.agent().get(HOOKS).await.problem(403, "not-allowed");
    world.agent().post(HOOKS, own.clone()).await.problem(403, "not-allowed");
    let moved = json!({ "agent": "agent_dev", "url": URL });
    world.member().put(&at(&made, ""), moved).await.problem(422, "invalid-field");
    let changed = with(own, json!({ "description": "still mine", "events": ["ask.created"] }));
    let changed = world.member().put(&at(&made, ""), changed).await.is(200);
    assert_eq!(
        (&changed["description"], &changed["events"]),
        (&json!("still mine"), &json!(["ask.created"]))
    );
    world.member().delete(&at(&made, "")).await.is(204);
    world.member().delete(&at(&made, "")).await.problem(404, "not-found");
    world.end().await;
}

#[tokio::test]
async fn what_is_wrong_is_said_at_its_field() {
    let world = World::dev().await;
    let base = json!({ "agent": "agent_dev", "url": URL });
    for (more, field) in [
        (json!({ "agent": "nobody" }), "agent"),
        (json!({ "project": "dev" }), "agent"),
        (json!({ "agent": null, "project": "nowhere" }), "project"),
        (json!({ "agent": null }), "agent"),
        (json!({ "events": [] }), "events"),
        (json!({ "events": ["ask.sung"] }), "events[0]"),
        (json!({ "format": "xml" }), "format"),
        (json!({ "format": "humanlayer", "events": ["ask.created"] }), "events"),
        (json!({ "description": "x".repeat(201) }), "description"),
        (json!({ "secret": "whsec_mine" }), "secret"),
        (json!({ "url": 7 }), "url"),
    ] {
        let body = with(base.clone(), more.clone());
        let refused = world.human().post(HOOKS, body).await.problem(422, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], field, "{more}");
    }
    assert_eq!(world.human().get(HOOKS).await["webhooks"], json!([]));
    let made = endpoint(&world, URL, json!({})).await;
    let long = json!({ "grace_seconds": 604_801 });
    world.human().post(&at(&made, "/rotate"), long).await.problem(422, "invalid-field");
    for query in ["?status=sung", "?limit=0", "?x=1"] {
        let path = at(&made, &format!("/deliveries{query}"));
        world.human().get(&path).await.problem(400, "invalid-field");
    }
    world.human().get(&at(&made, "/deliveries?cursor=AAAA")).await.problem(422, "invalid-field");
    world.end().await;
}

#[tokio::test]
async fn lists_come_in_pages() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    let made = endpoint(&world, &hook.url, json!({})).await;
    for _ in 0..5 {
        world.advance(1);
        answer(&world, &ask(&world).await).await;
    }
    hook.heard_times(5).await;
    let (path, mut found) = (at(&made, "/deliveries?limit=2&status=done"), Vec::new());
    eventually("the log", async || {
        world.human().get(&at(&made, "/deliveries")).await["deliveries"].as_array().unwrap().len()
            == 5
    })
    .await;
    let mut next = String::new();
    loop {
        let page = world.human().get(&format!("{path}{next}")).await.is(200);
        found.extend(page["deliveries"].as_array().unwrap().clone());
        match &page["next"] {
            Value::String(cursor) => next = format!("&cursor={cursor}"),
            _ => break,
        }
    }
    assert_eq!(found.len(), 5);
    assert!(found.is_sorted_by(|one, next| one["at"].as_str() > next["at"].as_str()));
    for _ in 0..2 {
        endpoint(&world, URL, json!({ "events": ["ask.created"] })).await;
    }
    let first = world.human().get(&format!("{HOOKS}?limit=2")).await.is(200);
    assert_eq!(first["webhooks"].as_array().unwrap().len(), 2);
    let rest = format!("{HOOKS}?limit=2&cursor={}", first["next"].as_str().unwrap());
    let rest = world.human().get(&rest).await.is(200);
    assert_eq!((rest["webhooks"].as_array().unwrap().len(), &rest["next"]), (1, &Value::Null));
    world.end().await;
}

//! Which web pages may call.

use reqwest::Method;
use server::config::{Secret, Settings};

use crate::client::{Client, Reply, approve};
use crate::world::World;

async fn allowed(caller: &Client, origin: &str) -> bool {
    let reply = caller.clone().header("origin", origin).list("").await.is(200);
    let allowed = reply.header("access-control-allow-origin").to_owned();
    assert!(allowed.is_empty() || allowed == origin, "{allowed} for {origin}");
    assert!(reply.header("vary").contains("origin"), "{:?}", reply.headers);
    !allowed.is_empty()
}

/// HXPX-009: in `--dev` loopback and files, and nobody else.
#[tokio::test]
async fn in_dev_only_local_pages_may_call() {
    let world = World::dev().await;
    for origin in ["null", "http://localhost:8000", "http://127.0.0.1:5173", "http://[::1]:3000"] {
        assert!(allowed(&world.agent(), origin).await, "{origin}");
    }
    for origin in ["https://evil.example", "http://localhost.evil.example", "http://10.0.0.1"] {
        assert!(!allowed(&world.agent(), origin).await, "{origin}");
    }
    world.end().await;
}

/// HXPX-009: otherwise the configured origins, and nobody else.
#[tokio::test]
async fn only_configured_origins_may_call() {
    let settings = Settings {
        agent_api_keys: Some(vec![Secret::new("key")]),
        human_tokens: Some(vec![Secret::new("token")]),
        cors_origins: Some(vec!["https://app.example".to_owned()]),
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let agent = world.bearer("key");
    assert!(allowed(&agent, "https://app.example").await);
    for origin in
        ["null", "http://localhost:8000", "https://app.example.evil.io", "http://app.example"]
    {
        assert!(!allowed(&agent, origin).await, "{origin}");
    }
    world.end().await;
}

/// HXPX-009: preflights, exposed headers, and errors that a page can read.
#[tokio::test]
async fn pages_can_ask_first_and_read_what_they_need() {
    let world = World::dev().await;
    let page = world.anonymous().header("origin", "http://localhost:8000");
    let preflight = page
        .clone()
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,content-type");
    let reply = Reply::of(preflight.request(Method::OPTIONS, "/hxp/v1/requests")).await;
    assert!(matches!(reply.status, 200 | 204), "{reply:?}");
    assert_eq!(reply.header("access-control-allow-origin"), "http://localhost:8000");
    assert!(reply.header("access-control-allow-methods").contains("POST"));
    assert_eq!(reply.header("access-control-allow-headers"), "authorization,content-type");

    let created = page.clone().bearer("dev-agent-key").post("/hxp/v1/requests", approve("x")).await;
    let exposed = created.is(201).header("access-control-expose-headers").to_lowercase();
    for name in ["hxp-status", "hxp-request-id"] {
        assert!(exposed.contains(name), "{exposed}");
    }
    let refused = page.get("/hxp/v1/requests").await.error(401, "unauthorized");
    assert_eq!(refused.header("access-control-allow-origin"), "http://localhost:8000");
    world.end().await;
}

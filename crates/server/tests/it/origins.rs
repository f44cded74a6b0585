//! Which web pages may call.

use reqwest::Method;
use server::config::{SecretString, Settings};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::client::{Client, Reply, approve};
use crate::world::{World, soon};

async fn allowed(caller: &Client, origin: &str) -> bool {
    let reply = caller.clone().header("origin", origin).list("").await.is(200);
    let allowed = reply.header("access-control-allow-origin").to_owned();
    assert!(allowed.is_empty() || allowed == origin, "{allowed} for {origin}");
    assert!(reply.header("vary").contains("origin"), "{:?}", reply.headers);
    !allowed.is_empty()
}

/// Every website can send `Origin: null`, from a sandboxed frame. With `--dev`, where everybody
/// knows the credentials, such a page reaches HXP Execution and nothing else, and a human token
/// does not work for it anywhere: it cannot answer.
#[tokio::test]
async fn a_page_that_hides_its_origin_cannot_answer() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("Pay?")).await;
    let ask = crate::routing::ask_id(&id);
    for path in ["/api/v1/asks", "/hitl/v1/callback-secret", "/a2h/v1/project", "/version", "/"] {
        let page = world.agent().header("origin", "null");
        let reply = page.get(path).await;
        assert_eq!(reply.header("access-control-allow-origin"), "", "{path}");
        let preflight = world.anonymous().header("origin", "null");
        let preflight = preflight.header("access-control-request-method", "POST");
        let preflight = preflight.header("access-control-request-headers", "authorization");
        let reply = Reply::of(preflight.request(Method::OPTIONS, path)).await;
        assert_eq!(reply.header("access-control-allow-origin"), "", "{path}");
    }
    let page = world.human().header("origin", "null");
    let approved = serde_json::json!({ "result": "approved" });
    page.resolve(&id, approved.clone()).await.error(401, "unauthorized");
    page.inbox("").await.error(401, "unauthorized");
    let answer = serde_json::json!({ "answer": { "verdict": "approved" } });
    let path = format!("/api/v1/asks/{ask}/answer");
    page.post(&path, answer).await.problem(401, "unauthorized");
    page.post("/hacp/v1/ops/task.list", serde_json::json!({})).await.is(401);
    page.get("/a2h/v1/humans").await.is(401);
    assert_eq!(world.agent().poll(&id).await["status"], "pending");
    // The same token without such a page works, and so does the form of our own page: browsers post
    // it with this origin, and the token in the form protects it.
    let browser = crate::pages::signed_in(&world).await;
    let shown = browser.client.get(&format!("/asks/{ask}")).await.is(200);
    let csrf = crate::pages::csrf(&shown);
    let own = browser.client.clone().header("origin", "null");
    let form = [("action", "approve")];
    own.post_form(&format!("/asks/{ask}/answer"), &form).await.is(403);
    let form = [("csrf", &*csrf), ("action", "approve")];
    own.post_form(&format!("/asks/{ask}/answer"), &form).await.is(303);
    world.let_answers_stand();
    world.run_timers().await;
    assert_eq!(world.agent().poll(&id).await["status"], "completed");
    world.end().await;
}

/// Browsers ask nobody before they open a WebSocket, so the server looks at the origin itself.
#[tokio::test]
async fn websockets_are_for_the_same_pages() {
    let world = World::dev().await;
    let id = world.agent().ask(approve("Pay?")).await;
    let status = async |path: &str, origin: Option<&str>| {
        let url = format!("ws://{}{path}", world.address());
        let mut request = url.into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        match soon("a WebSocket", connect_async(request)).await {
            Ok(_) => 101,
            Err(Error::Http(response)) => response.status().as_u16(),
            Err(error) => panic!("{error}"),
        }
    };
    let (hxp, hacp) = (format!("/hxp/ws/{id}?token=dev-agent-key"), "/hacp/ws?token=");
    let own = world.app().core.config.public_url.origin().ascii_serialization();
    for origin in [None, Some("http://localhost:8000"), Some(&*own)] {
        assert_eq!(status(&hxp, origin).await, 101, "{origin:?}");
        assert_eq!(status(&format!("{hacp}dev-human-token"), origin).await, 101, "{origin:?}");
    }
    assert_eq!(status(&hxp, Some("null")).await, 101);
    for origin in ["null", "https://evil.example", "http://localhost.evil.example"] {
        for token in ["dev-human-token", "dev-agent-key"] {
            assert_eq!(status(&format!("{hacp}{token}"), Some(origin)).await, 401, "{origin}");
        }
    }
    assert_eq!(status(&hxp, Some("https://evil.example")).await, 403);
    world.end().await;
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
        agent_api_keys: Some(vec![SecretString::new("key")]),
        human_tokens: Some(vec![SecretString::new("token")]),
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

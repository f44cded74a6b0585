//! Too many calls with one credential.

use server::config::Settings;

use crate::client::Reply;
use crate::pages::signed_in;
use crate::world::{World, dev};

/// Calls until it is too much.
async fn worn_out(mut call: impl AsyncFnMut() -> Reply) -> Reply {
    for _ in 0..200 {
        let reply = call().await;
        if reply.status == 429 {
            return reply;
        }
        assert!(reply.status < 400, "{}", reply.text);
    }
    panic!("two hundred calls in a row were let through");
}

/// A2H-017: each dialect says it in its own words, with the time to wait.
#[tokio::test]
async fn too_many_calls_are_refused_in_each_dialect() {
    let world = World::with(Settings { rate_limit: Some(2), ..dev() }).await;
    let id = "/api/v1/asks/ask_01JNB000000000000000000000";
    let hxp = worn_out(async || world.agent().list("").await).await.error(429, "rate_limited");
    assert_eq!(hxp.header("retry-after"), "1");
    // Where any credential will do, the wrong kind is not what is wrong.
    let verify = "/hxp/v1/receipts/verify";
    world.agent().post(verify, serde_json::json!({})).await.error(429, "rate_limited");
    world.agent().get("/api/v1/me").await.problem(429, "rate-limited");
    world.agent().get(id).await.problem(429, "rate-limited");
    let call = crate::a2h::call("too-fast");
    let a2h = world.agent().post("/a2h/v1/function_calls", call).await;
    assert_eq!(crate::a2h::refused(a2h, 429, "rate_limited").header("retry-after"), "1");
    // Others are not held up.
    let native = worn_out(async || world.human().get("/api/v1/me").await).await;
    assert_eq!(native.problem(429, "rate-limited").header("retry-after"), "1");
    world.human().inbox("").await.error(429, "rate_limited");
    world.member().inbox("").await.is(200);
    world.end().await;
}

/// A browser in a hurry is told to wait, not that it is signed out.
#[tokio::test]
async fn a_browser_in_a_hurry_is_told_to_wait() {
    let world = World::with(Settings { rate_limit: Some(2), ..dev() }).await;
    let browser = signed_in(&world).await;
    let refused = worn_out(async || browser.client.get("/").await).await;
    assert_eq!(refused.header("retry-after"), "1");
    assert!(refused.header("content-type").starts_with("text/html"), "{:?}", refused.headers);
    world.end().await;
}

//! In `--dev` the server's clock can be moved. What others compare with their own clock stays at
//! the time everybody else goes by.

use serde_json::{Value, json};

use crate::fake_push_device::Phone;
use crate::fake_webhook_receiver::{Hook, deliver};
use crate::native::yes;
use crate::webhooks::endpoint;
use crate::world::World;

const CLOCK: &str = "/api/v1/dev/clock";

fn seconds(world: &World) -> i64 {
    world.now().millis() / 1000
}

fn claims(jws: &str) -> Value {
    use base64::Engine;
    let payload = jws.split('.').nth(1).unwrap();
    let payload = base64::prelude::BASE64_URL_SAFE_NO_PAD.decode(payload).unwrap();
    serde_json::from_slice(&payload).unwrap()
}

#[tokio::test]
async fn signatures_and_tokens_keep_real_time_when_the_clock_is_moved() {
    let world = World::dev().await;
    let (hook, agents) = (Hook::open(&[]).await, Hook::open(&[]).await);
    let phone = Phone::open(&[]).await;
    endpoint(&world, &hook.url, json!({})).await;
    world.human().post("/api/v1/me/push", phone.subscription()).await.is(201);
    let moved = world.agent().post(CLOCK, json!({ "advance": "720h" })).await.is(200);
    assert_ne!(moved["now"], json!(world.now().to_string()));

    let body = json!({
        "question": { "prompt": "Go?", "kind": "approve" }, "callback_url": agents.url,
    });
    let id = world.agent().post("/api/v1/asks", body).await.is(201)["id"].clone();
    let ask = format!("/api/v1/asks/{}", id.as_str().unwrap());
    phone.told(1).await;
    let (headers, _) = phone.calls().pop().unwrap();
    let contact = world.app().core.config.public_url.as_str().trim_end_matches('/').to_owned();
    phone.vouched(&headers, world.now(), &contact);

    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    deliver(&world).await;
    for calls in [&hook, &agents] {
        calls.heard_times(1).await;
        let (headers, body) = calls.heard().remove(0);
        let stamp = headers["webhook-timestamp"].to_str().unwrap();
        assert_eq!(stamp, seconds(&world).to_string(), "a verifier allows five minutes");
        // When it happened is what the server's clock said.
        let told: Value = serde_json::from_slice(&body).unwrap();
        let at: kernel::Time = told["timestamp"].as_str().unwrap().parse().unwrap();
        assert!(at > world.now().plus_seconds(700 * 3600), "{told}");
    }
    let shown = world.agent().get(&ask).await.is(200);
    let receipt = claims(shown["receipt"].as_str().unwrap());
    assert_eq!(receipt["iat"], seconds(&world), "{receipt}");
    assert_ne!(receipt["ended_at"], json!(world.now().to_string()), "{receipt}");
    let verified = json!({ "receipt": shown["receipt"] });
    let checked = world.agent().post("/api/v1/receipts/verify", verified).await.is(200);
    assert_eq!(checked["valid"], true, "{}", checked.text);
    let revoked = world.anonymous().get("/api/v1/receipts/revocations").await.is(200);
    assert_eq!(claims(&revoked.text)["iat"], seconds(&world));
    world.end().await;
}

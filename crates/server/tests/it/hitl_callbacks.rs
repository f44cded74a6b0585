//! Callbacks: signed, tried again, noted, repeated on demand, and never sent where they must not
//! go.

use bytes::Bytes;
use notify::callbacks::sign;
use serde_json::{Value, json};

use crate::fake_webhook_receiver::{Hook, deliver};
use crate::hitl::{CASES, Case, approval, of, refused, with};
use crate::world::{World, eventually};

async fn attempts(world: &World, case: &Case) -> Vec<Value> {
    let found = world.agent().get(&format!("/api/v1/asks/{}/callbacks", case.ask())).await.is(200);
    assert!(!found.text.contains("s3cret"), "an address may hold secrets: {}", found.text);
    found["attempts"].as_array().unwrap().clone()
}

async fn attempted(world: &World, case: &Case, times: usize) -> Vec<Value> {
    eventually("an attempt", async || attempts(world, case).await.len() >= times).await;
    let attempts = attempts(world, case).await;
    assert_eq!(attempts.len(), times, "{attempts:?}");
    attempts
}

/// HITL-008, HITL-017, HITL-180, HITL-181, HITL-182, HITL-183, HITL-185: one call however it ends,
/// signed over its bytes.
#[tokio::test]
async fn the_agent_is_called_when_it_is_over() {
    let world = World::dev().await;
    for ending in ["completed", "expired", "cancelled"] {
        let hook = Hook::open(&[]).await;
        let body =
            with(of("confirmation"), json!({ "hitl_callback_url": hook.url, "timeout": "1m" }));
        let case = Case::make(&world, body).await;
        assert_eq!(case.hitl["callback_url"], hook.url.as_str());
        match ending {
            "completed" => {
                case.respond(json!({ "action": "confirm" })).await.is(200);
            }
            "expired" => {
                world.advance(61);
                world.run_timers().await;
            }
            _ => {
                world.agent().post(&case.at("cancel"), json!({ "reason": "moot" })).await.is(200);
            }
        }
        hook.heard_times(1).await;
        let (headers, bytes) = hook.heard().pop().unwrap();
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["x-hitl-signature"], sign("dev-callback-secret", &bytes).as_str());
        assert_eq!(headers["x-hitl-event-id"], case.id.as_str());
        let at: i64 = headers["x-hitl-timestamp"].to_str().unwrap().parse().unwrap();
        assert_eq!(at, world.now().millis() / 1000);
        let body: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(body["event"], format!("review.{ending}"));
        assert_eq!(body["case_id"], case.id.as_str());
        assert_eq!(body["timestamp"], body[format!("{ending}_at")]);
        assert_eq!(body["result"].is_object(), ending == "completed");
        let noted = attempted(&world, &case, 1).await;
        assert_eq!((&noted[0]["result"], &noted[0]["status"]), (&json!("taken"), &json!(200)));
    }
    world.end().await;
}

/// HITL-184: tried again after 1, 5 and 30 seconds, then given up; and once more when somebody
/// wants it.
#[tokio::test]
async fn a_call_that_fails_is_made_again() {
    let world = World::dev().await;
    let hook = Hook::open(&[500, 503, 500, 502]).await;
    let case = Case::make(&world, with(approval(), json!({ "hitl_callback_url": hook.url }))).await;
    case.respond(json!({ "action": "approve" })).await.is(200);
    for (n, wait) in [(1, 1), (2, 5), (3, 30), (4, 3600)] {
        attempted(&world, &case, n).await;
        world.advance(wait - 1);
        deliver(&world).await;
        assert_eq!(hook.heard().len(), n, "not before its time");
        if n < 4 {
            world.advance(1);
        }
    }
    let noted = attempted(&world, &case, 4).await;
    assert!(noted.iter().all(|attempt| attempt["result"] == "refused"), "{noted:?}");
    let dead = world.gateway().store().backlog().await.unwrap();
    assert_eq!((dead.waiting, dead.dead), (0, 1), "given up, and it shows");
    let path = format!("/api/v1/asks/{}/callbacks", case.ask());
    world.member().post(&path, json!({})).await.problem(404, "not-found");
    world.human().post(&path, json!({})).await.is(202);
    let noted = attempted(&world, &case, 5).await;
    assert_eq!(noted[4]["result"], "taken");
    let bodies: Vec<Bytes> = hook.heard().into_iter().map(|(_, body)| body).collect();
    assert!(bodies.windows(2).all(|pair| pair[0] == pair[1]), "each time the same bytes");
    // The poll says the same as ever.
    assert_eq!(case.status().await["result"]["action"], "approve");
    let ended = hook.answers.lock().unwrap().is_empty();
    assert!(ended);
    let cleared = world.audit().await;
    assert_eq!(cleared.findings, []);
    world.end_with_dead(1).await;
}

/// HITL-185: what was refused for good is not tried again, a redirection is not followed, and
/// whoever is not there is noted.
#[tokio::test]
async fn some_calls_are_not_made_again() {
    let world = World::dev().await;
    for status in [404, 302, 410] {
        let hook = Hook::open(&[status]).await;
        let case =
            Case::make(&world, with(approval(), json!({ "hitl_callback_url": hook.url }))).await;
        case.respond(json!({ "action": "approve" })).await.is(200);
        let noted = attempted(&world, &case, 1).await;
        assert_eq!((&noted[0]["result"], &noted[0]["status"]), (&json!("refused"), &json!(status)));
        eventually("giving up", async || {
            world.gateway().store().backlog().await.unwrap().waiting == 0
        })
        .await;
        world.advance(3600);
        deliver(&world).await;
        assert_eq!(hook.heard().len(), 1);
    }
    let nobody = json!({ "hitl_callback_url": "http://127.0.0.1:9/hook" });
    let case = Case::make(&world, with(approval(), nobody)).await;
    case.respond(json!({ "action": "approve" })).await.is(200);
    let noted = attempted(&world, &case, 1).await;
    assert_eq!(
        (&noted[0]["result"], &noted[0]["error"]),
        (&json!("unreached"), &json!("cannot connect"))
    );
    world.agent().post(&case.at("cancel"), json!({})).await.is(409);
    for (n, wait) in [(2, 1), (3, 5), (4, 30)] {
        eventually("the next attempt", async || {
            world.advance(wait);
            deliver(&world).await;
            attempts(&world, &case).await.len() >= n
        })
        .await;
    }
    eventually("giving up", async || world.gateway().store().backlog().await.unwrap().dead == 4)
        .await;
    world.end_with_dead(4).await;
}

/// Who may have a call repeated, and of what.
#[tokio::test]
async fn calls_are_repeated_for_who_may_see_the_case() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    let case = Case::make(&world, with(approval(), json!({ "hitl_callback_url": hook.url }))).await;
    let path = format!("/api/v1/asks/{}/callbacks", case.ask());
    world.agent().post(&path, json!({})).await.problem(409, "not-over");
    case.respond(json!({ "action": "approve" })).await.is(200);
    hook.heard_times(1).await;
    world.agent_2().get(&path).await.problem(404, "not-found");
    world.agent_2().post(&path, json!({})).await.problem(404, "not-found");
    world.agent().post(&path, json!({})).await.is(202);
    hook.heard_times(2).await;
    let quiet = Case::make(&world, approval()).await;
    let path = format!("/api/v1/asks/{}/callbacks", quiet.ask());
    assert_eq!(world.agent().get(&path).await.is(200)["to"], Value::Null);
    quiet.respond(json!({ "action": "approve" })).await.is(200);
    world.agent().post(&path, json!({})).await.problem(403, "not-allowed");
    world.end().await;
}

/// HITL-182: how an agent learns the secret: with the key that makes its cases.
#[tokio::test]
async fn the_secret_belongs_to_the_key() {
    let world = World::dev().await;
    let found = world.agent().get("/hitl/v1/callback-secret").await.is(200);
    assert_eq!(found["secret"], "dev-callback-secret");
    refused(world.human().get("/hitl/v1/callback-secret").await, 401, "invalid_token");
    let strict = with(approval(), json!({ "hitl_callback_url": "https://10.0.0.1/hook" }));
    refused(world.agent().post(CASES, strict).await, 400, "invalid_request");
    let secrets = &world.app().core.secrets;
    let keys = world.gateway().directory();
    let keys: Vec<_> = keys.keys().map(|key| key.id).collect();
    assert_ne!(secrets.callback_secret(keys[0]), secrets.callback_secret(keys[1]));
    assert_eq!(secrets.callback_secret(keys[0]), secrets.callback_secret(keys[0]));
    world.end().await;
}

//! The evidence hash, recomputed by hand and by the server.

use serde_json::{Value, json};
use server::config::{EvidenceForm, SecretString, Settings};
use sha2::{Digest, Sha256};

use crate::client::{approve, decide, provide, with};
use crate::world::{World, dev};

const SECRET: &str = "known only here";

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// The text of a member.
fn text<'a>(receipt: &'a Value, key: &str) -> &'a str {
    receipt[key].as_str().unwrap()
}

async fn valid(world: &World, receipt: Value) -> bool {
    let asked = world.agent().post("/hxp/v1/receipts/verify", receipt).await.is(200);
    asked["valid"].as_bool().unwrap()
}

/// HXPX-061, HXPX-062, HXPX-063: `request_id + result + completed_at + server_secret`.
#[tokio::test]
async fn the_hash_is_what_the_specification_says() {
    let world =
        World::with(Settings { evidence_secret: Some(SecretString::new(SECRET)), ..dev() }).await;
    let (agent, human) = (world.agent(), world.human());
    for (body, result, hashed) in [
        (decide("Which?", &["a", "b"]), json!("b"), "b"),
        (approve("x"), json!("rejected"), "rejected"),
        (provide("number"), json!("7.50"), "7.5"),
    ] {
        let id = agent.ask(body).await;
        world.advance(3);
        human.resolve(&id, json!({ "result": result })).await.is(200);
        let receipt = agent.poll(&id).await["receipt"].clone();
        let expected = sha256(&format!("{id}{hashed}{}{SECRET}", text(&receipt, "completed_at")));
        assert_eq!(receipt["evidence_hash"], expected);
        assert!(valid(&world, receipt).await);
    }
    world.end().await;
}

/// HXPX-062, HXPX-063: the upstream server's form, by configuration.
#[tokio::test]
async fn the_upstream_form_can_be_chosen() {
    let settings = Settings {
        evidence_secret: Some(SecretString::new(SECRET)),
        evidence_form: Some(EvidenceForm::Upstream),
        ..dev()
    };
    let world = World::with(settings).await;
    let id = world.agent().ask(decide("Which?", &["a", "b"])).await;
    let done = world.human().resolve(&id, json!({ "result": "b" })).await.is(200);
    let receipt = &done["receipt"];
    let joined = format!("{id}:\"b\":{}:{SECRET}", text(receipt, "completed_at"));
    assert_eq!(receipt["evidence_hash"], sha256(&joined));
    assert!(valid(&world, receipt.clone()).await);
    world.end().await;
}

/// HXPX-064, HXPX-065: a receipt verifies until anything in it is touched.
#[tokio::test]
async fn touched_receipts_do_not_verify() {
    let world = World::dev().await;
    let id = world.agent().ask(decide("Which?", &["a", "b"])).await;
    let other = world.agent().ask(decide("Which?", &["a", "b"])).await;
    let done = world.human().resolve(&id, json!({ "result": "b" })).await.is(200);
    let receipt = done["receipt"].clone();
    assert!(valid(&world, receipt.clone()).await);
    assert!(valid(&world, done.json.clone()).await, "as resolve sent it, too");
    for touched in [
        json!({ "result": "a" }),
        json!({ "result": null }),
        json!({ "request_id": other }),
        json!({ "completed_at": "2026-03-01T09:00:01.000Z" }),
        json!({ "completed_at": "2026-03-01T09:00:00Z" }),
        json!({ "evidence_hash": "0".repeat(64) }),
        json!({ "evidence_hash": null }),
    ] {
        assert!(!valid(&world, with(receipt.clone(), touched.clone())).await, "{touched}");
    }
    assert!(!valid(&world, json!({})).await);
    // People may ask as well; strangers may not.
    let path = "/hxp/v1/receipts/verify";
    assert_eq!(world.human().post(path, receipt.clone()).await.is(200)["valid"], true);
    world.anonymous().post(path, receipt).await.error(401, "unauthorized");
    world.end().await;
}

/// HXPX-065: what one server issued does not verify on another, and survives its own restart.
#[tokio::test]
async fn receipts_belong_to_their_server() {
    let mut world = World::dev().await;
    let id = world.agent().ask(approve("x")).await;
    world.human().resolve(&id, json!({ "result": "approved" })).await.is(200);
    let receipt = world.agent().poll(&id).await["receipt"].clone();
    world.restart().await;
    assert_eq!(world.agent().poll(&id).await["receipt"], receipt);
    assert!(valid(&world, receipt.clone()).await);
    let elsewhere = World::dev().await;
    assert!(!valid(&elsewhere, receipt).await);
    elsewhere.end().await;
    world.end().await;
}

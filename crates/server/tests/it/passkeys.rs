//! Passkeys without one: whatever is sent, nothing is opened and nothing is answered. With a real
//! authenticator they are tried in the browser journeys.

use scraper::{Html, Selector};
use serde_json::{Value, json};
use server::config::Settings;

use crate::client::Reply;
use crate::pages::{csrf, signed_in};
use crate::world::{World, dev};

/// The value of an input of a page's passkey form.
fn sealed(page: &Reply) -> String {
    let html = Html::parse_document(&page.text);
    let input = Selector::parse("form[data-passkey] input[name=sealed]").unwrap();
    html.select(&input).next().unwrap().value().attr("value").unwrap().to_owned()
}

/// What a page asks the browser for.
fn options(page: &Reply) -> Value {
    let html = Html::parse_document(&page.text);
    let form = Selector::parse("form[data-passkey]").unwrap();
    let options = html.select(&form).next().unwrap().attr("data-passkey").unwrap();
    serde_json::from_str(options).unwrap()
}

async fn strict_ask(world: &World) -> String {
    let body = json!({
        "question": { "kind": "approve", "prompt": "Wire it?" }, "assurance": "passkey",
    });
    let asked = world.agent().post("/api/v1/asks", body).await.is(201);
    asked["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_answer_that_needs_a_passkey_is_not_taken_without_one() {
    let world = World::dev().await;
    let (browser, id) = (signed_in(&world).await, strict_ask(&world).await);
    let reply = json!({ "answer": { "verdict": "approved" } });
    let path = format!("/api/v1/asks/{id}/answer");
    world.human().post(&path, reply).await.problem(403, "assurance-too-low");
    let page = browser.client.get(&format!("/asks/{id}")).await.is(200);
    let form = [("csrf", &*csrf(&page)), ("action", "approve")];
    let refused = browser.client.post_form(&format!("/asks/{id}/answer"), &form).await.is(403);
    assert!(refused.text.contains("Add a passkey"), "{}", refused.text);
    for response in ["", "{}", "nonsense", r#"{"id":"x","rawId":"eA","type":"public-key"}"#] {
        let form = [("csrf", &*csrf(&page)), ("sealed", "AAAA"), ("response", response)];
        browser.client.post_form(&format!("/asks/{id}/confirm"), &form).await.is(403);
    }
    let seen = world.agent().get(&format!("/api/v1/asks/{id}")).await.is(200);
    assert_eq!(seen["result"], Value::Null);
    world.end().await;
}

#[tokio::test]
async fn what_a_browser_is_asked_for_is_bound_and_new_every_time() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let (one, two) = (
        browser.client.get("/settings/passkeys").await.is(200),
        browser.client.get("/settings/passkeys").await.is(200),
    );
    assert_ne!(options(&one)["challenge"], options(&two)["challenge"]);
    assert_eq!(options(&one)["rp"]["id"], "localhost");
    let send = async |sealed: &str, response: &str| {
        let form =
            [("csrf", &*csrf(&one)), ("sealed", sealed), ("response", response), ("label", "x")];
        browser.client.post_form("/settings/passkeys", &form).await.is(422)
    };
    send(&sealed(&one), "{}").await;
    send("", "{}").await;
    // What was sealed for signing in is good for nothing else.
    let door = world.anonymous().get("/sign-in").await.is(200);
    send(&sealed(&door), "{}").await;
    let keys = world.human().get("/api/v1/keys").await.is(200);
    assert!(!keys.text.contains("\"passkey\""), "{}", keys.text);
    world.end().await;
}

#[tokio::test]
async fn nobody_signs_in_with_a_passkey_that_is_none() {
    let world = World::with(Settings { sign_in_limit: Some(50), ..dev() }).await;
    let door = world.anonymous().get("/sign-in").await.is(200);
    let cookie = door.header("set-cookie").split(';').next().unwrap().to_owned();
    let browser = world.anonymous().header("cookie", &cookie);
    let assertion = json!({
        "id": "eA", "rawId": "eA", "type": "public-key",
        "response": { "authenticatorData": "eA", "clientDataJSON": "eA", "signature": "eA" },
    });
    for response in [assertion.to_string().as_str(), "{}", ""] {
        let form = [("csrf", &*csrf(&door)), ("sealed", &*sealed(&door)), ("response", response)];
        let refused = browser.post_form("/sign-in/passkey", &form).await.is(401);
        assert!(refused.text.contains("does not work here"), "{}", refused.text);
        world.anonymous().post_form("/sign-in/passkey", &form).await.is(401);
    }
    world.end().await;
}

#[tokio::test]
async fn an_ip_address_has_no_passkeys_and_the_page_says_why() {
    let public_url = Some("http://127.0.0.1:0".parse().unwrap());
    let world = World::with(Settings { public_url, ..dev() }).await;
    let browser = signed_in(&world).await;
    let page = browser.client.get("/settings/passkeys").await.is(404);
    assert!(page.text.contains("no passkeys for an IP address"), "{}", page.text);
    let door = world.anonymous().get("/sign-in").await.is(200);
    assert!(!door.text.contains("passkey"), "{}", door.text);
    world.end().await;
}

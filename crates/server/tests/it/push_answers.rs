//! The page of a person's devices, and answers from the buttons of a notice.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::fake_push_device::{Phone, waits};
use crate::native::{approval, asked, yes};
use crate::pages::{Browser, csrf, signed_in};
use crate::sessions::another;
use crate::world::{World, eventually};

const PAGE: &str = "/settings/devices";
const ANSWER: &str = "/push/answer";

/// Turns notices on in a browser.
async fn enrol(browser: &Browser, phone: &Phone) {
    let token = csrf(&browser.client.get(PAGE).await.is(200));
    let fields = phone.fields();
    let mut pairs = vec![("csrf", token.as_str())];
    pairs.extend(fields.iter().map(|(name, value)| (*name, value.as_str())));
    browser.client.post_form(PAGE, &pairs).await.is(303);
}

fn button(notice: &Value) -> &str {
    notice["answer"].as_str().unwrap()
}

#[tokio::test]
async fn devices_are_turned_on_tried_and_off_on_their_page() {
    let world = World::dev().await;
    let (browser, other) = (signed_in(&world).await, another(&world, "user_dev").await);
    let (phone, anew) = (Phone::open(&[]).await, Phone::open(&[]).await);
    let empty = browser.client.get(PAGE).await.is(200);
    for words in ["data-push=\"", "Turn on", "Push notifications need JavaScript"] {
        assert!(empty.text.contains(words), "{words}: {}", empty.text);
    }
    enrol(&browser, &phone).await;
    let shown = browser.client.get(PAGE).await.is(200).text;
    for words in ["this browser", "Through 127.0.0.1", "Remove", "Turn on again"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(!other.client.get(PAGE).await.is(200).text.contains("this browser"));
    let token = csrf(&browser.client.get(PAGE).await);
    let send =
        async |pair: (&str, &str)| browser.client.post_form(PAGE, &[("csrf", &token), pair]).await;
    let tried = send(("test", "1")).await.is(200);
    assert!(tried.text.contains("Sent to one device"), "{}", tried.text);
    phone.told_times(1).await;
    // Anew in the same browser: the old one is of no use.
    enrol(&browser, &anew).await;
    assert_eq!(browser.client.get(PAGE).await.text.matches("Remove<span").count(), 1);
    let listed = world.human().get("/api/v1/me/push").await.is(200);
    let id = listed["devices"][0]["id"].as_str().unwrap().to_owned();
    browser.client.post_form(PAGE, &[("csrf", "wrong"), ("remove", &id)]).await.is(403);
    let bad = send(("endpoint", "https://10.0.0.1/")).await.is(422);
    assert!(bad.text.contains("cannot be used: endpoint should be"), "{}", bad.text);
    enrol(&browser, &anew).await;
    send(("remove", "nonsense")).await.is(303);
    send(("remove", &id)).await.is(303);
    assert!(!browser.client.get(PAGE).await.text.contains("Remove<span"));
    world.end().await;
}

/// Approve and deny where the whole question is in the notice; the receipt says how.
#[tokio::test]
async fn a_button_answers_its_request_in_its_session_and_nowhere_else() {
    let world = World::dev().await;
    let (browser, stranger) = (signed_in(&world).await, another(&world, "user_dev").await);
    let phone = Phone::open(&[]).await;
    enrol(&browser, &phone).await;
    let first = asked(&world.agent(), approval()).await;
    let token = button(&phone.told(1).await).to_owned();
    let approve = [("token", token.as_str()), ("answer", "approve")];
    // Neither alone decides anything, and nothing but a button does.
    world.anonymous().post_form(ANSWER, &approve).await.is(401);
    stranger.client.post_form(ANSWER, &approve).await.is(403);
    browser.client.post_form(ANSWER, &[("answer", "approve")]).await.is(403);
    browser
        .client
        .post_form(ANSWER, &[("token", &token[1..]), ("answer", "approve")])
        .await
        .is(403);
    browser.client.post_form(ANSWER, &[("token", &token), ("answer", "maybe")]).await.is(422);
    let site = browser.client.clone().header("sec-fetch-site", "cross-site");
    site.post_form(ANSWER, &approve).await.is(403);
    let query = format!("{ANSWER}?token={token}&answer=approve");
    browser.client.get(&query).await.is(405);
    assert_eq!(world.agent().get(&first).await.is(200)["state"], "pending");

    let done = browser.client.post_form(ANSWER, &approve).await.is(200);
    assert_eq!(done["title"], "You approved it");
    let seen = world.agent().get(&first).await.is(200);
    assert_eq!((&seen["state"], &seen["result"]["via"]), (&json!("completed"), &json!("push")));
    let receipt = world.human().get(&format!("{first}/receipt")).await.is(200).text;
    let claims = receipt.split('.').nth(1).unwrap();
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["via"], "push", "{claims}");
    // This device says so itself.
    waits(&world, 0).await;
    phone.told_times(1).await;
    let again = browser.client.post_form(ANSWER, &[("token", &token), ("answer", "reject")]).await;
    let again = again.is(409);
    assert_eq!(again["title"], "Someone else answered first");
    assert!(again["text"].as_str().unwrap().starts_with("Already answered by"), "{}", again.text);

    let second = asked(&world.agent(), approval()).await;
    let token = button(&phone.told(2).await).to_owned();
    let reject = [("token", token.as_str()), ("answer", "reject")];
    browser.client.post_form(ANSWER, &reject).await.is(200);
    assert_eq!(world.agent().get(&second).await["result"]["answer"]["verdict"], "rejected");
    let shown = browser.client.get(&second.replace("/api/v1", "")).await.is(200);
    assert!(shown.text.contains("from a notification"), "{}", shown.text);
    world.end().await;
}

#[tokio::test]
async fn of_many_buttons_one_wins() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let phone = Phone::open(&[]).await;
    enrol(&browser, &phone).await;
    let ask = asked(&world.agent(), approval()).await;
    let token = button(&phone.told(1).await).to_owned();
    let pressed =
        join_all((0..8).map(|n| {
            let answer = if n % 2 == 0 { "approve" } else { "reject" };
            let (client, token) = (browser.client.clone(), token.clone());
            async move {
                client.post_form(ANSWER, &[("token", &token), ("answer", answer)]).await.status
            }
        }))
        .await;
    assert_eq!(pressed.iter().filter(|status| **status == 200).count(), 1, "{pressed:?}");
    assert_eq!(pressed.iter().filter(|status| **status == 409).count(), 7, "{pressed:?}");
    assert_eq!(world.agent().get(&ask).await["state"], "completed");
    world.end().await;
}

/// What does not fit, wants more than a word, or is told to a device without a session leads to the
/// page.
#[tokio::test]
async fn most_notices_have_no_buttons() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let (phone, plain) = (Phone::open(&[]).await, Phone::open(&[]).await);
    enrol(&browser, &phone).await;
    world.human().post("/api/v1/me/push", plain.subscription()).await.is(201);
    let question = |more: Value| {
        let mut question = json!({ "prompt": "Refund?", "kind": "approve" });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "question": question })
    };
    let asks = [
        (question(json!({})), true),
        (question(json!({ "prompt": "x".repeat(181) })), false),
        (question(json!({ "context": "because" })), false),
        (question(json!({ "details": { "n": 1 }, "editable": true })), false),
        (question(json!({ "reject_requires_reason": true })), false),
        (question(json!({ "details": { "irreversible": true } })), false),
        (json!({ "question": { "prompt": "So?", "kind": "converse" } }), false),
    ];
    for (n, (ask, buttons)) in asks.into_iter().enumerate() {
        asked(&world.agent(), ask.clone()).await;
        assert_eq!(phone.told(n + 1).await.get("answer").is_some(), buttons, "{ask}");
        assert_eq!(plain.told(n + 1).await.get("answer"), None, "{ask}");
    }
    world.end().await;
}

/// A notice that waited too long, or whose browser was signed out.
#[tokio::test]
async fn a_button_ends_with_its_time_and_its_session() {
    let world = World::dev().await;
    let browser = signed_in(&world).await;
    let phone = Phone::open(&[]).await;
    enrol(&browser, &phone).await;
    let ask = asked(&world.agent(), approval()).await;
    let token = button(&phone.told(1).await).to_owned();
    let press = [("token", token.as_str()), ("answer", "approve")];
    waits(&world, 0).await;
    world.advance(24 * 60 * 60);
    browser.client.post_form(ANSWER, &press).await.is(403);
    let out = csrf(&browser.client.get("/").await.is(200));
    browser.client.post_form("/sign-out", &[("csrf", &out)]).await.is(200);
    browser.client.post_form(ANSWER, &press).await.is(401);
    let store = world.gateway().store();
    let human = || vec!["user_dev".parse().unwrap()];
    eventually("its device is forgotten", async || {
        store.devices(human()).await.unwrap().is_empty()
    })
    .await;
    world.human().post(&format!("{ask}/answer"), yes()).await.is(200);
    waits(&world, 0).await;
    phone.told_times(1).await;
    world.end().await;
}

/// The app: found by anybody, kept by nobody longer than it should be.
#[tokio::test]
async fn an_app_can_be_made_of_the_pages() {
    let world = World::dev().await;
    let anyone = world.anonymous();
    let manifest = anyone.get("/manifest.webmanifest").await.is(200);
    assert_eq!(manifest.header("content-type"), "application/manifest+json");
    for icon in manifest["icons"].as_array().unwrap() {
        let found = anyone.get(icon["src"].as_str().unwrap()).await.is(200);
        assert_eq!(found.header("content-type"), "image/png");
    }
    let worker = anyone.get("/sw.js").await.is(200);
    for (name, value) in [
        ("content-type", "text/javascript; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("content-security-policy", "default-src 'none'; connect-src 'self'"),
    ] {
        assert_eq!(worker.header(name), value);
    }
    for (path, words) in [("/offline", "You are offline"), ("/offline/unsent", "No response")] {
        let page = anyone.get(path).await.is(200);
        assert!(page.text.contains(words), "{}", page.text);
        assert_eq!(page.header("cache-control"), "no-store");
    }
    let page = signed_in(&world).await.client.get("/").await.is(200);
    assert!(page.text.contains("<link rel=\"manifest\" href=\"/manifest.webmanifest\">"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("manifest-src 'self'; worker-src 'self'"), "{policy}");
    world.end().await;
}

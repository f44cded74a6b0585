//! Passkeys, with an authenticator in software and without one. In a real browser they are tried in
//! the browser journeys.

use dialects::proof::record_check::Inclusion;
use dialects::proof::{EvidenceError, Jwks, verify, verify_enrolment, verify_evidence};
use kernel::passkey_evidence::PasskeyEvidence;
use scraper::{Html, Selector};
use serde_json::{Value, json};
use server::config::Settings;

use crate::authenticator::{Authenticator, PasskeyForm, enrol, post, step_up};
use crate::client::Reply;
use crate::hitl;
use crate::pages::{Browser, browser_of, csrf, signed_in};
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
    assert!(page.text.contains("not an IP address"), "{}", page.text);
    let door = world.anonymous().get("/sign-in").await.is(200);
    assert!(!door.text.contains("passkey"), "{}", door.text);
    world.end().await;
}

/// The origin people reach this server by.
fn origin(world: &World) -> String {
    world.app().core.config.public_url.as_str().trim_end_matches('/').to_owned()
}

async fn signed_receipt(world: &World, id: &str) -> Value {
    let headers = world.agent().header("accept", "application/json");
    headers.get(&format!("/api/v1/asks/{id}/receipt")).await.is(200).json
}

/// The whole way: enrolled, confirmed, proven without the server, refused when it comes again.
#[tokio::test]
async fn a_passkey_answer_is_provable_without_trusting_the_server() {
    let mut world = World::dev().await;
    world.keep_address();
    let browser = signed_in(&world).await;
    let (mut device, here) = (Authenticator::new(1), origin(&world));
    device.counter = 5;
    let added = enrol(&browser, &mut device, &here).await.is(200);
    assert!(added.text.contains("Passkey added"), "{}", added.text);
    let id = strict_ask(&world).await;
    let page = step_up(&browser, &id).await.is(200);
    let form = PasskeyForm::of(&page).unwrap();
    // On another website nothing is signed that counts here.
    let elsewhere = device.fill(&form, "https://evil.example");
    post(&browser, &format!("/asks/{id}/confirm"), &elsewhere).await.is(403);
    let fields = device.fill(&form, &here);
    post(&browser, &format!("/asks/{id}/confirm"), &fields).await.is(303);

    let signed = signed_receipt(&world, &id).await;
    assert_eq!(signed["claims"]["assurance"], "passkey");
    assert_eq!(signed["evidence_status"], "kept");
    let jwks = world.anonymous().get("/.well-known/jwks.json").await.is(200);
    let jwks: Jwks = serde_json::from_value(jwks.json).unwrap();
    let claims = verify(signed["receipt"].as_str().unwrap(), &jwks).unwrap();
    let evidence: PasskeyEvidence = serde_json::from_value(signed["evidence"].clone()).unwrap();
    assert_eq!(verify_evidence(&evidence, &claims, None), Ok(()));
    let mut other = claims.clone();
    other.comment = Some("stop".to_owned());
    assert_eq!(verify_evidence(&evidence, &other, None), Err(EvidenceError::Answer));
    // The plain receipt is what it was: evidence is beside it.
    let plain = world.agent().get(&format!("/api/v1/asks/{id}/receipt")).await.is(200);
    assert_eq!(plain.text, signed["receipt"].as_str().unwrap());

    // The enrolment is in a signed block, with the public key.
    world.app().operations.sealer.seal().await.unwrap();
    let proof = world.agent().get(&format!("/api/v1/asks/{id}/receipt/enrolment")).await.is(200);
    let proof: Inclusion = serde_json::from_value(proof.json).unwrap();
    verify_enrolment(&proof, &evidence, &claims, &jwks).unwrap();

    // The same assertion again, at once and after a restart: refused, whatever it would confirm.
    post(&browser, &format!("/asks/{id}/confirm"), &fields).await.is(403);
    world.restart().await;
    post(&browser, &format!("/asks/{id}/confirm"), &fields).await.is(403);
    world.end().await;
}

#[tokio::test]
async fn a_replayed_assertion_is_refused_at_once_and_after_a_restart() {
    let mut world = World::with(Settings { sign_in_limit: Some(50), ..dev() }).await;
    world.keep_address();
    let here = origin(&world);
    let browser = signed_in(&world).await;
    let mut device = Authenticator::new(1);
    enrol(&browser, &mut device, &here).await.is(200);
    let door = world.anonymous().get("/sign-in").await.is(200);
    let cookie = door.header("set-cookie").split(';').next().unwrap().to_owned();
    let form = PasskeyForm::of(&door).unwrap();
    let fields = device.fill(&form, &here);
    let sign_in = async |world: &World, fields: &[(String, String)]| {
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let visitor = world.anonymous().header("cookie", &cookie);
        visitor.post_form("/sign-in/passkey", &fields).await
    };
    sign_in(&world, &fields).await.is(303);
    sign_in(&world, &fields).await.is(401);
    world.restart().await;
    sign_in(&world, &fields).await.is(401);
    // One whose counter goes back was copied.
    let mut counting = async |counter: u32, status: u16| {
        let door = world.anonymous().header("cookie", &cookie).get("/sign-in").await.is(200);
        device.counter = counter;
        let fields = device.fill(&PasskeyForm::of(&door).unwrap(), &here);
        sign_in(&world, &fields).await.is(status);
    };
    counting(7, 303).await;
    counting(7, 401).await;
    counting(3, 401).await;
    counting(8, 303).await;
    world.end().await;
}

/// Signs somebody in with a link of theirs.
async fn signed_in_as(world: &World, who: &str) -> Browser {
    let made = world.human().post(&format!("/api/v1/people/{who}/link"), json!({})).await.is(201);
    let token = made["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let visitor = world.anonymous();
    let signed = visitor.sign_in(&token).await.is(303);
    browser_of(&visitor, &signed)
}

async fn ask_of_ada(world: &World) -> String {
    let body = json!({
        "question": { "kind": "approve", "prompt": "Wire it?" }, "assurance": "passkey",
        "route": { "to": "person", "human": "ada" },
    });
    let asked = world.agent().post("/api/v1/asks", body).await.is(201);
    asked["id"].as_str().unwrap().to_owned()
}

async fn ada(world: &World) {
    let ada = json!({ "name": "Ada", "email": "ada@example.com", "projects": ["dev"] });
    world.human().put("/api/v1/people/ada", ada).await.saved();
}

#[tokio::test]
async fn a_first_passkey_waits_unless_an_administrator_confirms_it() {
    let world = World::dev().await;
    ada(&world).await;
    let here = origin(&world);
    let browser = signed_in_as(&world, "ada").await;
    let mut device = Authenticator::new(1);
    let added = enrol(&browser, &mut device, &here).await.is(200);
    assert!(added.text.contains("unless an administrator confirms it"), "{}", added.text);
    let id = ask_of_ada(&world).await;
    let page = step_up(&browser, &id).await.is(403);
    assert!(page.text.contains("Your passkey is not active yet"), "{}", page.text);
    // A person cannot confirm their own; an administrator does it over the API or in the settings.
    let keys = world.human().get("/api/v1/keys?limit=100").await.is(200);
    let keys = keys["keys"].as_array().unwrap().clone();
    let key = keys.iter().find(|key| key["kind"] == "passkey").unwrap();
    let after_a_day = world.now().plus_seconds(24 * 60 * 60);
    assert_eq!(key["passkey"], json!({ "counts_from": after_a_day, "confirmable": true }));
    assert!(keys.iter().filter(|key| key["kind"] != "passkey").all(|key| key["passkey"].is_null()));
    let own = format!("/api/v1/keys/{}", key["id"].as_str().unwrap());
    let path = format!("{own}/confirm");
    world.human().post(&path, json!({})).await.is(204);
    // From then on it counts, and there is nothing left to confirm.
    let confirmed = world.human().get(&own).await.is(200);
    let expected = json!({ "counts_from": world.now(), "confirmable": false });
    assert_eq!(confirmed["passkey"], expected);
    let page = step_up(&browser, &id).await.is(200);
    let fields = device.fill(&PasskeyForm::of(&page).unwrap(), &here);
    post(&browser, &format!("/asks/{id}/confirm"), &fields).await.is(303);
    world.end().await;
}

#[tokio::test]
async fn a_first_passkey_counts_after_a_day() {
    let world = World::dev().await;
    ada(&world).await;
    let here = origin(&world);
    let browser = signed_in_as(&world, "ada").await;
    let mut device = Authenticator::new(1);
    enrol(&browser, &mut device, &here).await.is(200);
    let id = ask_of_ada(&world).await;
    world.advance(24 * 60 * 60 - 1);
    step_up(&browser, &id).await.is(403);
    world.advance(1);
    let page = step_up(&browser, &id).await.is(200);
    let fields = device.fill(&PasskeyForm::of(&page).unwrap(), &here);
    post(&browser, &format!("/asks/{id}/confirm"), &fields).await.is(303);
    let receipt = signed_receipt(&world, &id).await;
    assert_eq!(receipt["evidence_status"], "kept");
    // Erased with the person, and the receipt says so.
    world.human().post("/api/v1/people/ada/erase", json!({})).await.is(200);
    world.app().notifier.deliveries.drain().await.unwrap();
    let receipt = signed_receipt(&world, &id).await;
    assert_eq!(receipt["evidence_status"], "erased");
    assert_eq!(receipt["evidence"], Value::Null);
    assert_eq!(receipt["claims"]["evidence_erased"], true);
    let enrolment = format!("/api/v1/asks/{id}/receipt/enrolment");
    world.agent().get(&enrolment).await.problem(404, "not-found");
    world.end().await;
}

#[tokio::test]
async fn a_further_passkey_and_a_removal_need_a_passkey_or_a_fresh_sign_in() {
    let world = World::dev().await;
    let here = origin(&world);
    let browser = signed_in(&world).await;
    let (mut first, mut second) = (Authenticator::new(1), Authenticator::new(2));
    enrol(&browser, &mut first, &here).await.is(200);
    // Another one: the page asks for the first before it makes anything.
    let page = browser.client.get("/settings/passkeys").await.is(200);
    let vouch = PasskeyForm::of(&page).unwrap();
    assert!(!vouch.makes);
    let not_mine = second.fill(&vouch, &here);
    post(&browser, "/settings/passkeys", &not_mine).await.is(422);
    let page = post(&browser, "/settings/passkeys", &first.fill(&vouch, &here)).await.is(200);
    let make = PasskeyForm::of(&page).unwrap();
    assert!(make.makes);
    let mut fields = second.fill(&make, &here);
    // Without what the first one signed it is refused.
    let bare: Vec<_> = fields.iter().filter(|(name, _)| name != "vouched").cloned().collect();
    post(&browser, "/settings/passkeys", &bare).await.is(409);
    fields.push(("label".to_owned(), "phone".to_owned()));
    let page = post(&browser, "/settings/passkeys", &fields).await.is(200);
    assert!(page.text.contains("phone"), "{}", page.text);
    // The same assertion vouches for no third one.
    let mut third = Authenticator::new(3);
    let again = third.fill(&make, &here);
    post(&browser, "/settings/passkeys", &again).await.is(409);

    // Ten minutes later a passkey is removed with a passkey only.
    world.advance(10 * 60 + 1);
    let keys = world.human().get("/api/v1/keys?limit=100").await.is(200);
    let keys = keys["keys"].as_array().unwrap().iter().filter(|key| key["kind"] == "passkey");
    let ids: Vec<String> = keys.map(|key| key["id"].as_str().unwrap().to_owned()).collect();
    let own = world.human().delete(&format!("/api/v1/keys/{}", ids[0])).await;
    own.problem(403, "not-allowed");
    let page = browser.client.get("/settings/passkeys").await.is(200);
    let remove = [("csrf", &*csrf(&page)), ("remove", ids[0].as_str())];
    let page = browser.client.post_form("/settings/passkeys", &remove).await.is(200);
    assert!(page.text.contains("Remove this passkey?"), "{}", page.text);
    let form = PasskeyForm::of(&page).unwrap();
    let page = post(&browser, "/settings/passkeys", &second.fill(&form, &here)).await.is(200);
    assert!(page.text.contains("Passkey removed"), "{}", page.text);
    world.end().await;
}

/// Recovery after losing the only passkey: an administrator removes it, the person signs in again
/// and adds another, which waits until it is confirmed.
#[tokio::test]
async fn a_lost_passkey_is_replaced() {
    let world = World::dev().await;
    ada(&world).await;
    let here = origin(&world);
    let browser = signed_in_as(&world, "ada").await;
    enrol(&browser, &mut Authenticator::new(1), &here).await.is(200);
    let passkey = async |world: &World| {
        let keys = world.human().get("/api/v1/keys?limit=100").await.is(200);
        let mut live = keys["keys"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|key| key["kind"] == "passkey" && key["revoked_at"] == Value::Null);
        live.next().unwrap()["id"].as_str().unwrap().to_owned()
    };
    let lost = passkey(&world).await;
    world.human().delete(&format!("/api/v1/keys/{lost}")).await.is(204);
    world.advance(10 * 60 + 1);
    // The old browser does not do.
    let page = browser.client.get("/settings/passkeys").await.is(200);
    assert!(PasskeyForm::of(&page).is_none() && page.text.contains("Sign in again"));
    let browser = signed_in_as(&world, "ada").await;
    let mut device = Authenticator::new(2);
    enrol(&browser, &mut device, &here).await.is(200);
    let id = ask_of_ada(&world).await;
    step_up(&browser, &id).await.is(403);
    let fresh = passkey(&world).await;
    world.human().post(&format!("/api/v1/keys/{fresh}/confirm"), json!({})).await.is(204);
    let page = step_up(&browser, &id).await.is(200);
    let fields = device.fill(&PasskeyForm::of(&page).unwrap(), &here);
    post(&browser, &format!("/asks/{id}/confirm"), &fields).await.is(303);
    world.end().await;
}

#[tokio::test]
async fn ending_all_access_ends_passkey_sign_in_too() {
    let world = World::with(Settings { sign_in_limit: Some(50), ..dev() }).await;
    ada(&world).await;
    let here = origin(&world);
    let browser = signed_in_as(&world, "ada").await;
    let mut device = Authenticator::new(1);
    enrol(&browser, &mut device, &here).await.is(200);
    let token = json!({ "human": "ada", "label": "script" });
    let token = world.human().post("/api/v1/keys", token).await.is(201);
    let secret = token["secret"].as_str().unwrap().to_owned();
    let link = world.human().post("/api/v1/people/ada/link", json!({})).await.is(201);
    let link = link["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    world.bearer(&secret).get("/api/v1/asks?view=inbox").await.is(200);
    world.bearer(&secret).delete("/api/v1/people/ada/access").await.problem(403, "not-allowed");
    world.human().delete("/api/v1/people/user_dev/access").await.problem(403, "not-allowed");
    world.human().delete("/api/v1/people/ada/access").await.is(204);
    world.bearer(&secret).get("/api/v1/asks?view=inbox").await.problem(401, "unauthorized");
    browser.client.get("/").await.is(401);
    world.anonymous().sign_in(&link).await.is(401);
    let door = world.anonymous().get("/sign-in").await.is(200);
    let cookie = door.header("set-cookie").split(';').next().unwrap().to_owned();
    let fields = device.fill(&PasskeyForm::of(&door).unwrap(), &here);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let visitor = world.anonymous().header("cookie", &cookie);
    visitor.post_form("/sign-in/passkey", &fields).await.is(401);
    // The account is there: a new link lets them in.
    signed_in_as(&world, "ada").await;
    world.end().await;
}

/// Revoking an agent's key can end the tokens it was given; rotating keys does not.
#[tokio::test]
async fn the_tokens_of_open_requests_end_with_the_key_if_asked() {
    let world = World::dev().await;
    let made = json!({ "agent": "agent_dev", "label": "leaked" });
    let key = world.human().post("/api/v1/keys", made).await.is(201);
    let agent = world.bearer(key["secret"].as_str().unwrap());
    let made = agent.post("/hitl/v1/cases", hitl::approval()).await.is(202);
    let case = hitl::Case::of(&world, &made);
    let (poll, review) = (case.path("poll_url"), case.path("review_url"));
    world.anonymous().get(&poll).await.is(200);
    let id = key["id"].as_str().unwrap().to_owned();
    let wrong = world.human().delete(&format!("/api/v1/keys/{id}?tokens=all")).await;
    wrong.problem(422, "invalid-field");
    world.human().delete(&format!("/api/v1/keys/{id}")).await.is(204);
    world.anonymous().get(&poll).await.is(200);
    world.human().delete(&format!("/api/v1/keys/{id}?tokens=end")).await.is(204);
    world.anonymous().get(&poll).await.is(401);
    world.anonymous().get(&review).await.is(401);
    world.end().await;
}

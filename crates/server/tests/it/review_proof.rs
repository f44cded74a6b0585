//! The step "Confirm that you are a person" on the review page. HITL-222.

use scraper::{Html, Selector};
use serde_json::{Value, json};
use url::Url;

use crate::client::Reply;
use crate::hitl::{Case, of, with};
use crate::hitl_verification::{case_with, claims, policy, token, world, world_with};
use crate::review_page::{Page, find, main_text};
use crate::world::{World, logged};

fn link(reply: &Reply, selector: &str) -> Option<String> {
    let page = Html::parse_document(&reply.text);
    let found = page.select(&Selector::parse(selector).unwrap()).next()?;
    found.value().attr("href").map(ToOwned::to_owned)
}

const STEP: &str = "button[name=action][value=verify]";
const FIELD: &str = "textarea[name='proof.acme']";

/// The step as the browser comes to it.
async fn stepped(page: &Page, pairs: &[(&str, &str)]) -> Reply {
    let moved = page.post(pairs).await.is(303);
    assert_eq!(moved.header("location"), format!("{}#answer", page.path));
    page.get().await.is(200)
}

/// HITL-222, HITL-226: the page asks after the answer, keeps everything, says what is wrong, and
/// sends it once there is a proof. The agent carries none of it.
#[tokio::test]
async fn a_proof_is_pasted_on_the_page() {
    let world = world().await;
    let case = Case::make(&world, case_with(&policy())).await;
    let (page, _) = Page::open(&world, &case).await;
    let shown = stepped(&page, &[("comment", "looks right"), ("action", "approve")]).await;
    let text = main_text(&shown);
    for said in
        ["Confirm that you are a person", "was not sent yet: Approved", "Acme ID can confirm"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(
        text.contains(&case.id) && text.contains("approve"),
        "what it must be made for: {text}"
    );
    assert_eq!((find(&shown, FIELD), find(&shown, STEP), find(&shown, "#comment")), (1, 1, 0));
    assert_eq!(case.status().await["status"], "in_progress");
    let empty = page.post(&[("action", "verify"), ("proof.acme", " ")]).await.is(422);
    assert!(main_text(&empty).contains("Confirm it with Acme ID first"), "{}", main_text(&empty));
    let other = token(&claims(&world, &case, "reject"));
    let wrong = page.post(&[("action", "verify"), ("proof.acme", &other)]).await.is(422);
    let text = main_text(&wrong);
    assert!(text.contains("from Acme ID is not valid: it was made for another answer"), "{text}");
    assert_eq!(find(&wrong, "textarea[aria-invalid=true]"), 1);
    assert!(!wrong.text.contains(&other), "a proof is not shown again");
    assert_eq!(case.status().await["status"], "in_progress");
    let good = format!(" {}\r\n", token(&claims(&world, &case, "approve")));
    let sent = page.post(&[("action", "verify"), ("proof.acme", &good)]).await.is(303);
    assert!(sent.header("location").ends_with("?done=sent"));
    let over = case.status().await;
    assert_eq!(over["result"]["data"]["feedback"], "looks right");
    let context = &over["submission_context"];
    assert_eq!((&context["mode"], context.get("submitted_by")), (&json!("browser_submit"), None));
    assert_eq!(context["verification_result"]["satisfied"], true);
    let shown = page.get().await.is(200);
    assert!(main_text(&shown).contains("That a person answered was confirmed by acme."));
    assert!(!logged().contains(good.trim()));
    world.end().await;
}

/// HITL-222: without cookies the forms carry the link; the answer can be changed; closing needs no
/// proof.
#[tokio::test]
async fn the_step_works_without_cookies_and_can_be_left() {
    let world = world().await;
    let case = Case::make(&world, case_with(&policy())).await;
    let path = format!("/review/{}", case.id);
    let post = async |pairs: &[(&str, &str)]| {
        let token = case.review_token();
        let all = [&[("token", token.as_str())], pairs].concat();
        world.anonymous().post_form(&path, &all).await
    };
    let shown = post(&[("comment", "no hurry"), ("action", "reject")]).await.is(200);
    assert_eq!((find(&shown, FIELD), find(&shown, STEP)), (1, 1));
    // Opened again, on another device too, it is still there.
    let again = world.anonymous().get(&case.path("review_url")).await.is(200);
    assert!(main_text(&again).contains("was not sent yet: Rejected"));
    let back = post(&[("action", "change")]).await.is(200);
    assert_eq!((find(&back, FIELD), find(&back, "#comment")), (0, 1));
    assert!(back.text.contains("no hurry"), "what was entered is still there");
    let again = world.anonymous().get(&case.path("review_url")).await.is(200);
    assert_eq!(find(&again, FIELD), 0);
    // Nothing waits: there is nothing to confirm.
    let proof = token(&claims(&world, &case, "approve"));
    post(&[("action", "verify"), ("proof.acme", &proof)]).await.is(200);
    assert_eq!(case.status().await["status"], "in_progress");
    post(&[("action", "cancel")]).await.is(200);
    assert_eq!(case.status().await["status"], "cancelled");
    world.end().await;
}

/// HITL-222: a form in steps keeps its values, secrets too, while the proof is got.
#[tokio::test]
async fn a_form_waits_for_its_proof() {
    let world = world().await;
    let body = json!({ "spec_version": "0.8", "verification_policy": policy() });
    let case = Case::make(&world, with(of("input"), body)).await;
    let (page, _) = Page::open(&world, &case).await;
    let filled =
        [("step", "0"), ("field.name", "Ada"), ("field.pin", "4711"), ("action", "provide")];
    let shown = stepped(&page, &filled).await;
    assert!(!shown.text.contains("4711"));
    let proof = token(&claims(&world, &case, "submit"));
    page.post(&[("action", "verify"), ("proof.acme", &proof)]).await.is(303);
    assert_eq!(case.status().await["result"]["data"], json!({ "name": "Ada", "pin": "4711" }));
    world.end().await;
}

async fn with_start() -> World {
    let start = Url::parse("https://acme.example/start?theme=1").unwrap();
    world_with(|acme| acme.start_url = Some(start)).await
}

/// HITL-222: the provider has a page; it is told what for, and sends the person back with a proof
/// that is kept and decides nothing. A GET decides nothing at all.
#[tokio::test]
async fn a_provider_sends_the_person_back() {
    let world = with_start().await;
    let case = Case::make(&world, case_with(&policy())).await;
    let (page, _) = Page::open(&world, &case).await;
    let shown = stepped(&page, &[("action", "approve")]).await;
    assert_eq!((find(&shown, FIELD), find(&shown, STEP)), (0, 0), "nothing to send yet");
    let start = link(&shown, "a.act[href^='https://acme.example']").unwrap();
    let start = Url::parse(&start).unwrap();
    let asked: std::collections::BTreeMap<_, _> = start.query_pairs().into_owned().collect();
    let challenge = case.hitl["verification_policy"]["binding"]["challenge"].as_str().unwrap();
    let back = format!("http://{}/review/{}/proof?provider=acme", world.address(), case.id);
    for (name, value) in [
        ("theme", "1"),
        ("case_id", case.id.as_str()),
        ("action", "approve"),
        ("challenge", challenge),
        ("return_to", back.as_str()),
    ] {
        assert_eq!(asked[name], value, "{name}");
    }
    assert!(!start.as_str().contains(&case.review_token()), "the link stays here");
    let back = format!("/review/{}/proof?provider=acme", case.id);
    let proof = |action: &str| token(&claims(&world, &case, action));
    let good = proof("approve");
    // Its own page knows neither link nor cookie.
    let provider = world.anonymous();
    let looked = provider.get(&format!("{back}&token={good}")).await.is(303);
    assert_eq!(looked.header("location"), page.path);
    assert_eq!(find(&page.get().await, STEP), 0, "a GET leaves nothing");
    let other = Case::make(&world, case_with(&policy())).await;
    let stray = token(&claims(&world, &other, "approve"));
    for bad in ["", "a.b.c", &proof("reject"), &stray] {
        let reply = provider.post_form(&back, &[("token", bad)]).await.is(303);
        assert_eq!(reply.header("location"), format!("{}?proof=refused#answer", page.path));
    }
    let refused = page.client.get(&format!("{}?proof=refused", page.path)).await.is(200);
    assert!(main_text(&refused).contains("The confirmation that came back is not valid"));
    assert_eq!(find(&refused, STEP), 0);
    let reply = provider.post_form(&back, &[("token", &good)]).await.is(303);
    assert_eq!(reply.header("location"), format!("{}?proof=taken#answer", page.path));
    assert_eq!(case.status().await["status"], "in_progress", "nobody has sent anything");
    let ready = page.get().await.is(200);
    assert!(main_text(&ready).contains("Confirmed by Acme ID"), "{}", main_text(&ready));
    assert!(!ready.text.contains(&good));
    // What lies there until then is encrypted.
    let draft = world.gateway().store().draft(case.ask_id()).await.unwrap().unwrap();
    assert!(!String::from_utf8_lossy(&draft).contains(&good));
    page.post(&[("action", "verify")]).await.is(303);
    let result = case.status().await["submission_context"]["verification_result"].clone();
    assert_eq!(result["satisfied"], true);
    // It is over, or it never was.
    let late = provider.post_form(&back, &[("token", &good)]).await.is(303);
    assert!(late.header("location").ends_with("?proof=refused#answer"));
    let nowhere = "/review/review_01KGRT0000000000000000000/proof?provider=acme";
    let never = provider.post_form(nowhere, &[("token", &good)]).await.is(303);
    assert!(never.header("location").ends_with("?proof=refused#answer"));
    world.end().await;
}

/// HITL-220: where proofs are optional, or only refusing is wanted of a step-up, nobody is stopped.
#[tokio::test]
async fn nobody_is_asked_without_need() {
    let world = world().await;
    for (more, action) in [
        (json!({ "mode": "optional" }), "approve"),
        (json!({ "mode": "step_up" }), "reject"),
        (json!({ "required_for": ["inline_submit"] }), "approve"),
    ] {
        let case = Case::make(&world, case_with(&with(policy(), more))).await;
        let (page, _) = Page::open(&world, &case).await;
        let sent = page.post(&[("action", action)]).await.is(303);
        assert!(sent.header("location").ends_with("?done=sent"), "{action}");
        let context = case.status().await["submission_context"].clone();
        assert_eq!(context.get("verification_result"), None::<&Value>);
    }
    world.end().await;
}

/// HITL-223: a proof that grew old while it lay there is asked for again.
#[tokio::test]
async fn a_proof_that_lay_too_long_is_asked_for_again() {
    let world = with_start().await;
    let case = Case::make(&world, case_with(&policy())).await;
    let (page, _) = Page::open(&world, &case).await;
    stepped(&page, &[("action", "approve")]).await;
    let back = format!("/review/{}/proof?provider=acme", case.id);
    let proof = token(&claims(&world, &case, "approve"));
    world.anonymous().post_form(&back, &[("token", &proof)]).await.is(303);
    world.advance(301);
    let stale = page.post(&[("action", "verify")]).await.is(422);
    assert!(main_text(&stale).contains("it is too old"), "{}", main_text(&stale));
    assert_eq!(find(&stale, STEP), 0);
    let fresh = with(claims(&world, &case, "approve"), json!({ "jti": "second" }));
    world.anonymous().post_form(&back, &[("token", &token(&fresh))]).await.is(303);
    page.post(&[("action", "verify")]).await.is(303);
    assert_eq!(case.status().await["status"], "completed");
    world.end().await;
}

//! A page that is open hears how its request ended, whoever ended it.

use serde_json::{Value, json};
use server::config::Settings;

use crate::hitl::{Case, approval, with};
use crate::streams::Events;
use crate::world::{World, dev};

fn end(case: &Case, token: &str) -> String {
    format!("/review/{}/end?token={token}", case.id)
}

fn words(data: &Value) -> String {
    data.to_string()
}

/// HITL-043, HITL-047: answered elsewhere, withdrawn, run out; and whoever comes late hears it at
/// once.
#[tokio::test]
async fn a_page_hears_how_its_request_ends() {
    let world = World::dev().await;
    for (how, said) in [
        ("answer", "Already approved"),
        ("person", "Already approved"),
        ("cancel", "Already closed: Withdrawn"),
        ("expire", "Already closed: Expired"),
    ] {
        let case = Case::make(&world, with(approval(), json!({ "timeout": "1h" }))).await;
        let path = end(&case, &case.review_token());
        let mut page = Events::open(&world.anonymous(), &path).await;
        match how {
            "answer" => drop(case.respond(json!({ "action": "approve" })).await.is(200)),
            "person" => {
                let answer = format!("/api/v1/asks/{}/answer", case.ask());
                let yes =
                    json!({ "answer": { "verdict": "approved" }, "comment": "my \u{202e}words" });
                world.human().post(&answer, yes).await.is(200);
            }
            "cancel" => drop(world.agent().post(&case.at("cancel"), json!({})).await.is(200)),
            _ => {
                world.advance(3600);
                world.run_timers().await;
            }
        }
        let told = page.next().await.unwrap();
        assert_eq!(told.event, "ended");
        assert!(words(&told.data).contains(said), "{how}: {}", told.data);
        assert!(words(&told.data).contains("stays here to be read"), "{}", told.data);
        page.ended().await;
        let mut late = Events::open(&world.anonymous(), &path).await;
        assert_eq!(late.next().await.unwrap().data, told.data);
    }
    world.end().await;
}

/// HITL-033, HITL-085: only the review token opens it, watching opens nothing and uses up neither
/// the polls of the agent nor its streams.
#[tokio::test]
async fn watching_takes_nothing_from_anybody() {
    let world = World::with(Settings { stream_limit: Some(2), ..dev() }).await;
    let case = Case::make(&world, approval()).await;
    let other = Case::make(&world, approval()).await;
    for token in ["", "x", &case.poll_token(), &case.submit_token(), &other.review_token()] {
        world.anonymous().get(&end(&case, token)).await.is(401);
    }
    let missing = "/review/review_01KGRT0000000000000000000/end?token=x";
    world.anonymous().get(missing).await.is(401);
    let path = end(&case, &case.review_token());
    let one = Events::open(&world.anonymous(), &path).await;
    let two = Events::open(&world.anonymous(), &path).await;
    world.anonymous().get(&path).await.is(429);
    let agent = Events::open(&world.anonymous(), &case.path("events_url")).await;
    assert_eq!(case.status().await["status"], "pending");
    for _ in 0..60 {
        world.anonymous().get(&path).await.is(429);
    }
    // Two polls were counted, and time only adds to what is left.
    let left: u32 = case.status().await.header("x-ratelimit-remaining").parse().unwrap();
    assert!(left >= 58, "{left}");
    drop((one, two, agent));
    world.end().await;
}

/// A page behind a link says that somebody has just answered, and names nobody.
#[tokio::test]
async fn a_page_hears_that_somebody_has_just_answered() {
    let world = World::dev().await;
    let case = Case::make(&world, approval()).await;
    let mut page = Events::open(&world.anonymous(), &end(&case, &case.review_token())).await;
    let browser = crate::pages::signed_in(&world).await;
    let request = format!("/asks/{}", case.ask());
    let token = crate::pages::csrf(&browser.client.get(&request).await.is(200));
    let form = [("csrf", token.as_str()), ("action", "approve")];
    browser.client.post_form(&format!("{request}/answer"), &form).await.is(303);
    let told = page.next().await.unwrap();
    assert_eq!(told.event, "answering");
    let review = format!("/review/{}?token={}", case.id, case.review_token());
    let loaded = world.anonymous().get(&review).await.is(200);
    let form = [("token", &*case.review_token()), ("action", "approve")];
    let late = world.anonymous().post_form(&format!("/review/{}", case.id), &form).await;
    for said in [words(&told.data), loaded.text, late.is(409).text] {
        assert!(said.contains("This request was just answered"), "{said}");
        assert!(!said.contains("user_dev"), "{said}");
    }
    world.end().await;
}

//! The Rust client against the real server: its examples, typed answers, trying again, waiting.

use std::time::Duration;

use client::asking::{AnswerState, Approval, Confirmation, Escalation};
use client::{Client, ClientError};
use serde_json::json;

use crate::fake_webhook_receiver::Hook;
use crate::world::{World, eventually};

#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../../../client/examples/many.rs"]
mod many;
#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../../../client/examples/refund.rs"]
mod refund;

fn agent(world: &World) -> Client {
    Client::new(&format!("http://{}", world.address()), "dev-agent-key").unwrap()
}

/// From now on every ask is answered like this.
async fn play(world: &World, rule: serde_json::Value) {
    let script = json!({ "rule": [rule] });
    world.human().put("/api/v1/dev/script", script).await.is(200);
}

#[tokio::test]
async fn the_refund_example_does_what_a_person_says() {
    let world = World::dev().await;
    let agent = agent(&world);
    let edited = json!({ "answer": { "verdict": "approved", "edits": { "amount": 90 } } });
    let no = json!({ "answer": "no", "comment": "already paid" });
    for (rule, becomes) in [
        (json!({ "answer": "yes" }), "refunded €120"),
        (edited, "refunded €90"),
        (no, "not refunded: already paid"),
    ] {
        play(&world, rule).await;
        assert_eq!(refund::refund(&agent, 120).await.unwrap(), becomes);
    }
    play(&world, json!({})).await;
    let silent = refund::refund(&agent, 120);
    let late = async {
        eventually("an ask", async || world.gateway().wake().len() == 1).await;
        let hour = json!({ "advance": "1h" });
        world.agent().post("/api/v1/dev/clock", hour).await.is(200);
    };
    assert_eq!(tokio::join!(silent, late).0.unwrap(), "not refunded: nobody answered");
    world.end().await;
}

#[tokio::test]
async fn the_example_with_many_asks_needs_one_connection() {
    let world = World::dev().await;
    play(&world, json!({ "answer": "yes" })).await;
    let prompts = ["One?", "Two?", "Three?"];
    let verdicts = many::verdicts(&agent(&world), &prompts).await.unwrap();
    assert_eq!(verdicts.len(), 3);
    assert!(verdicts.values().all(|verdict| verdict == "approved"), "{verdicts:?}");
    world.end().await;
}

#[tokio::test]
async fn answers_are_typed_by_the_question() {
    let world = World::dev().await;
    let agent = agent(&world);
    play(&world, json!({ "answer": "yes" })).await;
    let plans = [("s", "Small"), ("l", "Large")];
    let chosen = agent.ask("Which?").choose(plans).suggest("l").wait().await.unwrap();
    assert_eq!(chosen.said, AnswerState::Answered(Some(vec!["l".to_owned()])));
    assert!(chosen.is_by_a_person());
    assert_eq!(chosen.who().to_string(), "user_dev");
    let all = agent.ask("All?").confirm([("a", "A"), ("b", "B")]).wait().await.unwrap();
    let both = Confirmation::Confirmed(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(all.answer(), Some(&both));
    let failed = agent.ask("Failed.").escalate(json!({ "code": 7 })).unwrap();
    let failed = failed.param("n", 1).wait().await.unwrap();
    assert!(matches!(failed.answer(), Some(Escalation::Retry(_))));
    let talk = agent.ask("Hello?").converse().wait().await.unwrap();
    assert_eq!(talk.answer(), Some(&Some("yes".to_owned())));
    let values = json!({ "answer": { "verdict": "provided", "values": { "size": "xl" } } });
    play(&world, values).await;
    let form = agent.ask("Size?").provide().text("size", "Size").wait().await.unwrap();
    assert_eq!(form.answer().unwrap().as_ref().unwrap()["size"], "xl");
    play(&world, json!({ "answer": "no" })).await;
    let all = agent.ask("All?").confirm([("a", "A"), ("b", "B")]).wait().await.unwrap();
    assert_eq!(all.answer(), Some(&Confirmation::Declined));
    world.end().await;
}

#[tokio::test]
async fn a_secret_is_gone_once_it_arrived() {
    let world = World::dev().await;
    let agent = agent(&world);
    let values = json!({ "answer": { "verdict": "provided", "values": { "token": "s3cret" } } });
    play(&world, values).await;
    let asked = agent.ask("Token?").provide().secret("token", "Token").wait().await.unwrap();
    assert_eq!(asked.answer().unwrap().as_ref().unwrap()["token"], "s3cret");
    agent.acknowledge(&asked.ask.id).await.unwrap();
    let later = agent.show(&asked.ask.id).await.unwrap();
    let token = later.result.unwrap().answer.unwrap()["values"]["token"].clone();
    assert!(token.as_str().unwrap().starts_with("[redacted:"), "{token}");
    world.end().await;
}

/// Nothing but an answer looks like one.
#[tokio::test]
async fn silence_is_no_approval() {
    let world = World::dev().await;
    let agent = agent(&world);
    let minute = Duration::from_mins(1);
    let asking = |what: serde_json::Value| {
        agent.ask("Go?").approve().timeout(minute).on_silence(what).send()
    };
    let report = asking(json!({ "report": "approve" })).await.unwrap();
    let default =
        asking(json!({ "answer": { "answer": { "verdict": "approved" } } })).await.unwrap();
    let withdrawn = agent.ask("Go?").approve().send().await.unwrap();
    let id = withdrawn.id().to_owned();
    withdrawn.cancel().await.unwrap();
    assert_eq!(agent.show(&id).await.unwrap().state, "cancelled");
    let short = report.wait_up_to(Duration::from_millis(50)).await;
    assert!(matches!(short, Err(ClientError::StillOpen { .. })));
    world.agent().post("/api/v1/dev/clock", json!({ "advance": "1m" })).await.is(200);
    let report = report.wait().await.unwrap();
    assert_eq!(report.said, AnswerState::Expired("approve".to_owned()));
    assert!(!report.is_approved() && !report.is_by_a_person());
    let default = default.wait().await.unwrap();
    assert_eq!(default.said, AnswerState::Defaulted(Approval::Approved { edits: None }));
    assert!(!default.is_approved());
    assert!(!default.is_by_a_person(), "the agent's own default");
    world.end().await;
}

#[tokio::test]
async fn an_ask_says_where_to_tell_that_it_is_over() {
    let world = World::dev().await;
    let hook = Hook::open(&[]).await;
    play(&world, json!({ "answer": "yes" })).await;
    let asked = agent(&world).ask("Refund?").approve().callback(&hook.url).send().await.unwrap();
    hook.heard_times(1).await;
    let told: serde_json::Value = serde_json::from_slice(&hook.heard()[0].1).unwrap();
    assert_eq!(
        (&told["type"], &told["data"]["ask"]["id"]),
        (&json!("ask.answered"), &json!(asked.id()))
    );
    world.end().await;
}

/// A create that is repeated under its key asks once.
#[tokio::test]
async fn the_same_key_asks_once() {
    let world = World::dev().await;
    let agent = agent(&world);
    let ask = || agent.ask("Once?").approve().key("order-7").send();
    let (first, second) = (ask().await.unwrap(), ask().await.unwrap());
    assert_eq!(first.id(), second.id());
    let other = agent.ask("Twice?").approve().key("order-7").send().await;
    let Err(ClientError::Refused { status, code, .. }) = other else { panic!() };
    assert_eq!((status, code.as_str()), (409, "idempotency-mismatch"));
    world.end().await;
}

/// The server goes away and comes back while somebody waits and while somebody asks.
#[tokio::test]
async fn a_restart_is_waited_for() {
    let mut world = World::dev().await;
    world.keep_address();
    let agent = agent(&world);
    let first = agent.ask("Still there?").approve().send().await.unwrap();
    let answering = async {
        eventually("somebody who waits", async || world.gateway().wake().len() == 1).await;
        world.stop().await;
        // Nobody is there when this is asked.
        let asking = agent.ask("Anybody?").approve().send();
        let (second, ()) = tokio::join!(asking, world.start());
        let inbox = world.human().inbox("").await.is(200);
        for request in inbox["requests"].as_array().unwrap() {
            let id = request["request_id"].as_str().unwrap();
            world.human().resolve(id, json!({ "result": "approved" })).await.is(200);
        }
        second.unwrap()
    };
    let (first, second) = tokio::join!(first.wait(), answering);
    assert!(first.unwrap().is_approved());
    assert!(second.wait().await.unwrap().is_approved());
    world.end().await;
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let world = World::dev().await;
    let agent = agent(&world);
    let wrong = agent.ask("").approve().send().await;
    let Err(ClientError::Refused { status: 422, code, message, .. }) = wrong else { panic!() };
    assert_eq!(code, "invalid-field");
    assert!(message.contains("prompt"), "{message}");
    let stranger = Client::new(&format!("http://{}", world.address()), "nobody").unwrap();
    let refused = stranger.ask("Go?").approve().send().await;
    assert!(matches!(refused, Err(ClientError::Refused { status: 401, .. })));
    assert!(matches!(Client::new("ftp://x", "k"), Err(ClientError::BadUrl(_))));
    let nowhere = agent.wait("ask_00000000000000000000000001", Duration::from_secs(5)).await;
    assert!(matches!(nowhere, Err(ClientError::Refused { status: 404, .. })));
    world.end().await;
}

//! An agent before the real server.

use client::hitl::{Case, Follower, HitlError, JudgedBy, Outcome, ReviewType, SubmittedBy};
use serde_json::{Map, json};

use crate::server::Server;

fn approval() -> serde_json::Value {
    json!({ "type": "approval", "prompt": "Refund €120?", "timeout": "1h", "inline_actions": ["approve"] })
}

#[tokio::test]
async fn every_end_is_told() {
    let Some(server) = Server::start() else { return };
    let follower = Follower::new().unwrap();

    let case = server.case(&approval()).await;
    let mut links = Vec::new();
    let answered = follower.follow(&case, |notice| {
        links.push(notice.review_url.clone());
        // They answer while the agent waits.
        let server = &server;
        async move {
            server.respond(&notice.review_url, "approve", json!({ "feedback": "ok" })).await;
        }
    });
    let Outcome::Completed(done) = answered.await.unwrap() else { panic!() };
    assert_eq!((done.action.as_str(), &done.data["feedback"]), ("approve", &json!("ok")));
    assert!(done.signature.is_some(), "from the poll: the event has none");
    assert_eq!(links, [case.review_url]);

    let case = server.case(&approval()).await;
    let withdrawn = follower.follow(&case, |_| server.cancel(&case.case_id));
    let Outcome::Cancelled(over) = withdrawn.await.unwrap() else { panic!() };
    assert_eq!(over.reason.as_deref(), Some("changed our mind"));

    let short =
        json!({ "type": "x-acme-pick", "prompt": "?", "timeout": "1s", "default_action": "abort" });
    let case = server.case(&short).await;
    assert_eq!(case.review_type.treated_as(), ReviewType::Input);
    let Outcome::Expired(over) = follower.wait(&case).await.unwrap() else { panic!() };
    assert_eq!((over.default_action.as_str(), over.judged_by), ("abort", JudgedBy::Service));
}

#[tokio::test]
async fn what_was_pressed_counts_once() {
    let Some(server) = Server::start() else { return };
    let (case, follower) = (server.case(&approval()).await, Follower::new().unwrap());
    let by = SubmittedBy {
        platform: "slack".to_owned(),
        platform_user_id: "U7".to_owned(),
        display_name: Some("Ada".to_owned()),
    };
    let submit = || follower.submit(&case, "approve", Map::new(), "slack_block_action", &by, &[]);
    assert_eq!(submit().await.unwrap().case_id, case.case_id);
    let again = submit().await.unwrap_err();
    assert!(
        matches!(again, HitlError::Refused { status: 409, ref code, .. } if code == "duplicate_submission")
    );
    let Outcome::Completed(done) = follower.wait(&case).await.unwrap() else { panic!() };
    assert_eq!(done.action, "approve");
}

#[tokio::test]
async fn an_edit_is_continued() {
    let Some(server) = Server::start() else { return };
    let follower = Follower::new().unwrap();
    let send = |body: Map<String, serde_json::Value>| {
        let url = format!("{}/hitl/v1/cases", server.url);
        let request = reqwest::Client::new().post(url).bearer_auth(crate::server::KEY).json(&body);
        async move { Ok(request.send().await.unwrap()) }
    };
    let revise = async |mut body: Map<String, serde_json::Value>, _| {
        body.insert("prompt".to_owned(), json!("Refund €100?"));
        Some(body)
    };
    let mut rounds = 0;
    let notify = |notice: client::hitl::Notice| {
        rounds += 1;
        let (action, data) = if rounds == 1 {
            ("edit", json!({ "feedback": "less" }))
        } else {
            ("approve", json!({}))
        };
        let server = &server;
        async move { server.respond(&notice.review_url, action, data).await }
    };
    let first = approval().as_object().unwrap().clone();
    let round = follower.rounds(first, send, revise, notify).await.unwrap();
    let client::hitl::Round::Ended { outcome: Outcome::Completed(done), .. } = round else {
        panic!()
    };
    assert_eq!((done.action.as_str(), rounds), ("approve", 2));
}

/// Whoever holds a poll token can read, and nothing else.
#[tokio::test]
async fn a_kept_case_can_be_followed_later() {
    let Some(server) = Server::start() else { return };
    let body = json!({ "type": "confirmation", "prompt": "Delete it?", "context": { "items": [{ "id": "a", "label": "A" }] } });
    let made = reqwest::Client::new()
        .post(format!("{}/hitl/v1/cases", server.url))
        .bearer_auth(crate::server::KEY)
        .json(&body)
        .send();
    let kept = made.await.unwrap().text().await.unwrap();
    let case = Case::read(&serde_json::from_str(&kept).unwrap()).unwrap();
    server.respond(&case.review_url, "cancel", json!({})).await;
    let Outcome::Completed(done) = Follower::new().unwrap().wait(&case).await.unwrap() else {
        panic!()
    };
    assert_eq!(done.action, "cancel", "an answer, not a withdrawal");
}

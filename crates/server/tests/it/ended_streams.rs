//! Streams, long polls and open pages end as soon as the credential they were opened with does,
//! although nothing happens to what they are about.

use serde_json::json;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::hacp;
use crate::hitl::{CASES, Case, approval as case};
use crate::native::{ASKS, approval, asked};
use crate::pages::{Browser, browser_of, signed_in};
use crate::streams::Events;
use crate::world::{World, eventually, soon};

/// Ada, and a browser in which she is signed in.
async fn ada(world: &World) -> Browser {
    let ada = json!({ "name": "Ada", "email": "ada@example.com", "projects": ["dev"] });
    world.human().put("/api/v1/people/ada", ada).await.saved();
    signed_in_as(world, "ada").await
}

/// Signs somebody in with a link of theirs.
async fn signed_in_as(world: &World, who: &str) -> Browser {
    let made = world.human().post(&format!("/api/v1/people/{who}/link"), json!({})).await.is(201);
    let token = made["url"].as_str().unwrap().split_once("token=").unwrap().1.to_owned();
    let visitor = world.anonymous();
    let signed = visitor.sign_in(&token).await.is(303);
    browser_of(&visitor, &signed)
}

/// Every page of somebody that listens, each with its first words read.
async fn pages(browser: &Browser, ask: &str, task: &str) -> Vec<Events> {
    let mut open = Vec::new();
    for path in ["/inbox/live", "/tasks/live"] {
        open.push(Events::open(&browser.client, path).await);
    }
    for path in [format!("/asks/{ask}/end"), format!("/tasks/{task}/live")] {
        open.push(Events::open(&browser.client, &path).await);
    }
    for page in &mut open {
        page.block().await.unwrap();
    }
    open
}

/// Reads to the end, whatever comes before it; it comes before the first sign of life of an idle
/// stream.
pub(crate) async fn cut(stream: &mut Events) {
    soon("the end of a stream", async { while stream.block().await.is_some() {} }).await;
}

/// A new credential, and its id.
async fn issued(world: &World, body: serde_json::Value) -> (Client, String) {
    let issued = world.human().post("/api/v1/keys", body).await.is(201);
    let id = issued["id"].as_str().unwrap().to_owned();
    (world.bearer(issued["secret"].as_str().unwrap()), id)
}

/// Inbox, task board, request page and task page, whichever way the session ends.
#[tokio::test]
async fn pages_end_with_their_session() {
    let world = World::dev().await;
    let admin = world.human();
    let browser = ada(&world).await;
    let body = json!({
        "question": { "kind": "approve", "prompt": "Deploy?" },
        "route": { "to": "person", "human": "ada" },
    });
    let path = asked(&world.agent(), body).await;
    let ask = path.rsplit('/').next().unwrap();
    let task = hacp::begun(&world, json!({ "project": "dev" })).await;

    let open = pages(&browser, ask, &task).await;
    admin.delete("/api/v1/people/ada/sessions").await.is(204);
    for mut page in open {
        cut(&mut page).await;
    }
    let browser = signed_in_as(&world, "ada").await;
    let open = pages(&browser, ask, &task).await;
    admin.delete("/api/v1/people/ada/access").await.is(204);
    for mut page in open {
        cut(&mut page).await;
    }
    let browser = signed_in_as(&world, "ada").await;
    let open = pages(&browser, ask, &task).await;
    world.deactivate("ada").await;
    for mut page in open {
        cut(&mut page).await;
    }
    eventually("nobody listening", async || world.gateway().wake().is_empty()).await;
    world.end().await;
}

/// The session of somebody else stays, and so does a page of theirs.
#[tokio::test]
async fn pages_of_others_stay() {
    let world = World::dev().await;
    ada(&world).await;
    let other = signed_in(&world).await;
    let path = asked(&world.agent(), approval()).await;
    let ask = path.rsplit('/').next().unwrap();
    let mut page = Events::open(&other.client, &format!("/asks/{ask}/end")).await;
    world.human().delete("/api/v1/people/ada/access").await.is(204);
    world.human().post(&format!("{path}/answer"), crate::native::yes()).await.is(200);
    assert_eq!(page.next().await.unwrap().event, "ended");
    world.end().await;
}

/// A call that waits is refused as soon as its key is revoked, not when its time is up.
#[tokio::test]
async fn a_long_poll_ends_with_its_key() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    for body in [json!({ "agent": "agent_dev" }), json!({ "human": "user_dev" })] {
        let (who, key) = issued(&world, body).await;
        let waiting = who.clone().header("prefer", "wait=60");
        let polled = path.clone();
        let mut poll = JoinSet::new();
        poll.spawn(async move { waiting.get(&polled).await });
        eventually("somebody waiting", async || world.gateway().wake().len() == 1).await;
        world.human().delete(&format!("/api/v1/keys/{key}")).await.is(204);
        let refused = soon("the end of the poll", poll.join_next()).await.unwrap().unwrap();
        refused.problem(401, "unauthorized");
    }
    // A create that waits is a long poll too; what it created stays.
    let (who, key) = issued(&world, json!({ "agent": "agent_dev" })).await;
    let waiting = who.header("prefer", "wait=60");
    let mut create = JoinSet::new();
    create.spawn(async move { waiting.post(ASKS, approval()).await });
    eventually("somebody waiting", async || world.gateway().wake().len() == 1).await;
    world.human().delete(&format!("/api/v1/keys/{key}")).await.is(204);
    soon("the end of the create", create.join_next())
        .await
        .unwrap()
        .unwrap()
        .problem(401, "unauthorized");
    world.end().await;
}

/// HITL: what was opened with a poll or a review token ends when the tokens of the key are ended.
#[tokio::test]
async fn streams_of_tokens_end_with_them() {
    let world = World::dev().await;
    let (agent, key) = issued(&world, json!({ "agent": "agent_dev" })).await;
    let made = agent.post(CASES, case()).await.is(202);
    let case = Case::of(&world, &made);
    let mut events = Events::open(&world.anonymous(), &case.path("events_url")).await;
    let watch = format!("/review/{}/end?token={}", case.id, case.review_token());
    let mut page = Events::open(&world.anonymous(), &watch).await;
    assert!(events.block().await.is_some() && page.block().await.is_some());
    // Revoking the key alone leaves its tokens.
    world.human().delete(&format!("/api/v1/keys/{key}")).await.is(204);
    Events::open(&world.anonymous(), &case.path("events_url")).await;
    world.human().delete(&format!("/api/v1/keys/{key}?tokens=end")).await.is(204);
    cut(&mut events).await;
    cut(&mut page).await;
    eventually("nobody listening", async || world.gateway().wake().is_empty()).await;
    world.end().await;
}

/// A stream that has much to send sends no more of it once its key is revoked.
#[tokio::test]
async fn a_stream_that_catches_up_ends_with_its_key() {
    let world = World::dev().await;
    let long = json!({ "question": {
        "kind": "approve", "prompt": "Deploy?", "context": "x".repeat(400_000),
    } });
    for _ in 0..40 {
        asked(&world.agent(), long.clone()).await;
    }
    let (who, key) = issued(&world, json!({ "agent": "agent_dev" })).await;
    let mut events = Events::after(&who, 0).await;
    assert_eq!(events.next().await.unwrap().event, "ready");
    assert_eq!(events.next().await.unwrap().event, "asked");
    world.human().delete(&format!("/api/v1/keys/{key}")).await.is(204);
    let mut more = 0;
    while events.next().await.is_some() {
        more += 1;
    }
    assert!(more < 39, "all of it was sent");
    world.end().await;
}

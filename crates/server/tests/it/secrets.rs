//! What a person gives in confidence: nowhere in clear, with the agent until it has it, and then
//! gone.

use std::path::Path;

use serde_json::{Value, json};

use crate::client::Reply;
use crate::native::asked;
use crate::pages::{csrf, signed_in};
use crate::world::{World, logged};

const SECRET: &str = "hunter2-s3cret-t0ken";

fn question() -> Value {
    let fields = json!([
        { "key": "user", "label": "User", "type": "text", "required": true },
        { "key": "token", "label": "Token", "type": "text", "sensitive": true, "required": true },
    ]);
    json!({ "question": { "kind": "provide", "prompt": "Which token?", "form": { "fields": fields } } })
}

/// Answers on the page, as people do.
async fn given(world: &World) -> String {
    let path = asked(&world.agent(), question()).await;
    let browser = signed_in(world).await;
    let page = path.replace("/api/v1", "");
    let token = csrf(&browser.client.get(&page).await.is(200));
    let fields =
        [("csrf", &*token), ("action", "provide"), ("field.user", "ada"), ("field.token", SECRET)];
    browser.client.post_form(&format!("{page}/answer"), &fields).await.is(303);
    path
}

fn value(seen: &Reply) -> String {
    seen["result"]["answer"]["values"]["token"].as_str().unwrap().to_owned()
}

/// Whether a file somewhere below has the secret in clear.
fn lies_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(lies_in(&path));
        } else if std::fs::read(&path)
            .unwrap()
            .windows(SECRET.len())
            .any(|w| w == SECRET.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn a_secret_lies_nowhere_in_clear() {
    let mut world = World::dev().await;
    let path = given(&world).await;
    world.agent().get(&path).await.is(200);
    world.tidy().await;
    assert_eq!(lies_in(world.folder()), [""; 0]);
    let human = world.human();
    for open in ["/api/v1/audit/export", "/api/v1/history/export", "/api/v1/search?q=hunter2"] {
        assert!(!human.get(open).await.is(200).text.contains(SECRET), "{open}");
    }
    for below in ["", "/receipt", "/audit", "/thread"] {
        let seen = human.get(&format!("{path}{below}")).await.is(200);
        assert!(!seen.text.contains(SECRET), "{below}");
    }
    for below in ["/receipt", "/thread", "/audit"] {
        let seen = world.agent().get(&format!("{path}{below}")).await.is(200);
        assert!(!seen.text.contains(SECRET), "{below}");
    }
    world.restart().await;
    assert_eq!(value(&world.agent().get(&path).await.is(200)), SECRET, "and over a restart");
    assert!(!logged().contains(SECRET));
    assert_eq!(lies_in(world.folder()), [""; 0]);
    world.end().await;
}

/// A lost response must not lose it, and an acknowledged one leaves nothing behind.
#[tokio::test]
async fn a_secret_goes_when_the_agent_has_it() {
    let world = World::dev().await;
    let agent = world.agent();
    let path = asked(&agent, question()).await;
    let acknowledge = format!("{path}/acknowledge");
    agent.post(&acknowledge, json!({})).await.problem(409, "not-over");
    let path = given(&world).await;
    let acknowledge = format!("{path}/acknowledge");
    for _ in 0..2 {
        assert_eq!(value(&agent.get(&path).await.is(200)), SECRET);
    }
    world.human().post(&acknowledge, json!({})).await.problem(403, "not-allowed");
    let stranger = world.bearer("dev-agent-key-2");
    stranger.post(&acknowledge, json!({})).await.problem(404, "not-found");
    assert_eq!(value(&agent.get(&path).await.is(200)), SECRET);
    agent.post(&acknowledge, json!({})).await.is(204);
    agent.post(&acknowledge, json!({})).await.is(204);
    let gone = agent.get(&path).await.is(200);
    assert!(value(&gone).starts_with("[redacted:"), "{}", value(&gone));
    assert_eq!(gone["result"]["answer"]["values"]["user"], "ada");
    world.end().await;
}

/// HXP and HITL know no such word: ten minutes after the first reading it is gone.
#[tokio::test]
async fn a_secret_goes_ten_minutes_after_it_was_read() {
    let world = World::dev().await;
    let agent = world.agent();
    let path = given(&world).await;
    // However long it takes until somebody reads it.
    world.advance(3600);
    world.tidy().await;
    let hxp = path.replace("/api/v1/asks/ask_", "/hxp/v1/requests/hxp_");
    let told = agent.get(&hxp).await.is(200);
    assert!(told.text.contains(SECRET), "{}", told.text);
    world.advance(599);
    assert_eq!(value(&agent.get(&path).await.is(200)), SECRET);
    world.advance(1);
    assert!(!agent.get(&path).await.is(200).text.contains(SECRET));
    assert!(!agent.get(&hxp).await.is(200).text.contains(SECRET));
    world.end().await;
}

#[tokio::test]
async fn a_secret_goes_with_the_words_of_its_request() {
    let world = World::dev().await;
    let path = given(&world).await;
    world.human().post(&format!("{path}/erase"), json!({})).await.is(200);
    assert!(!world.agent().get(&path).await.is(200).text.contains(SECRET));
    world.end().await;
}

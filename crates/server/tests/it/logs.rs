//! What operators read in the log: who changed what, which key called, and when a dependency failed
//! and recovered.

use serde_json::{Value, json};

use crate::fake_smtp_server::Post;
use crate::fake_webhook_receiver::{Hook, deliver};
use crate::native::{ASKS, approval, yes};
use crate::webhooks::{answer, ask, endpoint};
use crate::world::{World, eventually, logged};

/// The log lines with this message.
fn lines(message: &str) -> Vec<Value> {
    let lines = logged();
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .filter(|line| line["fields"]["message"] == message)
        .map(|mut line| line["fields"].take())
        .collect()
}

fn find(message: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let found = lines(message);
    found.iter().find(|line| fits(line)).unwrap_or_else(|| panic!("{found:#?}")).clone()
}

#[tokio::test]
async fn a_change_of_the_directory_names_the_object_and_the_actor() {
    let world = World::dev().await;
    let admin = world.human();
    admin.post("/api/v1/people", json!({ "id": "logged_bob", "name": "Bob" })).await.is(201);
    let line = find("directory changed", |line| line["object.id"] == "logged_bob");
    assert_eq!((&line["verb"], &line["object.kind"]), (&json!("add_human"), &json!("human")));
    assert_eq!((&line["actor.kind"], &line["actor.id"]), (&json!("human"), &json!("user_dev")));
    let key = admin.post("/api/v1/keys", json!({ "agent": "agent_dev" })).await.is(201);
    let line = find("directory changed", |line| line["object.id"] == key["id"]);
    assert_eq!((&line["verb"], &line["object.kind"]), (&json!("issue_key"), &json!("key")));
    admin.save("groups", json!({ "id": "logged_ops", "members": ["logged_bob"] })).await.saved();
    let line = find("directory changed", |line| line["object.kind"] == "group");
    assert_eq!(line["object.id"], "logged_ops");
    // What the server does by itself has no id.
    let line = find("directory changed", |line| line["object.id"] == "agent_dev");
    assert_eq!((&line["actor.kind"], &line["actor.id"]), (&json!("system"), &Value::Null));
    assert!(!logged().contains(key["secret"].as_str().unwrap()));
    world.end().await;
}

#[tokio::test]
async fn a_request_names_the_key_and_who_holds_it() {
    let world = World::dev().await;
    let ask = world.agent().header("x-request-id", "logged-ask").post(ASKS, approval()).await;
    let path = format!("{ASKS}/{}/answer", ask.is(201)["id"].as_str().unwrap());
    world.human().header("x-request-id", "logged-answer").post(&path, yes()).await.is(200);
    let stranger = world.bearer("nobody").header("x-request-id", "logged-stranger");
    stranger.post(ASKS, approval()).await.problem(401, "unauthorized");
    let line = |id: &str| find("request served", |line| line["request.id"] == *id);
    let (asked, answered) = (line("logged-ask"), line("logged-answer"));
    assert_eq!((&asked["agent.id"], &asked["human.id"]), (&json!("agent_dev"), &Value::Null));
    assert_eq!((&answered["agent.id"], &answered["human.id"]), (&Value::Null, &json!("user_dev")));
    let keys = world.human().get("/api/v1/keys").await.is(200);
    for (line, holder) in [(&asked, "agent_dev"), (&answered, "user_dev")] {
        let keys = keys["keys"].as_array().unwrap().iter();
        let mut of = keys.filter(|key| key["holder"] == holder).map(|key| &key["id"]);
        assert!(of.any(|id| *id == line["key.id"]), "{line}");
    }
    assert_eq!(line("logged-stranger")["key.id"], Value::Null);
    let all = logged();
    assert!(!all.contains("dev-agent-key") && !all.contains("dev-human-token"));
    world.end().await;
}

/// A mail server that answers nothing but errors for a while: one line when that begins, one when
/// it is over.
#[tokio::test]
async fn a_mail_server_that_fails_is_logged_once_and_its_recovery_once() {
    let post = Post::open(&["451 try later"; 3]).await;
    let world = post.world().await;
    let ada = json!({ "id": "ada", "email": "ada@example.com", "projects": ["dev"] });
    world.human().save("people", ada).await.saved();
    let about = |message: &str| {
        let lines = lines(message);
        lines.into_iter().filter(|line| line["dependency"] == "mail server").collect::<Vec<_>>()
    };
    crate::mail::ask(&world, "ada@example.com").await.is(200);
    for left in [2, 1, 0] {
        eventually("an attempt", async || {
            deliver(&world).await;
            post.left() == left
        })
        .await;
        eventually("the attempt ends", async || world.app().notifier.deliveries.are_idle()).await;
        world.advance(60);
    }
    eventually("the letter arrives", async || {
        deliver(&world).await;
        !post.letters().is_empty() && world.app().notifier.deliveries.are_idle()
    })
    .await;
    let (failed, recovered) = (
        about("dependency failed, will retry; recovery will be logged"),
        about("dependency recovered"),
    );
    assert_eq!((failed.len(), recovered.len()), (1, 1), "{failed:#?} {recovered:#?}");
    assert!(recovered[0]["failures"] == 3, "{recovered:#?}");
    world.end().await;
}

/// Issue 21, point 26: an endpoint that was down logged nothing until its deliveries were given up.
#[tokio::test]
async fn a_webhook_endpoint_that_fails_is_logged_once_and_its_recovery_once() {
    let world = World::dev().await;
    let hook = Hook::open(&[500, 500, 500]).await;
    let made = endpoint(&world, &hook.url, json!({ "events": ["ask.answered"] })).await;
    let name = format!("webhook endpoint {}", made["id"].as_str().unwrap());
    let about = |message: &str| {
        let lines = lines(message);
        lines.into_iter().filter(|line| line["dependency"] == *name).collect::<Vec<_>>()
    };
    let id = ask(&world).await;
    answer(&world, &id).await;
    for times in 1..=4 {
        eventually("an attempt", async || {
            deliver(&world).await;
            hook.heard().len() == times && world.app().notifier.deliveries.are_idle()
        })
        .await;
        world.advance(600);
    }
    let (failed, recovered) = (
        about("dependency failed, will retry; recovery will be logged"),
        about("dependency recovered"),
    );
    assert_eq!((failed.len(), recovered.len()), (1, 1), "{failed:#?} {recovered:#?}");
    assert_eq!(failed[0]["error"], "HTTP status 500");
    assert_eq!(recovered[0]["failures"], 3);
    world.end().await;
}

//! Scripted people and a clock that can be moved, so that agents can be tested without anybody.

use serde_json::{Value, json};
use server::config::Settings;

use crate::client::Client;
use crate::world::{World, dev, eventually};

const CLOCK: &str = "/api/v1/dev/clock";
const SCRIPT: &str = "/api/v1/dev/script";

async fn scripted(script: &str) -> World {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.toml");
    std::fs::write(&path, script).unwrap();
    World::with(Settings { scripted: Some(path), ..dev() }).await
}

async fn asked(agent: &Client, prompt: &str, more: Value) -> String {
    let mut body = json!({ "question": { "prompt": prompt, "kind": "approve" } });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let created = agent.post("/api/v1/asks", body).await.is(201);
    format!("/api/v1/asks/{}", created["id"].as_str().unwrap())
}

/// The report once `n` things were played.
async fn played(world: &World, n: usize) -> Value {
    let done = async || {
        let report = world.human().get(SCRIPT).await.is(200);
        report["played"].as_array().unwrap().len() >= n
    };
    eventually("the script", done).await;
    world.human().get(SCRIPT).await.is(200)["played"].clone()
}

#[tokio::test]
async fn rules_answer_in_order_and_are_used_up() {
    let world = scripted(
        r#"
        [[rule]]
        name = "refunds"
        when = { prompt = "(?i)refund" }
        answer = "no"
        comment = "too much"
        times = 1
        [[rule]]
        when = { tag = "silent" }
        [[rule]]
        answer = "yes"
        by = "user_dev"
        "#,
    )
    .await;
    let agent = world.agent();
    let first = asked(&agent, "Refund 7?", json!({})).await;
    let second = asked(&agent, "Refund 8?", json!({})).await;
    let third = asked(&agent, "Go?", json!({ "tags": ["silent"] })).await;
    let whats: Vec<Value> =
        played(&world, 3).await.as_array().unwrap().iter().map(|one| one["what"].clone()).collect();
    assert_eq!(whats, ["answered", "answered", "ignored"]);
    assert_eq!(agent.get(&first).await.is(200)["state"], "completed");
    let text = agent.get(&first).await.is(200).text;
    assert!(text.contains("\"rejected\"") && text.contains("too much"), "{text}");
    assert!(text.contains("\"script\""), "a scripted answer says so: {text}");
    assert!(agent.get(&second).await.is(200).text.contains("\"approved\""));
    assert_eq!(agent.get(&third).await.is(200)["state"], "pending");
    let rules = world.human().get(SCRIPT).await.is(200)["rules"].clone();
    assert_eq!(rules[0], json!({ "rule": "refunds", "used": 1 }));
    world.end().await;
}

/// Whoever moves the clock finds everything done that was due by then.
#[tokio::test]
async fn the_clock_is_moved_and_what_is_due_has_happened() {
    let world =
        scripted("[[rule]]\nwhen = { tag = \"slow\" }\nafter = \"2h\"\nanswer = \"yes\"\n").await;
    let agent = world.agent();
    let slow = asked(&agent, "Slow?", json!({ "tags": ["slow"] })).await;
    let lapsing = json!({ "timeout_seconds": 3600, "on_expiry": "fail" });
    let never = asked(&agent, "Never?", lapsing).await;
    let before = agent.get(CLOCK).await.is(200)["now"].as_str().unwrap().to_owned();
    agent.post(CLOCK, json!({ "advance": "59m" })).await.is(200);
    assert_eq!(agent.get(&slow).await.is(200)["state"], "pending");
    assert_eq!(agent.get(&never).await.is(200)["state"], "pending");
    agent.post(CLOCK, json!({ "advance": "1m" })).await.is(200);
    assert_eq!(agent.get(&never).await.is(200)["state"], "failed");
    assert_eq!(agent.get(&slow).await.is(200)["state"], "pending");
    let after = agent.post(CLOCK, json!({ "advance": "1h" })).await.is(200);
    assert_eq!(agent.get(&slow).await.is(200)["state"], "completed");
    let hours = after["now"].as_str().unwrap().parse::<kernel::Time>().unwrap();
    assert_eq!(hours.seconds_since(before.parse().unwrap()), 7200);
    world.end().await;
}

#[tokio::test]
async fn a_script_is_replaced_while_the_server_runs() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let early = asked(&agent, "Early?", json!({})).await;
    let script = json!({ "rule": [{ "answer": { "verdict": "approved" }, "by": "user_dev_2" }] });
    human.put(SCRIPT, script).await.is(200);
    let late = asked(&agent, "Late?", json!({})).await;
    // Not asked by name and not the owner: the rule names somebody who may not answer.
    let report = played(&world, 1).await;
    assert_eq!(report[0]["what"], "refused");
    assert_eq!(report[0]["why"], "request not found");
    human.put(SCRIPT, json!({ "rule": [{ "comment": "look again" }] })).await.is(200);
    let remarked = asked(&agent, "Remarked?", json!({})).await;
    assert_eq!(played(&world, 1).await[0]["what"], "commented");
    for path in [early, late, remarked] {
        assert_eq!(agent.get(&path).await.is(200)["state"], "pending");
    }
    world.end().await;
}

#[tokio::test]
async fn bad_scripts_and_times_are_refused_and_change_nothing() {
    let world = scripted("[[rule]]\nname = \"kept\"\nanswer = \"yes\"\n").await;
    let human = world.human();
    for script in [json!({ "rules": [] }), json!({ "rule": [{ "times": 0 }] })] {
        human.put(SCRIPT, script).await.problem(422, "invalid-field");
    }
    for time in [json!({ "advance": "-1h" }), json!({ "advance": 5 }), json!({})] {
        human.post(CLOCK, time).await.problem(422, "invalid-field");
    }
    assert_eq!(human.get(SCRIPT).await.is(200)["rules"][0]["rule"], "kept");
    world.end().await;
}

/// Without `--dev` there is no clock to move and nobody to script.
#[tokio::test]
async fn only_development_mode_has_them() {
    let tokens = Some(vec![server::config::SecretString::new("person")]);
    let world = World::with(Settings { human_tokens: tokens, ..Settings::default() }).await;
    let person = world.bearer("person");
    person.get(CLOCK).await.problem(404, "not-found");
    person.post(CLOCK, json!({ "advance": "1h" })).await.problem(404, "not-found");
    person.put(SCRIPT, json!({})).await.problem(404, "not-found");
    world.end().await;
}

//! Our own API: what is wrong is named by the field the caller wrote, and nothing is dropped.

use serde_json::{Value, json};

use crate::client::with;
use crate::native::{ASKS, approval, asked, yes};
use crate::world::World;

/// How every place of a body is named is the table of `explain.rs`; here is what the rules say.
#[tokio::test]
async fn the_field_that_was_written_is_named() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let ask = asked(&agent, approval()).await;
    let of = |verb: &str| format!("{ask}/{verb}");
    let asking = |more: Value| (ASKS.to_owned(), with(approval(), more));
    let unknown = "unknown field; allowed fields: details, editable, reject_requires_reason, reject_options; did you mean \"details\"?";
    let person = "a person who is a member of this project";
    let group = "a group with members in this project";
    let remark = "a string of 1 to 4000 characters, none of them NUL";
    let keys = || "/api/v1/keys".to_owned();
    let clock = || "/api/v1/dev/clock".to_owned();
    let century = "at most 100 years";
    for (who, (path, body), field, expected) in [
        (&agent, asking(json!({ "question": { "detail": {} } })), "question.detail", unknown),
        (
            &agent,
            asking(json!({ "route": { "to": "pool", "groups": "ops" } })),
            "route.groups",
            "unknown field; allowed fields: group; did you mean \"group\"?",
        ),
        (
            &agent,
            asking(json!({ "route": { "to": "pool", "group": "ops" } })),
            "route.group",
            group,
        ),
        (
            &agent,
            asking(json!({ "route": { "to": "person", "human": "ada" } })),
            "route.human",
            person,
        ),
        (&agent, asking(json!({ "timeout_seconds": 1_u64 << 40 })), "timeout_seconds", century),
        (
            &human,
            (of("answer"), json!({ "answer": { "verdict": "approved", "edit": {} } })),
            "answer.edit",
            "unknown field; allowed fields: edits; did you mean \"edits\"?",
        ),
        (&human, (of("assign"), json!({ "to": "ada" })), "to", person),
        (&human, (of("assign"), json!({ "to": "user_dev_2", "note": "" })), "note", remark),
        (&agent, (of("comments"), json!({ "text": " " })), "text", remark),
        (&human, (keys(), json!({})), "agent", "`agent` or `human`"),
        (
            &human,
            (keys(), json!({ "agent": "agent_dev", "human": "user_dev" })),
            "human",
            "`agent` or `human`, not both",
        ),
        (
            &human,
            (keys(), json!({ "human": "user_dev", "reach": "agent" })),
            "reach",
            "no value, because it requires `agent`",
        ),
        (&human, (keys(), json!({ "agent": "nobody" })), "agent", "the ID of an existing agent"),
        (&human, (keys(), json!({ "human": "nobody" })), "human", "the ID of an existing person"),
        (&agent, (clock(), json!({ "advance": "999999999999999h" })), "advance", century),
    ] {
        let refused = who.post(&path, body.clone()).await.problem(422, "invalid-field");
        let wrong = json!([{ "field": field, "expected": expected }]);
        assert_eq!(refused["errors"], wrong, "{path} {body}");
        let says = if expected.starts_with("unknown field") { "" } else { "expected " };
        assert_eq!(refused["detail"], format!("{field}: {says}{expected}"));
    }
    // A group with somebody in it is fine, and nothing of the above was asked or changed.
    world.add_to_group("user_dev_2", "ops").await;
    let pool = with(approval(), json!({ "route": { "to": "pool", "group": "ops" } }));
    agent.post(ASKS, pool).await.is(201);
    let open = agent.get(&format!("{ASKS}?state=open")).await.is(200);
    assert_eq!(open["asks"].as_array().unwrap().len(), 2);
    assert_eq!(agent.get(&ask).await["version"], 1);
    let now = agent.get("/api/v1/dev/clock").await["now"].clone();
    assert!(now.as_str().unwrap().starts_with("2026-"), "{now}");
    world.end().await;
}

/// What never runs out has no deadline, whatever moment is named.
#[tokio::test]
async fn an_ask_without_a_deadline_is_not_extended() {
    let world = World::dev().await;
    let path = asked(&world.agent(), approval()).await;
    let until = json!({ "until": "2030-01-31T12:00:00Z" });
    let refused = world.agent().post(&format!("{path}/extend"), until).await;
    let refused = refused.problem(409, "no-deadline");
    assert_eq!(refused.json.get("errors"), None);
    assert!(refused["detail"].as_str().unwrap().contains("no deadline"), "{}", refused.text);
    world.end().await;
}

/// A good credential of the wrong kind is told which kind is needed; one that is not good is not.
#[tokio::test]
async fn the_wrong_kind_of_credential_is_told_so() {
    let world = World::dev().await;
    let ask = asked(&world.agent(), approval()).await;
    let person = "this path requires a person's token, but this is an agent key";
    for (verb, body) in
        [("answer", yes()), ("claim", json!({})), ("assign", json!({ "to": "user_dev" }))]
    {
        let path = format!("{ask}/{verb}");
        let refused = world.agent().post(&path, body.clone()).await.problem(403, "not-allowed");
        assert_eq!(refused["detail"], person, "{verb}");
        world.bearer("nobody").post(&path, body).await.problem(401, "unauthorized");
    }
    for path in ["people", "agents", "projects", "groups", "keys", "rules"] {
        let path = format!("/api/v1/{path}");
        let refused = world.agent().get(&path).await.problem(403, "not-allowed");
        assert_eq!(refused["detail"], person, "{path}");
        world.anonymous().get(&path).await.problem(401, "unauthorized");
    }
    let refused = world.human().post(ASKS, approval()).await.problem(403, "not-allowed");
    assert_eq!(refused["detail"], "this path requires an agent key, but this is a person's token");
    world.bearer("nobody").post(ASKS, approval()).await.problem(401, "unauthorized");
    world.end().await;
}

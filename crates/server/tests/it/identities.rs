//! Projects, agents, people and keys over `/api/v1`.

use serde_json::{Value, json};

use crate::client::{Reply, approve};
use crate::world::World;

/// The key with this id in a listing.
fn key<'a>(listing: &'a Reply, id: &Value) -> Option<&'a Value> {
    listing["keys"].as_array().unwrap().iter().find(|key| key["id"] == *id)
}

#[tokio::test]
async fn a_new_project_with_its_agent_and_person() {
    let world = World::dev().await;
    let admin = world.human();
    let project = json!({
        "id": "shop", "default_on_silence": false, "floor": "session",
        "ladder": [{ "after": 60, "seat": "pool", "group": null }],
    });
    let saved = admin.post("/api/v1/projects", project.clone()).await.is(201);
    assert_eq!(saved.json, project);
    let person = json!({
        "id": "ada", "name": "Ada", "email": "ada@example.com", "admin": false, "active": true,
        "projects": ["shop"], "groups": ["ops"], "skills": ["sql"],
    });
    assert_eq!(admin.post("/api/v1/people", person.clone()).await.is(201).json, person);
    let agent = json!({ "id": "clerk", "project": "shop", "owner": "ada" });
    assert_eq!(admin.post("/api/v1/agents", agent.clone()).await.is(201).json, agent);
    for (path, name, made) in [
        ("/api/v1/projects", "projects", project),
        ("/api/v1/people", "people", person),
        ("/api/v1/agents", "agents", agent),
    ] {
        let listed = admin.get(path).await.is(200);
        assert!(listed[name].as_array().unwrap().contains(&made), "{}", listed.text);
    }
    let issued =
        admin.post("/api/v1/keys", json!({ "agent": "clerk", "label": "ci" })).await.is(201);
    let clerk = world.bearer(issued["secret"].as_str().unwrap());
    let me = clerk.get("/api/v1/me").await.is(200);
    assert_eq!(
        me.json,
        json!({ "kind": "agent", "id": "clerk", "project": "shop", "reach": "agent" })
    );
    let issued = admin.post("/api/v1/keys", json!({ "human": "ada" })).await.is(201);
    let ada = world.bearer(issued["secret"].as_str().unwrap());
    let me = ada.get("/api/v1/me").await.is(200);
    assert_eq!(me.json, json!({ "kind": "human", "id": "ada", "admin": false }));
    let id = clerk.ask(approve("Restock")).await;
    ada.resolve(&id, json!({ "result": "approved" })).await.is(200);
    world.end().await;
}

/// Secrets are shown once, never listed, and only their hash is on disk.
#[tokio::test]
async fn secrets_are_shown_once() {
    let world = World::dev().await;
    let admin = world.human();
    let body = json!({ "agent": "agent_dev", "label": "laptop" });
    let issued = admin.post("/api/v1/keys", body).await.is(201);
    let secret = issued["secret"].as_str().unwrap();
    assert!(secret.starts_with("cs_agent_"), "{secret}");
    assert_eq!(issued["last_used_at"], Value::Null);
    let listed = admin.get("/api/v1/keys").await.is(200);
    let shown = key(&listed, &issued["id"]).unwrap();
    assert_eq!((&shown["label"], &shown["kind"]), (&json!("laptop"), &json!("agent_key")));
    assert!(!listed.text.contains(secret) && !listed.text.contains("\"secret\""));
    assert!(!listed.text.contains("dev-agent-key"));

    let agent = world.bearer(secret);
    agent.ask(approve("x")).await;
    world.tidy().await;
    let listed = admin.get("/api/v1/keys").await.is(200);
    let used = &key(&listed, &issued["id"]).unwrap()["last_used_at"];
    assert_eq!(*used, "2026-03-01T09:00:00.000Z");
    world.advance(3600);
    agent.list("").await.is(200);
    world.tidy().await;
    let listed = admin.get("/api/v1/keys").await.is(200);
    let used = &key(&listed, &issued["id"]).unwrap()["last_used_at"];
    assert_eq!(*used, "2026-03-01T10:00:00.000Z");
    for entry in std::fs::read_dir(world.folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "the secret is in {}", path.display());
        }
    }
    world.end().await;
}

/// Members manage nothing but their own.
#[tokio::test]
async fn only_administrators_manage() {
    let world = World::dev().await;
    let member = world.member();
    for path in ["/api/v1/projects", "/api/v1/agents", "/api/v1/people"] {
        member.get(path).await.problem(403, "not-allowed");
        world.agent().get(path).await.problem(401, "unauthorized");
    }
    for (path, body) in [
        ("/api/v1/projects", json!({ "id": "mine" })),
        ("/api/v1/agents", json!({ "id": "mine", "project": "dev", "owner": "user_dev_2" })),
        ("/api/v1/people", json!({ "id": "user_dev_2", "admin": true, "projects": ["dev"] })),
        ("/api/v1/keys", json!({ "agent": "agent_dev" })),
        ("/api/v1/keys", json!({ "human": "user_dev" })),
    ] {
        member.post(path, body.clone()).await.problem(403, "not-allowed");
        world.agent().post(path, body).await.problem(401, "unauthorized");
    }
    let listed = member.get("/api/v1/keys").await.is(200);
    let holders = listed["keys"].as_array().unwrap();
    assert!(holders.iter().all(|key| key["holder"] == "user_dev_2"), "{}", listed.text);
    assert_eq!(holders.len(), 1);
    let all = world.human().get("/api/v1/keys").await.is(200);
    for key in all["keys"].as_array().unwrap() {
        if key["holder"] != "user_dev_2" {
            let path = format!("/api/v1/keys/{}", key["id"].as_str().unwrap());
            member.delete(&path).await.problem(404, "not-found");
        }
    }
    world.end().await;
}

/// People issue and revoke their own tokens, and keys of the agents they own.
#[tokio::test]
async fn owners_issue_keys_for_their_agents() {
    let world = World::dev().await;
    let body = json!({ "id": "helper", "project": "dev", "owner": "user_dev_2" });
    world.human().post("/api/v1/agents", body).await.is(201);
    let member = world.member();
    for body in [json!({ "agent": "helper" }), json!({ "human": "user_dev_2" })] {
        let issued = member.post("/api/v1/keys", body).await.is(201);
        let secret = issued["secret"].as_str().unwrap();
        world.bearer(secret).get("/api/v1/me").await.is(200);
        let listed = member.get("/api/v1/keys").await.is(200);
        assert!(key(&listed, &issued["id"]).is_some());
        let path = format!("/api/v1/keys/{}", issued["id"].as_str().unwrap());
        member.delete(&path).await.is(204);
        member.delete(&path).await.is(204);
        world.bearer(secret).get("/api/v1/me").await.problem(401, "unauthorized");
        let listed = member.get("/api/v1/keys").await.is(200);
        assert!(key(&listed, &issued["id"]).unwrap()["revoked_at"].is_string());
    }
    world.end().await;
}

/// What makes no sense is refused with the field that is wrong.
#[tokio::test]
async fn identities_that_make_no_sense() {
    let world = World::dev().await;
    let admin = world.human();
    for (path, body) in [
        ("/api/v1/projects", json!({})),
        ("/api/v1/projects", json!({ "id": "" })),
        ("/api/v1/projects", json!({ "id": "x", "colour": "red" })),
        ("/api/v1/agents", json!({ "id": "x", "project": "nowhere", "owner": "user_dev" })),
        ("/api/v1/agents", json!({ "id": "x", "project": "dev", "owner": "nobody" })),
        ("/api/v1/people", json!({ "id": "x", "email": "no address" })),
        ("/api/v1/people", json!({ "id": "x", "projects": ["nowhere"] })),
        ("/api/v1/keys", json!({})),
        ("/api/v1/keys", json!({ "agent": "agent_dev", "human": "user_dev" })),
        ("/api/v1/keys", json!({ "human": "user_dev", "reach": "project" })),
        ("/api/v1/keys", json!({ "agent": "nobody" })),
        ("/api/v1/keys", json!({ "agent": "agent_dev", "reach": "world" })),
    ] {
        let refused = admin.post(path, body.clone()).await.problem(422, "invalid-field");
        assert!(refused["errors"][0]["field"].is_string(), "{body}: {}", refused.text);
    }
    admin.post_raw("/api/v1/people", "{").await.problem(400, "invalid-json");
    admin.post_raw("/api/v1/people", "").await.problem(400, "invalid-json");
    admin.delete("/api/v1/keys/nonsense").await.problem(404, "not-found");
    assert_eq!(admin.get("/api/v1/agents").await["agents"].as_array().unwrap().len(), 2);
    world.end().await;
}

/// A project that forbids defaults on silence refuses them in words the agent understands.
#[tokio::test]
async fn a_project_may_forbid_defaults() {
    let world = World::dev().await;
    let strict = json!({ "id": "dev", "default_on_silence": false });
    world.human().post("/api/v1/projects", strict).await.is(201);
    let body = json!({
        "action": "DECIDE", "timeout_seconds": 5, "fallback": "default",
        "payload": { "question": "?", "options": ["a", "b"], "default_option": "a" },
    });
    world.agent().post("/hxp/v1/requests", body).await.error(400, "invalid_fallback");
    world.end().await;
}

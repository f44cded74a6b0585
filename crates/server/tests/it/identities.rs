//! Projects, agents, people and keys over `/api/v1`.

use reqwest::Method;
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
        "ladder": [{ "after": 60, "seat": "pool", "group": null }], "reminders": [900],
        "envelopes": "lenient", "irreversible_assurance": null, "recipients": "any",
        "allowed_recipients": [], "quotas": {},
    });
    let saved = admin.save("projects", project.clone()).await.saved();
    assert_eq!(saved.json, project);
    let person = json!({
        "id": "ada", "name": "Ada", "email": "ada@example.com", "admin": false, "active": true,
        "projects": ["shop"], "groups": ["ops"], "skills": ["sql"],
        "about": { "time_zone": "Europe/London" },
        "contacts": [{ "via": "sms", "number": "+4930123456" }],
    });
    assert_eq!(admin.save("people", person.clone()).await.saved().json, person);
    let agent = json!({ "id": "clerk", "project": "shop", "owner": "ada", "conversations": true });
    assert_eq!(admin.save("agents", agent.clone()).await.saved().json, agent);
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
    // An agent learns nothing about who else there is.
    for path in ["projects", "agents/clerk", "people/ada", "groups", "keys", "rules"] {
        clerk.get(&format!("/api/v1/{path}")).await.problem(403, "not-allowed");
    }
    let issued = admin.post("/api/v1/keys", json!({ "human": "ada" })).await.is(201);
    let ada = world.bearer(issued["secret"].as_str().unwrap());
    let me = ada.get("/api/v1/me").await.is(200);
    assert_eq!((&me["kind"], &me["id"]), (&json!("human"), &json!("ada")));
    assert_eq!((&me["admin"], &me["groups"]), (&json!(false), &json!(["ops"])));
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

/// `POST` adds and never replaces; `PATCH` changes what it names, and `null` clears.
#[tokio::test]
async fn people_are_added_once_and_changed_field_by_field() {
    let world = World::dev().await;
    let admin = world.human();
    let bob = json!({ "id": "bob", "name": "Bob", "projects": ["dev"], "groups": ["ops"] });
    admin.post("/api/v1/people", bob.clone()).await.is(201);
    let again = json!({ "id": "bob", "email": "bob@example.com" });
    let taken = admin.post("/api/v1/people", again).await.problem(409, "exists");
    assert!(taken.text.contains("this person exists already"), "{}", taken.text);
    let unnamed = admin.post("/api/v1/people", json!({ "name": "x" })).await;
    unnamed.problem(422, "invalid-field");
    admin.post("/api/v1/projects", json!({ "id": "dev" })).await.problem(409, "exists");
    admin.post("/api/v1/projects", json!({ "id": "fresh" })).await.is(201);

    let patch = |body: Value| {
        let request = admin.request(Method::PATCH, "/api/v1/people/bob");
        Reply::of(request.json(&body))
    };
    let changed = patch(json!({ "email": "bob@example.com" })).await.is(200);
    assert_eq!((&changed["name"], &changed["email"]), (&json!("Bob"), &json!("bob@example.com")));
    assert_eq!((&changed["projects"], &changed["groups"]), (&json!(["dev"]), &json!(["ops"])));
    let cleared = patch(json!({ "email": null, "groups": null, "active": false })).await.is(200);
    assert_eq!((&cleared["email"], &cleared["groups"]), (&Value::Null, &json!([])));
    assert_eq!((&cleared["name"], &cleared["active"]), (&json!("Bob"), &json!(false)));
    assert_eq!(patch(json!({})).await.is(200)["name"], "Bob");
    patch(json!({ "active": null })).await.problem(422, "invalid-field");
    patch(json!({ "nmae": "x" })).await.problem(422, "invalid-field");
    patch(json!({ "projects": ["none"] })).await.problem(422, "invalid-field");
    let nobody = admin.request(Method::PATCH, "/api/v1/people/nobody").json(&json!({}));
    Reply::of(nobody).await.problem(404, "not-found");
    for stranger in [world.member(), world.agent()] {
        stranger.post("/api/v1/people", bob.clone()).await.problem(403, "not-allowed");
        let request = stranger.request(Method::PATCH, "/api/v1/people/bob").json(&json!({}));
        Reply::of(request).await.problem(403, "not-allowed");
    }
    world.end().await;
}

/// Two administrators who change different fields at the same moment undo nothing of each other.
#[tokio::test]
async fn changes_of_different_fields_at_once_both_hold() {
    let world = World::dev().await;
    let admin = world.human();
    admin.post("/api/v1/people", json!({ "id": "bob", "projects": ["dev"] })).await.is(201);
    for round in 0..10 {
        let (name, skill) = (format!("Bob {round}"), format!("skill-{round}"));
        let patch = |body: Value| {
            let request = admin.request(Method::PATCH, "/api/v1/people/bob");
            Reply::of(request.json(&body))
        };
        let (first, second) =
            tokio::join!(patch(json!({ "name": name })), patch(json!({ "skills": [skill] })));
        first.is(200);
        second.is(200);
        let bob = admin.get("/api/v1/people/bob").await.is(200);
        assert_eq!((&bob["name"], &bob["skills"]), (&json!(name), &json!([skill])));
    }
    world.end().await;
}

/// Names of several words are accepted in both spellings, and answers use the canonical one.
#[tokio::test]
async fn both_spellings_of_a_name_are_accepted() {
    let world = World::dev().await;
    let admin = world.human();
    for floor in ["agent_attested", "agent-attested"] {
        let saved = admin.save("projects", json!({ "id": "dev", "floor": floor })).await.saved();
        assert_eq!(saved["floor"], "agent-attested");
    }
    for on_expiry in ["stay_open", "stay-open"] {
        let body = json!({
            "question": { "kind": "approve", "prompt": "Go?" }, "on_expiry": on_expiry,
            "assurance": "agent_attested",
        });
        let id = world.agent().post("/api/v1/asks", body).await.is(201)["id"].clone();
        let answer = json!({ "answer": { "verdict": "changes-requested" }, "comment": "no" });
        let path = format!("/api/v1/asks/{}/answer", id.as_str().unwrap());
        let answered = admin.post(&path, answer).await.is(200);
        assert_eq!(answered["result"]["answer"]["verdict"], "changes_requested");
    }
    let wrong = json!({ "id": "dev", "floor": "agent attested" });
    let wrong = admin.save("projects", wrong).await.problem(422, "invalid-field");
    let detail = wrong["detail"].as_str().unwrap();
    assert_eq!(
        detail,
        "floor: expected `none`, `agent-attested`, `link`, `channel`, `session` or `passkey`; \
         did you mean \"agent-attested\"?"
    );
    world.end().await;
}

/// Members manage nothing but their own.
#[tokio::test]
async fn only_administrators_manage() {
    let world = World::dev().await;
    let member = world.member();
    for path in ["projects", "agents", "people", "groups", "projects/dev", "people/user_dev_2"] {
        let path = format!("/api/v1/{path}");
        member.get(&path).await.problem(403, "not-allowed");
        world.agent().get(&path).await.problem(403, "not-allowed");
    }
    for (what, body) in [
        ("projects", json!({ "id": "mine" })),
        ("agents", json!({ "id": "mine", "project": "dev", "owner": "user_dev_2" })),
        ("people", json!({ "id": "user_dev_2", "admin": true, "projects": ["dev"] })),
        ("groups", json!({ "id": "mine", "members": ["user_dev_2"] })),
    ] {
        member.save(what, body.clone()).await.problem(403, "not-allowed");
        world.agent().save(what, body).await.problem(403, "not-allowed");
    }
    for body in [json!({ "agent": "agent_dev" }), json!({ "human": "user_dev" })] {
        member.post("/api/v1/keys", body.clone()).await.problem(403, "not-allowed");
        world.agent().post("/api/v1/keys", body).await.problem(403, "not-allowed");
    }
    let listed = member.get("/api/v1/keys").await.is(200);
    let holders = listed["keys"].as_array().unwrap();
    assert!(holders.iter().all(|key| key["holder"] == "user_dev_2"), "{}", listed.text);
    assert_eq!(holders.len(), 1);
    let all = world.human().get("/api/v1/keys").await.is(200);
    for key in all["keys"].as_array().unwrap() {
        let path = format!("/api/v1/keys/{}", key["id"].as_str().unwrap());
        if key["holder"] == "user_dev_2" {
            assert_eq!(member.get(&path).await.is(200)["id"], key["id"]);
        } else {
            member.get(&path).await.problem(404, "not-found");
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
    world.human().save("agents", body).await.saved();
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
    for (path, body, field) in [
        ("projects/_x", json!({}), "id"),
        ("projects/x", json!({ "id": "y" }), "id"),
        ("projects/x", json!({ "colour": "red" }), "colour"),
        ("projects/x", json!({ "ladder": [{ "after": -1, "seat": "pool" }] }), "ladder[0]"),
        ("agents/x", json!({ "project": "nowhere", "owner": "user_dev" }), "project"),
        ("agents/x", json!({ "project": "dev", "owner": "nobody" }), "owner"),
        ("agents/agent_dev", json!({ "project": "dev2", "owner": "user_dev" }), "project"),
        ("people/x", json!({ "email": "no address" }), "email"),
        ("people/x", json!({ "projects": ["nowhere"] }), "projects"),
        ("groups/x", json!({ "members": ["nobody"] }), "members"),
        ("groups/x", json!({}), ""),
    ] {
        let refused = admin.put(&format!("/api/v1/{path}"), body.clone()).await;
        let refused = refused.problem(422, "invalid-field");
        let named = refused["errors"][0]["field"].as_str().unwrap();
        assert!(named.starts_with(field), "{body}: {}", refused.text);
    }
    for body in [
        json!({}),
        json!({ "agent": "agent_dev", "human": "user_dev" }),
        json!({ "human": "user_dev", "reach": "project" }),
        json!({ "agent": "nobody" }),
        json!({ "agent": "agent_dev", "reach": "world" }),
        json!({ "agent": "agent_dev", "expires_at": "2026-03-01T09:00:00Z" }),
        json!({ "agent": "agent_dev", "expires_at": "soon" }),
    ] {
        let refused = admin.post("/api/v1/keys", body.clone()).await.problem(422, "invalid-field");
        assert!(refused["errors"][0]["field"].is_string(), "{body}: {}", refused.text);
    }
    for body in ["{", ""] {
        let put = admin.request(Method::PUT, "/api/v1/people/x").body(body);
        Reply::of(put).await.problem(400, "invalid-json");
    }
    for path in ["projects/x", "agents/x", "people/x", "groups/x", "keys/x", "people/%ff"] {
        admin.get(&format!("/api/v1/{path}")).await.problem(404, "not-found");
    }
    admin.delete("/api/v1/keys/nonsense").await.problem(404, "not-found");
    assert_eq!(admin.get("/api/v1/agents").await["agents"].as_array().unwrap().len(), 2);
    world.end().await;
}

/// A project that forbids defaults on silence refuses them in words the agent understands.
#[tokio::test]
async fn a_project_may_forbid_defaults() {
    let world = World::dev().await;
    let strict = json!({ "id": "dev", "default_on_silence": false });
    world.human().save("projects", strict).await.saved();
    let body = json!({
        "action": "DECIDE", "timeout_seconds": 5, "fallback": "default",
        "payload": { "question": "?", "options": ["a", "b"], "default_option": "a" },
    });
    world.agent().post("/hxp/v1/requests", body).await.error(400, "invalid_fallback");
    world.end().await;
}

/// What is put is there under its name, new or changed.
#[tokio::test]
async fn what_is_put_can_be_fetched() {
    let world = World::dev().await;
    let admin = world.human();
    for (path, first, second) in [
        ("projects/shop", json!({}), json!({ "default_on_silence": false })),
        (
            "agents/clerk",
            json!({ "project": "dev", "owner": "user_dev" }),
            json!({ "project": "dev", "owner": "user_dev_2" }),
        ),
        ("people/ada", json!({}), json!({ "name": "Ada" })),
        ("groups/ops", json!({ "members": ["ada"] }), json!({ "members": ["ada", "user_dev"] })),
    ] {
        let path = format!("/api/v1/{path}");
        let made = admin.put(&path, first).await.is(201);
        assert_eq!(admin.get(&path).await.is(200).json, made.json);
        let changed = admin.put(&path, second).await.is(200);
        assert_ne!(changed.json, made.json);
        // What was fetched can be put back.
        assert_eq!(admin.put(&path, changed.json.clone()).await.is(200).json, changed.json);
        assert_eq!(admin.get(&path).await.is(200).json, changed.json);
    }
    assert_eq!(admin.get("/api/v1/people/ada").await["groups"], json!(["ops"]));
    let left = admin.put("/api/v1/groups/ops", json!({ "members": [] })).await.is(200);
    assert_eq!(left["members"], json!([]));
    admin.get("/api/v1/groups/ops").await.problem(404, "not-found");
    world.end().await;
}

/// Every list comes in pages that join without gaps.
#[tokio::test]
async fn lists_come_in_pages() {
    let world = World::dev().await;
    let admin = world.human();
    for n in 0..5 {
        let id = format!("p{n}");
        admin.save("projects", json!({ "id": id })).await.is(201);
        admin.save("people", json!({ "id": id })).await.is(201);
        let agent = json!({ "id": id, "project": id, "owner": id });
        admin.save("agents", agent).await.is(201);
        admin.save("groups", json!({ "id": id, "members": [id] })).await.is(201);
        admin.post("/api/v1/keys", json!({ "human": id })).await.is(201);
    }
    for what in ["projects", "agents", "people", "groups", "keys"] {
        let path = format!("/api/v1/{what}");
        let whole = admin.get(&format!("{path}?limit=100")).await.is(200);
        assert_eq!((whole["next"].clone(), whole.header("link")), (Value::Null, ""));
        let (mut joined, mut next) = (Vec::new(), format!("{path}?limit=2"));
        loop {
            let page = admin.get(&next).await.is(200);
            let items = page[what].as_array().unwrap();
            assert!((1..=2).contains(&items.len()), "{}", page.text);
            joined.extend(items.clone());
            let Some(cursor) = page["next"].as_str() else { break };
            next = format!("{path}?limit=2&cursor={cursor}");
            assert_eq!(page.header("link"), format!("<{next}>; rel=\"next\""));
        }
        assert_eq!(Value::Array(joined), whole[what]);
        for (query, field) in [
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("limit=x", "limit"),
            ("limit=1&limit=2", "limit"),
            ("colour=red", "colour"),
        ] {
            let refused = admin.get(&format!("{path}?{query}")).await.problem(400, "invalid-field");
            assert_eq!(refused["errors"][0]["field"], field);
        }
        for cursor in ["x", "", "AAAAAAAAAAAA"] {
            let refused = admin.get(&format!("{path}?cursor={cursor}")).await;
            assert_eq!(refused.problem(422, "invalid-field")["errors"][0]["field"], "cursor");
        }
    }
    // A cursor belongs to its list.
    let page = admin.get("/api/v1/projects?limit=1").await.is(200);
    let cursor = page["next"].as_str().unwrap();
    let other = admin.get(&format!("/api/v1/people?cursor={cursor}")).await;
    other.problem(422, "invalid-field");
    world.end().await;
}

/// A key that runs out by itself.
#[tokio::test]
async fn a_key_may_run_out() {
    let world = World::dev().await;
    let body = json!({ "agent": "agent_dev", "expires_at": "2026-03-01T09:01:00Z" });
    let issued = world.human().post("/api/v1/keys", body).await.is(201);
    assert_eq!(issued["expires_at"], "2026-03-01T09:01:00.000Z");
    let agent = world.bearer(issued["secret"].as_str().unwrap());
    agent.get("/api/v1/me").await.is(200);
    world.advance(60);
    agent.get("/api/v1/me").await.problem(401, "unauthorized");
    world.end().await;
}

/// A person's own rules: added, listed in the order in which they are tried, removed.
#[tokio::test]
async fn rules_hand_asks_on() {
    let world = World::dev().await;
    let (owner, member) = (world.human(), world.member());
    let rule = json!({
        "kinds": ["approve"], "project": "dev", "tag": "finance", "priority": "high",
        "delegate_to": "user_dev_2",
    });
    let added = owner.post("/api/v1/rules", rule).await.is(201);
    let bare = owner.post("/api/v1/rules", json!({ "delegate_to": "nobody_yet" })).await.is(201);
    assert_eq!((&bare["kinds"], &bare["project"]), (&json!([]), &Value::Null));
    let listed = owner.get("/api/v1/rules").await.is(200);
    assert_eq!(listed["rules"], json!([added.json, bare.json]));
    assert_eq!(member.get("/api/v1/rules").await.is(200)["rules"], json!([]));
    let ask = json!({
        "question": { "kind": "approve", "prompt": "Pay?" }, "priority": "high",
        "route": { "to": "delegate" }, "tags": ["finance"],
    });
    let asked = world.agent().post("/api/v1/asks", ask).await.is(201);
    assert_eq!(asked["seats"], json!([{ "seat": "person", "human": "user_dev_2" }]));
    let path = format!("/api/v1/rules/{}", added["id"].as_str().unwrap());
    member.delete(&path).await.problem(404, "not-found");
    owner.delete(&path).await.is(204);
    owner.delete(&path).await.problem(404, "not-found");
    for (body, field) in [
        (json!({}), ""),
        (json!({ "delegate_to": "a b" }), "delegate_to"),
        (json!({ "delegate_to": "x", "project": "" }), "project"),
        (json!({ "delegate_to": "x", "tag": "" }), "tag"),
        (json!({ "delegate_to": "x", "kinds": ["guess"] }), "kinds"),
        (json!({ "delegate_to": "x", "until": 3 }), "until"),
    ] {
        let refused = owner.post("/api/v1/rules", body).await.problem(422, "invalid-field");
        let named = refused["errors"][0]["field"].as_str().unwrap();
        assert!(named.starts_with(field), "{}", refused.text);
    }
    assert_eq!(owner.get("/api/v1/rules").await["rules"].as_array().unwrap().len(), 1);
    world.end().await;
}

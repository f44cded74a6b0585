//! HACP: what a credential shows, and what it does not. A key that is good for one agent shows what
//! that agent has to do with, task by task and version by version.

use serde_json::{Value, json};

use crate::client::Client;
use crate::hacp::{begun, done, inline, op, refused};
use crate::streams::Events;
use crate::world::World;

const EVENTS: &str = "/hacp/v1/events";

/// Another agent of the project, with a key of its own and one for the whole project.
async fn clerk(world: &World) -> (Client, Client) {
    world.add_agent("clerk", "dev", "user_dev").await;
    let mut keys = Vec::new();
    for reach in ["agent", "project"] {
        let new = json!({ "agent": "clerk", "reach": reach });
        let key = world.human().post("/api/v1/keys", new).await.is(201);
        keys.push(world.bearer(key["secret"].as_str().unwrap()));
    }
    let wide = keys.pop().unwrap();
    (keys.pop().unwrap(), wide)
}

/// A task the clerk works on.
async fn given(world: &World, clerk: &Client) -> String {
    let new = json!({ "type": "code", "spec": { "goal": "File it" } });
    let task = done(&world.human(), "task.create", new).await;
    let id = task["id"].as_str().unwrap().to_owned();
    let given = json!({ "task_id": id, "agent_id": "clerk" });
    done(&world.human(), "task.assign", given).await;
    done(clerk, "task.start", json!({ "task_id": id })).await;
    id
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

/// What is not the agent's is not there: not by its name, not in lists, not in the history, not in
/// what is told as it happens.
#[tokio::test]
async fn a_key_of_one_agent_shows_what_that_agent_was_given() {
    let world = World::dev().await;
    let (clerk, wide) = clerk(&world).await;
    let mut live = Events::open(&clerk, EVENTS).await;
    assert_eq!(live.next().await.unwrap().event, "ready");
    let other = begun(&world, json!({})).await;
    for operation in ["task.get", "audit.replay", "audit.query"] {
        let params = json!({ "task_id": other });
        refused(op(&clerk, operation, params.clone()).await, 404, "NOT_FOUND");
        done(&wide, operation, params).await;
    }
    for operation in ["task.list", "audit.query"] {
        assert_eq!(done(&clerk, operation, json!({})).await, json!([]), "{operation}");
        assert_ne!(done(&wide, operation, json!({})).await, json!([]), "{operation}");
    }

    let own = given(&world, &clerk).await;
    assert_eq!(live.next().await.unwrap().data["task_id"], own.as_str());
    let past = json!({ "task_id": own, "to": "agent_dev" });
    done(&world.human(), "ownership.transfer", past).await;
    let second = given(&world, &clerk).await;
    for (narrowed, expected) in [
        (json!({}), vec![&second, &own]),
        (json!({ "limit": 1 }), vec![&second]),
        (json!({ "state": "in_progress" }), vec![&second, &own]),
        (json!({ "state": "blocked" }), vec![]),
        (json!({ "project": "dev", "principal": "user_dev" }), vec![&second, &own]),
        (json!({ "project": "dev2" }), vec![]),
        (json!({ "assignee": "agent_clerk" }), vec![&second]),
        (json!({ "assignee": "agent_dev" }), vec![&own]),
        (json!({ "parent_task": own }), vec![]),
    ] {
        let list = done(&clerk, "task.list", narrowed.clone()).await;
        assert_eq!(ids(&list), expected, "{narrowed}");
    }
    assert_eq!(ids(&done(&wide, "task.list", json!({})).await), [&second, &own, &other]);
    let told = done(&clerk, "audit.query", json!({})).await;
    let told = told.as_array().unwrap();
    assert!(told.iter().all(|event| event["task_id"] != other.as_str()));
    assert!(told.iter().any(|event| event["action"] == "ownership.transferred"));
    drop(live);
    world.end().await;
}

/// HACP-021: each agent reads the versions of the tasks it was given, and goes on with what its
/// task delivered or uses.
#[tokio::test]
async fn an_artifact_is_read_version_by_version() {
    let world = World::dev().await;
    let (alice, devin) = (world.human(), world.agent());
    let (clerk, wide) = clerk(&world).await;
    let first = begun(&world, json!({})).await;
    let made = done(&devin, "artifact.commit", inline(&first, "one\n")).await;
    let artifact = made["id"].as_str().unwrap();
    let content =
        |version: &str| format!("/hacp/v1/artifacts/{artifact}/versions/{version}/content");
    let own = given(&world, &clerk).await;
    let get = || json!({ "art_id": artifact });
    refused(op(&clerk, "artifact.get", get()).await, 404, "NOT_FOUND");
    refused(clerk.get(&content("v1")).await, 404, "NOT_FOUND");
    done(&wide, "artifact.get", get()).await;

    let mut more = inline(&own, "two\n");
    more["art_id"] = json!(artifact);
    let said = refused(op(&clerk, "artifact.commit", more.clone()).await, 400, "INVALID_SPEC");
    assert_eq!(said["error"]["details"]["field"], "params.art_id", "{}", said.text);
    let using = json!({ "art_id": artifact, "version": "v1", "by_task": own, "as": "input" });
    refused(op(&clerk, "artifact.reference", using.clone()).await, 404, "NOT_FOUND");
    done(&alice, "artifact.reference", using).await;
    assert_eq!(clerk.get(&content("v1")).await.is(200).text, "one\n");
    assert_eq!(done(&clerk, "artifact.commit", more).await["version"], "v2");

    // What the clerk made of it is not the first agent's to read.
    let newest = done(&devin, "artifact.get", get()).await;
    assert_eq!((&newest["version"], &newest["versions"]), (&json!("v1"), &json!(["v1"])));
    let second = json!({ "art_id": artifact, "version": "v2" });
    refused(op(&devin, "artifact.get", second.clone()).await, 404, "NOT_FOUND");
    refused(devin.get(&content("v2")).await, 404, "NOT_FOUND");
    for who in [&alice, &clerk, &wide] {
        assert_eq!(done(who, "artifact.get", second.clone()).await["version"], "v2");
        assert_eq!(who.get(&content("v2")).await.is(200).text, "two\n");
    }

    // HACP-042: letting another project use it stands in the history of both tasks.
    done(&alice, "artifact.share", json!({ "art_id": artifact, "project": "dev2" })).await;
    for task in [first, own] {
        let shared = json!({ "task_id": task, "action": "artifact.shared" });
        let told = done(&alice, "audit.query", shared).await;
        assert_eq!(told[0]["subject"], json!({ "kind": "artifact", "id": artifact }));
        assert_eq!((&told[0]["after"]["shared_with"], &told[1]), (&json!("dev2"), &Value::Null));
    }
    world.end().await;
}

/// K-23: what a person delivers who took over waits in the inbox like what an agent does, and says
/// who made it.
#[tokio::test]
async fn what_a_person_delivers_waits_in_the_inbox() {
    let world = World::dev().await;
    let (alice, bob) = (world.human(), world.member());
    let id = begun(&world, json!({})).await;
    let over = json!({ "task_id": id, "to": "user_dev_2" });
    done(&alice, "ownership.transfer", over).await;
    let made = done(&bob, "artifact.commit", inline(&id, "by hand\n")).await;
    let waiting = done(&alice, "human.inbox", json!({})).await;
    assert_eq!(waiting.as_array().unwrap().len(), 1, "{waiting}");
    let one = &waiting[0];
    assert_eq!((&one["kind"], &one["task_id"]), (&json!("submit_review"), &json!(id)));
    assert_eq!(one["artifact_id"], made["id"]);
    assert_eq!(done(&bob, "human.inbox", json!({})).await, json!([]));
    let asked = alice.get("/api/v1/asks?view=mine").await.is(200);
    assert!(asked.text.contains("\"delivered_by\":\"user_dev_2\""), "{}", asked.text);
    done(&alice, "review.submit", json!({ "task_id": id, "verdict": "approved" })).await;
    assert_eq!(done(&alice, "human.inbox", json!({})).await, json!([]));
    world.end().await;
}

/// An agent reads what its project and its owner's groups remember; that its owner administers the
/// installation gives it nothing. What everybody reads an administrator's task writes.
#[tokio::test]
async fn a_ledger_is_read_and_written_by_whom_it_is_of() {
    let world = World::dev().await;
    let (alice, devin, bob) = (world.human(), world.agent(), world.member());
    let read = |scope: &str| json!({ "scope": scope, "key": "k" });
    for (who, scope, may) in [
        (&devin, "project:dev", true),
        (&devin, "project:dev2", false),
        (&devin, "team:legal", false),
        (&devin, "org:all", true),
        (&alice, "project:dev2", true),
        (&alice, "team:legal", true),
        (&bob, "project:dev2", false),
        (&bob, "team:legal", false),
    ] {
        let reply = op(who, "ledger.read", read(scope)).await;
        if may {
            reply.is(200)
        } else {
            refused(reply, 401, "UNAUTHORIZED")
        };
    }
    world.add_to_group("user_dev", "legal").await;
    done(&devin, "ledger.read", read("team:legal")).await;

    let new = json!({ "type": "x", "spec": { "goal": "y" } });
    let his = done(&bob, "task.create", new).await["id"].clone();
    let hers = begun(&world, json!({})).await;
    let write = |by: &Value| json!({ "scope": "org:all", "key": "k", "value": 1, "by": by });
    refused(op(&bob, "ledger.write", write(&his)).await, 401, "UNAUTHORIZED");
    done(&devin, "ledger.write", write(&json!(hers))).await;
    done(&alice, "task.cancel", json!({ "task_id": hers })).await;
    let late = op(&devin, "ledger.write", write(&json!(hers))).await;
    refused(late, 412, "PRECONDITION_FAILED");
    world.end().await;
}

/// HACP-042: the stream of a key of one agent has what happens to every task that agent was given,
/// whichever project it is of, as `task.list` has the tasks; and nothing else of these projects.
#[tokio::test]
async fn the_stream_of_one_agent_covers_every_project_it_works_in() {
    let world = World::dev().await;
    let (clerk, _) = clerk(&world).await;
    let mut live = Events::open(&clerk, EVENTS).await;
    let begun_at = live.next().await.unwrap();
    assert_eq!(begun_at.event, "ready");
    let mut told = Vec::new();
    for project in ["dev2", "dev"] {
        let new = json!({ "type": "code", "project": project, "spec": { "goal": "Theirs" } });
        done(&world.human(), "task.create", new.clone()).await;
        let own = done(&world.human(), "task.create", new).await["id"].clone();
        done(&world.human(), "task.assign", json!({ "task_id": own, "agent_id": "clerk" })).await;
        done(&clerk, "task.start", json!({ "task_id": own })).await;
        for name in ["task.created", "task.assigned", "task.started"] {
            let event = live.next().await.unwrap();
            // Of a project it works in already, the beginning may have gone by before it was the
            // agent's.
            let event = if event.event == name { event } else { continue };
            assert_eq!(event.data["task_id"], own, "{project}: {event:?}");
            told.push(event);
        }
    }
    assert!(told.iter().any(|event| event.event == "task.created"), "{told:?}");
    let again = clerk.clone().header("last-event-id", &told[0].id.to_string());
    let mut again = Events::open(&again, EVENTS).await;
    assert_eq!(again.next().await.unwrap().event, "ready");
    assert_eq!(again.next().await.unwrap().id, told[1].id, "it goes on behind the last");
    let listed = done(&clerk, "task.list", json!({})).await;
    let queried = done(&clerk, "audit.query", json!({ "limit": 100 })).await;
    let of = |list: &Value, key: &str| -> std::collections::BTreeSet<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|one| one[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of(&listed, "id"), of(&queried, "task_id"), "the history has what the list has");
    assert_eq!(ids(&listed).len(), 2);
    drop((live, again));
    world.end().await;
}

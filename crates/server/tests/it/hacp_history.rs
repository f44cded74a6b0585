//! The history of tasks over HTTP: whole, page by page, and of more and longer tasks than are held
//! at once.

use std::collections::BTreeMap;

use dialects::hacp::audit::has_intact_hash_chain;
use kernel::task::{Intent, TaskCommand};
use kernel::{Actor, AnswerInterface, Assurance, Command, TaskId};
use serde_json::{Value, json};

use crate::client::Client;
use crate::hacp::{begun, done, op, raised};
use crate::world::World;

/// What was told, page after page of at most so many, from the first on.
async fn pages(who: &Client, mut params: Value, limit: u64) -> Vec<Value> {
    params["limit"] = json!(limit);
    let mut told = Vec::new();
    loop {
        let page = op(who, "audit.query", params.clone()).await.is(200);
        let events = page.json.as_array().unwrap();
        assert!(events.len() as u64 <= limit);
        told.extend(events.iter().cloned());
        match page.header("hacp-next-cursor") {
            "" => return told,
            next => params["cursor"] = json!(next),
        }
    }
}

/// Its principal says something on the way, so often.
async fn said(world: &World, task: &str, times: usize) {
    let id = "user_dev".parse().unwrap();
    let person = Actor::Human { id, via: AnswerInterface::Api, assurance: Assurance::Session };
    let task: TaskId = task.parse().unwrap();
    for n in 0..times {
        let amend = TaskCommand::Amend(task, format!("word {n}"), Intent::Clarify);
        world.gateway().run(person.clone(), Command::Task(Box::new(amend))).await.unwrap();
    }
}

/// HACP-042, HACP-084: pages join to the whole history, link by link, wherever one begins to read
/// and however often, in every version; and so do those of all tasks.
#[tokio::test]
async fn a_history_is_the_same_in_pages() {
    let world = World::dev().await;
    let (alice, devin) = (world.human(), world.agent());
    let id = begun(&world, json!({})).await;
    said(&world, &id, 3).await;
    let checkpoint = raised(&world, &id, "approval", json!({})).await;
    let yes = json!({ "ckpt_id": checkpoint, "action": "approve" });
    done(&alice, "checkpoint.resolve", yes).await;
    let other = begun(&world, json!({})).await;
    said(&world, &id, 4).await;
    for version in ["0.1.0-draft", "0.2.0-draft"] {
        let who = world.human().header("hacp-version", version);
        let whole = done(&who, "audit.replay", json!({ "task_id": id })).await;
        let whole = whole.as_array().unwrap();
        assert_eq!(whole.len(), 12);
        assert_eq!(has_intact_hash_chain(whole), version == "0.2.0-draft");
        for limit in [1, 5, 12, 100] {
            assert_eq!(pages(&who, json!({ "task_id": id }), limit).await, *whole, "{limit}");
        }
        // A place nobody has been at, and the same one again.
        for _ in 0..2 {
            let page = json!({ "task_id": id, "cursor": "7", "limit": 3 });
            assert_eq!(json!(whole[7..10]), done(&who, "audit.query", page).await);
        }
        let by_agent = json!({ "task_id": id, "actor": "agent_dev" });
        let expected: Vec<_> = whole.iter().filter(|one| one["actor"] == "agent_dev").collect();
        assert_eq!(json!(pages(&who, by_agent, 1).await), json!(expected));
        let both = pages(&who, json!({}), 4).await;
        assert_eq!(both.len(), 15);
        let mine: Vec<_> = both.iter().filter(|one| one["task_id"] == id.as_str()).collect();
        assert_eq!(json!(mine), json!(whole));
        let theirs = done(&who, "audit.replay", json!({ "task_id": other })).await;
        let found: Vec<_> = both.iter().filter(|one| one["task_id"] == other.as_str()).collect();
        assert_eq!(json!(found), theirs);
    }
    let nothing = json!({ "task_id": id, "cursor": "12" });
    assert_eq!(done(&devin, "audit.query", nothing).await, json!([]));
    world.end().await;
}

/// HACP-042, HACP-080: a history that is longer than what is read at once is told whole, up to any
/// moment and from any place; and what was answered long ago is answered the same.
#[tokio::test]
async fn a_long_history_is_told_whole() {
    let world = World::dev().await;
    let alice = world.human();
    let id = begun(&world, json!({})).await;
    let amend = json!({ "params": { "task_id": id, "text": "first" }, "idempotency_key": "one" });
    let path = "/hacp/v1/ops/task.amend";
    let first = alice.post(path, amend.clone()).await.is(200);
    said(&world, &id, 140).await;
    let then = world.gateway().now();
    world.advance(60);
    said(&world, &id, 140).await;
    let whole = done(&alice, "audit.replay", json!({ "task_id": id })).await;
    let whole = whole.as_array().unwrap();
    assert_eq!(whole.len(), 284);
    assert!(has_intact_hash_chain(whole));
    let at = done(&alice, "audit.replay", json!({ "task_id": id, "at": then })).await;
    assert_eq!(at["events"], json!(whole[..144]));
    assert_eq!(at["task"]["revision"], 143);
    assert_eq!(at["spec_version"], "0.2.0-draft");
    let last = json!({ "task_id": id, "cursor": "280" });
    assert_eq!(done(&alice, "audit.query", last).await, json!(whole[280..]));
    assert_eq!(alice.post(path, amend).await.is(200).json, first.json);
    world.end().await;
}

/// HACP-084: more tasks at once than a reader remembers are told link by link all the same.
#[tokio::test]
async fn many_tasks_at_once_are_told_link_by_link() {
    let world = World::dev().await;
    let alice = world.human();
    let mut ids = Vec::new();
    for _ in 0..70 {
        ids.push(begun(&world, json!({})).await);
    }
    for _ in 0..2 {
        for id in &ids {
            said(&world, id, 1).await;
        }
    }
    let mut told: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in pages(&alice, json!({}), 100).await {
        told.entry(event["task_id"].as_str().unwrap().to_owned()).or_default().push(event);
    }
    assert_eq!(told.len(), 70);
    for (id, events) in told {
        assert_eq!(events.len(), 5, "{id}");
        assert!(has_intact_hash_chain(&events), "{id}");
    }
    world.end().await;
}

/// HACP-042: a page over all tasks is full as long as there is enough of what is wanted, and page
/// after page tells each event once.
#[tokio::test]
async fn a_narrowed_page_over_all_tasks_is_filled() {
    let world = World::dev().await;
    for _ in 0..6 {
        begun(&world, json!({})).await;
    }
    let params = json!({ "actor": "agent_dev" });
    let whole = pages(&world.human(), params.clone(), 100).await;
    assert_eq!(whole.len(), 6, "it began six times");
    assert_eq!(pages(&world.human(), params.clone(), 2).await, whole);
    let first =
        op(&world.human(), "audit.query", json!({ "actor": "agent_dev", "limit": 4 })).await;
    assert_eq!(first.json.as_array().map(Vec::len), Some(4), "others in between leave no gap");
    world.end().await;
}

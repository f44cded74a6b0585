//! Conversations people begin, over HTTP: written once, told to the agent, found without being
//! told, continued by it and answered. A2H-131, A2H-132, A2H-133.

use serde_json::{Value, json};

use crate::a2h::{A2H, call, contact, make, refused};
use crate::client::{Client, Reply, with};
use crate::fake_webhook_receiver::Hook;
use crate::native::ASKS;
use crate::webhooks::endpoint;
use crate::world::World;

pub(crate) const WRITE: &str = "/api/v1/agents/agent_dev/conversations";

/// Lets people write to `agent_dev`.
pub(crate) async fn opened(world: &World) {
    let body = json!({ "project": "dev", "owner": "user_dev", "conversations": true });
    world.human().put("/api/v1/agents/agent_dev", body).await.is(200);
}

pub(crate) async fn write(person: &Client, text: &str) -> String {
    let made = person.post(WRITE, json!({ "text": text })).await.is(201);
    made["id"].as_str().unwrap().to_owned()
}

fn message(uid: &str, spec: Value) -> Value {
    let spec = with(json!({ "message": "Which amount?" }), spec);
    let metadata = json!({ "uid": uid });
    json!({"apiVersion": "proto.a2h.dev/v1alpha1", "kind": "Message", "metadata": metadata, "spec": spec})
}

/// The same ask under our own API.
fn native(made: &Reply) -> String {
    format!("{ASKS}/{}", made["status"]["ask_id"].as_str().unwrap())
}

fn said(text: &str) -> Value {
    json!({ "answer": { "verdict": "replied", "text": text } })
}

/// From the first word to the answer the agent polls.
#[tokio::test]
async fn a_person_writes_and_the_agent_goes_on() {
    let world = World::dev().await;
    opened(&world).await;
    let hook = Hook::open(&[]).await;
    endpoint(&world, &hook.url, json!({ "format": "humanlayer" })).await;
    let (member, agent) = (world.member(), world.agent());
    let id = write(&member, "Please refund order 7").await;
    hook.heard_times(1).await;
    let told: Value = serde_json::from_slice(&hook.heard()[0].1).unwrap();
    assert_eq!(told["type"], "conversation.created");
    let event = &told["event"];
    assert_eq!(
        (&event["kind"], &event["metadata"]["uid"]),
        (&json!("NewConversation"), &json!(id))
    );
    assert_eq!(event["spec"]["message"], "Please refund order 7");
    assert_eq!(event["user_message"], "Please refund order 7");
    assert_eq!(event["spec"]["agent_name"], "agent_dev");

    // It goes on with what it was told, and whoever wrote is asked, not who answers for the agent.
    let channel_id = event["spec"]["channel_id"].clone();
    let made = make(&agent, "messages", message("m1", json!({ "channel_id": channel_id }))).await;
    assert_eq!(made["spec"]["channel_id"], channel_id);
    let asked = member.get(&native(&made)).await.is(200);
    assert_eq!(asked["seats"], json!([{ "seat": "person", "human": "user_dev_2" }]));
    assert_eq!((&asked["follows"], &asked["conversation"]["id"]), (&json!(id), &json!(id)));
    let waiting = member.get(&format!("{ASKS}?view=mine")).await.is(200);
    assert_eq!(waiting["asks"][0]["id"], asked["id"]);
    member.post(&format!("{}/answer", native(&made)), said("all of it")).await.is(200);
    let over = agent.get(&format!("{A2H}/messages/m1")).await.is(200);
    assert_eq!(over["status"]["humanMessage"], "all of it");

    // Approvals and contacts go the same way, in the spelling of calls.
    let channel = json!({ "channel": { "channel_id": channel_id } });
    for (kind, body) in [("function_calls", call("c1")), ("human_contacts", contact("c2"))] {
        let mut body = body;
        body["spec"] = with(body["spec"].clone(), channel.clone());
        let made = make(&agent, kind, body.clone()).await;
        assert_eq!(make(&agent, kind, body).await.json, made.json, "once, however often");
        let asked = member.get(&native(&made)).await.is(200);
        assert_eq!(asked["seats"][0]["human"], "user_dev_2", "{kind}");
    }
    let thread = member.get(&format!("{ASKS}/{id}/thread")).await.is(200);
    let kinds: Vec<&str> = thread["asks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ask| ask["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["converse", "converse", "approve", "converse"]);
    // The last of them were never answered: each waits for its own answer.
    let shown = agent.get(&format!("{ASKS}/{id}")).await.is(200);
    assert_eq!(shown["conversation"]["latest"], thread["asks"][3]["id"]);
    world.end().await;
}

/// Standard endpoints hear one thing, with the ask as our own API shows it, and its receipt.
#[tokio::test]
async fn the_standard_form_has_the_ask() {
    let world = World::dev().await;
    opened(&world).await;
    let hook = Hook::open(&[]).await;
    let events = json!(["ask.created", "ask.answered", "conversation.started"]);
    endpoint(&world, &hook.url, json!({ "events": events })).await;
    let id = write(&world.member(), "hello").await;
    hook.heard_times(1).await;
    let told: Value = serde_json::from_slice(&hook.heard()[0].1).unwrap();
    assert_eq!(told["type"], "conversation.started");
    let ask = &told["data"]["ask"];
    assert_eq!((&ask["id"], &ask["state"]), (&json!(id), &json!("completed")));
    assert_eq!(ask["result"]["answer"]["text"], "hello");
    assert!(ask["receipt"].is_string());
    // Our own API goes on with it too.
    let question = json!({ "kind": "converse", "prompt": "Yes?" });
    let body = json!({ "question": question, "conversation": id });
    let made = world.agent().post(ASKS, body.clone()).await.is(201);
    assert_eq!((&made["follows"], &made["seats"][0]["human"]), (&json!(id), &json!("user_dev_2")));
    for more in [json!({ "follows": id }), json!({ "route": { "to": "delegate" } })] {
        let odd = world.agent().post(ASKS, with(body.clone(), more)).await;
        odd.problem(422, "invalid-field");
    }
    world.agent_2().post(ASKS, body).await.problem(404, "not-found");
    hook.heard_times(2).await;
    world.end().await;
}

/// An agent with nothing but a key finds what was written to it, newest first, in pages.
#[tokio::test]
async fn an_agent_finds_what_was_written_to_it() {
    let world = World::dev().await;
    opened(&world).await;
    let (agent, list) = (world.agent(), format!("{A2H}/conversations"));
    assert_eq!(agent.get(&list).await.is(200).json, json!([]));
    let mut written = Vec::new();
    for n in 0..3 {
        written.insert(0, write(&world.member(), &format!("message {n}")).await);
        world.advance(1);
    }
    let found = agent.get(&list).await.is(200);
    let names: Vec<&str> = found
        .json
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["spec"]["channel_id"].as_str().unwrap())
        .collect();
    assert_eq!(names, written);
    assert_eq!(found.json[0]["status"]["human_id"], "user_dev_2");
    make(&agent, "messages", message("m", json!({ "channel_id": written[0] }))).await;
    let one = agent.get(&format!("{list}/{}", written[0])).await.is(200);
    assert_eq!(
        (&one["spec"]["message"], &one["status"]["replied"]),
        (&json!("message 2"), &json!(true))
    );
    let first = agent.get("/api/v1/conversations?limit=2").await.is(200);
    assert_eq!(first["asks"].as_array().unwrap().len(), 2);
    let next = first["next"].as_str().unwrap();
    let second = agent.get(&format!("/api/v1/conversations?limit=2&cursor={next}")).await.is(200);
    assert_eq!((&second["asks"][0]["id"], &second["next"]), (&json!(written[2]), &Value::Null));
    // Nobody else's.
    assert_eq!(world.agent_2().get(&list).await.is(200).json, json!([]));
    refused(world.agent_2().get(&format!("{list}/{}", written[0])).await, 404, "not_found");
    refused(agent.get(&format!("{list}/nonsense")).await, 404, "not_found");
    refused(agent.get(&format!("{list}?cursor=nonsense")).await, 422, "invalid_field");
    world.human().get("/api/v1/conversations").await.problem(403, "not-allowed");
    agent.get("/api/v1/conversations?cursor=nonsense").await.problem(422, "invalid-field");
    // What was erased has nothing to tell, and is still a conversation.
    world.human().post(&format!("{ASKS}/{}/erase", written[1]), json!({})).await.is(200);
    refused(agent.get(&format!("{list}/{}", written[1])).await, 410, "gone");
    assert_eq!(agent.get(&list).await.is(200).json.as_array().unwrap().len(), 2);
    make(&agent, "messages", message("e", json!({ "channel_id": written[1] }))).await;
    world.end().await;
}

/// A2H-050: a conversation is a channel under either base, for its agent alone.
#[tokio::test]
async fn a_conversation_is_a_channel() {
    let world = World::dev().await;
    opened(&world).await;
    let id = write(&world.member(), "hi").await;
    let expected =
        json!({ "id": id, "channel_id": id, "agent_name": "agent_dev", "source": "api" });
    for base in [A2H, "/humanlayer/v1"] {
        let at = |id: &str| format!("{base}/contact_channel/{id}");
        let channel = world.agent().get(&at(&id)).await.is(200);
        assert_eq!(channel.json, expected);
        refused(world.agent_2().get(&at(&id)).await, 404, "not_found");
        refused(world.agent().get(&at("42")).await, 404, "not_found");
        refused(world.anonymous().get(&at(&id)).await, 401, "unauthorized");
        refused(world.agent().post(&at(&id), json!({})).await, 405, "method_not_allowed");
        // As the channel of a call it leads to whoever began.
        let mut body = contact(&format!("c{}", base.len()));
        body["spec"]["channel"] = channel.json;
        let made = world.agent().post(&format!("{base}/human_contacts"), body).await.is(200);
        let asked = world.member().get(&native(&made)).await.is(200);
        assert_eq!(asked["seats"][0]["human"], "user_dev_2");
        // A reply is no channel, nor is any other request.
        refused(world.agent().get(&at(asked["id"].as_str().unwrap())).await, 404, "not_found");
    }
    world.end().await;
}

#[tokio::test]
async fn what_is_sent_twice_is_written_once() {
    let world = World::dev().await;
    opened(&world).await;
    let hook = Hook::open(&[]).await;
    endpoint(&world, &hook.url, json!({})).await;
    let member = world.member().header("idempotency-key", "k1");
    let first = member.post(WRITE, json!({ "text": "once" })).await.is(201);
    assert_eq!(first.header("location"), format!("{ASKS}/{}", first["id"].as_str().unwrap()));
    let again = member.post(WRITE, json!({ "text": "once" })).await.is(201);
    assert_eq!((&again["id"], again.header("idempotent-replayed")), (&first["id"], "true"));
    member.post(WRITE, json!({ "text": "twice" })).await.problem(409, "idempotency-mismatch");
    // Keys are a person's own.
    let other = world.human().header("idempotency-key", "k1");
    let own = other.post(WRITE, json!({ "text": "once" })).await.is(201);
    assert_ne!(own["id"], first["id"]);
    hook.heard_times(2).await;
    world.end().await;
    assert_eq!(hook.heard().len(), 2);
}

#[tokio::test]
async fn what_cannot_be_written_changes_nothing() {
    let world = World::dev().await;
    let member = world.member();
    member.post(WRITE, json!({ "text": "hi" })).await.problem(403, "not-allowed");
    opened(&world).await;
    for text in ["", " \n ", "a\0b", &"x".repeat(10_001)] {
        let refused = member.post(WRITE, json!({ "text": text })).await;
        let refused = refused.problem(422, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], "text");
    }
    for body in [json!({}), json!({ "text": 7 }), json!({ "text": "x", "to": "y" })] {
        member.post(WRITE, body).await.problem(422, "invalid-field");
    }
    member.post_raw(WRITE, "{").await.problem(400, "invalid-json");
    world.agent().post(WRITE, json!({ "text": "hi" })).await.problem(403, "not-allowed");
    for foreign in ["agent_dev_2", "nobody", "%00"] {
        let path = format!("/api/v1/agents/{foreign}/conversations");
        member.post(&path, json!({ "text": "hi" })).await.problem(404, "not-found");
    }
    assert_eq!(world.agent().get(&format!("{A2H}/conversations")).await.is(200).json, json!([]));
    // Channels that name no conversation of this agent's.
    let id = write(&member, "hi").await;
    let agent = world.agent();
    for odd in [json!(42), json!("C0123ABC"), json!(format!("ask_{}", "0".repeat(26)))] {
        let body = message("m", json!({ "channel_id": odd }));
        refused(agent.post(&format!("{A2H}/messages"), body).await, 404, "not_found");
        let mut body = contact("c");
        body["spec"]["channel"] = json!({ "channel_id": odd });
        refused(agent.post(&format!("{A2H}/human_contacts"), body).await, 404, "not_found");
    }
    let stolen = message("m", json!({ "channel_id": id }));
    refused(world.agent_2().post(&format!("{A2H}/messages"), stolen).await, 404, "not_found");
    let odd = message("m", json!({ "channel_id": ["x"] }));
    refused(agent.post(&format!("{A2H}/messages"), odd).await, 422, "invalid_field");
    world.end().await;
}

/// Whoever left the project is written to no more, and writes no more.
#[tokio::test]
async fn a_person_who_left_is_left_alone() {
    let world = World::dev().await;
    opened(&world).await;
    let (member, agent) = (world.member(), world.agent());
    let id = write(&member, "hi").await;
    let body = json!({ "name": "Gone", "projects": ["dev2"] });
    world.human().put("/api/v1/people/user_dev_2", body).await.is(200);
    member.post(WRITE, json!({ "text": "hi" })).await.problem(404, "not-found");
    let body = message("m", json!({ "channel_id": id }));
    let told = refused(agent.post(&format!("{A2H}/messages"), body).await, 403, "forbidden");
    assert!(told["detail"].as_str().unwrap().contains("no longer in the project"));
    // What they said stays theirs to read.
    member.get(&format!("{ASKS}/{id}")).await.is(200);
    world.end().await;
}

/// Who answers for an agent says whether people may write to it; nobody else does.
#[tokio::test]
async fn an_owner_opens_their_agent() {
    let world = World::dev().await;
    world.add_agent("clerk", "dev", "user_dev_2").await;
    let at = "/api/v1/agents/clerk";
    let body = json!({ "project": "dev", "owner": "user_dev_2", "conversations": true });
    let saved = world.member().put(at, body.clone()).await.is(200);
    assert_eq!(saved["conversations"], true);
    let given = with(body.clone(), json!({ "owner": "user_dev" }));
    world.member().put(at, given).await.problem(403, "not-allowed");
    world.member().put("/api/v1/agents/agent_dev", body.clone()).await.problem(403, "not-allowed");
    world.agent().put(at, body).await.problem(403, "not-allowed");
    // Saved by somebody who does not know of it, it stays.
    let old = json!({ "project": "dev", "owner": "user_dev_2" });
    assert_eq!(world.human().put(at, old).await.is(200)["conversations"], true);
    world.end().await;
}

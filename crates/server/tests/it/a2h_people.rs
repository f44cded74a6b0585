//! A2H's people and messages over HTTP.

use serde_json::{Value, json};

use crate::a2h::{A2H, refused};
use crate::client::Reply;
use crate::native::ASKS;
use crate::world::World;

fn names(reply: &Reply) -> Vec<&str> {
    let humans = reply["humans"].as_array().unwrap();
    humans.iter().map(|human| human["name"].as_str().unwrap()).collect()
}

fn jane() -> Value {
    json!({
        "name": "Jane Doe",
        "description": "Jane Doe knows about refunds and returns",
        "prioritizedContactChannels": [
            {"slack": {"channelOrUserId": "U1234567890"}}, {"email": {"address": "jane@example.com"}}],
    })
}

/// A2H-007, A2H-121, A2H-122, A2H-123, A2H-124, A2H-126, A2H-127.
#[tokio::test]
async fn people_are_found_and_not_how_to_reach_them() {
    let world = World::dev().await;
    let (agent, admin, humans) = (world.agent(), world.human(), format!("{A2H}/humans"));
    let made = admin.post(&humans, jane()).await.is(201);
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(made["prioritizedContactChannels"], jane()["prioritizedContactChannels"]);
    let john = json!({"name": "John Doe", "description": "Sales and marketing"});
    admin.post(&humans, john).await.is(201);
    for path in [
        humans.clone(),
        format!("{humans}/search?q=doe"),
        format!("{humans}/search?q="),
        format!("{humans}/{id}"),
    ] {
        let told = agent.get(&path).await.is(200);
        assert!(told.text.contains("Jane Doe"), "{path}");
        for secret in ["U1234567890", "example.com", "Channels", "projects"] {
            assert!(!told.text.contains(secret), "{path}: {}", told.text);
        }
        assert!(admin.get(&path).await.is(200).text.contains("U1234567890"), "{path}");
    }
    for (words, found) in [
        ("who%20knows%20about%20refunds", &["Jane Doe"][..]),
        ("MARKET", &["John Doe"]),
        ("nobody%20at%20all", &[]),
    ] {
        let told = agent.get(&format!("{humans}/search?q={words}")).await.is(200);
        assert_eq!(names(&told), found, "{words}");
    }
    // Other projects have other people.
    assert_eq!(names(&world.agent_2().get(&humans).await.is(200)), [""; 0]);
    refused(world.agent_2().get(&format!("{humans}/{id}")).await, 404, "not_found");
    let one = format!("{humans}/{id}");
    for stranger in [world.agent(), world.member()] {
        refused(stranger.post(&humans, jane()).await, 403, "forbidden");
        refused(stranger.put(&one, jane()).await, 403, "forbidden");
        refused(stranger.delete(&one).await, 403, "forbidden");
    }
    refused(world.member().get(&humans).await, 403, "forbidden");
    refused(world.bearer("nobody").post(&humans, jane()).await, 401, "unauthorized");
    let changed = json!({"name": "Jane D.", "prioritizedContactChannels": [{"sms": {"phoneNumber": "+4930123456"}}]});
    let put = admin.put(&one, changed).await.is(200);
    assert_eq!((&put["description"], &put["id"]), (&json!(""), &json!(id)));
    assert_eq!(names(&agent.get(&format!("{humans}/search?q=refunds")).await.is(200)), [""; 0]);
    // Asked by id, and no more once removed.
    let ask = |call_id: &str| json!({"run_id": "r", "call_id": call_id, "spec": {"msg": "Hi", "channel": {"human_id": id}}});
    agent.post(&format!("{A2H}/human_contacts"), ask("a")).await.is(200);
    // Not while a request waits for her; then she is erased, not only made inactive.
    let waits = refused(admin.delete(&one).await, 409, "conflict");
    let text = waits.text.clone();
    let open = text.split("ask_").nth(1).unwrap().chars().take(26).collect::<String>();
    let cancel = format!("/api/v1/asks/ask_{open}/cancel");
    agent.post(&cancel, json!({})).await.is(200);
    assert_eq!(admin.delete(&one).await.is(200)["deleted"], true);
    refused(agent.get(&one).await, 404, "not_found");
    refused(admin.delete(&one).await, 404, "not_found");
    refused(agent.post(&format!("{A2H}/human_contacts"), ask("b")).await, 422, "invalid_field");
    let kept = admin.get(&format!("/api/v1/people/{id}")).await.is(200);
    assert_eq!((&kept["active"], &kept["contacts"]), (&json!(false), &json!([])));
    assert_eq!((&kept["name"], &kept["erased"]), (&json!(""), &json!(true)));
    refused(admin.delete(&format!("{humans}/user_dev")).await, 403, "forbidden");
    world.end().await;
}

/// Lists of people come in pages.
#[tokio::test]
async fn people_come_in_pages() {
    let world = World::dev().await;
    let (agent, admin, humans) = (world.agent(), world.human(), format!("{A2H}/humans"));
    for n in 0..5 {
        let person = json!({"name": format!("P{n}"), "projects": ["dev"]});
        admin.post(&humans, person).await.is(201);
    }
    for reader in [&agent, &admin] {
        let (mut next, mut seen) = (format!("{humans}?limit=3"), Vec::new());
        loop {
            let page = reader.get(&next).await.is(200);
            assert!(names(&page).len() <= 3);
            seen.extend(names(&page).into_iter().map(ToOwned::to_owned));
            let Some(link) = page.headers.get("link") else { break };
            next = link.to_str().unwrap().split(['<', '>']).nth(1).unwrap().to_owned();
        }
        seen.sort();
        assert_eq!(seen, ["P0", "P1", "P2", "P3", "P4", "user_dev", "user_dev_2"]);
    }
    refused(agent.get(&format!("{humans}?limit=0")).await, 422, "invalid_field");
    refused(agent.get(&format!("{humans}?cursor=no%20name")).await, 422, "invalid_field");
    let elsewhere = json!({"name": "X", "projects": ["nowhere"]});
    refused(admin.post(&humans, elsewhere).await, 422, "invalid_field");
    world.end().await;
}

/// A2H-064, A2H-131, A2H-133: a message whose answer has a shape.
#[tokio::test]
async fn a_message_and_its_answer() {
    let world = World::dev().await;
    let (agent, messages) = (world.agent(), format!("{A2H}/messages"));
    let schema = json!({
        "type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]});
    let body = |uid: &str| {
        json!({
            "apiVersion": "proto.a2h.dev/v1alpha1", "kind": "Message", "metadata": {"uid": uid},
            "spec": {"message": "How much?", "response_schema": schema},
        })
    };
    for (uid, amount, good) in [("m1", json!(7), true), ("m2", json!(7.5), false)] {
        let made = agent.post(&messages, body(uid)).await.is(200);
        assert_eq!(agent.post(&messages, body(uid)).await.is(200).json, made.json);
        let native = format!("{ASKS}/{}", made["status"]["ask_id"].as_str().unwrap());
        let said = json!({ "answer": { "verdict": "provided", "values": { "amount": amount } } });
        world.human().post(&format!("{native}/answer"), said).await.is(200);
        let over = agent.get(&format!("{messages}/{uid}")).await.is(200);
        if good {
            assert_eq!(over["status"]["response"], json!({"amount": 7}));
        } else {
            let failed = &over["status"]["failed_validation_details"]["errors"][0];
            assert_eq!(failed["path"], "/amount", "{}", over.text);
        }
    }
    let mut other = body("m1");
    other["spec"]["message"] = json!("Something else?");
    refused(agent.post(&messages, other).await, 409, "call_exists");
    let mut odd = body("m3");
    odd["spec"]["response_schema"] = json!({"type": "colour"});
    refused(agent.post(&messages, odd).await, 422, "invalid_field");
    refused(agent.get(&format!("{messages}/m3")).await, 404, "not_found");
    let mut unnamed = body("x");
    unnamed.as_object_mut().unwrap().remove("metadata");
    let made = agent.post(&messages, unnamed).await.is(200);
    let uid = made["metadata"]["uid"].as_str().unwrap();
    assert_eq!(agent.get(&format!("{messages}/{uid}")).await.is(200).json, made.json);
    // A message is no contact: each is read where it was made.
    refused(agent.get(&format!("{A2H}/human_contacts/{uid}")).await, 404, "not_found");
    world.end().await;
}

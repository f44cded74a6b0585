//! Our own API: files that answer an ask.

use reqwest::Method;
use serde_json::{Value, json};
use server::config::Settings;

use crate::client::{Client, Reply};
use crate::native::{ASKS, approval, asked};
use crate::world::{World, dev};

fn form() -> Value {
    let field = json!({ "key": "report", "label": "Report", "type": "file", "required": true });
    let note = json!({ "key": "note", "label": "Note", "type": "text" });
    json!({ "question": { "prompt": "The report?", "kind": "provide",
                          "form": { "fields": [field, note] } } })
}

async fn upload(who: &Client, path: &str, name: &str, kind: &str, content: &str) -> Reply {
    let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    let request = who.request(Method::POST, &format!("{path}/files?name={name}"));
    Reply::of(request.header("content-type", kind).body(content.to_owned())).await
}

fn answer(file: &Value) -> Value {
    json!({ "answer": { "verdict": "provided", "values": { "report": file } } })
}

/// From the person to the agent, and to nobody else.
#[tokio::test]
async fn a_file_goes_from_a_person_to_the_agent() {
    let world = World::dev().await;
    let (agent, human) = (world.agent(), world.human());
    let path = asked(&agent, form()).await;
    let content = "name,amount\nAda,7\n";
    let file = upload(&human, &path, "Jan report.csv", "text/csv", content).await.is(201);
    assert_eq!(
        (&file["name"], &file["media_type"]),
        (&json!("Jan report.csv"), &json!("text/csv"))
    );
    assert_eq!(file["size"], content.len());
    let address = format!("{path}/files/{}", file["sha256"].as_str().unwrap());
    // Nothing is there before it is part of an answer.
    agent.get(&address).await.problem(404, "not-found");
    assert_eq!(agent.get(&path).await["version"], 1);
    let done = human.post(&format!("{path}/answer"), answer(&file.json)).await.is(200);
    let kept = &done["result"]["answer"]["values"]["report"];
    assert_eq!((&kept["sha256"], kept.get("upload")), (&file["sha256"], None));
    let fetched = agent.get(&address).await.is(200);
    assert_eq!(fetched.text, content);
    assert_eq!(fetched.header("content-disposition"), "attachment");
    world.agent_2().get(&address).await.problem(404, "not-found");
    world.member().get(&address).await.problem(404, "not-found");
    world.end().await;
}

/// A file counts where it was uploaded, as it was uploaded, for whoever uploaded it.
#[tokio::test]
async fn a_file_that_was_not_uploaded_here_is_only_a_claim() {
    let world = World::dev().await;
    let (agent, owner) = (world.agent(), world.human());
    let path = asked(&agent, form()).await;
    let file = upload(&owner, &path, "a.txt", "text/plain", "hello").await.is(201).json;
    let with = |key: &str, value: Value| {
        let mut other = file.clone();
        other[key] = value;
        other
    };
    let mut bare = file.clone();
    bare.as_object_mut().unwrap().remove("upload");
    let send = format!("{path}/answer");
    for claimed in [
        bare,
        with("upload", json!("")),
        with("upload", json!("0".repeat(64))),
        with("upload", json!(7)),
        with("sha256", json!("0".repeat(64))),
        with("name", json!("b.txt")),
        with("size", json!(6)),
        with("media_type", json!("text/html")),
        with("colour", json!("red")),
    ] {
        let refused = owner.post(&send, answer(&claimed)).await.problem(422, "answer-mismatch");
        assert_eq!(refused["errors"][0]["field"], "report", "{claimed}");
        assert_eq!(refused["errors"][0]["code"], "invalid_file", "{claimed}");
    }
    // Another ask, another person.
    let other = asked(&agent, form()).await;
    let elsewhere = owner.post(&format!("{other}/answer"), answer(&file)).await;
    elsewhere.problem(422, "answer-mismatch");
    owner.post(&format!("{path}/assign"), json!({ "to": "user_dev_2" })).await.is(200);
    let theirs = world.member().post(&send, answer(&file)).await;
    theirs.problem(422, "answer-mismatch");
    assert_eq!(agent.get(&path).await["result"], Value::Null);
    // The field's own rules hold all the same: here it is required.
    let empty = json!({ "answer": { "verdict": "provided", "values": { "note": "x" } } });
    owner.post(&send, empty).await.problem(422, "answer-mismatch");
    // An address needs no upload.
    let address = answer(&json!("https://example.com/a.txt"));
    owner.post(&send, address).await.is(200);
    world.end().await;
}

/// What cannot be an answer is not kept.
#[tokio::test]
async fn uploads_that_make_no_sense() {
    let world = World::with(Settings { upload_limit: Some(10), ..dev() }).await;
    let (agent, owner) = (world.agent(), world.human());
    let path = asked(&agent, form()).await;
    let plain = "text/plain";
    upload(&world.member(), &path, "a", plain, "x").await.problem(404, "not-found");
    upload(&agent, &path, "a", plain, "x").await.problem(403, "not-allowed");
    upload(&owner, &path, "a", plain, "01234567890").await.problem(413, "too-large");
    for (name, kind, field) in [
        ("", plain, "name"),
        ("..", plain, "name"),
        ("a/b", plain, "name"),
        ("a\u{7}b", plain, "name"),
        ("a", "text", "Content-Type"),
    ] {
        let refused = upload(&owner, &path, name, kind, "x").await.problem(400, "invalid-field");
        assert_eq!(refused["errors"][0]["field"], field, "{name}");
    }
    let nameless = owner.request(Method::POST, &format!("{path}/files")).body("x");
    Reply::of(nameless).await.problem(400, "invalid-field");
    // No field for a file, over already, or not there at all.
    let other = asked(&agent, approval()).await;
    upload(&owner, &other, "a", plain, "x").await.problem(422, "answer-mismatch");
    agent.post(&format!("{path}/cancel"), json!({})).await.is(200);
    upload(&owner, &path, "a", plain, "x").await.problem(409, "already-cancelled");
    upload(&owner, &format!("{ASKS}/ask_x"), "a", plain, "x").await.problem(404, "not-found");
    world.end().await;
}

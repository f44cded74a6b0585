//! Erasing personal data (GDPR): requests with the copies their tasks hold, tasks, artifacts,
//! people.

use gateway::audit::check_export;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::hacp::{begun, done, inline, raised};
use crate::native::{ASKS, approval, asked};
use crate::pages::signed_in;
use crate::settings_pages::{send, well_made};
use crate::world::{World, eventually};

/// The id of a checkpoint as our own API has it.
fn ask_of(checkpoint: &str) -> String {
    format!("ask_{}", checkpoint.split_once('_').unwrap().1)
}

/// Everything HACP tells of a task, as one text.
async fn told(world: &World, task: &str) -> String {
    let (person, agent) = (world.human(), world.agent());
    let of = json!({ "task_id": task });
    let mut told = String::new();
    for (who, operation, params) in [
        (&person, "task.get", of.clone()),
        (&person, "audit.replay", of.clone()),
        (&person, "audit.query", of),
        (&agent, "runtime.peek", json!({})),
    ] {
        told += &done(who, operation, params).await.to_string();
    }
    told
}

/// The record in an export.
async fn export(world: &World) -> String {
    world.human().get("/api/v1/audit/export").await.is(200).text
}

/// The files of the database that hold these words, which are in small letters.
fn holding(world: &World, words: &str) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(world.folder().join("data")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let files = files.filter(|file| file.to_string_lossy().contains("countersign.db"));
    let holds = |file: &std::path::PathBuf| {
        let bytes = std::fs::read(file).unwrap_or_default().to_ascii_lowercase();
        bytes.windows(words.len()).any(|window| window == words.as_bytes())
    };
    files.filter(holds).collect()
}

async fn assert_export_holds(world: &World) {
    let lines = Box::new(std::io::Cursor::new(export(world).await.into_bytes()));
    let keys = Some(world.keys());
    let report = check_export(lines, 0, keys, None, &mut |_| ()).await.unwrap();
    assert_eq!(report.findings, [], "the export does not hold");
}

/// Works off the outbox until the record has no more of these words.
async fn gone(world: &World, words: &str) {
    let deliveries = &world.app().notifier.deliveries;
    eventually(&format!("{words} to be gone"), async || {
        deliveries.drain().await.unwrap();
        !export(world).await.contains(words)
    })
    .await;
}

/// Issue 21, point 15: the task's own events and the contracts of its runtime showed the comment
/// after the checkpoint was erased.
#[tokio::test]
async fn an_erased_checkpoint_is_gone_everywhere() {
    let world = World::dev().await;
    let task = begun(&world, json!({})).await;
    let checkpoint = raised(&world, &task, "approval", json!({})).await;
    let said = json!({ "ckpt_id": checkpoint, "action": "approve", "comment": "hush hush" });
    done(&world.human(), "checkpoint.resolve", said).await;
    assert!(told(&world, &task).await.contains("hush hush"));
    let erase = format!("{ASKS}/{}/erase", ask_of(&checkpoint));
    world.human().post(&erase, json!({})).await.is(200);
    let left = told(&world, &task).await;
    assert!(!left.contains("hush"), "{left}");
    assert!(left.contains("Fix the login"), "the task itself is not erased");
    assert!(!export(&world).await.contains("hush"));
    // What is shown says that something was there.
    let replayed = done(&world.human(), "audit.replay", json!({ "task_id": task })).await;
    let events = replayed.as_array().unwrap();
    let of = |action: &str| events.iter().find(|event| event["action"] == action).unwrap();
    let resolution = &of("task.checkpoint.resolved")["after"]["checkpoint"]["resolution"];
    assert_eq!((&resolution["erased"], &resolution["action"]), (&json!(true), &json!("approve")));
    assert_eq!(of("task.checkpoint.erased")["actor"], "user_dev");
    let peeked = done(&world.agent(), "runtime.peek", json!({})).await;
    let resume =
        peeked.as_array().unwrap().iter().find(|one| one["event"]["operation"] == "resume");
    assert_eq!(resume.unwrap()["event"]["resolution"]["erased"], true);
    assert_export_holds(&world).await;
    world.end().await;
}

/// A task is erased with the requests by which people decided on it, once it is over.
#[tokio::test]
async fn a_task_is_erased_with_its_requests() {
    let world = World::dev().await;
    let (person, path) = (world.human(), |task: &str| format!("/api/v1/tasks/{task}/erase"));
    let task = begun(&world, json!({ "spec": { "goal": "hush goal" } })).await;
    let checkpoint = raised(&world, &task, "approval", json!({ "prompt": "hush prompt" })).await;
    let said = json!({ "ckpt_id": checkpoint, "action": "approve", "comment": "hush comment" });
    done(&person, "checkpoint.resolve", said).await;
    person.post(&path(&task), json!({})).await.problem(409, "not-over");
    done(&world.agent(), "artifact.commit", inline(&task, "one")).await;
    let review = json!({ "task_id": task, "verdict": "changes_requested",
                         "requested_changes": ["hush change"] });
    done(&person, "review.submit", review).await;
    done(&world.agent(), "artifact.commit", inline(&task, "two")).await;
    let review = json!({ "task_id": task, "verdict": "approved" });
    done(&person, "review.submit", review).await;
    world.member().post(&path(&task), json!({})).await.problem(403, "not-allowed");
    world.agent().post(&path(&task), json!({})).await.problem(403, "not-allowed");
    let erased = person.post(&path(&task), json!({})).await.is(200);
    assert_eq!((&erased["id"], &erased["erased"]), (&json!(task), &json!(true)));
    assert_eq!(erased["requests"].as_array().unwrap().len(), 3, "{}", erased.text);
    assert!(!told(&world, &task).await.contains("hush"));
    assert!(!export(&world).await.contains("hush"));
    person.post(&path(&task), json!({})).await.is(200);
    person
        .post(&path("task_01JZ3V5Q8N6M4K2H0G9F7E5D3C"), json!({}))
        .await
        .problem(404, "not-found");
    assert_export_holds(&world).await;
    world.end().await;
}

/// The bytes of an artifact go from the disk, except what another artifact holds as well.
#[tokio::test]
async fn an_artifact_loses_its_bytes() {
    let world = World::dev().await;
    let (person, agent) = (world.human(), world.agent());
    let mut artifacts = Vec::new();
    for content in ["hush one", "shared"] {
        let task = begun(&world, json!({})).await;
        let made = done(&agent, "artifact.commit", inline(&task, content)).await;
        let id = made["id"].as_str().unwrap().to_owned();
        let erase = format!("/api/v1/artifacts/{id}/erase");
        person.post(&erase, json!({})).await.problem(409, "not-over");
        let good = json!({ "task_id": task, "verdict": "approved" });
        done(&person, "review.submit", good).await;
        artifacts.push((id, erase));
    }
    let task = begun(&world, json!({})).await;
    let twin = done(&agent, "artifact.commit", inline(&task, "shared")).await;
    let content = |id: &str| format!("/hacp/v1/artifacts/{id}/versions/v1/content");
    world.member().post(&artifacts[0].1, json!({})).await.problem(403, "not-allowed");
    for (id, erase) in &artifacts {
        assert_eq!(person.get(&content(id)).await.status, 200);
        person.post(erase, json!({})).await.is(200);
        let gone = person.get(&content(id)).await;
        assert_eq!((gone.status, &gone["error"]["details"]["erased"]), (404, &json!(true)));
    }
    let uploads = world.folder().join("data/files");
    let holds = |words: &str| {
        let entries = walk(&uploads);
        entries.iter().any(|path| std::fs::read(path).unwrap().ends_with(words.as_bytes()))
    };
    let deliveries = &world.app().notifier.deliveries;
    eventually("the bytes to be gone", async || {
        deliveries.drain().await.unwrap();
        !holds("hush one")
    })
    .await;
    let twin = twin["id"].as_str().unwrap();
    assert_eq!(person.get(&content(twin)).await.is(200).text, "shared");
    world.end().await;
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// Ada, who may be asked, with a token of her own.
async fn ada(world: &World) -> Client {
    let person = json!({ "name": "Ada Hush", "email": "hush@example.com", "projects": ["dev"] });
    world.human().put("/api/v1/people/ada", person).await.is(201);
    let key = json!({ "human": "ada", "label": "laptop" });
    let key = world.human().post("/api/v1/keys", key).await.is(201);
    world.bearer(key["secret"].as_str().unwrap())
}

async fn handed(world: &World, to: &str) -> String {
    let path = asked(&world.agent(), approval()).await;
    world.human().post(&format!("{path}/assign"), json!({ "to": to })).await.is(200);
    path
}

/// Issue 21, point 20: name, address, credentials and free text go; what was decided stays, and the
/// record holds.
#[tokio::test]
async fn a_person_is_erased() {
    let mut world = World::dev().await;
    let (admin, her) = (world.human(), ada(&world).await);
    let answered = handed(&world, "ada").await;
    her.post(&format!("{answered}/comments"), json!({ "text": "hush comment" })).await.is(200);
    let comment = json!({ "text": "from the agent" });
    world.agent().post(&format!("{answered}/comments"), comment).await.is(200);
    let no = json!({ "answer": { "verdict": "rejected" }, "comment": "hush reason" });
    her.post(&format!("{answered}/answer"), no).await.is(200);
    let erase = "/api/v1/people/ada/erase";
    world.member().post(erase, json!({})).await.problem(403, "not-allowed");
    her.post(erase, json!({})).await.problem(403, "not-allowed");
    assert!(world.audit().await.holds());
    let left = admin.post(erase, json!({})).await.is(200);
    let shown = json!({ "id": "ada", "name": "", "email": null, "active": false, "erased": true });
    for (key, value) in shown.as_object().unwrap() {
        assert_eq!(left[key.as_str()], *value, "{key}");
    }
    // Nothing of hers lets anybody in, and the id is never used again.
    her.get("/api/v1/me").await.problem(401, "unauthorized");
    admin.put("/api/v1/people/ada", json!({ "name": "Other" })).await.problem(403, "not-allowed");
    admin.post("/api/v1/people/ada/link", json!({})).await.problem(404, "not-found");
    let other = asked(&world.agent(), approval()).await;
    let refused = admin.post(&format!("{other}/assign"), json!({ "to": "ada" })).await;
    assert!(refused.status >= 400, "{}", refused.text);
    world.agent().post(&format!("{other}/cancel"), json!({})).await.is(200);
    // What she wrote goes in the background, also over a restart.
    world.restart().await;
    gone(&world, "hush").await;
    let ask = world.agent().get(&answered).await.is(200);
    assert_eq!(ask["result"]["answer"]["verdict"], "rejected", "{}", ask.text);
    assert!(!ask.text.contains("hush"), "{}", ask.text);
    let comments = world.human().get(&format!("{answered}/comments")).await.is(200);
    assert!(comments.text.contains("from the agent") && !comments.text.contains("hush"));
    let receipt = world.human().request(Method::GET, &format!("{answered}/receipt"));
    let receipt = Reply::of(receipt.header("accept", "application/json")).await.is(200);
    assert_eq!(receipt["claims"]["comment_erased"], true, "{}", receipt.text);
    assert_eq!(receipt["claims"]["answer"]["verdict"], "rejected");
    eventually("the index to follow", async || {
        let found = world.human().get("/api/v1/search?q=hush").await.is(200);
        !found.text.contains("ask_")
    })
    .await;
    // The server runs: neither its database, nor the search index, nor their logs hold the words.
    eventually("the words to leave the files", async || holding(&world, "hush").is_empty()).await;
    // It is recorded, by whom and when.
    let record = export(&world).await;
    let erased = record.lines().find(|line| line.contains("human_erased")).unwrap();
    let erased: Value = serde_json::from_str(erased).unwrap();
    let body: Value = serde_json::from_str(erased["record"]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["by"], json!({ "kind": "human", "id": "user_dev" }));
    let browser = signed_in(&world).await;
    let page = browser.client.get(&answered.replace("/api/v1", "")).await.is(200);
    assert!(page.text.contains("erased person") && !page.text.contains("Hush"), "{}", page.text);
    world.human().post(erase, json!({})).await.is(200);
    assert_export_holds(&world).await;
    world.end().await;
}

/// What she wrote on a task goes, and conversations she began go as a whole.
#[tokio::test]
async fn words_on_tasks_and_conversations_go_too() {
    let world = World::dev().await;
    let (admin, her) = (world.human(), ada(&world).await);
    let policy = json!({ "required_reviewers": ["ada"], "quorum": "all" });
    let task =
        begun(&world, json!({ "spec": { "goal": "Fix it", "review_policy": policy } })).await;
    done(&world.agent(), "artifact.commit", inline(&task, "one")).await;
    let verdict = json!({ "task_id": task, "verdict": "rejected",
                          "comments": [{ "severity": "nit", "body": "hush review" }] });
    done(&her, "review.submit", verdict).await;
    let clerk = json!({ "project": "dev", "owner": "user_dev", "conversations": true });
    admin.put("/api/v1/agents/agent_dev", clerk).await.is(200);
    let wrote = json!({ "text": "hush conversation" });
    her.post("/api/v1/agents/agent_dev/conversations", wrote).await.is(201);
    admin.post("/api/v1/people/ada/erase", json!({})).await.is(200);
    gone(&world, "hush").await;
    let replayed = done(&admin, "audit.replay", json!({ "task_id": task })).await.to_string();
    assert!(!replayed.contains("hush") && replayed.contains("rejected"), "{replayed}");
    assert_export_holds(&world).await;
    world.end().await;
}

/// Whoever is still needed is not erased, and the answer says what has to be handed over.
#[tokio::test]
async fn what_is_still_theirs_is_handed_over_first() {
    let world = World::dev().await;
    let (admin, _) = (world.human(), ada(&world).await);
    let erase = "/api/v1/people/ada/erase";
    let refused = admin.post("/api/v1/people/user_dev/erase", json!({})).await;
    let refused = refused.problem(403, "not-allowed");
    assert!(refused["detail"].as_str().unwrap().contains("last administrator"), "{}", refused.text);
    let path = handed(&world, "ada").await;
    let refused = admin.post(erase, json!({})).await.problem(409, "precondition-failed");
    let id = path.rsplit_once('/').unwrap().1;
    assert!(refused["detail"].as_str().unwrap().contains(id), "{}", refused.text);
    world.agent().post(&format!("{path}/cancel"), json!({})).await.is(200);
    world.add_agent("clerk", "dev", "ada").await;
    let refused = admin.post(erase, json!({})).await.problem(409, "precondition-failed");
    assert!(refused["detail"].as_str().unwrap().contains("clerk"), "{}", refused.text);
    world.add_agent("clerk", "dev", "user_dev").await;
    admin.post(erase, json!({})).await.is(200);
    admin.post("/api/v1/people/nobody/erase", json!({})).await.problem(404, "not-found");
    world.end().await;
}

/// Administrators erase people on their page, in two steps that say what happens.
#[tokio::test]
async fn the_page_asks_twice_and_says_what_goes() {
    let world = World::dev().await;
    let _ = ada(&world).await;
    let browser = signed_in(&world).await.client;
    let page = browser.get("/settings/people/ada").await.is(200);
    assert!(page.text.contains("/settings/people/ada/erase"), "{}", page.text);
    let path = "/settings/people/ada/erase";
    let page = browser.get(path).await.is(200);
    well_made(path, &page);
    for words in ["Removed data", "What stays", "This can’t be undone"] {
        assert!(page.text.contains(words), "{words}");
    }
    let wrong = send(&browser, path, &[("confirm", "eve")]).await.is(422);
    assert!(wrong.text.contains("Enter ada to confirm"), "{}", wrong.text);
    assert!(browser.get("/settings/people/ada").await.is(200).text.contains("Ada Hush"));
    send(&browser, path, &[("confirm", "ada")]).await.is(303);
    let page = browser.get("/settings/people/ada").await.is(200);
    assert!(page.text.contains("erased person") && !page.text.contains("Hush"), "{}", page.text);
    browser.get(path).await.is(404);
    let list = browser.get("/settings/people").await.is(200);
    assert!(list.text.contains("erased") && !list.text.contains("Hush"), "{}", list.text);
    world.end().await;
}

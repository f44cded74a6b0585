//! What is over for long enough loses its words and its files, and the record holds all the same.

use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};
use server::config::Settings;
use server::workers::retention;

use crate::client::Reply;
use crate::hacp::{begun, done};
use crate::hitl::{self, Case};
use crate::native::{ASKS, asked};
use crate::world::{World, dev, eventually};

const DAY: u64 = 24 * 60 * 60;

fn kept_for(days: &str) -> Settings {
    Settings { retention: Some(days.parse().unwrap()), ..dev() }
}

impl World {
    /// What the server does by itself to what was kept long enough; how much that is.
    async fn retain(&self) -> u64 {
        retention::erase(self.gateway(), self.app().core.config.retention).await.unwrap()
    }

    /// So many uploads are left, once the outbox is worked off: the server does that too.
    async fn keeps(&self, n: usize) {
        let deliveries = &self.app().notifier.deliveries;
        eventually(&format!("{n} uploads to be left"), async || {
            deliveries.drain().await.unwrap();
            self.uploads().len() == n
        })
        .await;
    }

    /// Every upload on disk.
    fn uploads(&self) -> Vec<PathBuf> {
        let inside = |folder: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(folder).unwrap();
            entries.map(|entry| entry.unwrap().path()).collect()
        };
        let folders = inside(&self.folder().join("data/files"));
        folders.iter().flat_map(|folder| inside(folder)).collect()
    }
}

fn form(prompt: &str) -> Value {
    let field = json!({ "key": "report", "label": "Report", "type": "file", "required": true });
    json!({ "question": { "prompt": prompt, "kind": "provide", "form": { "fields": [field] } } })
}

/// Asks for a file and answers with it; where the ask is.
async fn filed(world: &World, content: &str) -> String {
    let path = asked(&world.agent(), form("The report?")).await;
    let request = world.human().request(Method::POST, &format!("{path}/files?name=a.txt"));
    let file = Reply::of(request.body(content.to_owned())).await.is(201).json;
    let answer = json!({ "answer": { "verdict": "provided", "values": { "report": file } } });
    world.human().post(&format!("{path}/answer"), answer).await.is(200);
    path
}

/// HITL-152: a day before its time everything is there, then it is gone in every dialect, and what
/// is still open stays.
#[tokio::test]
async fn words_go_in_time() {
    let mut world = World::with(kept_for("30d")).await;
    let open = Case::make(&world, hitl::with(hitl::approval(), json!({ "timeout": "7d" }))).await;
    let answered = Case::make(&world, hitl::approval()).await;
    answered.respond(json!({ "action": "approve", "data": { "feedback": "go" } })).await.is(200);
    let cancelled = Case::make(&world, hitl::approval()).await;
    let cancel = format!("{}?token={}", cancelled.at("cancel"), cancelled.review_token());
    world.anonymous().post(&cancel, json!({ "reason": "because of Ada" })).await.is(200);
    world.advance(DAY);
    let expired =
        Case::make(&world, hitl::with(hitl::approval(), json!({ "timeout": "1h" }))).await;
    world.advance(3600);
    world.run_timers().await;
    world.advance(29 * DAY - 3601);
    assert_eq!(world.retain().await, 0, "a second too early");
    assert_eq!(answered.status().await["result"]["data"]["feedback"], "go");
    // Over a restart nothing is forgotten.
    world.restart().await;
    world.advance(1);
    // The server that has just started looks by itself too, and either may be the first.
    world.retain().await;
    for case in [&answered, &cancelled] {
        eventually("what is over to be erased", async || {
            world.agent().get(&format!("{ASKS}/{}", case.ask())).await["question"].is_null()
        })
        .await;
    }
    assert_eq!(world.retain().await, 0, "what is erased is not visited again");

    let agent = world.agent();
    let poll = |case: &Case| format!("{}?token={}", case.at("status"), case.poll_token());
    let said = agent.get(&poll(&answered)).await.is(200);
    hitl::schemas::holds("0.7", "poll-response", &said.json);
    assert_eq!(
        (&said["status"], &said["result"]["action"]),
        (&json!("completed"), &json!("erased"))
    );
    assert_eq!(said["result"]["data"], json!({}));
    let said = agent.get(&poll(&cancelled)).await.is(200);
    hitl::schemas::holds("0.7", "poll-response", &said.json);
    assert_eq!((&said["status"], said.json.get("reason")), (&json!("cancelled"), None));
    let hxp = agent.get(&format!("/hxp/v1/requests/{}", answered.hxp())).await.is(200);
    assert_eq!((&hxp["status"], &hxp["payload"]), (&json!("completed"), &json!({})));
    let native = agent.get(&format!("{ASKS}/{}", answered.ask())).await.is(200);
    assert_eq!((&native["state"], &native["question"]), (&json!("completed"), &Value::Null));
    let page = format!("/review/{}?token={}", answered.id, answered.review_token());
    let page = world.anonymous().get(&page).await.is(200);
    assert!(page.text.contains("The text of this request was erased."), "{}", page.text);

    assert_eq!(world.retain().await, 0);
    assert_eq!(agent.get(&poll(&expired)).await.is(200)["default_action"], "skip");
    world.advance(2 * DAY);
    // Read first, so that both that ran out are over, each at its own deadline.
    assert_eq!(agent.get(&poll(&open)).await.is(200)["status"], "expired");
    assert_eq!(world.retain().await, 1);
    let said = agent.get(&poll(&expired)).await.is(200);
    assert_eq!((&said["status"], &said["default_action"]), (&json!("expired"), &json!("skip")));
    world.end().await;
}

/// The days discovery tells are those after which nothing is left; without retention it tells none.
#[tokio::test]
async fn discovery_tells_how_long() {
    for (retention, days) in [("30d", json!(30)), ("36h", json!(2)), ("off", Value::Null)] {
        let world = World::with(kept_for(retention)).await;
        let document = world.anonymous().get("/.well-known/hitl.json").await.is(200);
        let policies = &document["hitl_protocol"]["policies"];
        assert_eq!(policies["data_retention_days"], days);
        assert_eq!(policies["expired_case_retention_days"], days);
        world.end().await;
    }
}

/// HITL-152: what holds where nothing else is said, and that something else is said somewhere; not
/// where.
#[tokio::test]
async fn discovery_says_that_projects_may_differ() {
    let world = World::with(kept_for("30d")).await;
    let said = || async {
        let document = world.anonymous().get("/.well-known/hitl.json").await.is(200);
        assert_eq!(document["hitl_protocol"]["policies"]["data_retention_days"], 30);
        assert!(!document.text.contains("dev2"), "{}", document.text);
        document.text.contains("a project can have its own")
    };
    assert!(!said().await);
    for (retention, differs) in [("30d", false), ("2d", true), ("off", true)] {
        let project = json!({ "id": "dev2", "retention": retention });
        world.human().save("projects", project).await.is(200);
        assert_eq!(said().await, differs, "{retention}");
    }
    world.end().await;
}

/// By age or by hand: the files of an erased ask go, unless another ask has the same bytes.
#[tokio::test]
async fn files_go_with_the_words() {
    let world = World::with(kept_for("1d")).await;
    let (shared, other) = (filed(&world, "the same").await, filed(&world, "the same").await);
    let lone = filed(&world, "alone").await;
    assert_eq!(world.uploads().len(), 2);
    for path in [&shared, &lone] {
        world.human().post(&format!("{path}/erase"), json!({})).await.is(200);
    }
    world.keeps(1).await;
    let file = &world.agent().get(&other).await["result"]["answer"]["values"]["report"]["sha256"];
    let file = format!("{other}/files/{}", file.as_str().unwrap());
    assert_eq!(world.agent().get(&file).await.is(200).text, "the same");
    world.advance(DAY);
    assert_eq!(world.retain().await, 1);
    world.keeps(0).await;
    world.agent().get(&file).await.problem(404, "not-found");
    world.end().await;
}

/// An upload nobody answered with goes too.
#[tokio::test]
async fn what_was_uploaded_for_nothing_goes_too() {
    let world = World::with(kept_for("1d")).await;
    let path = asked(&world.agent(), form("The report?")).await;
    let request = world.human().request(Method::POST, &format!("{path}/files?name=a.txt"));
    Reply::of(request.body("forgotten")).await.is(201);
    world.agent().post(&format!("{path}/cancel"), json!({})).await.is(200);
    assert_eq!(world.uploads().len(), 1);
    world.advance(DAY);
    assert_eq!(world.retain().await, 1);
    world.keeps(0).await;
    world.end().await;
}

/// More than a batch, which must not leave anything behind.
#[tokio::test]
async fn many_go_in_batches() {
    let world = World::with(kept_for("1d")).await;
    for _ in 0..300 {
        let path = asked(&world.agent(), crate::native::approval()).await;
        world.agent().post(&format!("{path}/cancel"), json!({})).await.is(200);
    }
    world.advance(DAY);
    assert_eq!(world.retain().await, 300);
    assert_eq!(world.retain().await, 0);
    let metrics = world.anonymous().get("/metrics").await;
    assert!(metrics.text.contains("countersign_retention_erased_total"));
    world.end().await;
}

/// A task that is over loses its words, and says still what became of it.
#[tokio::test]
async fn tasks_lose_their_words_too() {
    let world = World::with(kept_for("30d")).await;
    let id = begun(&world, json!({ "spec": { "goal": "Find the leak" } })).await;
    let open = begun(&world, json!({})).await;
    done(&world.human(), "task.cancel", json!({ "task_id": id, "reason": "found" })).await;
    world.advance(31 * DAY);
    assert_eq!(world.retain().await, 1);
    assert_eq!(world.retain().await, 0);
    let task = done(&world.human(), "task.get", json!({ "task_id": id })).await;
    assert_eq!((&task["spec"]["goal"], &task["state"]), (&Value::Null, &json!("completed")));
    let told = done(&world.human(), "audit.replay", json!({ "task_id": id })).await;
    assert!(!told.to_string().contains("leak") && !told.to_string().contains("found"));
    let other = done(&world.human(), "task.get", json!({ "task_id": open })).await;
    assert_eq!(other["spec"]["goal"], "Fix the login", "what is open keeps its words");
    world.end().await;
}

/// HXPE-056: a project keeps words for a while of its own, shorter or longer than is usual here,
/// and the record holds without them.
#[tokio::test]
async fn a_project_keeps_words_as_long_as_it_says() {
    let world = World::with(kept_for("10d")).await;
    let admin = world.human();
    let brief = json!({ "id": "dev", "retention": "2d" });
    assert_eq!(admin.save("projects", brief).await.is(200)["retention"], "2d");
    let usual = admin.get("/api/v1/projects/dev2").await.is(200);
    assert!(usual.json.get("retention").is_none(), "{}", usual.text);
    let wrong = json!({ "id": "dev", "retention": "soon" });
    admin.save("projects", wrong).await.is(422);
    let mut asks = Vec::new();
    for agent in [world.agent(), world.agent_2()] {
        let hxp = json!({ "intent": "plan", "note": "Ada Lovelace" });
        let body = json!({ "question": { "prompt": "Tell Ada?", "kind": "approve" }, "hxp": hxp });
        let path = asked(&agent, body).await;
        let answer = json!({ "answer": { "verdict": "approved" }, "comment": "Ada knows." });
        admin.post(&format!("{path}/answer"), answer).await.is(200);
        asks.push(path);
    }
    let words = async |path: &str| {
        let told = admin.get(path).await.is(200);
        (told.text.contains("Ada"), told["hxp"].is_object())
    };
    world.advance(2 * DAY - 1);
    assert_eq!(world.retain().await, 0);
    world.advance(1);
    world.retain().await;
    assert_eq!(words(&asks[0]).await, (false, false));
    assert_eq!(words(&asks[1]).await, (true, true));
    let always = json!({ "id": "dev2", "retention": "off" });
    admin.save("projects", always).await.is(200);
    world.advance(20 * DAY);
    world.retain().await;
    assert_eq!(words(&asks[1]).await, (true, true), "for ever is longer than usual");
    // As is usual here, once more.
    admin.save("projects", json!({ "id": "dev2" })).await.is(200);
    world.retain().await;
    assert_eq!(words(&asks[1]).await, (false, false));
    world.end().await;
}

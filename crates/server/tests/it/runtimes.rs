//! What the runtimes of agents have to do gets to them: by endpoint, by command, and by reading it.

use std::path::Path;

use serde_json::{Value, json};
use server::config::Settings;

use crate::fake_webhook_receiver::{Hook, deliver};
use crate::hacp::done as op;
use crate::webhooks::{deliveries, endpoint, expected};
use crate::world::{World, dev, eventually};

/// A task of `agent_dev`, just given to it.
async fn assigned(world: &World) -> String {
    let person = world.human();
    let new = json!({ "type": "text", "goal": "Write it", "acceptance_criteria": ["short"] });
    let task = op(&person, "task.create", new).await;
    let task = task["id"].as_str().unwrap().to_owned();
    let given = json!({ "task_id": task, "agent_id": "agent_dev", "input": { "branch": "main" } });
    op(&person, "task.assign", given).await;
    task
}

/// What the runtime has not confirmed.
async fn waiting(world: &World) -> Vec<Value> {
    op(&world.agent(), "runtime.peek", json!({})).await.as_array().unwrap().clone()
}

/// HACP §5: every duty is told, with the task as correlation, what was said, and one name for ever.
#[tokio::test]
async fn an_endpoint_is_told_what_a_runtime_has_to_do() {
    let world = World::dev().await;
    let hook = Hook::open(&[500]).await;
    let topics = ["delegate", "block", "resume", "handoff", "steer", "cancel"];
    let events: Vec<String> = topics.iter().map(|topic| format!("task.{topic}")).collect();
    let made = endpoint(&world, &hook.url, json!({ "events": events })).await;
    let (person, agent) = (world.human(), world.agent());
    let task = assigned(&world).await;
    op(&agent, "task.start", json!({ "task_id": task })).await;
    let asked = json!({ "task_id": task, "kind": "approval", "prompt": "May I?" });
    let checkpoint = op(&agent, "checkpoint.raise", asked).await["id"].clone();
    let yes = json!({ "ckpt_id": checkpoint, "action": "approve", "comment": "go" });
    op(&person, "checkpoint.resolve", yes).await;
    op(&person, "task.amend", json!({ "task_id": task, "text": "shorter" })).await;
    op(&person, "task.cancel", json!({ "task_id": task, "reason": "enough" })).await;
    // The first call was not taken.
    eventually("all but one", async || hook.heard().len() >= 5).await;
    world.advance(10);
    deliver(&world).await;
    eventually("all", async || hook.heard().len() >= 6).await;
    let heard = hook.heard();
    let secret = made["secret"].as_str().unwrap();
    let mut told = std::collections::BTreeMap::new();
    for call in &heard {
        assert_eq!(call.0["webhook-signature"], expected(secret, call, "webhook").as_str());
        let body: Value = serde_json::from_slice(&call.1).unwrap();
        let event = body["data"]["event"].clone();
        let id = call.0["webhook-id"].to_str().unwrap().to_owned();
        assert_eq!(id, format!("msg_{}", event["operation_id"].as_str().unwrap()));
        assert_eq!(event["correlation_id"], json!(task), "HACP-083");
        assert_eq!(event["operation_context"]["correlation_id"], json!(task));
        assert_eq!(body["type"], format!("task.{}", event["operation"].as_str().unwrap()));
        told.insert(event["operation"].as_str().unwrap().to_owned(), event);
    }
    assert_eq!(told["delegate"]["input"], json!({ "branch": "main" }));
    assert_eq!(told["delegate"]["spec"]["goal"], "Write it");
    assert_eq!(told["block"]["checkpoint_id"], checkpoint);
    assert_eq!(told["resume"]["resolution"]["comment"], "go", "the whole resolution comes along");
    assert_eq!(told["steer"]["amendment"]["text"], "shorter");
    assert_eq!(told["cancel"]["reason"], "enough");
    let runs: std::collections::BTreeSet<_> =
        told.values().map(|one| one["run_id"].to_string()).collect();
    assert_eq!(runs.len(), 1, "one run");
    let log = deliveries(&world, &made).await;
    assert_eq!(log.len(), 5);
    assert!(log.iter().all(|one| one["task"] == json!(task) && one["ask"].is_null()), "{log:?}");
    // Whoever reads is shown the same, whoever else was told.
    let read: Vec<Value> = waiting(&world).await.iter().map(|one| one["event"].clone()).collect();
    assert_eq!(read.len(), 5);
    assert!(read.iter().all(|event| told[event["operation"].as_str().unwrap()] == *event));
    world.end().await;
}

/// A server whose `agent_dev` has a command.
async fn commanded(folder: &Path, command: &str) -> World {
    let command = command.replace("DIR", folder.to_str().unwrap());
    let runtime_command = Some(vec![format!("agent_dev={command}")]);
    World::with(Settings { runtime_command, ..dev() }).await
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The process contract: one thing after the other, as JSON on standard input; its answer confirms
/// it.
#[tokio::test]
async fn a_command_is_told_in_order_and_confirms() {
    let folder = tempfile::tempdir().unwrap();
    let said = "cat >> DIR/told; echo \"$HACP_OPERATION\" >> DIR/names; \
                echo \"{\\\"run_id\\\": \\\"r1\\\", \\\"correlation_id\\\": \\\"$HACP_TASK_ID\\\"}\"";
    let world = commanded(folder.path(), said).await;
    let task = assigned(&world).await;
    op(&world.human(), "task.cancel", json!({ "task_id": task })).await;
    eventually("both are confirmed", async || waiting(&world).await.is_empty()).await;
    let told = lines(&folder.path().join("told"));
    assert_eq!(told.len(), 2);
    let names = std::fs::read_to_string(folder.path().join("names")).unwrap();
    assert_eq!(names, "delegate\ncancel\n");
    for event in &told {
        for name in [
            "operation",
            "task_id",
            "agent_id",
            "capability",
            "input",
            "parent_run",
            "correlation_id",
            "operation_context",
        ] {
            assert!(event.get(name).is_some(), "{name} is missing in {event}");
        }
        assert_eq!(event["task_id"], event["correlation_id"]);
    }
    let outbox = op(&world.human(), "pending.outbox", json!({ "task_id": task })).await;
    assert_eq!(outbox, json!([]));
    world.end().await;
}

/// HACP-044: a runtime that cannot be reached leaves nothing half done, and holds up nobody else.
#[tokio::test]
async fn a_command_that_fails_is_tried_again_and_what_was_decided_stands() {
    let folder = tempfile::tempdir().unwrap();
    let said =
        "test -e DIR/up || { echo down >&2; exit 7; }; cat >> DIR/told; echo '{\"run_id\": \"r\"}'";
    let world = commanded(folder.path(), said).await;
    let task = assigned(&world).await;
    op(&world.human(), "task.cancel", json!({ "task_id": task })).await;
    eventually("an attempt", async || {
        crate::world::logged().contains("runtime command failed, will retry")
    })
    .await;
    assert!(crate::world::logged().contains("down"), "the log says why");
    let stands = op(&world.human(), "task.get", json!({ "task_id": task })).await;
    assert_eq!(stands["state"], "completed", "cancelled all the same");
    let outbox = op(&world.human(), "pending.outbox", json!({ "task_id": task })).await;
    assert_eq!(outbox.as_array().unwrap().len(), 2);
    assert_eq!(outbox[0]["state"], "pending");
    // Somebody else's lane goes on.
    let hook = Hook::open(&[]).await;
    endpoint(&world, &hook.url, json!({ "events": ["ask.created"] })).await;
    crate::webhooks::ask(&world).await;
    hook.heard_times(1).await;
    std::fs::write(folder.path().join("up"), "").unwrap();
    eventually("both are confirmed", async || {
        world.advance(120);
        deliver(&world).await;
        waiting(&world).await.is_empty()
    })
    .await;
    let operations: Vec<Value> =
        lines(&folder.path().join("told")).iter().map(|one| one["operation"].clone()).collect();
    assert_eq!(operations, [json!("delegate"), json!("cancel")], "in order, once each");
    world.end().await;
}

/// An answer counts if it names a run, of this task; after a day the next one gets its turn.
#[tokio::test]
async fn an_answer_that_is_none_confirms_nothing() {
    for (answer, why) in [
        ("echo taken", "did not answer with a JSON object"),
        ("echo '{}'", "has no run_id"),
        ("echo '{\"run_id\": \"\"}'", "has no run_id"),
        (
            "echo '{\"run_id\": \"r\", \"correlation_id\": \"task_other\"}'",
            "the wrong correlation_id",
        ),
        ("echo '{\"run_id\": \"r\"}'; exit 1", "the command failed"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = commanded(folder.path(), &format!("{answer} # DIR")).await;
        assigned(&world).await;
        eventually(why, async || crate::world::logged().contains(why)).await;
        assert_eq!(waiting(&world).await.len(), 1, "{answer}");
        world.advance(25 * 3600);
        eventually("it is given up", async || {
            deliver(&world).await;
            world.gateway().store().backlog().await.unwrap().dead == 1
        })
        .await;
        assert!(waiting(&world).await.is_empty(), "what comes behind it gets its turn");
        world.end_with_dead(1).await;
    }
}

/// The whole of HACP's reference flow with the Rust client, and a runtime that reads.
#[tokio::test]
async fn the_reference_flow_with_the_rust_client() {
    use client::tasks::{Content, HarnessEvent, runtime};

    let world = World::dev().await;
    let at = format!("http://{}", world.address());
    let person = client::Client::new(&at, "dev-human-token").unwrap().tasks();
    let agent = client::Client::new(&at, "dev-agent-key").unwrap().tasks();
    let task =
        person.create("text", "Write it").with("acceptance_criteria", ["short"]).await.unwrap();
    let id = task.id.to_string();
    let mut events = person.events(None);
    events.ready().await.unwrap();
    person.assign(&id, "agent_dev").expecting(0).await.unwrap();
    assert_eq!(events.next().await.unwrap().name, "task.assigned");
    let stale = person.amend(&id, "x").expecting(0).await.unwrap_err();
    let client::ClientError::Refused { status, code, details, .. } = stale else { panic!() };
    assert_eq!(
        (status, code.as_str(), details.known["task_revision"].as_u64()),
        (409, "CONFLICT", Some(1))
    );
    let mut seen = Vec::new();
    let mut handle = async |event: HarnessEvent| -> client::Result<()> {
        let task = event.task_id.to_string();
        seen.push(event.operation.as_str());
        match event.operation.as_str() {
            "delegate" => {
                agent.start(&task).under(runtime::key(&event, "start")).await?;
                agent.raise(&task, "approval", "May I?").under(runtime::key(&event, "ask")).await?;
            }
            "resume" => {
                let words = Content::Words(format!("{} draft", seen.len()));
                let made = agent.commit(&task, "text", &words).under(runtime::key(&event, "made"));
                let made = match &event.request.review {
                    Some(review) => made.with("art_id", review.artifact_id),
                    None => made,
                };
                made.await?;
            }
            _ => {}
        }
        Ok(())
    };
    let work = agent.runtime();
    work.once(&mut handle).await.unwrap();
    let inbox = person.inbox().await.unwrap();
    let checkpoint = inbox.items[0].checkpoint_id.clone().unwrap();
    person.resolve(&checkpoint, "approve").with("comment", "go").await.unwrap();
    work.once(&mut handle).await.unwrap();
    let review = person.review(&id, "changes_requested").with("requested_changes", ["less"]);
    let review = review.await.unwrap();
    person.comment(&review.id.to_string(), "please").await.unwrap();
    work.once(&mut handle).await.unwrap();
    person.review(&id, "approved").await.unwrap();
    assert_eq!(work.once(&mut handle).await.unwrap(), 0, "all of it is confirmed");
    assert_eq!(seen, ["delegate", "block", "resume", "resume"]);
    let done = person.get(&id).await.unwrap();
    assert_eq!(done.state, kernel::task::TaskState::Completed);
    let made = agent.artifact(&done.artifacts[0].to_string()).with("version", "v1").await.unwrap();
    assert_eq!((made.version.as_str(), made.payload.size), ("v1", 7));
    agent.write("project:dev", "notes/last", json!({ "v": 2 }), &id).await.unwrap();
    let entry = person.read("project:dev", "notes/last").await.unwrap().unwrap();
    assert_eq!(entry.value, json!({ "v": 2 }));
    assert_eq!(person.read("project:dev", "nothing").await.unwrap(), None);
    assert_eq!(person.history("project:dev", "notes/last").await.unwrap().items.len(), 1);
    let told = person.replay(&id).await.unwrap();
    assert_eq!(told.last().unwrap().object.action, "ledger.written");
    let then = person.replay_at(&id, task.created_at).await.unwrap();
    assert!(then.task.is_some());
    let page = person.list().with("state", "completed").limit(1).await.unwrap();
    assert_eq!(page.items[0].id, task.id);
    assert!(person.version().await.unwrap().is_object());
    world.end().await;
}

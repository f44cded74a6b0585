//! HACP tasks: their operations compared with those of plain asks, the history of a long task, and
//! pages of many tasks compared with pages of a thousand.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::create_shot;
use super::waiting::native;
use crate::gateway::{AGENT, PERSON};
use crate::http_client::{HttpConnection, PreparedRequest};
use crate::latency::Latencies;
use crate::load::{RequestSequence, in_turns, sequences_in_turns};
use crate::report::{Goal, Measurement};
use crate::scale::Scale;
use crate::server_process::{ServerProcess, scratch};
use crate::tasks::fill;

const CONNECTIONS: usize = 32;
/// Few, so that a percentile shows the work and not the queue.
const READERS: usize = 4;
/// The size of the small store.
const A_THOUSAND: usize = 1_000;
/// The number of reads of a long history.
const REPLAYS: usize = 20;

pub(super) async fn run(scale: &Scale) -> anyhow::Result<Vec<Measurement>> {
    let folder = scratch()?;
    let mut rows = operations(scale, &folder.path().join("operations")).await?;
    rows.extend(replay(scale, &folder.path().join("long")).await?);
    rows.extend(lists(scale, folder.path()).await?);
    Ok(rows)
}

/// Operations on tasks and on asks, on the same gateway in turns.
async fn operations(scale: &Scale, folder: &Path) -> anyhow::Result<Vec<Measurement>> {
    let gateway = ServerProcess::gateway(folder).await?;
    let target = gateway.target(create_shot());
    let stories = (TaskCycle::default(), AskCycle { asked: false });
    let (ours, asks) = sequences_in_turns(scale, CONNECTIONS, &target, stories).await?;
    let note = format!("{}; of asks {}", ours.words(), asks.words());
    let what = format!("operations on tasks beside asks, {CONNECTIONS} connections");
    let row = Measurement::new(what, ours.rate(), "/s").against(asks.rate());
    let processor = Measurement::new("… processor time of one", ours.processor_micros(), "µs");
    Ok(vec![row.goal(Goal::AtLeast(0.5)).note(note), processor.against(asks.processor_micros())])
}

/// From the creation of a task to the review that completes it: seven operations with
/// one commit each.
#[derive(Clone, Default)]
struct TaskCycle {
    done: usize,
    task: String,
}

impl RequestSequence for TaskCycle {
    fn next(&mut self, answer: &[u8]) -> anyhow::Result<PreparedRequest> {
        let step = self.done % 7;
        self.done += 1;
        if step == 1 {
            self.task = id(answer)?;
        }
        let task = &self.task;
        Ok(match step {
            0 => operation(
                PERSON,
                "task.create",
                &json!({
                    "type": "report", "goal": "Say what the refunds of this month cost us, and why.",
                    "acceptance_criteria": ["every refund is named", "the sum is at the end"],
                }),
            ),
            1 => operation(
                PERSON,
                "task.assign",
                &json!({
                    "task_id": task, "agent_id": "agent_dev", "input": { "month": "2026-11" },
                }),
            ),
            2 => operation(AGENT, "task.start", &json!({ "task_id": task })),
            3 => operation(
                AGENT,
                "checkpoint.raise",
                &json!({
                    "task_id": task, "kind": "approval",
                    "prompt": "Refund €120.00 to Ada Lovelace for order 4711?",
                }),
            ),
            4 => operation(
                PERSON,
                "checkpoint.resolve",
                &json!({
                    "ckpt_id": id(answer)?, "action": "approve", "comment": "The parcel was lost.",
                }),
            ),
            5 => operation(
                AGENT,
                "artifact.commit",
                &json!({
                    "task_id": task, "type": "report",
                    "payload": { "kind": "inline", "content": format!("{task}: €120.00 in all.") },
                }),
            ),
            _ => operation(
                PERSON,
                "review.submit",
                &json!({
                    "task_id": task, "verdict": "approved",
                }),
            ),
        })
    }
}

/// An agent asks, and a person answers.
#[derive(Clone)]
struct AskCycle {
    asked: bool,
}

impl RequestSequence for AskCycle {
    fn next(&mut self, answer: &[u8]) -> anyhow::Result<PreparedRequest> {
        self.asked = !self.asked;
        if self.asked {
            return Ok(create_shot());
        }
        let path = format!("/api/v1/asks/{}/answer", native(&id(answer)?));
        Ok(PreparedRequest::post(&path, PERSON, r#"{"answer":{"verdict":"approved"}}"#))
    }
}

fn operation(key: &str, name: &str, params: &Value) -> PreparedRequest {
    let body = json!({ "params": params }).to_string();
    PreparedRequest::post(&format!("/hacp/v1/ops/{name}"), key, &body)
}

/// The subject of an answer.
#[derive(Deserialize)]
struct CreatedSubject<'a> {
    #[serde(borrow, alias = "request_id")]
    id: Cow<'a, str>,
}

fn id(answer: &[u8]) -> anyhow::Result<String> {
    Ok(serde_json::from_slice::<CreatedSubject<'_>>(answer)?.id.into_owned())
}

/// The whole history of a long task, and the same page by page.
async fn replay(scale: &Scale, folder: &Path) -> anyhow::Result<Vec<Measurement>> {
    fill(folder, 0, scale.events)?;
    let gateway = ServerProcess::gateway(folder).await?;
    let mut connection = HttpConnection::open(gateway.address).await?;
    connection.call(&operation(PERSON, "task.list", &json!({ "limit": 1 }))).await?;
    let newest: Value = serde_json::from_slice(&connection.body)?;
    let task = newest.pointer("/0/id").and_then(Value::as_str).context("no task")?;

    let whole = operation(PERSON, "audit.replay", &json!({ "task_id": task }));
    let mut took = Latencies::new()?;
    for _ in 0..REPLAYS {
        took.add(timed(&mut connection, &whole).await?);
    }
    let told: Vec<Value> = serde_json::from_slice(&connection.body)?;
    ensure!(told.len() >= scale.events, "{} events were told", told.len());
    let what = format!("a task with {} events, its whole history: p50", told.len());
    let note = format!("{}, {} KiB", took.words(), connection.body.len() / 1024);
    let row = Measurement::new(what, took.p50() / 1_000.0, "s").goal(Goal::AtMost(1.0)).note(note);

    let (mut pages, mut cursor) = (Latencies::new()?, None);
    loop {
        let page = json!({ "task_id": task, "limit": 100, "cursor": cursor });
        pages.add(timed(&mut connection, &operation(PERSON, "audit.query", &page)).await?);
        cursor = connection.header("hacp-next-cursor");
        if cursor.is_none() {
            break;
        }
    }
    let paged =
        Measurement::new("… its history page by page, 100 events each: p99", pages.p99(), "ms");
    Ok(vec![row, paged.note(pages.words())])
}

async fn timed(
    connection: &mut HttpConnection,
    shot: &PreparedRequest,
) -> anyhow::Result<Duration> {
    let began = Instant::now();
    connection.call(shot).await?;
    Ok(began.elapsed())
}

/// A page of tasks, with growing numbers of tasks.
async fn lists(scale: &Scale, folder: &Path) -> anyhow::Result<Vec<Measurement>> {
    let few = listed(folder, A_THOUSAND).await?;
    let mut rows = Vec::new();
    for tasks in [scale.tasks / 10, scale.tasks] {
        let many = listed(folder, tasks).await?;
        for (what, params) in [
            ("a page", json!({})),
            (
                "a page of an agent's in one state",
                json!({ "state": "assigned", "assignee": "agent_dev" }),
            ),
        ] {
            let shot = operation(PERSON, "task.list", &params);
            let (ours, theirs) = (many.target(shot.clone()), few.target(shot));
            let (ours, theirs) = in_turns(scale, READERS, &ours, &theirs).await?;
            let what = format!("{tasks} tasks: {what}, p99");
            let row =
                Measurement::new(what, ours.answers.p99(), "ms").against(theirs.answers.p99());
            let (ours, theirs) = (ours.answers.p50(), theirs.answers.p50());
            let note = format!("p50 {ours:.2} ms against {theirs:.2} ms of {A_THOUSAND}");
            rows.push(row.goal(Goal::AtMost(1.5)).note(note));
        }
    }
    Ok(rows)
}

async fn listed(folder: &Path, tasks: usize) -> anyhow::Result<ServerProcess> {
    let folder = folder.join(format!("tasks-{tasks}"));
    fill(&folder, tasks, 0)?;
    ServerProcess::gateway(&folder).await
}

//! `kill -9` in the middle of tasks: an operation is there whole or not at all, and whoever sends it
//! again under its key does it once.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::agent::{Caller, until};
use super::place::Place;

const ROUNDS: u64 = 3;
const WORKERS: usize = 6;

/// The steps of a task, by whom.
const STEPS: [(&str, &str); 7] = [
    ("task.create", "dev-human-token"),
    ("task.assign", "dev-human-token"),
    ("task.start", "dev-agent-key"),
    ("checkpoint.raise", "dev-agent-key"),
    ("checkpoint.resolve", "dev-human-token"),
    ("artifact.commit", "dev-agent-key"),
    ("review.submit", "dev-human-token"),
];

/// What happens to a task that is done, in order.
const STORY: [&str; 8] = [
    "task.created",
    "task.assigned",
    "task.started",
    "task.checkpoint.raised",
    "task.checkpoint.resolved",
    "artifact.committed",
    "review.submitted",
    "task.completed",
];

/// A task on its way, as whoever drives it remembers it.
#[derive(Debug, Clone, Default)]
struct Driven {
    name: String,
    task: Value,
    checkpoint: Value,
    /// How many steps were acknowledged.
    done: usize,
}

impl Driven {
    fn params(&self, step: usize) -> Value {
        let task = &self.task;
        match STEPS[step].0 {
            "task.create" => json!({ "type": "work", "spec": { "goal": self.name } }),
            "task.assign" => json!({ "task_id": task, "agent_id": "agent_dev" }),
            "checkpoint.raise" => {
                json!({ "task_id": task, "kind": "approval", "prompt": "May I?" })
            }
            "checkpoint.resolve" => json!({ "ckpt_id": self.checkpoint, "action": "approve" }),
            "artifact.commit" => json!({ "task_id": task, "type": "note",
                "payload": { "kind": "inline", "content": self.name } }),
            "review.submit" => json!({ "task_id": task, "verdict": "approved" }),
            _ => json!({ "task_id": task }),
        }
    }

    /// Takes the next step, under a key of its own; `false` when the server is gone.
    async fn step(&mut self, caller: &Caller) -> bool {
        let (operation, credential) = STEPS[self.done];
        let key = format!("{}/{operation}", self.name);
        let body = json!({ "params": self.params(self.done), "idempotency_key": key });
        let path = format!("/hacp/v1/ops/{operation}");
        let Ok((status, said)) = caller.post(&path, credential, &body).await else { return false };
        assert_eq!(status, 200, "{operation}: {said}");
        match operation {
            "task.create" => self.task = said["id"].clone(),
            "checkpoint.raise" => self.checkpoint = said["id"].clone(),
            _ => {}
        }
        self.done += 1;
        true
    }
}

/// HACP-043; K-09.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_are_whole_whenever_the_process_dies() {
    whole(Place::sqlite()).await;
}

/// HACP-043; K-09.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_are_whole_whenever_a_node_dies() {
    if let Some(place) = Place::postgres().await {
        whole(place).await;
    }
}

async fn whole(place: Place) {
    let dice = RandomState::new();
    let mut all: Vec<Driven> = Vec::new();
    for round in 0..ROUNDS {
        let server = place.dev();
        let caller = Caller::of(&server);
        // Whatever was under way goes on first, each with the step nobody acknowledged.
        for driven in all.iter_mut().filter(|driven| driven.done < STEPS.len()) {
            assert!(driven.step(&caller).await);
        }
        let count = Arc::new(AtomicUsize::new(0));
        let mut workers = JoinSet::new();
        for worker in 0..WORKERS {
            let (caller, count) = (caller.clone(), Arc::clone(&count));
            workers.spawn(async move {
                let mut mine = Vec::new();
                for n in 0.. {
                    let name = format!("{round}-{worker}-{n}");
                    let mut driven = Driven { name, ..Driven::default() };
                    while driven.done < STEPS.len() {
                        if !driven.step(&caller).await {
                            mine.push(driven);
                            return mine;
                        }
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                    mine.push(driven);
                }
                mine
            });
        }
        let moment = 20 + usize::try_from(dice.hash_one(round) % 100).unwrap();
        until("so many steps", async || count.load(Ordering::SeqCst) >= moment).await;
        server.kill();
        all.extend(workers.join_all().await.into_iter().flatten());
        let (code, said) = place.verify();
        assert_eq!(code, Some(0), "round {round}, killed after {moment} steps: {said}");
    }
    let server = place.dev();
    let caller = Caller::of(&server);
    for driven in &mut all {
        while driven.done < STEPS.len() {
            assert!(driven.step(&caller).await);
        }
        let body = json!({ "params": { "task_id": driven.task } });
        let path = "/hacp/v1/ops/audit.replay";
        let (_, told) = caller.post(path, "dev-human-token", &body).await.unwrap();
        let told: Vec<_> = told.as_array().unwrap().iter().map(|event| &event["action"]).collect();
        assert_eq!(told, STORY, "{driven:?}");
    }
    server.stop();
    place.sound().await;
}

//! `kill -9` in the middle of tasks: an operation is there whole or not at all, and whoever sends
//! it again under its key does it once.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use faults::tasks::{ACTIONS, DrivenTask, STEPS};
use serde_json::json;
use tokio::task::JoinSet;

use super::agent::{Caller, until};
use super::test_storage::Place;

const ROUNDS: u64 = 3;
const WORKERS: usize = 6;

/// Takes the next step of a task, under a key of its own; `false` when the server is gone.
async fn step(driven: &mut DrivenTask, caller: &Caller) -> bool {
    let (path, credential, body) = driven.next().unwrap();
    let Ok((status, said)) = caller.post(&path, credential, &body).await else { return false };
    assert_eq!(status, 200, "{path}: {said}");
    driven.acknowledged(&said);
    true
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
    let mut all: Vec<DrivenTask> = Vec::new();
    for round in 0..ROUNDS {
        let server = place.dev();
        let caller = Caller::of(&server);
        // Whatever was under way goes on first, each with the step nobody acknowledged.
        for driven in all.iter_mut().filter(|driven| driven.done < STEPS.len()) {
            assert!(step(driven, &caller).await);
        }
        let count = Arc::new(AtomicUsize::new(0));
        let mut workers = JoinSet::new();
        for worker in 0..WORKERS {
            let (caller, count) = (caller.clone(), Arc::clone(&count));
            workers.spawn(async move {
                let mut mine = Vec::new();
                for n in 0.. {
                    let name = format!("{round}-{worker}-{n}");
                    let mut driven = DrivenTask::new(name);
                    while driven.done < STEPS.len() {
                        if !step(&mut driven, &caller).await {
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
            assert!(step(driven, &caller).await);
        }
        let body = json!({ "params": { "task_id": driven.task } });
        let path = "/hacp/v1/ops/audit.replay";
        let (_, told) = caller.post(path, "dev-human-token", &body).await.unwrap();
        let told: Vec<_> = told.as_array().unwrap().iter().map(|event| &event["action"]).collect();
        assert_eq!(told, ACTIONS, "{driven:?}");
    }
    server.stop();
    place.sound().await;
}

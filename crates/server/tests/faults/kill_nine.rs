//! `kill -9` at any moment under load: what was acknowledged is there, and nothing twice.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use super::agent::{Caller, endings, events};
use super::support::{PATIENCE, Server, verify};

const ROUNDS: u64 = 4;
const WORKERS: usize = 12;

/// What the server said yes to: requests, and the receipt of those that were answered.
#[derive(Default)]
struct Acknowledged {
    created: Vec<String>,
    receipts: BTreeMap<String, Value>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_is_on_disk_whenever_the_process_dies() {
    let data = tempfile::tempdir().unwrap();
    let known: Arc<Mutex<Acknowledged>> = Arc::default();
    // A different moment in every run; a failure says which.
    let dice = RandomState::new();
    for round in 0..ROUNDS {
        let server = Server::dev(data.path());
        assert!(server.took < Duration::from_secs(2), "started in {:?}", server.took);
        check(&Caller::of(&server), &known).await;

        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            workers.spawn(ask_and_answer(Caller::of(&server), Arc::clone(&known)));
        }
        let before = known.lock().unwrap().created.len();
        let enough = before + 10 + usize::try_from(dice.hash_one(round) % 150).unwrap();
        tokio::time::timeout(PATIENCE, async {
            while known.lock().unwrap().created.len() < enough {
                tokio::task::yield_now().await;
            }
        })
        .await
        .expect("requests are acknowledged");
        server.kill();
        workers.join_all().await;

        // Before anybody repairs anything, and whatever was half done.
        let (code, said) = verify(data.path());
        assert_eq!(code, Some(0), "round {round}, killed after {enough}: {said}");
    }
    let server = Server::dev(data.path());
    check(&Caller::of(&server), &known).await;
    server.stop();
    let (code, said) = verify(data.path());
    assert_eq!(code, Some(0), "{said}");
}

/// Creates, then two people answer at once; until the server is gone.
async fn ask_and_answer(caller: Caller, known: Arc<Mutex<Acknowledged>>) {
    loop {
        let Ok((status, id)) = caller.ask("Deploy v2.1?").await else { return };
        assert_eq!(status, 201);
        known.lock().unwrap().created.push(id.clone());
        let both = tokio::join!(caller.resolve(&id, "approved"), caller.resolve(&id, "rejected"));
        for (status, said) in [both.0, both.1].into_iter().flatten() {
            if status == 200 {
                let earlier =
                    known.lock().unwrap().receipts.insert(id.clone(), said["receipt"].clone());
                assert_eq!(earlier, None, "two receipts for {id}");
            } else {
                assert_eq!(status, 409, "{said}");
            }
        }
    }
}

/// Everything acknowledged is there as it was acknowledged, and nothing ended twice.
async fn check(caller: &Caller, known: &Mutex<Acknowledged>) {
    let (created, receipts) = {
        let known = known.lock().unwrap();
        (known.created.clone(), known.receipts.clone())
    };
    for id in &created {
        let request = caller.poll(id).await;
        match receipts.get(id) {
            Some(receipt) => {
                assert_eq!(request["status"], "completed");
                assert_eq!(&request["receipt"], receipt, "the receipt of {id} changed");
            }
            // Its answer may have been kept without anybody being told.
            None => {
                assert!(["pending", "completed"].contains(&request["status"].as_str().unwrap()));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_ends_twice_whoever_answers_before_and_after_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::dev(data.path());
    let caller = Caller::of(&server);
    let mut ids = Vec::new();
    for n in 0..40 {
        ids.push(caller.ask(&format!("Number {n}?")).await.unwrap().1);
    }
    let mut answering = JoinSet::new();
    for id in ids.clone() {
        let caller = caller.clone();
        answering.spawn(async move {
            let answered = caller.resolve(&id, "approved").await;
            (id, answered.ok().filter(|(status, _)| *status == 200))
        });
    }
    let first = answering.join_next().await.unwrap().unwrap();
    server.kill();
    let mut told: HashMap<_, _> = [first].into();
    told.extend(answering.join_all().await);

    let server = Server::dev(data.path());
    let caller = Caller::of(&server);
    for (id, told) in told {
        let (status, said) = caller.resolve(&id, "rejected").await.unwrap();
        let kept = caller.poll(&id).await["receipt"].clone();
        match told {
            Some((_, before)) => {
                assert_eq!(status, 409, "{said}");
                assert_eq!(kept, before["receipt"]);
            }
            None => assert!([200, 409].contains(&status), "{said}"),
        }
    }
    let events = events(data.path());
    for id in &ids {
        assert_eq!(endings(&events, id), ["answered"]);
    }
}

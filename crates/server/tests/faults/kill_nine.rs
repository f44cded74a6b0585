//! `kill -9` at any moment under load: what was acknowledged is there, and nothing twice. Whoever
//! talked to the node that died goes on with another.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::task::JoinSet;

use super::agent::{Caller, endings};
use super::load::{Ended, Load};
use super::test_storage::Place;

const ROUNDS: u64 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_is_on_disk_whenever_the_process_dies() {
    acknowledged_is_kept(Place::sqlite(), ROUNDS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_is_in_postgres_whenever_a_node_dies() {
    if let Some(place) = Place::postgres().await {
        acknowledged_is_kept(place, ROUNDS / 2).await;
    }
}

async fn acknowledged_is_kept(place: Place, rounds: u64) {
    let load = Load::default();
    // A different moment in every run; a failure says which.
    let dice = RandomState::new();
    for round in 0..rounds {
        let nodes = place.nodes();
        if let [server] = &nodes[..] {
            assert!(server.took < Duration::from_secs(2), "started in {:?}", server.took);
        }
        let callers: Vec<Caller> = nodes.iter().map(Caller::of).collect();
        load.check(&callers[0]).await;
        let workers = load.start(&callers);
        // One after the other: the last one carries everybody for a while.
        for node in nodes {
            load.more(10 + usize::try_from(dice.hash_one(round) % 150).unwrap()).await;
            node.kill();
        }
        assert!(workers.join_all().await.iter().all(|ended| *ended == Ended::Gone));

        // Before anybody repairs anything, and whatever was half done.
        let (code, said) = place.verify();
        assert_eq!(code, Some(0), "round {round}, killed after {}: {said}", load.created());
    }
    let server = place.dev();
    load.check(&Caller::of(&server)).await;
    server.stop();
    place.sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_ends_twice_whoever_answers_before_and_after_a_kill() {
    nothing_ends_twice(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_ends_twice_on_two_nodes_either() {
    if let Some(place) = Place::postgres().await {
        nothing_ends_twice(place).await;
    }
}

async fn nothing_ends_twice(place: Place) {
    let mut nodes = place.nodes();
    let caller = Caller::of(&nodes[0]);
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
    nodes.remove(0).kill();
    let mut told: HashMap<_, _> = [first].into();
    told.extend(answering.join_all().await);

    // The other node, which has seen it all, or the same one again.
    let server = nodes.pop().unwrap_or_else(|| place.dev());
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
    let events = place.events().await;
    for id in &ids {
        assert_eq!(endings(&events, id), ["answered"]);
    }
    place.sound().await;
}

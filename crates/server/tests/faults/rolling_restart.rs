//! Agents wait while every node is restarted, one after the other: each is told its answer once,
//! and it is the one that was acknowledged to the person who gave it.
//!
//! `COUNTERSIGN_FAULTS_WAITING=10000` has as many wait; that needs as many open files and some more
//! (`ulimit -n 20000`) and two minutes on two cores.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use serde_json::Value;
use tokio::task::{JoinSet, spawn_blocking};

use super::agent::{Caller, within};
use super::support::{PATIENCE, Server};
use super::test_storage::Place;
use super::waiting::{WAYS, watched};

/// How many wait unless told otherwise.
const WAITING: usize = 300;
/// Requests at once.
const HANDS: usize = 16;
/// Agents that arrive at once.
const CROWD: usize = 500;
/// How long a client waits before it tries the next node.
const MOMENT: Duration = Duration::from_millis(50);

#[expect(clippy::disallowed_methods, reason = "tests have no other way to be told")]
fn wanted() -> usize {
    let said = std::env::var("COUNTERSIGN_FAULTS_WAITING").ok();
    said.map_or(WAITING, |number| number.parse().unwrap())
}

/// Where the nodes are, for clients that try one after the other.
#[derive(Clone)]
struct Nodes(Arc<RwLock<[Caller; 2]>>);

impl Nodes {
    fn get(&self, n: usize) -> Caller {
        self.0.read().unwrap()[n % 2].clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_who_waits_is_told_while_nodes_restart() {
    let Some(place) = Place::postgres().await else { return };
    let place = Arc::new(place);
    let [one, other] = [place.dev(), place.dev()];
    // Ten thousand that come back at once keep two cores busy for a while.
    let patience = PATIENCE + Duration::from_millis(10) * u32::try_from(wanted()).unwrap();
    let caller = |server: &Server| Caller::of(server).patient(patience);
    let callers = [caller(&one), caller(&other)];
    let nodes = Nodes(Arc::new(RwLock::new(callers.clone())));
    let asking = stream::iter(0..wanted()).map(|n| {
        let caller = nodes.get(n);
        async move { caller.ask("Deploy?").await.unwrap().1 }
    });
    let ids: Vec<String> = asking.buffer_unordered(HANDS).collect().await;
    let mut waiting = JoinSet::new();
    for (n, id) in ids.iter().cloned().enumerate() {
        waiting.spawn(wait(nodes.clone(), n, id));
        if waiting.len() % CROWD == 0 || waiting.len() == ids.len() {
            let all = waiting.len() as u64;
            within(patience, "everybody waits", async || watched(&callers).await == all).await;
        }
    }

    // Each node goes and comes back, and a quarter is answered during each of the four.
    let quarters: Vec<&[String]> = ids.chunks(ids.len().div_ceil(4)).collect();
    let (mut given, mut running) = (BTreeMap::new(), Vec::new());
    for (n, old) in [one, other].into_iter().enumerate() {
        let (told, ended) =
            tokio::join!(answer(&nodes, quarters[2 * n]), spawn_blocking(move || old.stop()));
        ended.unwrap();
        given.extend(told);
        let place = Arc::clone(&place);
        let (told, new) =
            tokio::join!(answer(&nodes, quarters[2 * n + 1]), spawn_blocking(move || place.dev()));
        given.extend(told);
        let new: Server = new.unwrap();
        nodes.0.write().unwrap()[n] = caller(&new);
        running.push(new);
    }
    let told = tokio::time::timeout(patience, waiting.join_all()).await.expect("everybody is told");
    assert_eq!(told.len(), ids.len());
    assert_eq!(BTreeMap::from_iter(told), given, "what they were told is what was acknowledged");
    for node in running {
        node.stop();
    }
    let ended = place.sound().await;
    assert_eq!(ended.len(), ids.len());
    assert!(ended.values().all(|what| what == "answered"), "{ended:?}");
}

/// An agent, on whichever node there is, until it is told; of what, and when it was answered.
async fn wait(nodes: Nodes, mut n: usize, id: String) -> (String, String) {
    let way = WAYS[n % WAYS.len()];
    loop {
        if let Ok(at) = way.wait(&nodes.get(n), &id).await {
            return (id, at);
        }
        n += 1;
        tokio::time::sleep(MOMENT).await;
    }
}

/// People, on whichever node there is, until each answer is acknowledged; when it was given.
async fn answer(nodes: &Nodes, ids: &[String]) -> Vec<(String, String)> {
    let answers = stream::iter(ids).enumerate().map(async |(mut n, id)| {
        loop {
            let caller = nodes.get(n);
            match caller.resolve(id, "approved").await {
                Ok((200, said)) => break (id.clone(), completed_at(&said["receipt"])),
                // It was kept, and the connection was lost before anybody could say so.
                Ok((409, _)) => {
                    break (id.clone(), completed_at(&caller.poll(id).await["receipt"]));
                }
                Ok((503, _)) | Err(_) => {}
                Ok(other) => panic!("{other:?}"),
            }
            n += 1;
            tokio::time::sleep(MOMENT).await;
        }
    });
    answers.buffer_unordered(HANDS).collect().await
}

fn completed_at(receipt: &Value) -> String {
    receipt["completed_at"].as_str().unwrap().to_owned()
}

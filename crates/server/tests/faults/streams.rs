//! `kill -9` while an agent listens: it goes on where it was, and hears of everything once.

use std::sync::{Arc, Mutex};

use reqwest::Method;
use serde_json::Value;
use tokio::task::JoinSet;

use super::agent::{AGENT, Caller};
use super::support::Server;

const ROUNDS: usize = 3;
const WORKERS: usize = 6;
const HEARD: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_survives_the_death_of_the_server() {
    let data = tempfile::tempdir().unwrap();
    let acknowledged: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut told: Vec<(u64, Value)> = Vec::new();
    let mut last = 0;
    for _ in 0..ROUNDS {
        let server = Server::dev(data.path());
        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            let (caller, known) = (Caller::of(&server), Arc::clone(&acknowledged));
            workers.spawn(async move {
                while let Ok((201, id)) = caller.ask("Deploy").await {
                    known.lock().unwrap().push(id);
                }
            });
        }
        let wanted = told.len() + HEARD;
        listen(&Caller::of(&server), &mut last, &mut told, wanted).await;
        server.kill();
        workers.join_all().await;
    }
    let server = Server::dev(data.path());
    let caller = Caller::of(&server);
    let total = usize::try_from(caller.total().await).unwrap();
    listen(&caller, &mut last, &mut told, total).await;
    assert!(told.is_sorted_by(|one, next| one.0 < next.0), "in order, and nothing twice");
    assert_eq!(told.len(), total, "nothing is left out");
    for id in acknowledged.lock().unwrap().iter() {
        let ask = id.replace("hxp_", "ask_");
        assert!(told.iter().any(|(_, data)| data["ask"]["id"] == *ask), "{id} was not told");
    }
    server.stop();
}

/// Reads on from `last` until so many were told.
async fn listen(caller: &Caller, last: &mut u64, told: &mut Vec<(u64, Value)>, wanted: usize) {
    let request = caller.request(Method::GET, &format!("/api/v1/events?after={last}"), AGENT);
    let mut response = request.send().await.unwrap();
    let mut text = String::new();
    while told.len() < wanted {
        let chunk = response.chunk().await.unwrap().unwrap();
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        while let Some((block, rest)) = text.split_once("\n\n") {
            let data = block.lines().find_map(|line| line.strip_prefix("data: "));
            let data: Value = data.map_or(Value::Null, |data| serde_json::from_str(data).unwrap());
            text = rest.to_owned();
            if data["event"] == "asked" {
                *last = data["position"].as_u64().unwrap();
                told.push((*last, data));
            }
        }
    }
}

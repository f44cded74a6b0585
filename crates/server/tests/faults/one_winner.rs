//! Fifty people answer the same ask at once, half of them on another node: one of them wins, the
//! others are told who.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::agent::{Caller, endings};
use super::support::Server;
use super::test_storage::Place;

const KEY: &str = "agent-key-of-the-test";
const PEOPLE: usize = 50;
const ROUNDS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_on_one_server_one_wins() {
    one_wins(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_on_two_nodes_one_wins() {
    if let Some(place) = Place::postgres().await {
        one_wins(place).await;
    }
}

async fn one_wins(place: Place) {
    let tokens: Vec<String> = (0..PEOPLE).map(|n| format!("token-of-person-{n}")).collect();
    let start = || {
        let mut serve = place.serve();
        serve.env("AGENT_API_KEYS", KEY).env("HUMAN_TOKENS", tokens.join(","));
        Server::start(&mut serve)
    };
    let nodes: Vec<Server> = (0..if place.is_shared() { 2 } else { 1 }).map(|_| start()).collect();
    let callers: Vec<Caller> = nodes.iter().map(Caller::of).collect();
    let mut asked = Vec::new();
    for _ in 0..ROUNDS {
        let body = json!({ "action": "APPROVE", "payload": { "item": "Deploy?" }, "role": "pool" });
        let (status, created) = callers[0].post("/hxp/v1/requests", KEY, &body).await.unwrap();
        assert_eq!(status, 201, "{created}");
        let id = created["request_id"].as_str().unwrap().replacen("hxp_", "ask_", 1);
        let path = format!("/api/v1/asks/{id}/answer");
        let answers = tokens.iter().enumerate().map(|(n, token)| {
            let (caller, path) = (&callers[n % callers.len()], &path);
            let body = json!({ "answer": { "verdict": "approved" }, "comment": n.to_string() });
            async move { caller.post(path, token, &body).await.unwrap() }
        });
        let answers = tokio::time::timeout(Duration::from_secs(10), join_all(answers)).await;
        let (won, lost): (Vec<_>, Vec<_>) =
            answers.unwrap().into_iter().partition(|(status, _)| *status == 200);
        let [(_, won)] = &won[..] else { panic!("{} won: {lost:?}", won.len()) };
        let first = won["result"]["by"]["id"].as_str().unwrap();
        for (status, said) in &lost {
            assert_eq!((*status, &said["type"]), (409, &Value::from("/errors/already-answered")));
            let detail = said["detail"].as_str().unwrap();
            assert!(detail.contains(first), "{detail} does not name {first}");
        }
        asked.push(id);
    }
    let events = place.events().await;
    for id in &asked {
        assert_eq!(endings(&events, id), ["answered"]);
    }
    for node in nodes {
        node.stop();
    }
    place.sound().await;
}

//! The same request sent more than once, at once and in any order, to two nodes: it happens once,
//! and whoever repeated it is told so.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::agent::{AGENT, Caller, endings};
use super::test_storage::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repetition_happens_once() {
    happens_once(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repetition_on_another_node_happens_once() {
    if let Some(place) = Place::postgres().await {
        happens_once(place).await;
    }
}

async fn happens_once(place: Place) {
    let nodes = place.nodes();
    let callers: Vec<Caller> = nodes.iter().map(Caller::of).collect();
    let body = json!({ "action": "APPROVE", "payload": { "item": "Deploy?" } });
    let mut asked = Vec::new();
    for n in 0..8 {
        let key = format!("key {n}");
        let at_once = (0..6).map(|n| create(&callers[n % callers.len()], &key, &body));
        let created = join_all(at_once).await;
        let id = &created[0].1;
        assert!(created.iter().all(|(status, other, _)| *status == 201 && other == id));
        let first = created.iter().filter(|(.., replayed)| !replayed).count();
        assert_eq!(first, 1, "each but one is told that it repeats: {created:?}");
        // In the order in which they were not sent.
        for caller in callers.iter().rev() {
            assert_eq!(create(caller, &key, &body).await, (201, id.clone(), true));
        }
        // Under the same key nothing else is taken for a repetition.
        let other = json!({ "action": "APPROVE", "payload": { "item": "Drop everything?" } });
        for caller in &callers {
            let (status, _, replayed) = create(caller, &key, &other).await;
            assert_eq!((status, replayed), (409, false));
        }
        asked.push(id.clone());
    }
    assert_eq!(callers[0].total().await, asked.len() as u64);

    for id in &asked {
        let at_once = (0..4).map(|n| callers[n % callers.len()].resolve(id, "approved"));
        let mut told: Vec<u16> =
            join_all(at_once).await.into_iter().map(|told| told.unwrap().0).collect();
        told.sort_unstable();
        assert_eq!(told, [200, 409, 409, 409]);
        for caller in callers.iter().rev() {
            assert_eq!(caller.resolve(id, "approved").await.unwrap().0, 409);
        }
    }
    // What comes after the end changes nothing any more, wherever it comes.
    for (n, id) in asked.iter().enumerate() {
        let path = format!("/hxp/v1/requests/{id}/cancel");
        let late = callers[n % callers.len()].post(&path, AGENT, &json!({})).await.unwrap();
        assert_eq!(late.0, 409, "{late:?}");
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

/// The status, the id, and whether it was said to be a repetition.
async fn create(caller: &Caller, key: &str, body: &Value) -> (u16, String, bool) {
    let request = caller.request(Method::POST, "/hxp/v1/requests", AGENT);
    let answer = request.header("idempotency-key", key).json(body).send().await.unwrap();
    let replayed = answer.headers().get("idempotent-replayed").is_some_and(|said| said == "true");
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    (status, body["request_id"].as_str().unwrap_or_default().to_owned(), replayed)
}

//! A server that dies with webhooks on their way: the endpoint hears everything that was
//! acknowledged, what it had heard already under the same id.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use serde_json::json;
use tokio::task::JoinSet;

use super::agent::{AGENT, Caller, HUMAN, until};
use super::test_storage::Place;

type Heard = Arc<Mutex<Vec<String>>>;

async fn hear(State(heard): State<Heard>, headers: HeaderMap) {
    heard.lock().unwrap().push(headers["webhook-id"].to_str().unwrap().to_owned());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhooks_outlive_a_killed_server() {
    outlive(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhooks_outlive_a_killed_node() {
    if let Some(place) = Place::postgres().await {
        outlive(place).await;
    }
}

async fn outlive(place: Place) {
    let heard = Heard::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let app = Router::new().route("/hook", post(hear)).with_state(Arc::clone(&heard));
    let mut serving = JoinSet::new();
    serving.spawn(async move { axum::serve(listener, app).await.unwrap() });

    let server = place.dev();
    let caller = Caller::of(&server);
    let hook = json!({ "agent": "agent_dev", "url": url, "events": ["ask.created"] });
    let made = caller.post("/api/v1/webhooks", HUMAN, &hook).await.unwrap();
    assert_eq!(made.0, 201, "{made:?}");
    let mut asking = JoinSet::new();
    for _ in 0..8 {
        let caller = Caller::of(&server);
        asking.spawn(async move {
            let mut asked = Vec::new();
            while let Ok((_, id)) = caller.ask("Deploy?").await {
                asked.push(id);
            }
            asked
        });
    }
    until("the endpoint hears", async || heard.lock().unwrap().len() > 20).await;
    server.kill();
    let asked: Vec<String> = asking.join_all().await.into_iter().flatten().collect();

    let server = place.dev();
    let caller = Caller::of(&server);
    // What was claimed when it died is claimed again.
    let minute = json!({ "advance": "61s" });
    caller.post("/api/v1/dev/clock", AGENT, &minute).await.unwrap();
    let expected: BTreeSet<String> =
        asked.iter().map(|id| format!("msg_{}_1", id.trim_start_matches("hxp_"))).collect();
    until("everything was heard", async || {
        let heard: BTreeSet<String> = heard.lock().unwrap().iter().cloned().collect();
        expected.is_subset(&heard)
    })
    .await;
    until("nothing waits", async || caller.measured("countersign_outbox_waiting").await == 0).await;
    assert_eq!(caller.measured("countersign_outbox_dead").await, 0);
    server.stop();
    place.sound().await;
}

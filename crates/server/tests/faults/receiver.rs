//! A webhook endpoint that keeps what it receives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::agent::{Caller, HUMAN, until};

/// A call of the endpoint: the message id, the topic and the ask.
pub(crate) type Call = (String, String, String);

/// An endpoint that keeps what it receives.
pub(crate) struct Receiver {
    url: String,
    calls: Arc<Mutex<Vec<Call>>>,
    _serving: JoinSet<()>,
}

async fn receive(
    State(calls): State<Arc<Mutex<Vec<Call>>>>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) {
    let id = headers["webhook-id"].to_str().unwrap().to_owned();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    calls.lock().unwrap().push((id, text(&body["type"]), text(&body["data"]["ask"]["id"])));
}

impl Receiver {
    pub(crate) async fn open() -> Self {
        let calls = Arc::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let app = Router::new().route("/hook", post(receive)).with_state(Arc::clone(&calls));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, calls, _serving: serving }
    }

    /// Adds the endpoint, for new and for answered requests.
    pub(crate) async fn register(&self, caller: &Caller) {
        let events = ["ask.created", "ask.answered"];
        let hook = json!({ "agent": "agent_dev", "url": self.url, "events": events });
        let made = caller.post("/api/v1/webhooks", HUMAN, &hook).await.unwrap();
        assert_eq!(made.0, 201, "{made:?}");
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.calls().into_iter().map(|(id, ..)| id).collect()
    }

    /// Waits until every one of these messages has arrived.
    pub(crate) async fn all(&self, expected: &BTreeSet<String>) {
        until("every webhook arrives", async || expected.is_subset(&self.ids())).await;
    }

    /// A message id stands for one event, and an event has one message id.
    pub(crate) fn one_id_per_event(&self) {
        let (mut events, mut ids) = (BTreeMap::new(), BTreeMap::new());
        for (id, topic, ask) in self.calls() {
            let event = (topic, ask);
            let before = events.insert(id.clone(), event.clone());
            assert!(before.is_none_or(|before| before == event), "{id} stands for two events");
            let before = ids.insert(event.clone(), id.clone());
            assert!(before.is_none_or(|before| before == id), "{event:?} has two ids");
        }
    }

    /// No message arrived twice.
    pub(crate) fn none_twice(&self) {
        assert_eq!(self.ids().len(), self.calls().len(), "{:?}", self.calls());
    }
}

/// The message of the creation of a request.
pub(crate) fn created(id: &str) -> String {
    format!("msg_{}_1", id.trim_start_matches("hxp_"))
}

/// The message of the answer to a request that nothing else happened to.
pub(crate) fn answered(id: &str) -> String {
    format!("msg_{}_2", id.trim_start_matches("hxp_"))
}

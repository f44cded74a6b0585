//! A webhook endpoint that sometimes fails.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::observations::{ObservationKind, ObservationLog};
use crate::random::SeededRandom;

/// One call in this many is rejected, so that deliveries are retried.
const REFUSED: u64 = 25;

/// A running endpoint.
pub struct WebhookReceiver {
    /// The URL of the endpoint.
    pub url: String,
    _serving: JoinSet<()>,
}

#[derive(Clone)]
struct ReceiverState {
    history: ObservationLog,
    dice: Arc<Mutex<SeededRandom>>,
}

impl WebhookReceiver {
    /// Listens on a free loopback port.
    pub async fn start(history: ObservationLog, dice: SeededRandom) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hook", listener.local_addr()?);
        let state = ReceiverState { history, dice: Arc::new(Mutex::new(dice)) };
        let app = Router::new().route("/hook", post(receive_webhook)).with_state(state);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // This serves until the task is dropped.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { url, _serving: serving })
    }
}

async fn receive_webhook(State(listening): State<ReceiverState>, body: Bytes) -> StatusCode {
    if listening.dice.lock().unwrap_or_else(PoisonError::into_inner).one_in(REFUSED) {
        return StatusCode::INTERNAL_SERVER_ERROR;
    }
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
    let (topic, ask) = (text(said.get("type")), text(said.pointer("/data/ask/id")));
    listening.history.add(ObservationKind::Heard { topic, ask });
    StatusCode::NO_CONTENT
}

//! An agent or a service that waits to be called.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::world::{World, eventually};

/// Somebody who listens.
pub(crate) struct Hook {
    pub(crate) url: String,
    /// What it answers, last first, and 200 once there is nothing left.
    pub(crate) answers: Arc<Mutex<Vec<u16>>>,
    /// How many calls it answers; as many as come, unless it is held.
    room: Arc<Semaphore>,
    calls: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
    retry_after: Arc<Mutex<Option<String>>>,
    _serving: JoinSet<()>,
}

#[derive(Clone)]
struct Ear {
    calls: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
    answers: Arc<Mutex<Vec<u16>>>,
    retry_after: Arc<Mutex<Option<String>>>,
    room: Arc<Semaphore>,
}

async fn hear(
    State(ear): State<Ear>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, HeaderMap, String) {
    ear.calls.lock().unwrap().push((headers, body));
    ear.room.acquire().await.unwrap().forget();
    let status = ear.answers.lock().unwrap().pop().unwrap_or(200);
    let mut headers = HeaderMap::new();
    headers.insert("location", "http://127.0.0.1:1/elsewhere".parse().unwrap());
    if let Some(when) = &*ear.retry_after.lock().unwrap() {
        headers.insert("retry-after", when.parse().unwrap());
    }
    (StatusCode::from_u16(status).unwrap(), headers, format!("<b>{status}</b>").repeat(4000))
}

impl Hook {
    /// Answers with these, last first, then 200.
    pub(crate) async fn open(answers: &[u16]) -> Self {
        let hook = Self::held(answers).await;
        hook.release();
        hook
    }

    /// The same, but it does not answer before it is released.
    pub(crate) async fn held(answers: &[u16]) -> Self {
        let (calls, answers) = (Arc::default(), Arc::new(Mutex::new(answers.to_vec())));
        let (retry_after, room) = (Arc::default(), Arc::new(Semaphore::new(0)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?key=s3cret", listener.local_addr().unwrap());
        let ear = Ear {
            calls: Arc::clone(&calls),
            answers: Arc::clone(&answers),
            retry_after: Arc::clone(&retry_after),
            room: Arc::clone(&room),
        };
        let app = Router::new().route("/hook", post(hear)).with_state(ear);
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, answers, room, calls, retry_after, _serving: serving }
    }

    /// Answers from now on.
    pub(crate) fn release(&self) {
        self.room.add_permits(1_000_000);
    }

    /// Wants to be left alone for so long, whenever it does not take something.
    pub(crate) fn ask_for(&self, retry_after: &str) {
        *self.retry_after.lock().unwrap() = Some(retry_after.to_owned());
    }

    pub(crate) fn heard(&self) -> Vec<(HeaderMap, Bytes)> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) async fn heard_times(&self, times: usize) {
        eventually("a call", async || self.heard().len() >= times).await;
        assert_eq!(self.heard().len(), times);
    }
}

/// What is due now is sent.
pub(crate) async fn deliver(world: &World) {
    let deliveries = &world.app().notifier.deliveries;
    deliveries.drain().await.unwrap();
}

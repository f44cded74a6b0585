//! Another service: it says what it is told to say, and notes what it was asked and when.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use client::hitl::{Case, Clock, Follower, Notice};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Moves when somebody sleeps. A real moment passes too, so that what is on its way arrives.
#[derive(Clone)]
pub(crate) struct TestClock(Arc<Mutex<Timestamp>>);

pub(crate) const START: &str = "2026-02-06T10:00:00Z";

impl TestClock {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(START.parse().unwrap())))
    }

    /// Whole seconds since the beginning.
    pub(crate) fn seconds(&self) -> i64 {
        self.now().duration_since(START.parse().unwrap()).as_secs()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    fn sleep(&self, length: Duration) -> BoxFuture<'static, ()> {
        let clock = self.0.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            *clock.lock().unwrap() += SignedDuration::try_from(length).unwrap();
        }
        .boxed()
    }
}

/// One call it had.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// By the test's clock.
    pub(crate) at: i64,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

type Script = dyn Fn(&Seen, usize) -> Response + Send + Sync;

pub(crate) struct Fake {
    pub(crate) base: String,
    pub(crate) clock: TestClock,
    seen: Arc<Mutex<Vec<Seen>>>,
    _serving: JoinSet<()>,
}

impl Fake {
    /// Answers each call with what `script` says to it and to how often its path was called before.
    pub(crate) async fn start(
        script: impl Fn(&Seen, usize) -> Response + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (clock, seen) = (TestClock::new(), Arc::<Mutex<Vec<Seen>>>::default());
        let script: Arc<Script> = Arc::new(script);
        let counts = Arc::<Mutex<HashMap<String, usize>>>::default();
        let (noted, time) = (seen.clone(), clock.clone());
        let answer = async move |request: Request| {
            let (parts, body) = request.into_parts();
            let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            let seen = Seen {
                path: parts.uri.path().to_owned(),
                headers: parts.headers,
                at: time.seconds(),
                body: serde_json::from_slice(&bytes).unwrap_or_default(),
            };
            noted.lock().unwrap().push(seen.clone());
            let before = {
                let mut counts = counts.lock().unwrap();
                let count = counts.entry(seen.path.clone()).or_default();
                *count += 1;
                *count - 1
            };
            script(&seen, before)
        };
        let app = axum::Router::new().fallback(move |request: Request| {
            let answer = answer.clone();
            async move { answer(request).await }
        });
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { base, clock, seen, _serving: serving }
    }

    /// The 202 of a case that lasts an hour, with more members in `hitl`.
    pub(crate) fn accepted(&self, more: &Value) -> Value {
        let base = &self.base;
        let mut body = json!({
            "status": "human_input_required",
            "message": "Somebody has to look at this.",
            "hitl": {
                "spec_version": "0.7", "case_id": "review_1", "type": "approval", "prompt": "Well?",
                "review_url": format!("{base}/review/1?token=review"),
                "poll_url": format!("{base}/status?token=poll"),
                "created_at": START, "expires_at": "2026-02-06T11:00:00Z", "default_action": "reject",
            },
        });
        for (name, value) in more.as_object().unwrap() {
            body["hitl"][name] = value.clone();
        }
        body
    }

    pub(crate) fn case(&self, more: &Value) -> Case {
        Case::recognise(202, &self.accepted(more)).unwrap().unwrap()
    }

    pub(crate) fn follower(&self) -> Follower {
        Follower::new().unwrap().clock(Arc::new(self.clock.clone()))
    }

    pub(crate) fn seen(&self, path: &str) -> Vec<Seen> {
        self.seen.lock().unwrap().iter().filter(|seen| seen.path == path).cloned().collect()
    }

    /// When this path was called.
    pub(crate) fn times(&self, path: &str) -> Vec<i64> {
        self.seen(path).iter().map(|seen| seen.at).collect()
    }
}

/// Somebody who is told things.
#[derive(Clone)]
pub(crate) struct Person {
    clock: TestClock,
    told: Arc<Mutex<Vec<(i64, Notice)>>>,
}

impl Person {
    pub(crate) fn new(clock: &TestClock) -> Self {
        Self { clock: clock.clone(), told: Arc::default() }
    }

    pub(crate) fn tell(&self, notice: Notice) {
        self.told.lock().unwrap().push((self.clock.seconds(), notice));
    }

    /// When they were told, and whether as a reminder.
    pub(crate) fn told(&self) -> Vec<(i64, bool)> {
        let told = self.told.lock().unwrap();
        told.iter().map(|(at, notice)| (*at, notice.is_reminder)).collect()
    }

    pub(crate) fn first(&self) -> Notice {
        self.told.lock().unwrap()[0].1.clone()
    }
}

pub(crate) fn json(status: u16, headers: &[(&str, &str)], body: &Value) -> Response {
    let mut answer = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    answer.body(Body::from(body.to_string())).unwrap()
}

pub(crate) fn text(status: u16, body: &'static str) -> Response {
    Response::builder().status(status).body(Body::from(body)).unwrap()
}

pub(crate) fn pending() -> Value {
    json!({ "status": "pending", "case_id": "review_1" })
}

pub(crate) fn completed(action: &str) -> Value {
    json!({
        "status": "completed", "case_id": "review_1", "completed_at": "2026-02-06T10:05:00Z",
        "result": { "action": action, "data": { "feedback": "fine" } },
        "responded_by": { "name": "Ada" },
    })
}

//! The parts that all simulated platforms share: a server on its own port, a record of its calls,
//! and failures on demand.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use kernel::Time;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use url::Url;

use crate::WebhookCall;

/// One received call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The HTTP method, such as `POST`.
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// Pairs of lower-case name and value.
    pub headers: Vec<(String, String)>,
    /// The exact bytes.
    pub body: Vec<u8>,
}

impl Call {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON. Null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The fields of the body as a form, in order.
    pub fn form(&self) -> Vec<(String, String)> {
        url::form_urlencoded::parse(&self.body).into_owned().collect()
    }
}

/// A failure of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFault {
    /// Too many calls, with this many seconds until the next attempt.
    Busy(u64),
    /// A status of 500 or more.
    Broken(u16),
    /// The call is never answered.
    Hang,
    /// The connection breaks in the middle of the answer.
    Drop,
}

/// The answer to a call.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { status, headers, body: body.to_string() }
    }
}

/// The behaviour of a simulated platform.
#[async_trait]
pub(crate) trait PlatformBehavior: Send + Sync + 'static {
    /// The answer to a call.
    async fn answer(&self, call: &Call) -> Reply;

    /// The answer when there are too many calls.
    fn busy(&self, seconds: u64) -> Reply;
}

/// A simulated platform. It stops when it is dropped.
#[derive(Debug)]
pub struct FakePlatform {
    base: Url,
    desk: Arc<CallLog>,
    // The server ends when this is dropped.
    _serving: JoinSet<()>,
}

#[derive(Debug, Default)]
struct CallLog {
    calls: Mutex<Vec<Call>>,
    troubles: Mutex<VecDeque<CallFault>>,
}

/// Locks a mutex even if a test panicked while holding it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakePlatform {
    pub(crate) async fn of(play: Arc<dyn PlatformBehavior>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let base =
            Url::parse(&format!("http://{}/", listener.local_addr()?)).map_err(io::Error::other)?;
        let desk = Arc::new(CallLog::default());
        let router = Router::new().fallback(handle_call).with_state((desk.clone(), play));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // This ends when the task is aborted.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { base, desk, _serving: serving })
    }

    /// The URL of the platform.
    pub fn base(&self) -> Url {
        self.base.clone()
    }

    /// All calls so far, including failed ones.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.desk.calls).clone()
    }

    /// Adds a failure for the next call that has none yet.
    pub fn fail_next(&self, trouble: CallFault) {
        lock(&self.desk.troubles).push_back(trouble);
    }
}

async fn handle_call(
    State((desk, play)): State<(Arc<CallLog>, Arc<dyn PlatformBehavior>)>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let named = headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let call = Call {
        method: method.to_string(),
        path: uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: named.collect(),
        body: body.to_vec(),
    };
    lock(&desk.calls).push(call.clone());
    let trouble = lock(&desk.troubles).pop_front();
    let reply = match trouble {
        None => play.answer(&call).await,
        Some(CallFault::Busy(seconds)) => play.busy(seconds),
        Some(CallFault::Broken(status)) => {
            Reply { status, headers: Vec::new(), body: "upstream is gone".to_owned() }
        }
        Some(CallFault::Hang) => std::future::pending().await,
        Some(CallFault::Drop) => {
            let broken = Err::<Bytes, _>(io::Error::other("gone"));
            return Response::new(Body::from_stream(futures_util::stream::iter([broken])));
        }
    };
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(reply.body)).unwrap_or_default()
}

/// A client with this timeout. Only calls that are never answered should need more than a little,
/// so all other tests use plenty.
pub fn client(patience: Duration) -> reqwest::Client {
    reqwest::Client::builder().timeout(patience).build().unwrap_or_default()
}

/// A timeout that no working call reaches.
pub const PLENTY: Duration = Duration::from_secs(30);
/// A short timeout, for calls that are never answered.
pub const LITTLE: Duration = Duration::from_millis(50);

/// A call from a platform to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// The HTTP method, mostly `POST`.
    pub method: &'static str,
    /// The full URL that the platform calls.
    pub url: String,
    /// Pairs of lower-case name and value.
    pub headers: Vec<(String, String)>,
    /// The exact bytes.
    pub body: Vec<u8>,
}

impl Inbound {
    /// The call as a channel receives it, under one of its names.
    pub fn call<'a>(&'a self, name: &'a str, now: Time) -> WebhookCall<'a> {
        WebhookCall { url: &self.url, name, headers: &self.headers, body: &self.body, now }
    }

    /// Makes the call, optionally to another URL than the platform's.
    pub async fn send(&self, to: Option<&str>) -> Result<reqwest::Response, reqwest::Error> {
        let method = Method::from_bytes(self.method.as_bytes()).unwrap_or_default();
        let client = reqwest::Client::new();
        let mut call = client.request(method, to.unwrap_or(&self.url)).body(self.body.clone());
        for (name, value) in &self.headers {
            call = call.header(name, value);
        }
        call.send().await
    }
}

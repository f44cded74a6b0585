//! Slack, with one workspace: its Web API, the addresses answers go to, and Socket Mode, on a loopback
//! port; and the calls Slack makes, signed.

pub mod inbound;
pub mod limits;
mod methods;
mod socket;

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use url::Url;

use crate::Secret;
use crate::slack::SlackSettings;
use socket::Sockets;

/// The bot token of the workspace's app.
pub const BOT_TOKEN: &str = "xoxb-1-played";
/// Another app's, as an agent might bring it.
pub const OTHER_TOKEN: &str = "xoxb-2-brought";
/// The app token.
pub const APP_TOKEN: &str = "xapp-1-played";
/// What calls are signed with.
pub const SIGNING_SECRET: &str = "played-signing-secret";
/// The workspace.
pub const TEAM: &str = "T0001";

/// What happens to a call instead of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// 429, with so many seconds in `Retry-After`.
    Slower(u64),
    /// This status, and no JSON.
    Status(u16),
    /// Slack's own refusal, by its name.
    Refusal(&'static str),
    /// No answer at all.
    Silence,
    /// The connection breaks off in the middle of the answer.
    Drop,
}

/// One call as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The method, or `response_url`.
    pub method: String,
    /// The token it was made with.
    pub token: Option<String>,
    /// What it says; a query as an object.
    pub body: Value,
}

/// A message as it lies in a channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Where.
    pub channel: String,
    /// What it is called there.
    pub ts: String,
    /// The message it is below.
    pub thread_ts: Option<String>,
    /// What it says now.
    pub body: Value,
    /// With which token it was sent.
    pub token: String,
}

/// A workspace being played.
pub struct Workspace {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

pub(super) struct Shared {
    state: Mutex<Inner>,
    sockets: Sockets,
    base: String,
}

#[derive(Default)]
struct Inner {
    calls: Vec<Call>,
    faults: VecDeque<Fault>,
    messages: Vec<Message>,
    views: Vec<Value>,
    users: HashMap<String, Value>,
    /// Channels by id; whether the app is in them, and whether they are archived.
    channels: HashMap<String, (bool, bool)>,
    /// What opens a modal once.
    triggers: HashSet<String>,
    /// How often an address for answers still counts.
    responses: HashMap<String, u32>,
    scopes: String,
    count: u64,
}

impl Workspace {
    /// Begins: with Ada (`U0ADA`) in it, a channel the app is in (`C0OPS`), one it is not in (`C0SECRET`)
    /// and one that is archived (`C0OLD`).
    pub async fn begin() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let inner = Inner {
            users: [("U0ADA".to_owned(), person("U0ADA", "ada@example.com"))].into(),
            channels: [
                ("C0OPS".to_owned(), (true, false)),
                ("C0SECRET".to_owned(), (false, false)),
                ("C0OLD".to_owned(), (true, true)),
            ]
            .into(),
            scopes: "chat:write,users:read,users:read.email".to_owned(),
            ..Inner::default()
        };
        let base = format!("{address}");
        let (state, sockets) = (Mutex::new(inner), Sockets::default());
        let shared = Arc::new(Shared { state, sockets, base });
        let app = Router::new()
            .route("/api/{method}", any(api))
            .route("/actions/{id}", post(respond))
            .route("/link/{ticket}", get(socket::link))
            .with_state(shared.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the workspace, on drop")]
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { address, shared, task: task.abort_handle() })
    }

    /// Where its API is.
    pub fn base(&self) -> Option<Url> {
        format!("http://{}/api/", self.address).parse().ok()
    }

    /// What a channel is set up with to be in this workspace, hearing over HTTP.
    pub fn settings(&self) -> SlackSettings {
        SlackSettings {
            bot_token: Secret::new(BOT_TOKEN),
            signing_secret: Some(Secret::new(SIGNING_SECRET)),
            app_token: None,
            base: self.base(),
        }
    }

    /// The same, hearing over a socket.
    pub fn socket_settings(&self) -> SlackSettings {
        let app_token = Some(Secret::new(APP_TOKEN));
        SlackSettings { signing_secret: None, app_token, ..self.settings() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.shared.inner()
    }

    /// What happens to the next call; several come one after the other.
    pub fn next(&self, fault: Fault) {
        self.inner().faults.push_back(fault);
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.inner().calls.clone()
    }

    /// The calls of one method.
    pub fn calls_of(&self, method: &str) -> Vec<Call> {
        self.calls().into_iter().filter(|call| call.method == method).collect()
    }

    /// The messages as they lie there now.
    pub fn messages(&self) -> Vec<Message> {
        self.inner().messages.clone()
    }

    /// The message of this id, `channel/ts`.
    pub fn message(&self, id: &str) -> Option<Message> {
        let here = |message: &&Message| format!("{}/{}", message.channel, message.ts) == id;
        self.inner().messages.iter().find(here).cloned()
    }

    /// Deletes a message, as a person might.
    pub fn delete(&self, id: &str) {
        self.inner().messages.retain(|message| format!("{}/{}", message.channel, message.ts) != id);
    }

    /// The modals that were opened.
    pub fn views(&self) -> Vec<Value> {
        self.inner().views.clone()
    }

    /// Somebody joins, or changes.
    pub fn person(&self, user: Value) {
        let id = user["id"].as_str().unwrap_or_default().to_owned();
        self.inner().users.insert(id, user);
    }

    /// What the bot token is allowed.
    pub fn allow(&self, scopes: &str) {
        scopes.clone_into(&mut self.inner().scopes);
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Somebody of the workspace, as `users.info` says.
pub fn person(id: &str, email: &str) -> Value {
    json!({
        "id": id, "team_id": TEAM, "name": id.to_lowercase(), "deleted": false, "is_bot": false,
        "is_email_confirmed": true, "is_restricted": false, "profile": { "email": email },
    })
}

impl Shared {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn api(
    State(shared): State<Arc<Shared>>,
    Path(method): Path<String>,
    verb: Method,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let token = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let token = token.map(str::to_owned);
    let read = if verb == Method::GET {
        let query = query.unwrap_or_default();
        let pairs = url::form_urlencoded::parse(query.as_bytes()).into_owned();
        Ok(Value::Object(pairs.map(|(name, value)| (name, Value::from(value))).collect()))
    } else if header("content-type") == Some("application/json; charset=utf-8") {
        serde_json::from_slice(&body).map_err(|_| "invalid_json")
    } else {
        Err("invalid_post_type")
    };
    let fault = {
        let mut inner = shared.inner();
        let body = read.clone().unwrap_or_default();
        inner.calls.push(Call { method: method.clone(), token: token.clone(), body });
        inner.faults.pop_front()
    };
    if let Some(fault) = fault {
        return broken(fault).await;
    }
    let answer = match read {
        Ok(body) => shared.answer(&method, token.as_deref(), &body),
        Err(error) => json!({ "ok": false, "error": error }),
    };
    let scopes = shared.inner().scopes.clone();
    ([("x-oauth-scopes", scopes)], axum::Json(answer)).into_response()
}

/// An answer to a press.
async fn respond(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let fault = {
        let mut inner = shared.inner();
        let (method, token) = ("response_url".to_owned(), None);
        inner.calls.push(Call { method, token, body: body.clone() });
        inner.faults.pop_front()
    };
    if let Some(fault) = fault {
        return broken(fault).await;
    }
    let mut inner = shared.inner();
    let Some(left) = inner.responses.get_mut(&id).filter(|left| **left > 0) else {
        return (axum::http::StatusCode::NOT_FOUND, "used_url").into_response();
    };
    *left -= 1;
    let known = ["text", "blocks", "thread_ts", "response_type", "replace_original"];
    let strange = body.as_object().is_none_or(|b| b.keys().any(|k| !known.contains(&k.as_str())));
    if strange || limits::message(&body).is_err() {
        return (axum::http::StatusCode::BAD_REQUEST, "invalid_payload").into_response();
    }
    "ok".into_response()
}

async fn broken(fault: Fault) -> Response {
    let status = |code| axum::http::StatusCode::from_u16(code).unwrap_or_default();
    match fault {
        Fault::Slower(seconds) => {
            let body = axum::Json(json!({ "ok": false, "error": "ratelimited" }));
            (status(429), [("retry-after", seconds.to_string())], body).into_response()
        }
        Fault::Status(code) => (status(code), "no JSON").into_response(),
        Fault::Refusal(error) => {
            let mut body = json!({ "ok": false, "error": error });
            if error == "missing_scope" {
                body["needed"] = json!("chat:write");
                body["provided"] = json!("users:read");
            }
            axum::Json(body).into_response()
        }
        Fault::Silence => std::future::pending().await,
        Fault::Drop => {
            let parts = [Ok(Bytes::from_static(b"{\"ok\":")), Err(std::io::Error::other("gone"))];
            Body::from_stream(futures_util::stream::iter(parts)).into_response()
        }
    }
}

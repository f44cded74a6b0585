//! Slack with one workspace on a loopback port: its Web API, response URLs and Socket Mode, and
//! signed calls from Slack.

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

use crate::SecretString;
use crate::slack::SlackSettings;
use socket::Sockets;

/// The bot token of the workspace's app.
pub const BOT_TOKEN: &str = "xoxb-1-played";
/// The bot token of another app, as an agent might provide it.
pub const OTHER_TOKEN: &str = "xoxb-2-brought";
/// The app token.
pub const APP_TOKEN: &str = "xapp-1-played";
/// The secret that signs calls.
pub const SIGNING_SECRET: &str = "played-signing-secret";
/// The id of the workspace.
pub const TEAM: &str = "T0001";

/// A failure that replaces the answer to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Status 429, with this many seconds in `Retry-After`.
    Slower(u64),
    /// This status, without JSON.
    Status(u16),
    /// An error with this code from Slack.
    Refusal(&'static str),
    /// No answer at all.
    Silence,
    /// The connection breaks off in the middle of the answer.
    Drop,
}

/// One call as it was received.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The method, or `response_url`.
    pub method: String,
    /// The token it was made with.
    pub token: Option<String>,
    /// The body, or the query as an object.
    pub body: Value,
}

/// A message in a channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The id of the channel.
    pub channel: String,
    /// The timestamp, which identifies the message in its channel.
    pub ts: String,
    /// The first message of its thread.
    pub thread_ts: Option<String>,
    /// The current content.
    pub body: Value,
    /// The token that sent it.
    pub token: String,
}

/// A simulated workspace.
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
    /// Channels by id: whether the app is a member, and whether they are archived.
    channels: HashMap<String, (bool, bool)>,
    /// Unused trigger ids, each of which opens one modal.
    triggers: HashSet<String>,
    /// The remaining uses of each response URL.
    responses: HashMap<String, u32>,
    scopes: String,
    count: u64,
}

impl Workspace {
    /// Starts a workspace with Ada (`U0ADA`), a channel the app is in (`C0OPS`), one it is not in
    /// (`C0SECRET`) and an archived one (`C0OLD`).
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
            .route("/link/{ticket}", get(socket::accept_socket))
            .with_state(shared.clone());
        #[expect(clippy::disallowed_methods, reason = "ends with the workspace, on drop")]
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { address, shared, task: task.abort_handle() })
    }

    /// The URL of its API.
    pub fn base(&self) -> Option<Url> {
        format!("http://{}/api/", self.address).parse().ok()
    }

    /// Settings for a channel in this workspace that receives calls over HTTP.
    pub fn settings(&self) -> SlackSettings {
        SlackSettings {
            bot_token: SecretString::new(BOT_TOKEN),
            signing_secret: Some(SecretString::new(SIGNING_SECRET)),
            app_token: None,
            base: self.base(),
        }
    }

    /// Settings for a channel that receives payloads over a socket.
    pub fn socket_settings(&self) -> SlackSettings {
        let app_token = Some(SecretString::new(APP_TOKEN));
        SlackSettings { signing_secret: None, app_token, ..self.settings() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.shared.inner()
    }

    /// Makes the next call fail. Several failures happen one after the other.
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

    /// The messages in their current state.
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

    /// Adds or replaces a member.
    pub fn person(&self, user: Value) {
        let id = user["id"].as_str().unwrap_or_default().to_owned();
        self.inner().users.insert(id, user);
    }

    /// Sets the scopes of the bot token.
    pub fn allow(&self, scopes: &str) {
        scopes.clone_into(&mut self.inner().scopes);
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A member of the workspace, as `users.info` returns it.
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

/// Handles a call to a response URL.
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

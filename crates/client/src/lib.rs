//! A small client for Countersign: an HTTP connection, the dialects' wire types, clear errors.
//!
//! ```no_run
//! # async fn example() -> Result<(), client::ClientError> {
//! let agent = client::Client::new("http://localhost:3402", "dev-agent-key")?;
//! let ask = agent.ask(&serde_json::json!({
//!     "question": { "kind": "approve", "prompt": "Deploy v2.1?" }
//! })).await?;
//! let ended = agent.wait(&ask.id, std::time::Duration::from_secs(3600)).await?;
//! println!("{}", ended.state);
//! # Ok(())
//! # }
//! ```

use std::time::{Duration, Instant};

use dialects::hxp_execution::wire::{Inbox, Request, Resolved};
use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How long one call may hold back its answer.
const LONG_POLL: u64 = 30;
/// How long a server may be away while somebody waits for an answer.
const AWAY: Duration = Duration::from_mins(1);
/// How long to wait before calling again.
const RETRY: Duration = Duration::from_millis(500);

/// A connection to one server with one credential.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    credential: String,
}

/// What went wrong with a call.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is not one.
    #[error("{0} is not an http or https address")]
    BadUrl(String),
    /// Nobody answered.
    #[error("cannot reach {url}")]
    Unreachable {
        /// Who was called.
        url: String,
        /// Why not.
        #[source]
        source: reqwest::Error,
    },
    /// The server refused.
    #[error("{message}")]
    Refused {
        /// The status.
        status: u16,
        /// What it said.
        message: String,
    },
    /// The answer made no sense.
    #[error("the server's answer cannot be read")]
    Garbled(#[source] serde_json::Error),
}

impl ClientError {
    /// Whether the same call may succeed in a moment.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 429 | 502..=504),
            Self::BadUrl(_) | Self::Garbled(_) => false,
        }
    }
}

/// A shorthand.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// An ask as our own API shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    /// Its id.
    pub id: String,
    /// `pending`, `opened`, `in_progress`, `completed`, `expired`, `cancelled` or `failed`.
    pub state: String,
    /// The kind of question.
    pub kind: String,
    /// What is asked.
    pub question: Option<Value>,
    /// How it ended.
    pub receipt: Option<Value>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A signed receipt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Receipt {
    /// The compact JWS: keep this.
    pub receipt: String,
    /// What it claims.
    pub claims: Value,
}

impl Ask {
    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        matches!(self.state.as_str(), "completed" | "expired" | "cancelled" | "failed")
    }

    /// The verdict of the answer: `approved`, `rejected`, `chosen`, …
    pub fn verdict(&self) -> Option<&str> {
        self.receipt.as_ref()?.pointer("/outcome/reply/answer/verdict")?.as_str()
    }
}

impl Client {
    /// A client for the server at `url`, presenting `credential`.
    pub fn new(url: &str, credential: impl Into<String>) -> Result<Self> {
        Self::named(url, credential, concat!("countersign-client/", env!("CARGO_PKG_VERSION")))
    }

    /// The same, calling itself `agent` in the `User-Agent` header.
    pub fn named(url: &str, credential: impl Into<String>, agent: &str) -> Result<Self> {
        let base = Url::parse(url)
            .ok()
            .filter(|base| matches!(base.scheme(), "http" | "https"))
            .ok_or_else(|| ClientError::BadUrl(url.to_owned()))?;
        let http = reqwest::Client::builder()
            .user_agent(agent)
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_secs(LONG_POLL + 30))
            .build()
            .map_err(|source| ClientError::Unreachable { url: url.to_owned(), source })?;
        Ok(Self { http, base, credential: credential.into() })
    }

    /// Asks. `body` is a `POST /api/v1/asks` body.
    pub async fn ask(&self, body: &Value) -> Result<Ask> {
        self.call(Method::POST, "/api/v1/asks", Some(body)).await
    }

    /// Reads an ask.
    pub async fn show(&self, id: &str) -> Result<Ask> {
        self.call(Method::GET, &format!("/api/v1/asks/{id}"), None::<&()>).await
    }

    /// Waits until an ask is over, or `up_to` has passed; gives it as it is then. A server that is
    /// away for a minute, to be restarted for example, is waited for.
    pub async fn wait(&self, id: &str, up_to: Duration) -> Result<Ask> {
        let started = Instant::now();
        let mut away: Option<Instant> = None;
        let path = format!("/api/v1/asks/{id}");
        loop {
            let left = up_to.saturating_sub(started.elapsed());
            let wait = format!("wait={}", left.as_secs().min(LONG_POLL));
            let answer = self.send(Method::GET, &path, None::<&()>, &[("prefer", &wait)]).await;
            let asked_again = match answer {
                Err(error) if error.is_passing() => {
                    if left.is_zero() || away.get_or_insert_with(Instant::now).elapsed() > AWAY {
                        return Err(error);
                    }
                    RETRY
                }
                Err(error) => return Err(error),
                Ok::<Ask, _>(ask) if ask.is_over() || left.is_zero() => return Ok(ask),
                Ok(_) => {
                    away = None;
                    // Less than a second is left: nothing is held back for that.
                    if left < Duration::from_secs(1) { left } else { Duration::ZERO }
                }
            };
            tokio::time::sleep(asked_again.min(left)).await;
        }
    }

    /// The signed receipt of an ask that is over, with what it claims.
    pub async fn receipt(&self, id: &str) -> Result<Receipt> {
        let path = format!("/api/v1/asks/{id}/receipt");
        self.send(Method::GET, &path, None::<&()>, &[("accept", "application/json")]).await
    }

    /// Answers with a reply such as `{"answer": {"verdict": "approved"}}`.
    pub async fn answer(&self, id: &str, reply: &Value) -> Result<Ask> {
        self.call(Method::POST, &format!("/api/v1/asks/{id}/answer"), Some(reply)).await
    }

    /// Withdraws an ask.
    pub async fn cancel(&self, id: &str) -> Result<Ask> {
        self.call(Method::POST, &format!("/api/v1/asks/{id}/cancel"), Some(&json!({}))).await
    }

    /// What waits for the person behind the credential, over HXP Execution.
    pub async fn inbox(&self) -> Result<Inbox> {
        self.call(Method::GET, "/hxp/v1/inbox", None::<&()>).await
    }

    /// Reads a request over HXP Execution.
    pub async fn request(&self, request_id: &str) -> Result<Request> {
        self.call(Method::GET, &format!("/hxp/v1/requests/{request_id}"), None::<&()>).await
    }

    /// Resolves a request over HXP Execution.
    pub async fn resolve(
        &self,
        request_id: &str,
        result: &Value,
        reason: Option<&str>,
    ) -> Result<Resolved> {
        let body = json!({ "result": result, "reason": reason });
        let path = format!("/hxp/v1/requests/{request_id}/resolve");
        self.call(Method::POST, &path, Some(&body)).await
    }

    /// Any call with a JSON body and a JSON answer; an empty answer reads as `null`.
    pub async fn call<B: Serialize, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<T> {
        self.send(method, path, body, &[]).await
    }

    async fn send<B: Serialize, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
        headers: &[(&str, &str)],
    ) -> Result<T> {
        let url = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let unreachable = |source| ClientError::Unreachable { url: self.base.to_string(), source };
        let mut request = self.http.request(method, &url).bearer_auth(&self.credential);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.map_err(unreachable)?;
        let status = answer.status();
        let bytes = answer.bytes().await.map_err(unreachable)?;
        if !status.is_success() {
            let message = said(&bytes).unwrap_or_else(|| status.to_string());
            return Err(ClientError::Refused { status: status.as_u16(), message });
        }
        let bytes = if status == StatusCode::NO_CONTENT { &b"null"[..] } else { &bytes };
        serde_json::from_slice(bytes).map_err(ClientError::Garbled)
    }
}

/// The sentence in an error body, whichever shape it has.
fn said(bytes: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(bytes).ok()?;
    let text = body.get("detail").or_else(|| body.get("message"))?.as_str()?;
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

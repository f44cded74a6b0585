//! A client for Countersign: ask a person, wait for the answer, keep the receipt.
//!
//! ```no_run
//! # async fn example() -> client::Result<()> {
//! // Reads COUNTERSIGN_URL and COUNTERSIGN_API_KEY.
//! let countersign = client::Client::from_env()?;
//! let refund = countersign
//!     .ask("Refund €120.00 to Ada Lovelace?")
//!     .approve()
//!     .detail("order", 4711)
//!     .timeout(std::time::Duration::from_secs(3600))
//!     .wait()
//!     .await?;
//! if refund.is_approved() {
//!     println!("refunded, approved by {}", refund.who());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! **An outcome without a person is never an approval.** A default taken on timeout is an outcome
//! of its own, *defaulted*: it holds the default answer and is not an approval, whatever that
//! answer says. A revoked answer is *revoked*: it holds that answer and the reason, and is not an
//! approval either. The scripted people of a test server count as people, so that code that needs
//! an approval can be tested with them; `via` is then `script`.
//!
//! | module | content |
//! |---|---|
//! | [`ask`] | an ask as the server shows it, and how it ended |
//! | [`asking`] | builders, one for each kind of question, each with its typed answer |
//! | [`wait`](mod@wait) | waiting: a stream first, long polls as the fallback |
//! | [`events`] | one connection for all events of an agent's asks |
//! | [`receipts`] | verifying receipts without the server |
//! | [`insights`] | statistics about agents and people's answers |
//! | [`tasks`] | tasks that a person owns and an agent executes, over HACP |
//! | [`hitl`] | following the cases of any service that speaks HITL |
//! | [`error`] | errors, and whether a retry may help |
//!
//! Calls that failed temporarily are retried with growing pauses. A create has an idempotency key,
//! so that a retry does not ask twice.

pub mod ask;
pub mod asking;
pub mod error;
pub mod events;
pub mod hitl;
pub mod insights;
pub mod receipts;
mod retry;
pub mod tasks;
pub mod wait;

pub use ask::{Ask, Ended, Receipt, Revocation};
pub use asking::Asking;
pub use error::{ClientError, Details, Result};
pub use events::{Event, Events};
pub use insights::Insights;
pub use receipts::{
    EvidenceError, EvidenceStatus, PasskeyEvidence, verify_enrolment, verify_evidence,
    verify_receipt,
};
pub use tasks::Tasks;

use std::time::Duration;

use dialects::hxp_execution::wire::{Inbox, Request, Resolved};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use retry::Retry;

/// The timeout of a call, in addition to the time that the server is asked to wait.
const CALL: Duration = Duration::from_mins(1);

/// A connection to one server with one credential. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    credential: String,
}

impl Client {
    /// A client for the server in `COUNTERSIGN_URL`, or at `http://localhost:3402`, with the key in
    /// `COUNTERSIGN_API_KEY`. If these are not set, it reads the variables of A2H: `A2H_BASE_URL`
    /// and `A2H_API_KEY`, then `HUMANLAYER_API_BASE` and `HUMANLAYER_API_KEY`.
    #[expect(clippy::disallowed_methods, reason = "the environment is this constructor's argument")]
    pub fn from_env() -> Result<Self> {
        let given = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (url, key) = env_settings(given);
        Self::new(url.as_deref().unwrap_or("http://localhost:3402"), key.ok_or(ClientError::NoKey)?)
    }

    /// A client for the server at `url` with this credential.
    pub fn new(url: &str, credential: impl Into<String>) -> Result<Self> {
        Self::named(url, credential, concat!("countersign-client/", env!("CARGO_PKG_VERSION")))
    }

    /// A client that sends `agent` as its `User-Agent`.
    pub fn named(url: &str, credential: impl Into<String>, agent: &str) -> Result<Self> {
        let base = Url::parse(url)
            .ok()
            .filter(|base| matches!(base.scheme(), "http" | "https"))
            .ok_or_else(|| ClientError::BadUrl(url.to_owned()))?;
        let http = reqwest::Client::builder()
            .user_agent(agent)
            .connect_timeout(Duration::from_secs(10))
            .build()
            .map_err(|source| ClientError::Unreachable { url: url.to_owned(), source })?;
        Ok(Self { http, base, credential: credential.into() })
    }

    /// Starts a question; choose its kind next.
    pub fn ask(&self, prompt: impl Into<String>) -> asking::Draft {
        asking::Draft::new(self.clone(), prompt.into())
    }

    /// Creates an ask from a raw `POST /api/v1/asks` body.
    pub async fn create(&self, body: &Value) -> Result<Ask> {
        self.create_as(body, &retry::fresh_key()).await
    }

    /// Creates an ask under the caller's own `Idempotency-Key`: a repetition does not ask twice.
    pub async fn create_as(&self, body: &Value, key: &str) -> Result<Ask> {
        let headers = [("idempotency-key", key)];
        self.send(Method::POST, "/api/v1/asks", Some(body), &headers, Retry::default()).await
    }

    /// Reads an ask.
    pub async fn show(&self, id: &str) -> Result<Ask> {
        self.call(Method::GET, &ask_path(id, ""), None::<&()>).await
    }

    /// The signed receipt of a closed ask, with its claims.
    pub async fn receipt(&self, id: &str) -> Result<Receipt> {
        let path = ask_path(id, "/receipt");
        let headers = [("accept", "application/json")];
        self.send(Method::GET, &path, None::<&()>, &headers, Retry::default()).await
    }

    /// Answers with a reply such as `{"answer": {"verdict": "approved"}}`.
    pub async fn answer(&self, id: &str, reply: &Value) -> Result<Ask> {
        self.call(Method::POST, &ask_path(id, "/answer"), Some(reply)).await
    }

    /// Withdraws an ask.
    pub async fn cancel(&self, id: &str) -> Result<Ask> {
        self.call(Method::POST, &ask_path(id, "/cancel"), Some(&json!({}))).await
    }

    /// Acknowledges the secret values of an answer; the server then deletes them.
    pub async fn acknowledge(&self, id: &str) -> Result<()> {
        self.call(Method::POST, &ask_path(id, "/acknowledge"), None::<&()>).await
    }

    /// Adds a comment to an ask.
    pub async fn comment(&self, id: &str, text: &str) -> Result<Ask> {
        self.call(Method::POST, &ask_path(id, "/comments"), Some(&json!({ "text": text }))).await
    }

    /// Extends the deadline of an ask to a later time (RFC 3339).
    pub async fn extend(&self, id: &str, until: &str) -> Result<Ask> {
        self.call(Method::POST, &ask_path(id, "/extend"), Some(&json!({ "until": until }))).await
    }

    /// The inbox of the credential's person, over HXP Execution.
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

    /// Any call with a JSON body and a JSON response; an empty response is `null`. Only a call that
    /// changes nothing is retried automatically.
    pub async fn call<B: Serialize, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
    ) -> Result<T> {
        let retry = if method.is_safe() { Retry::default() } else { Retry::never() };
        self.send(method, path, body, &[], retry).await
    }

    async fn send<B: Serialize, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
        headers: &[(&str, &str)],
        mut retry: Retry,
    ) -> Result<T> {
        loop {
            let request = self.prepare(method.clone(), path, body, headers).timeout(CALL);
            match self.once(request).await {
                Err(error) if retry.wait_and_retry(&error).await => {}
                Err(error) => return Err(error),
                Ok(answer) => return self.read(answer).await,
            }
        }
    }

    fn prepare<B: Serialize>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
        headers: &[(&str, &str)],
    ) -> RequestBuilder {
        let url = format!("{}{path}", self.base.as_str().trim_end_matches('/'));
        let mut request = self.http.request(method, url).bearer_auth(&self.credential);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        request
    }

    /// Sends a request; anything but success is an error.
    async fn once(&self, request: RequestBuilder) -> Result<Response> {
        let answer = request.send().await.map_err(|source| self.unreachable(source))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(ClientError::refused(answer).await)
    }

    async fn read<T: DeserializeOwned>(&self, answer: Response) -> Result<T> {
        let empty = answer.status() == StatusCode::NO_CONTENT;
        let bytes = answer.bytes().await.map_err(|source| self.unreachable(source))?;
        let bytes = if empty { &b"null"[..] } else { &bytes };
        serde_json::from_slice(bytes).map_err(ClientError::Garbled)
    }

    fn unreachable(&self, source: reqwest::Error) -> ClientError {
        ClientError::Unreachable { url: self.base.to_string(), source }
    }
}

/// The path of an ask, or of a resource below it.
fn ask_path(id: &str, what: &str) -> String {
    format!("/api/v1/asks/{id}{what}")
}

/// The server's URL and the key, under any of the supported variable names.
fn env_settings(given: impl Fn(&str) -> Option<String>) -> (Option<String>, Option<String>) {
    let bases = ["A2H_BASE_URL", "HUMANLAYER_API_BASE"];
    let base = bases.iter().find_map(|name| given(name)).map(|base| {
        let bare = base.trim_end_matches('/');
        let paths = ["/a2h/v1", "/humanlayer/v1"];
        paths.iter().find_map(|path| bare.strip_suffix(path)).unwrap_or(bare).to_owned()
    });
    let keys = ["COUNTERSIGN_API_KEY", "A2H_API_KEY", "HUMANLAYER_API_KEY"];
    (given("COUNTERSIGN_URL").or(base), keys.iter().find_map(|name| given(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A2H-005: the variables of A2H are read after our own.
    #[test]
    fn the_names_of_a2h_are_read_after_our_own() {
        let of = |set: &[(&str, &str)]| {
            let set: Vec<(String, String)> =
                set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            env_settings(|name| {
                set.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
            })
        };
        let both = |url: &str, key: &str| (Some(url.to_owned()), Some(key.to_owned()));
        let a2h = [("A2H_BASE_URL", "https://ask.example/a2h/v1/"), ("A2H_API_KEY", "a")];
        assert_eq!(of(&a2h), both("https://ask.example", "a"));
        let sdk = [
            ("HUMANLAYER_API_BASE", "https://ask.example/humanlayer/v1"),
            ("HUMANLAYER_API_KEY", "h"),
        ];
        assert_eq!(of(&sdk), both("https://ask.example", "h"));
        let own = [("COUNTERSIGN_URL", "https://own.example"), ("COUNTERSIGN_API_KEY", "c")];
        let all: Vec<_> = a2h.into_iter().chain(sdk).chain(own).collect();
        assert_eq!(of(&all), both("https://own.example", "c"));
        assert_eq!(of(&[]), (None, None));
    }
}

//! HTTP calls as a client of the server makes them, to any node.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;

/// The agent key of `--dev`.
pub const AGENT: &str = "dev-agent-key";
/// The administrator, who owns the agent.
pub const OWNER: &str = "dev-human-token";
/// Two people, who answer the same asks.
pub const PEOPLE: [&str; 2] = [OWNER, "dev-human-token-2"];
/// The timeout of a call.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The result of a call.
#[derive(Debug)]
pub enum CallResult {
    /// A status of 2xx.
    Done(Value),
    /// Status 409 or 412: another call was first, or the ask is closed.
    Conflict(Value),
    /// Status 404: the server does not know the object.
    Missing(String),
    /// It is unknown whether the call took effect: there was no answer, or a temporary error.
    Unknown,
    /// Any other answer.
    Unexpected(String),
}

/// Calls nodes in rotation.
#[derive(Clone)]
pub struct NodeClient {
    http: Client,
    bases: Vec<String>,
    next: usize,
}

impl NodeClient {
    /// A client of these base URLs (`http://…`, without a trailing slash) that begins with
    /// one of them.
    pub fn new(bases: &[String], first: usize) -> anyhow::Result<Self> {
        let http = Client::builder().timeout(TIMEOUT).build()?;
        Ok(Self { http, bases: bases.to_vec(), next: first })
    }

    /// A request to the next node.
    pub fn request(&mut self, method: Method, path: &str, credential: &str) -> RequestBuilder {
        self.next = self.next.wrapping_add(1);
        let base = self.bases.get(self.next % self.bases.len().max(1));
        let base = base.map_or("", String::as_str);
        self.http.request(method, format!("{base}{path}")).bearer_auth(credential)
    }

    pub async fn get(&mut self, path: &str, credential: &str) -> CallResult {
        reply(self.request(Method::GET, path, credential)).await
    }

    pub async fn post(&mut self, path: &str, credential: &str, body: &Value) -> CallResult {
        reply(self.request(Method::POST, path, credential).json(body)).await
    }

    pub async fn bytes(&mut self, path: &str, credential: &str) -> Result<Vec<u8>, CallResult> {
        let Ok(response) = self.request(Method::GET, path, credential).send().await else {
            return Err(CallResult::Unknown);
        };
        let status = response.status().as_u16();
        let Ok(bytes) = response.bytes().await else { return Err(CallResult::Unknown) };
        match status {
            200..=299 => Ok(bytes.to_vec()),
            _ => Err(judged(status, &bytes)),
        }
    }
}

/// Sends a request and reads the whole answer.
pub async fn reply(request: RequestBuilder) -> CallResult {
    let Ok(response) = request.send().await else { return CallResult::Unknown };
    let status = response.status().as_u16();
    let Ok(bytes) = response.bytes().await else { return CallResult::Unknown };
    judged(status, &bytes)
}

fn judged(status: u16, bytes: &[u8]) -> CallResult {
    let text = || format!("{status}: {}", String::from_utf8_lossy(bytes));
    let json = || serde_json::from_slice(bytes).unwrap_or(Value::Null);
    match status {
        200..=299 => CallResult::Done(json()),
        404 => CallResult::Missing(text()),
        409 | 412 => CallResult::Conflict(json()),
        // 507 means that the disk is full. The others are temporary errors.
        408 | 429 | 502 | 503 | 504 | 507 => CallResult::Unknown,
        _ => CallResult::Unexpected(text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_success_is_an_acknowledgement_and_only_later_is_an_excuse() {
        assert!(matches!(judged(201, b"{}"), CallResult::Done(_)));
        assert!(matches!(judged(404, b"{}"), CallResult::Missing(_)));
        assert!(matches!(judged(409, b"{}"), CallResult::Conflict(_)));
        assert!(matches!(judged(503, b"{}"), CallResult::Unknown));
        assert!(matches!(judged(500, b"{}"), CallResult::Unexpected(_)));
        assert!(matches!(judged(422, b"{}"), CallResult::Unexpected(_)));
    }
}

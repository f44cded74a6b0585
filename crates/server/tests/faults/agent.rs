//! An agent, and the person who answers it, over HXP Execution.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::support::{PATIENCE, Server};

pub(crate) const AGENT: &str = "dev-agent-key";
pub(crate) const HUMAN: &str = "dev-human-token";

/// The status of an answer and its JSON, if it has any.
pub(crate) type Answer = reqwest::Result<(u16, Value)>;

/// Follows a sign-in link as a browser does: looks at its page, and posts the form on it.
pub(crate) async fn signed_in_with(http: &Client, url: &str, token: &str) -> reqwest::Response {
    let shown = http.get(format!("{url}/sign-in?token={token}")).send().await.unwrap();
    let cookie = shown.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap();
    let cookie = cookie.to_owned();
    let page = shown.text().await.unwrap();
    let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
    let (csrf, _) = rest.split_once('"').unwrap();
    let form = "application/x-www-form-urlencoded";
    let post = http.post(format!("{url}/sign-in")).header("content-type", form);
    let post = post.header("cookie", cookie).body(format!("csrf={csrf}&token={token}"));
    post.send().await.unwrap()
}

/// Calls one server. Keeps its connections.
#[derive(Clone)]
pub(crate) struct Caller {
    http: Client,
    url: String,
}

impl Caller {
    pub(crate) fn of(server: &Server) -> Self {
        Self::at(&server.url.replace("localhost", "127.0.0.1"))
    }

    pub(crate) fn at(url: &str) -> Self {
        let http = Client::builder().timeout(PATIENCE).build().unwrap();
        Self { http, url: url.to_owned() }
    }

    /// The same with more patience.
    pub(crate) fn patient(self, timeout: Duration) -> Self {
        let http = Client::builder().timeout(timeout).build().unwrap();
        Self { http, ..self }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn request(&self, method: Method, path: &str, credential: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(credential)
    }

    pub(crate) async fn get(&self, path: &str, credential: &str) -> Answer {
        answer(self.request(Method::GET, path, credential)).await
    }

    pub(crate) async fn post(&self, path: &str, credential: &str, body: &Value) -> Answer {
        answer(self.request(Method::POST, path, credential).json(body)).await
    }

    /// Asks for approval; the id once it is acknowledged.
    pub(crate) async fn ask(&self, item: &str) -> reqwest::Result<(u16, String)> {
        let body = json!({ "action": "APPROVE", "payload": { "item": item } });
        let (status, created) = self.post("/hxp/v1/requests", AGENT, &body).await?;
        Ok((status, created["request_id"].as_str().unwrap_or_default().to_owned()))
    }

    pub(crate) async fn poll(&self, id: &str) -> Value {
        let (status, request) = self.get(&format!("/hxp/v1/requests/{id}"), AGENT).await.unwrap();
        assert_eq!(status, 200, "{id}: {request}");
        request
    }

    pub(crate) async fn resolve(&self, id: &str, result: &str) -> Answer {
        let path = format!("/hxp/v1/requests/{id}/resolve");
        self.post(&path, HUMAN, &json!({ "result": result })).await
    }

    /// The status of `/readyz`.
    pub(crate) async fn ready(&self) -> u16 {
        let asked = self.request(Method::GET, "/readyz", AGENT).send().await;
        asked.unwrap().status().as_u16()
    }

    /// A number from the metrics; 0 if it is not there.
    pub(crate) async fn measured(&self, name: &str) -> u64 {
        let metrics = self.request(Method::GET, "/metrics", AGENT).send().await.unwrap();
        let metrics = metrics.text().await.unwrap();
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0, |number| number.parse().unwrap())
    }

    /// How many requests the agent has.
    pub(crate) async fn total(&self) -> u64 {
        let (_, list) = self.get("/hxp/v1/requests?limit=1", AGENT).await.unwrap();
        list["total"].as_u64().unwrap()
    }
}

pub(crate) async fn answer(request: RequestBuilder) -> Answer {
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    let comes_back = answer.headers().contains_key("retry-after");
    assert!(status != 503 || comes_back, "nobody says when to come back");
    let bytes = answer.bytes().await?;
    Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
}

/// How often a request ended, by what the file says.
pub(crate) fn endings(events: &[(String, String)], id: &str) -> Vec<String> {
    let over = ["answered", "defaulted", "cancelled", "expired", "failed"];
    let ulid = id.rsplit_once('_').map_or(id, |(_, ulid)| ulid);
    events
        .iter()
        .filter(|(subject, what)| subject.ends_with(ulid) && over.contains(&what.as_str()))
        .map(|(_, what)| what.clone())
        .collect()
}

/// Looks, without holding anybody up, until it is so.
pub(crate) async fn until(what: &str, is: impl AsyncFnMut() -> bool) {
    within(PATIENCE, what, is).await;
}

/// The same with another patience.
pub(crate) async fn within(patience: Duration, what: &str, mut is: impl AsyncFnMut() -> bool) {
    let looked = async {
        while !is().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(patience, looked).await.unwrap_or_else(|_| panic!("in vain: {what}"));
}

//! An agent, and the person who answers it, over HXP Execution.

use std::path::Path;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::support::Server;

pub(crate) const AGENT: &str = "dev-agent-key";
pub(crate) const HUMAN: &str = "dev-human-token";

/// The status of an answer and its JSON, if it has any.
pub(crate) type Answer = reqwest::Result<(u16, Value)>;

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
        let http = Client::builder().timeout(Duration::from_secs(15)).build().unwrap();
        Self { http, url: url.to_owned() }
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

    /// How many requests the agent has.
    pub(crate) async fn total(&self) -> u64 {
        let (_, list) = self.get("/hxp/v1/requests?limit=1", AGENT).await.unwrap();
        list["total"].as_u64().unwrap()
    }
}

pub(crate) async fn answer(request: RequestBuilder) -> Answer {
    let answer = request.send().await?;
    let status = answer.status().as_u16();
    let bytes = answer.bytes().await?;
    Ok((status, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
}

/// The names of the events of each subject, as they lie in the file.
pub(crate) fn events(data: &Path) -> Vec<(String, String)> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let file = data.join("countersign.db");
    let conn = rusqlite::Connection::open_with_flags(file, flags).unwrap();
    conn.busy_timeout(Duration::from_secs(5)).unwrap();
    let mut select = conn.prepare("SELECT subject, what FROM record ORDER BY position").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
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

//! Whoever calls the server: one credential, plain requests, and what came back.

use std::ops::Index;

use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// A caller with its credential.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    headers: Vec<(String, String)>,
}

impl Client {
    pub(crate) fn new(http: reqwest::Client, base: String) -> Self {
        Self { http, base, headers: Vec::new() }
    }

    /// The same caller sending one more header.
    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same caller presenting this credential.
    #[must_use]
    pub(crate) fn bearer(self, secret: &str) -> Self {
        self.header("authorization", &format!("Bearer {secret}"))
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        self.headers.iter().fold(request, |request, (name, value)| request.header(name, value))
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::GET, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::DELETE, path)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        Reply::of(self.request(Method::PUT, path).json(&body)).await
    }

    /// Adds a project, an agent, a person or a group, or changes it.
    pub(crate) async fn save(&self, what: &str, body: Value) -> Reply {
        let id = body["id"].as_str().unwrap().to_owned();
        self.put(&format!("/api/v1/{what}/{id}"), body).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        Reply::of(self.request(Method::POST, path).json(&body)).await
    }

    /// A body as it is, well-formed or not.
    pub(crate) async fn post_raw(&self, path: &str, body: impl Into<reqwest::Body>) -> Reply {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        Reply::of(request.body(body)).await
    }

    pub(crate) async fn post_form(&self, path: &str, pairs: &[(&str, &str)]) -> Reply {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let kind = "application/x-www-form-urlencoded";
        Reply::of(self.request(Method::POST, path).header("content-type", kind).body(body)).await
    }

    /// Follows a sign-in link as a browser does: looks at its page, and posts the form on it.
    pub(crate) async fn sign_in(&self, token: &str) -> Reply {
        let shown = self.get(&format!("/sign-in?token={token}")).await.is(200);
        let cookie = shown.header("set-cookie").split(';').next().unwrap().to_owned();
        let csrf = crate::pages::csrf(&shown);
        let mut browser = self.clone();
        browser.headers.retain(|(name, _)| name != "cookie");
        let browser = browser.header("cookie", &cookie);
        browser.post_form("/sign-in", &[("csrf", &csrf), ("token", token)]).await
    }

    // What agents do.

    /// Creates a request and gives its id.
    pub(crate) async fn ask(&self, body: Value) -> String {
        let created = self.post("/hxp/v1/requests", body).await.is(201);
        created["request_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn poll(&self, id: &str) -> Reply {
        self.get(&format!("/hxp/v1/requests/{id}")).await
    }

    pub(crate) async fn list(&self, query: &str) -> Reply {
        self.get(&format!("/hxp/v1/requests{query}")).await
    }

    pub(crate) async fn cancel(&self, id: &str) -> Reply {
        self.post_raw(&format!("/hxp/v1/requests/{id}/cancel"), "").await
    }

    // What people do.

    pub(crate) async fn inbox(&self, query: &str) -> Reply {
        self.get(&format!("/hxp/v1/inbox{query}")).await
    }

    pub(crate) async fn resolve(&self, id: &str, body: Value) -> Reply {
        self.post(&format!("/hxp/v1/requests/{id}/resolve"), body).await
    }

    pub(crate) async fn claim(&self, id: &str) -> Reply {
        self.post_raw(&format!("/hxp/v1/requests/{id}/claim"), "").await
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// The body, or null if it is not JSON.
    pub(crate) json: Value,
}

impl Reply {
    pub(crate) async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let json = serde_json::from_str(&text).unwrap_or_default();
        Self { status, headers, text, json }
    }

    /// Asserts the status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// Asserts that something was added or changed.
    #[track_caller]
    pub(crate) fn saved(self) -> Self {
        assert!(matches!(self.status, 200 | 201), "{}: {}", self.status, self.text);
        self
    }

    /// Asserts an HXP error: its status, its code, and the shape every error has.
    #[track_caller]
    pub(crate) fn error(self, status: u16, code: &str) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/json", "{}", self.text);
        assert_eq!(self["error"], code, "{}", self.text);
        assert!(self["message"].as_str().is_some_and(|text| !text.is_empty()), "{}", self.text);
        let members: Vec<&String> = self.json.as_object().unwrap().keys().collect();
        let known = ["error", "message", "details"];
        assert!(members.iter().all(|key| known.contains(&key.as_str())), "{}", self.text);
        self
    }

    /// Asserts a problem of our own API: its status, its page, and its shape.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.text);
        assert_eq!(self["type"], format!("/errors/{code}"), "{}", self.text);
        assert_eq!(self["status"], status, "{}", self.text);
        assert!(self["detail"].as_str().is_some_and(|text| !text.is_empty()), "{}", self.text);
        assert!(self["title"].is_string(), "{}", self.text);
        self
    }

    /// A header, empty if it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The ids of the requests of a list, in order.
    pub(crate) fn ids(&self) -> Vec<&str> {
        let requests = self["requests"].as_array().unwrap();
        requests.iter().map(|request| request["request_id"].as_str().unwrap()).collect()
    }
}

impl Index<&str> for Reply {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        &self.json[key]
    }
}

/// A DECIDE between these.
pub(crate) fn decide(question: &str, options: &[&str]) -> Value {
    json!({ "action": "DECIDE", "payload": { "question": question, "options": options } })
}

/// An APPROVE of this.
pub(crate) fn approve(item: &str) -> Value {
    json!({ "action": "APPROVE", "payload": { "item": item } })
}

/// A PROVIDE of this type.
pub(crate) fn provide(input_type: &str) -> Value {
    json!({ "action": "PROVIDE", "payload": { "prompt": "Which one?", "input_type": input_type } })
}

/// The first with the members of the second put in, objects inside one another too.
pub(crate) fn with(mut base: Value, more: Value) -> Value {
    let Value::Object(more) = more else { return more };
    for (key, value) in more {
        let slot = &mut base[key.as_str()];
        *slot = if slot.is_object() { with(slot.take(), value) } else { value };
    }
    base
}

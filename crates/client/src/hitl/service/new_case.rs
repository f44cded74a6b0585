//! A case to create: the body of `POST /hitl/v1/cases`.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// A case to create.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct NewCase(Map<String, Value>);

impl NewCase {
    /// `approve`, `edit` or `reject`.
    pub fn approval(prompt: &str) -> Self {
        Self::of("approval", prompt)
    }

    /// `select`; `context.items` lists the items.
    pub fn selection(prompt: &str) -> Self {
        Self::of("selection", prompt)
    }

    /// `submit`; `context.form` describes the form.
    pub fn input(prompt: &str) -> Self {
        Self::of("input", prompt)
    }

    /// `confirm` or `cancel`.
    pub fn confirmation(prompt: &str) -> Self {
        Self::of("confirmation", prompt)
    }

    /// `retry`, `skip` or `abort`.
    pub fn escalation(prompt: &str) -> Self {
        Self::of("escalation", prompt)
    }

    /// Any type, including a custom `x-…`.
    pub fn of(review_type: &str, prompt: &str) -> Self {
        Self(Map::new()).with("type", review_type).with("prompt", prompt)
    }

    /// Sets the details that belong to the prompt.
    #[must_use]
    pub fn context(self, context: Value) -> Self {
        self.with("context", context)
    }

    /// Sets the timeout, such as `24h` or `P7D`, and the agent's action after it.
    #[must_use]
    pub fn timeout(self, timeout: &str, default_action: &str) -> Self {
        self.with("timeout", timeout).with("default_action", default_action)
    }

    /// Continues a case that ended with `edit`; no effect if the request names none.
    #[must_use]
    pub fn continues(self, request: &Value) -> Self {
        match request.get("previous_case_id").and_then(Value::as_str) {
            Some(id) => self.with("previous_case_id", id),
            None => self,
        }
    }

    /// Uses the callback URL of the agent's request; no effect if it has none.
    #[must_use]
    pub fn calls_back(self, request: &Value) -> Self {
        match request.get(CALLBACK).and_then(Value::as_str) {
            Some(url) => self.with(CALLBACK, url),
            None => self,
        }
    }

    /// Sets any other member: `message`, `data`, `reminder_at`, `inline_actions`, `routing`, …
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// The body to send. It uses the service's own callback URL unless the agent named one.
    pub(super) fn body(&self, callback: Option<&str>) -> Value {
        let mut body = self.0.clone();
        if let Some(url) = callback {
            body.entry(CALLBACK).or_insert_with(|| json!(url));
        }
        Value::Object(body)
    }
}

const CALLBACK: &str = "hitl_callback_url";

//! A case to be made: the body of `POST /hitl/v1/cases`.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// What a person is to decide.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct NewCase(Map<String, Value>);

impl NewCase {
    /// `approve`, `edit` or `reject`.
    pub fn approval(prompt: &str) -> Self {
        Self::of("approval", prompt)
    }

    /// `select`; `context.items` names what there is.
    pub fn selection(prompt: &str) -> Self {
        Self::of("selection", prompt)
    }

    /// `submit`; `context.form` says what is to be filled in.
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

    /// Any type, a custom `x-…` too.
    pub fn of(review_type: &str, prompt: &str) -> Self {
        Self(Map::new()).with("type", review_type).with("prompt", prompt)
    }

    /// With what goes with the prompt.
    #[must_use]
    pub fn context(self, context: Value) -> Self {
        self.with("context", context)
    }

    /// With how long there is time, such as `24h` or `P7D`, and what the agent does after it.
    #[must_use]
    pub fn timeout(self, timeout: &str, default_action: &str) -> Self {
        self.with("timeout", timeout).with("default_action", default_action)
    }

    /// Continues a case that ended with `edit`; nothing if the request named none.
    #[must_use]
    pub fn continues(self, request: &Value) -> Self {
        match request.get("previous_case_id").and_then(Value::as_str) {
            Some(id) => self.with("previous_case_id", id),
            None => self,
        }
    }

    /// Calls the agent back where its request asked for it; nothing if it did not.
    #[must_use]
    pub fn calls_back(self, request: &Value) -> Self {
        match request.get(CALLBACK).and_then(Value::as_str) {
            Some(url) => self.with(CALLBACK, url),
            None => self,
        }
    }

    /// With any other member: `message`, `data`, `reminder_at`, `inline_actions`, `routing`, …
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    /// As it is sent; with the service's own address where the agent wants no call itself.
    pub(super) fn body(&self, callback: Option<&str>) -> Value {
        let mut body = self.0.clone();
        if let Some(url) = callback {
            body.entry(CALLBACK).or_insert_with(|| json!(url));
        }
        Value::Object(body)
    }
}

const CALLBACK: &str = "hitl_callback_url";

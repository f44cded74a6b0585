//! Builders: start with a prompt, choose the kind of question, add options, then call `wait` or
//! `send`.

mod kinds;
mod outcome;

pub use kinds::{
    Approval, Approve, Choose, Confirm, Confirmation, Converse, Escalate, Escalation, Kind, Provide,
};
pub use outcome::{AnswerState, Outcome};

use std::marker::PhantomData;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Ask, Client, ClientError, Result, retry};

/// A prompt without a kind of question.
#[must_use = "a question requires a kind"]
pub struct Draft {
    client: Client,
    question: Map<String, Value>,
}

/// A question that is ready to be sent.
#[must_use = "the ask is created by `wait` or `send`"]
pub struct Asking<K> {
    client: Client,
    question: Map<String, Value>,
    body: Map<String, Value>,
    key: String,
    kind: PhantomData<K>,
}

pub struct Sent<K> {
    client: Client,
    /// The ask at creation.
    pub ask: Ask,
    kind: PhantomData<K>,
}

impl Draft {
    pub(crate) fn new(client: Client, prompt: String) -> Self {
        let question = Map::from_iter([("prompt".to_owned(), Value::String(prompt))]);
        Self { client, question }
    }

    /// Adds information that the person needs before they answer.
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.question.insert("context".to_owned(), Value::String(text.into()));
        self
    }

    fn asking<K>(mut self, kind: &str, with: Value) -> Asking<K> {
        self.question.insert("kind".to_owned(), kind.into());
        if let Value::Object(with) = with {
            self.question.extend(with);
        }
        let (client, question) = (self.client, self.question);
        let (body, key) = (Map::new(), retry::fresh_key());
        Asking { client, question, body, key, kind: PhantomData }
    }

    /// Asks to approve or reject an action.
    pub fn approve(self) -> Asking<Approve> {
        self.asking("approve", json!({}))
    }

    /// Asks to choose one of several options, each with an id and a label.
    pub fn choose<I: Into<String>, L: Into<String>>(
        self,
        options: impl IntoIterator<Item = (I, L)>,
    ) -> Asking<Choose> {
        self.asking("choose", json!({ "options": listed(options), "pick": "one" }))
    }

    /// Asks to choose one or more of several options.
    pub fn choose_many<I: Into<String>, L: Into<String>>(
        self,
        options: impl IntoIterator<Item = (I, L)>,
    ) -> Asking<Choose> {
        self.asking("choose", json!({ "options": listed(options), "pick": "many" }))
    }

    /// Asks for values that only a person can supply. Add the fields with [`Asking::field`].
    pub fn provide(self) -> Asking<Provide> {
        self.asking("provide", json!({ "form": { "fields": [] } }))
    }

    /// Asks to confirm exactly these items.
    pub fn confirm<I: Into<String>, L: Into<String>>(
        self,
        items: impl IntoIterator<Item = (I, L)>,
    ) -> Asking<Confirm> {
        self.asking("confirm", json!({ "items": listed(items), "yes": "Go ahead", "no": "Cancel" }))
    }

    /// Reports a failure and asks to retry, skip or abort.
    pub fn escalate(self, error: impl Serialize) -> Result<Asking<Escalate>> {
        let error = serde_json::to_value(error).map_err(ClientError::Garbled)?;
        Ok(self.asking("escalate", json!({ "error": error })))
    }

    /// Sends a free message and asks for a free answer.
    pub fn converse(self) -> Asking<Converse> {
        self.asking("converse", json!({}))
    }
}

fn listed<I: Into<String>, L: Into<String>>(pairs: impl IntoIterator<Item = (I, L)>) -> Value {
    let one = |(id, label): (I, L)| json!({ "id": id.into(), "label": label.into() });
    pairs.into_iter().map(one).collect()
}

impl<K> Asking<K> {
    /// Sets when the ask expires; see [`Asking::on_silence`].
    pub fn timeout(self, after: Duration) -> Self {
        self.set_member("timeout_seconds", after.as_secs().max(1))
    }

    /// Sets what happens on expiry: `"stay_open"`, `"fail"`, `{"report": "skip"}` or
    /// `{"answer": …}`. By default the ask expires, and [`wait`](Asking::wait) reports that.
    pub fn on_silence(self, what: impl Into<Value>) -> Self {
        self.set_member("on_expiry", what)
    }

    /// Sets the priority: `low`, `normal`, `high` or `critical`.
    pub fn priority(self, priority: &str) -> Self {
        self.set_member("priority", priority)
    }

    /// Asks a named person.
    pub fn person(self, human: &str) -> Self {
        self.set_member("route", json!({ "to": "person", "human": human }))
    }

    /// Asks the project's members, or those of a group. The first qualified person who takes it
    /// answers.
    pub fn pool(self, group: Option<&str>) -> Self {
        self.set_member("route", json!({ "to": "pool", "group": group }))
    }

    /// Asks the person that the owner's delegation rules name.
    pub fn delegate(self) -> Self {
        self.set_member("route", json!({ "to": "delegate" }))
    }

    /// Adds a tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        let tags = self.body.entry("tags").or_insert_with(|| json!([]));
        if let Value::Array(tags) = tags {
            tags.push(Value::String(tag.into()));
        }
        self
    }

    /// Adds data that the server returns with the ask.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let metadata = self.body.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(metadata) = metadata {
            metadata.insert(key.into(), value.into());
        }
        self
    }

    /// Names the ask that this one continues.
    pub fn follows(self, ask: &str) -> Self {
        self.set_member("follows", ask)
    }

    /// Sets the URL that receives one signed call when the ask is closed.
    pub fn callback(self, url: &str) -> Self {
        self.set_member("callback_url", url)
    }

    /// Sets the idempotency key, such as a thread and tool-call id. A restarted agent that asks the
    /// same question under the same key gets the open ask, or the answer given in the meantime.
    /// Another question under the same key is refused with `idempotency-mismatch`. By default every
    /// ask has a random key, so that a retry after a failure does not ask twice.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    fn set_member(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body.insert(name.to_owned(), value.into());
        self
    }

    fn set_question_member(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.question.insert(name.to_owned(), value.into());
        self
    }
}

impl<K: Kind> Asking<K> {
    /// Sends the question.
    pub async fn send(mut self) -> Result<Sent<K>> {
        self.body.insert("question".to_owned(), Value::Object(self.question));
        // A timeout of 0 means no deadline.
        if self.body.get("timeout_seconds").is_some_and(|seconds| *seconds != 0) {
            // If the ask stayed open after its timeout, `wait` would never return.
            self.body.entry("on_expiry").or_insert_with(|| json!({ "report": "abort" }));
        }
        let ask = self.client.create_as(&Value::Object(self.body), &self.key).await?;
        Ok(Sent { client: self.client, ask, kind: PhantomData })
    }

    /// Sends the question and waits until it is closed, without a time limit.
    pub async fn wait(self) -> Result<Outcome<K::Answer>> {
        self.send().await?.wait().await
    }
}

impl<K: Kind> Sent<K> {
    pub fn id(&self) -> &str {
        &self.ask.id
    }

    /// Waits until the ask is closed, without a time limit.
    pub async fn wait(&self) -> Result<Outcome<K::Answer>> {
        self.wait_up_to(Duration::MAX).await
    }

    /// Waits up to this time; returns [`ClientError::StillOpen`] if there is no answer by then.
    pub async fn wait_up_to(&self, up_to: Duration) -> Result<Outcome<K::Answer>> {
        let ask = self.client.wait(&self.ask.id, up_to).await?;
        Outcome::of::<K>(ask)
    }

    /// Withdraws the ask.
    pub async fn cancel(self) -> Result<Ask> {
        self.client.cancel(&self.ask.id).await
    }
}

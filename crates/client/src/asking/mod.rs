//! Builders: a prompt, a kind of question, what else there is to say, then `wait` or `send`.

mod kinds;
mod outcome;

pub use kinds::{
    Approval, Approve, Choose, Confirm, Confirmation, Converse, Escalate, Escalation, Kind, Provide,
};
pub use outcome::{Outcome, Said};

use std::marker::PhantomData;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Ask, Client, ClientError, Result, retry};

/// A prompt that wants a kind.
#[must_use = "a question without a kind asks nothing"]
pub struct Draft {
    client: Client,
    question: Map<String, Value>,
}

/// A question of some kind, ready to be asked.
#[must_use = "nothing is asked before `wait` or `send`"]
pub struct Asking<K> {
    client: Client,
    question: Map<String, Value>,
    body: Map<String, Value>,
    key: String,
    kind: PhantomData<K>,
}

/// An ask that was sent.
pub struct Sent<K> {
    client: Client,
    /// As it was when it was created.
    pub ask: Ask,
    kind: PhantomData<K>,
}

impl Draft {
    pub(crate) fn new(client: Client, prompt: String) -> Self {
        let question = Map::from_iter([("prompt".to_owned(), Value::String(prompt))]);
        Self { client, question }
    }

    /// What the person should know before they answer.
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

    /// Yes or no to an action.
    pub fn approve(self) -> Asking<Approve> {
        self.asking("approve", json!({}))
    }

    /// One of several, each an id and what the person reads.
    pub fn choose<I: Into<String>, L: Into<String>>(
        self,
        options: impl IntoIterator<Item = (I, L)>,
    ) -> Asking<Choose> {
        self.asking("choose", json!({ "options": listed(options), "pick": "one" }))
    }

    /// One or more of several.
    pub fn choose_many<I: Into<String>, L: Into<String>>(
        self,
        options: impl IntoIterator<Item = (I, L)>,
    ) -> Asking<Choose> {
        self.asking("choose", json!({ "options": listed(options), "pick": "many" }))
    }

    /// Values only a person can supply; add the fields with [`Asking::field`].
    pub fn provide(self) -> Asking<Provide> {
        self.asking("provide", json!({ "form": { "fields": [] } }))
    }

    /// "Go ahead with exactly these", or not.
    pub fn confirm<I: Into<String>, L: Into<String>>(
        self,
        items: impl IntoIterator<Item = (I, L)>,
    ) -> Asking<Confirm> {
        self.asking("confirm", json!({ "items": listed(items), "yes": "Go ahead", "no": "Cancel" }))
    }

    /// Something failed: retry, skip or abort.
    pub fn escalate(self, error: impl Serialize) -> Result<Asking<Escalate>> {
        let error = serde_json::to_value(error).map_err(ClientError::Garbled)?;
        Ok(self.asking("escalate", json!({ "error": error })))
    }

    /// A free message that wants a free answer.
    pub fn converse(self) -> Asking<Converse> {
        self.asking("converse", json!({}))
    }
}

fn listed<I: Into<String>, L: Into<String>>(pairs: impl IntoIterator<Item = (I, L)>) -> Value {
    let one = |(id, label): (I, L)| json!({ "id": id.into(), "label": label.into() });
    pairs.into_iter().map(one).collect()
}

impl<K> Asking<K> {
    /// After how long it runs out; see [`Asking::on_silence`].
    pub fn timeout(self, after: Duration) -> Self {
        self.with("timeout_seconds", after.as_secs().max(1))
    }

    /// What happens then: `"stay_open"`, `"fail"`, `{"report": "skip"}` or `{"answer": …}`. If nothing
    /// is said it expires, and [`wait`](Asking::wait) says so.
    pub fn on_silence(self, what: impl Into<Value>) -> Self {
        self.with("on_expiry", what)
    }

    /// `low`, `normal`, `high` or `critical`.
    pub fn priority(self, priority: &str) -> Self {
        self.with("priority", priority)
    }

    /// A named person is asked.
    pub fn person(self, human: &str) -> Self {
        self.with("route", json!({ "to": "person", "human": human }))
    }

    /// The first qualified member of the project who takes it is asked, of a group if one is named.
    pub fn pool(self, group: Option<&str>) -> Self {
        self.with("route", json!({ "to": "pool", "group": group }))
    }

    /// Whom the owner's delegation rules name is asked.
    pub fn delegate(self) -> Self {
        self.with("route", json!({ "to": "delegate" }))
    }

    /// Something it is about.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        let tags = self.body.entry("tags").or_insert_with(|| json!([]));
        if let Value::Array(tags) = tags {
            tags.push(Value::String(tag.into()));
        }
        self
    }

    /// Data that comes back with it.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let metadata = self.body.entry("metadata").or_insert_with(|| json!({}));
        if let Value::Object(metadata) = metadata {
            metadata.insert(key.into(), value.into());
        }
        self
    }

    /// The ask it continues.
    pub fn follows(self, ask: &str) -> Self {
        self.with("follows", ask)
    }

    /// Where to tell, in one signed call, that it is over.
    pub fn callback(self, url: &str) -> Self {
        self.with("callback_url", url)
    }

    /// A key of the caller's, such as a thread and tool-call id. An agent that was restarted and asks
    /// the same question under the same key gets the ask that is open already, or the answer that was
    /// given meanwhile. Another question under the same key is refused with `idempotency-mismatch`.
    /// Without this, every ask has a random key, so that trying again after a failure asks once.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body.insert(name.to_owned(), value.into());
        self
    }

    fn say(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.question.insert(name.to_owned(), value.into());
        self
    }
}

impl<K: Kind> Asking<K> {
    /// Asks.
    pub async fn send(mut self) -> Result<Sent<K>> {
        self.body.insert("question".to_owned(), Value::Object(self.question));
        // 0 seconds are no deadline.
        if self.body.get("timeout_seconds").is_some_and(|seconds| *seconds != 0) {
            // An ask that stays open after its time would be waited for in vain.
            self.body.entry("on_expiry").or_insert_with(|| json!({ "report": "abort" }));
        }
        let ask = self.client.create_as(&Value::Object(self.body), &self.key).await?;
        Ok(Sent { client: self.client, ask, kind: PhantomData })
    }

    /// Asks, and waits until it is over, however long that takes.
    pub async fn wait(self) -> Result<Outcome<K::Said>> {
        self.send().await?.wait().await
    }
}

impl<K: Kind> Sent<K> {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.ask.id
    }

    /// Waits until it is over, however long that takes.
    pub async fn wait(&self) -> Result<Outcome<K::Said>> {
        self.wait_up_to(Duration::MAX).await
    }

    /// Waits that long; [`ClientError::StillOpen`] if nobody answered by then.
    pub async fn wait_up_to(&self, up_to: Duration) -> Result<Outcome<K::Said>> {
        let ask = self.client.wait(&self.ask.id, up_to).await?;
        Outcome::of::<K>(ask)
    }

    /// Withdraws it.
    pub async fn cancel(self) -> Result<Ask> {
        self.client.cancel(&self.ask.id).await
    }
}

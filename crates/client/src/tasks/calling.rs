//! One call: `POST /hacp/v1/ops/{operation}`.

use std::future::IntoFuture;
use std::marker::PhantomData;

use dialects::hacp::Operation;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::retry::{Retry, fresh_key};
use crate::{Client, ClientError, Result};

/// The header in which a list says where it goes on.
const NEXT: &str = "hacp-next-cursor";

/// An operation that gives one object. Nothing is sent before it is awaited.
#[must_use = "nothing is sent before it is awaited"]
pub struct Calling<T> {
    call: Call,
    gives: PhantomData<fn() -> T>,
}

/// An operation that gives a list.
#[must_use = "nothing is sent before it is awaited"]
pub struct Listing<T> {
    call: Call,
    gives: PhantomData<fn() -> T>,
}

/// Some of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the list goes on: the cursor of the page after it.
    pub next: Option<String>,
}

/// A call of any kind.
pub(super) struct Call {
    client: Client,
    operation: Operation,
    params: Map<String, Value>,
    expected: Option<u64>,
    key: Option<String>,
}

impl Call {
    pub(super) fn new(client: Client, operation: Operation, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        // To acknowledge twice does no harm: it never goes back.
        let keyed = operation.changes() && operation != Operation::RuntimeAck;
        Self { client, operation, params, expected: None, key: keyed.then(fresh_key) }
    }

    fn with(&mut self, name: &str, value: impl Serialize) {
        if let Ok(value) = serde_json::to_value(value) {
            self.params.insert(name.to_owned(), value);
        }
    }

    async fn send(self) -> Result<(Value, Option<String>)> {
        let mut body = Map::from_iter([("params".to_owned(), Value::Object(self.params))]);
        body.extend(self.expected.map(|n| ("expected_task_revision".to_owned(), json!(n))));
        body.extend(self.key.map(|key| ("idempotency_key".to_owned(), json!(key))));
        let path = format!("/hacp/v1/ops/{}", self.operation.name());
        let mut retry = Retry::default();
        loop {
            let request = self.client.prepare(Method::POST, &path, Some(&body), &[]);
            match self.client.once(request.timeout(crate::CALL)).await {
                Err(error) if retry.again(&error).await => {}
                Err(error) => return Err(error),
                Ok(answer) => {
                    let next = answer.headers().get(NEXT).and_then(|next| next.to_str().ok());
                    let next = next.map(str::to_owned);
                    return Ok((self.client.read(answer).await?, next));
                }
            }
        }
    }
}

macro_rules! builder {
    ($name:ident) => {
        impl<T> $name<T> {
            pub(super) fn new(call: Call) -> Self {
                Self { call, gives: PhantomData }
            }

            /// Says one thing more, by its name on the wire.
            pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
                self.call.with(name, value);
                self
            }
        }
    };
}

builder!(Calling);
builder!(Listing);

impl<T> Calling<T> {
    /// Only if the task still has the revision that was seen; with another one it is a `CONFLICT`.
    pub fn expecting(mut self, task_revision: u64) -> Self {
        self.call.expected = Some(task_revision);
        self
    }

    /// Under a key of the caller's: whoever repeats it does it once.
    pub fn under(mut self, idempotency_key: impl Into<String>) -> Self {
        self.call.key = Some(idempotency_key.into());
        self
    }
}

impl<T> Listing<T> {
    /// At most so many.
    pub fn limit(self, most: u64) -> Self {
        self.with("limit", most)
    }

    /// Where the page before said the list goes on.
    pub fn after(self, cursor: &str) -> Self {
        self.with("cursor", cursor)
    }
}

impl<T: DeserializeOwned + 'static> IntoFuture for Calling<T> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'static, Result<T>>;

    fn into_future(self) -> Self::IntoFuture {
        async move {
            let (value, _) = self.call.send().await?;
            serde_json::from_value(value).map_err(ClientError::Garbled)
        }
        .boxed()
    }
}

impl<T: DeserializeOwned + 'static> IntoFuture for Listing<T> {
    type Output = Result<Page<T>>;
    type IntoFuture = BoxFuture<'static, Result<Page<T>>>;

    fn into_future(self) -> Self::IntoFuture {
        async move {
            let (value, next) = self.call.send().await?;
            let items = serde_json::from_value(value).map_err(ClientError::Garbled)?;
            Ok(Page { items, next })
        }
        .boxed()
    }
}

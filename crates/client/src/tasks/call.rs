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

/// The header with the cursor of the next page.
const NEXT: &str = "hacp-next-cursor";

/// An operation that returns one object. It is sent when it is awaited.
#[must_use = "nothing is sent before it is awaited"]
pub struct Calling<T> {
    call: PreparedCall,
    gives: PhantomData<fn() -> T>,
}

/// An operation that returns a list.
#[must_use = "nothing is sent before it is awaited"]
pub struct Listing<T> {
    call: PreparedCall,
    gives: PhantomData<fn() -> T>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

pub(super) struct PreparedCall {
    client: Client,
    operation: Operation,
    params: Map<String, Value>,
    expected: Option<u64>,
    key: Option<String>,
}

impl PreparedCall {
    pub(super) fn new(client: Client, operation: Operation, params: Value) -> Self {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        // A repeated acknowledgement is harmless: the position never moves back.
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
                Err(error) if retry.wait_and_retry(&error).await => {}
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
            pub(super) fn new(call: PreparedCall) -> Self {
                Self { call, gives: PhantomData }
            }

            /// Adds a parameter by its name on the wire.
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
    /// Requires this revision of the task; another one causes a `CONFLICT`.
    pub fn expecting(mut self, task_revision: u64) -> Self {
        self.call.expected = Some(task_revision);
        self
    }

    /// Sets the idempotency key: a repetition takes effect once.
    pub fn under(mut self, idempotency_key: impl Into<String>) -> Self {
        self.call.key = Some(idempotency_key.into());
        self
    }
}

impl<T> Listing<T> {
    /// Sets the page size.
    pub fn limit(self, most: u64) -> Self {
        self.with("limit", most)
    }

    /// Continues after the previous page's cursor.
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

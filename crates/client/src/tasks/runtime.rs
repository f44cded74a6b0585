//! The operations of an agent's runtime, and the loop that handles them: peek, handle, acknowledge.
//!
//! Operations without an acknowledgement are delivered again, also after a crash. A handler uses
//! idempotency keys derived from the operation, so that a repetition takes effect once.

use std::time::Duration;

use dialects::hacp::Operation;
use dialects::hacp::runtime::{HarnessEvent, HarnessEventDelivery};
use serde_json::{Value, json};

use super::{Calling, Listing, Tasks};
use crate::retry::Retry;
use crate::{ClientError, Result};

/// The pause when there is nothing to do.
const REST: Duration = Duration::from_secs(1);
/// The page size.
const BATCH: u64 = 100;

impl Tasks {
    /// The pending operations of the calling agent's runtime, without acknowledging them.
    pub fn peek(&self) -> Listing<HarnessEventDelivery> {
        self.listing(Operation::RuntimePeek, json!({}))
    }

    /// Acknowledges everything up to this cursor.
    pub fn ack(&self, through: &str) -> Calling<Value> {
        self.calling(Operation::RuntimeAck, json!({ "through": through }))
    }

    pub fn runtime(&self) -> Runtime {
        Runtime { tasks: self.clone(), rest: REST }
    }
}

/// The loop of a runtime: [`run`](Self::run) it.
pub struct Runtime {
    tasks: Tasks,
    rest: Duration,
}

impl Runtime {
    /// Sets the pause when there is nothing to do; one second by default.
    #[must_use]
    pub fn resting(mut self, rest: Duration) -> Self {
        self.rest = rest;
        self
    }

    /// Passes all operations to `handle` and does not return without an error. An operation that
    /// fails is not acknowledged: it comes first when this runs again.
    pub async fn run<E: From<ClientError>>(
        &self,
        mut handle: impl AsyncFnMut(HarnessEvent) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            if self.once(&mut handle).await? == 0 {
                tokio::time::sleep(self.rest).await;
            }
        }
    }

    /// Passes the pending operations to `handle`; returns how many there were.
    pub async fn once<E: From<ClientError>>(
        &self,
        handle: &mut impl AsyncFnMut(HarnessEvent) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut done = 0;
        loop {
            let page = retry_until_done(|| self.tasks.peek().limit(BATCH).into_future()).await?;
            if page.items.is_empty() {
                return Ok(done);
            }
            for HarnessEventDelivery { cursor, event } in page.items {
                handle(event).await?;
                retry_until_done(|| self.tasks.ack(&cursor).into_future()).await?;
                done += 1;
            }
        }
    }
}

/// Repeats a call for as long as the server is unavailable.
async fn retry_until_done<T, F: Future<Output = Result<T>>>(call: impl Fn() -> F) -> Result<T> {
    let mut retry = Retry::unlimited();
    loop {
        match call().await {
            Err(error) if retry.wait_and_retry(&error).await => {}
            answer => return answer,
        }
    }
}

/// The idempotency key for a step of an operation, the same in every delivery.
pub fn key(event: &HarnessEvent, step: &str) -> String {
    format!("{}:{step}", event.operation_id)
}

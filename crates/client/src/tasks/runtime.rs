//! What the runtime of an agent has to do, and the loop that does it: look, do, confirm.
//!
//! What was not confirmed is given again, after a crash too. Whatever a handler does in the protocol it
//! does under a key made from the operation, so that doing it again does it once.

use std::time::Duration;

use dialects::hacp::Operation;
use dialects::hacp::runtime::{HarnessEvent, HarnessEventDelivery};
use serde_json::{Value, json};

use super::{Calling, Listing, Tasks};
use crate::retry::Retry;
use crate::{ClientError, Result};

/// How long to rest when there is nothing to do.
const REST: Duration = Duration::from_secs(1);
/// How much is looked at in one go.
const BATCH: u64 = 100;

impl Tasks {
    /// What the runtime of the agent who calls has to do, without taking it.
    pub fn peek(&self) -> Listing<HarnessEventDelivery> {
        self.listing(Operation::RuntimePeek, json!({}))
    }

    /// Everything up to this cursor was done.
    pub fn ack(&self, through: &str) -> Calling<Value> {
        self.calling(Operation::RuntimeAck, json!({ "through": through }))
    }

    /// The loop of a runtime.
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
    /// Rests for so long when there is nothing to do; a second unless told.
    #[must_use]
    pub fn resting(mut self, rest: Duration) -> Self {
        self.rest = rest;
        self
    }

    /// Hands everything there is to do to `handle`, for ever. What fails is not confirmed: it comes
    /// first when this runs again.
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

    /// Hands what there is to do now to `handle`; how much it was.
    pub async fn once<E: From<ClientError>>(
        &self,
        handle: &mut impl AsyncFnMut(HarnessEvent) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut done = 0;
        loop {
            let page = outlast(|| self.tasks.peek().limit(BATCH).into_future()).await?;
            if page.items.is_empty() {
                return Ok(done);
            }
            for HarnessEventDelivery { cursor, event } in page.items {
                handle(event).await?;
                outlast(|| self.tasks.ack(&cursor).into_future()).await?;
                done += 1;
            }
        }
    }
}

/// A call that may be repeated, for as long as the server is away.
async fn outlast<T, F: Future<Output = Result<T>>>(call: impl Fn() -> F) -> Result<T> {
    let mut retry = Retry::ever();
    loop {
        match call().await {
            Err(error) if retry.again(&error).await => {}
            answer => return answer,
        }
    }
}

/// The key under which a runtime does a step of something: the same however often it is delivered.
pub fn key(event: &HarnessEvent, step: &str) -> String {
    format!("{}:{step}", event.operation_id)
}

//! Tasks that a person owns and an agent executes, over HACP.
//!
//! ```no_run
//! # async fn example() -> client::Result<()> {
//! let tasks = client::Client::new("http://localhost:3402", "a person's token")?.tasks();
//! let task = tasks.create("text", "Write the release notes").await?;
//! tasks.assign(&task.id.to_string(), "agent_dev").await?;
//! # Ok(())
//! # }
//! ```
//!
//! The holder of the credential is the actor. Every operation is a [`Calling`]: add optional
//! parameters, then await it. An operation that changes data has an idempotency key, so that a call
//! whose response was lost is repeated but takes effect once.
//!
//! | module | content |
//! |---|---|
//! | `call` | one call, with its key and the revision it expects |
//! | `task_operations` | tasks, checkpoints, ownership |
//! | `artifact_operations` | reviews, artifacts, ledgers, history |
//! | `upload` | uploads and downloads of any size |
//! | [`runtime`] | the loop of an agent's runtime |
//! | [`events`] | events of tasks, as a stream |

mod artifact_operations;
mod call;
pub mod events;
pub mod runtime;
mod task_operations;
mod upload;

pub use artifact_operations::Content;
pub use call::{Calling, Listing, Page};
pub use dialects::hacp::audit::{AuditEvent, Replay};
pub use dialects::hacp::inbox::InboxItem;
pub use dialects::hacp::runtime::{AdapterOutboxRecord, HarnessEvent, HarnessEventDelivery};
pub use dialects::hacp::{Operation, wire};
pub use events::{TaskEvent, TaskEvents};
pub use runtime::Runtime;

use serde_json::Value;

use crate::Client;
use call::PreparedCall;

#[derive(Clone)]
pub struct Tasks {
    client: Client,
}

impl Client {
    /// The operations on tasks.
    pub fn tasks(&self) -> Tasks {
        Tasks { client: self.clone() }
    }
}

impl Tasks {
    /// Any operation, with its raw parameters.
    pub fn call(&self, operation: Operation, params: Value) -> Calling<Value> {
        self.calling(operation, params)
    }

    /// Any operation that returns a list.
    pub fn list_of(&self, operation: Operation, params: Value) -> Listing<Value> {
        self.listing(operation, params)
    }

    fn calling<T>(&self, operation: Operation, params: Value) -> Calling<T> {
        Calling::new(PreparedCall::new(self.client.clone(), operation, params))
    }

    fn listing<T>(&self, operation: Operation, params: Value) -> Listing<T> {
        Listing::new(PreparedCall::new(self.client.clone(), operation, params))
    }
}

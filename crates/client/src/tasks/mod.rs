//! Tasks: work a person owns and an agent does, over HACP.
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
//! Whoever holds the credential is who acts. Every operation is a [`Calling`]: what else there is to
//! say comes after it, then it is awaited. What changes something carries an idempotency key, so that
//! a call whose answer was lost is repeated and still happens once.
//!
//! | module | what it holds |
//! |---|---|
//! | `calling` | one call, with its key and the revision it expects |
//! | `work` | tasks, checkpoints, ownership |
//! | `record` | reviews, artifacts, ledgers, history |
//! | `upload` | bytes of any size, to and fro |
//! | [`runtime`] | what the runtime of an agent has to do, and the loop that does it |
//! | [`events`] | what happens to tasks, as it happens |

mod calling;
pub mod events;
mod record;
pub mod runtime;
mod upload;
mod work;

pub use calling::{Calling, Listing, Page};
pub use dialects::hacp::audit::{AuditEvent, Replay};
pub use dialects::hacp::inbox::InboxItem;
pub use dialects::hacp::runtime::{AdapterOutboxRecord, HarnessEvent, HarnessEventDelivery};
pub use dialects::hacp::{Operation, wire};
pub use events::{TaskEvent, TaskEvents};
pub use record::Content;
pub use runtime::Runtime;

use serde_json::Value;

use crate::Client;
use calling::Call;

/// Every operation of the protocol.
#[derive(Clone)]
pub struct Tasks {
    client: Client,
}

impl Client {
    /// Work a person owns and an agent does.
    pub fn tasks(&self) -> Tasks {
        Tasks { client: self.clone() }
    }
}

impl Tasks {
    /// Any operation, with its parameters as they are on the wire.
    pub fn call(&self, operation: Operation, params: Value) -> Calling<Value> {
        self.calling(operation, params)
    }

    /// Any operation that gives a list.
    pub fn list_of(&self, operation: Operation, params: Value) -> Listing<Value> {
        self.listing(operation, params)
    }

    fn calling<T>(&self, operation: Operation, params: Value) -> Calling<T> {
        Calling::new(Call::new(self.client.clone(), operation, params))
    }

    fn listing<T>(&self, operation: Operation, params: Value) -> Listing<T> {
        Listing::new(Call::new(self.client.clone(), operation, params))
    }
}

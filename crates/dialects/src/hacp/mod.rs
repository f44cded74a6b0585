//! HACP 0.1, and its successor HLP 0.2: `POST /hacp/v1/ops/{object.verb}`, `/hacp/v1/events`,
//! `/hacp/v1/version`, `/hacp/v1/schemas/{name}`, `/hacp/ws`.
//!
//! | file | content |
//! |---|---|
//! | `operation`, `version` | the operations of each version |
//! | [`read`](mod@read) | turns the body of a call into a [`TaskCommand`](kernel::task::TaskCommand) or a query |
//! | `names` | the names of people and agents on the wire |
//! | [`wire`], [`view`] | the objects, and how they are built from tasks, asks, artifacts and entries |
//! | [`audit`], `actions` | the history of a task as a hash chain |
//! | [`inbox`] | the open items of a person |
//! | [`runtime`], `permissions` | the duties and permissions of an agent's runtime |
//! | [`stream`], [`rpc`] | the event stream, and calls over a WebSocket |
//! | [`schema`](mod@schema) | the JSON Schemas of the objects |
//! | [`errors`] | codes and statuses |
//!
//! Tasks follow the protocol's own model, so this dialect maps nearly field for field. Additional
//! data is in members that only the newest version has.

mod actions;
pub mod audit;
pub mod errors;
pub mod inbox;
mod names;
mod operation;
mod parse;
mod permissions;
pub mod read;
pub mod rpc;
pub mod runtime;
pub mod schema;
pub mod stream;
mod version;
pub mod view;
pub mod wire;

pub use actions::AuditAction;
pub use errors::{CODES, HacpError, ProtocolError};
pub use names::{
    agent as agent_name, by as actor_name, party as party_name, person as person_name,
};
pub use operation::Operation;
pub use read::{ArtifactCommit, HacpCall, HacpCaller, NewPayload, OperationParams, read};
pub use version::{
    HacpVersion, PROFILE_HEADER, SCHEMA_HEADER, VERSION_HEADER, VersionResponse, negotiate,
    version_response,
};
pub use wire::{Stamp, Stamped};

use kernel::AskId;

/// The prefix of every checkpoint id.
pub const PREFIX: &str = "ckpt_";

pub fn checkpoint_id(ask: AskId) -> String {
    ask.with_prefix(PREFIX)
}

/// The ask that a checkpoint id names.
pub fn ask_id(checkpoint_id: &str) -> Option<AskId> {
    AskId::parse_with_prefix(PREFIX, checkpoint_id)
}

//! HACP 0.1, and HLP 0.2, which it became: `POST /hacp/v1/ops/{object.verb}`, `/hacp/v1/events`,
//! `/hacp/v1/version`, `/hacp/v1/schemas/{name}`, `/hacp/ws`.
//!
//! | file | what |
//! |---|---|
//! | `operation`, `version` | the operations, and which version has which |
//! | [`read`](mod@read) | from the body of a call to a [`TaskCommand`](kernel::task::TaskCommand) or a query |
//! | `names` | who is who on the wire |
//! | [`wire`], [`view`] | the objects, and how they are made from tasks, asks, artifacts and entries |
//! | [`audit`], `actions` | the history of a task as the protocol tells it, link by link |
//! | [`inbox`] | what waits for somebody |
//! | [`runtime`], `leave` | what the runtime of an agent has to do, and may do without asking |
//! | [`stream`], [`rpc`] | events as they happen, and calls over a WebSocket |
//! | [`schema`](mod@schema) | what the objects have at least |
//! | [`errors`] | codes and statuses |
//!
//! The objects are the protocol's own, so this dialect maps nearly field for field; what it does not
//! have is said beside, in members of ours, and only in the newest version.

mod actions;
pub mod audit;
pub mod errors;
pub mod inbox;
mod leave;
mod names;
mod operation;
mod parse;
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
pub use read::{Call, Caller, Commit, NewPayload, Params, read};
pub use version::{
    PROFILE_HEADER, SCHEMA_HEADER, Spoken, VERSION_HEADER, Version, negotiate, spoken,
};
pub use wire::{Stamp, Stamped};

use kernel::AskId;

/// What every checkpoint id begins with.
pub const PREFIX: &str = "ckpt_";

/// The id of a checkpoint.
pub fn checkpoint_id(ask: AskId) -> String {
    ask.shown_as(PREFIX)
}

/// The ask behind a checkpoint id.
pub fn ask_id(checkpoint_id: &str) -> Option<AskId> {
    AskId::read_as(PREFIX, checkpoint_id)
}

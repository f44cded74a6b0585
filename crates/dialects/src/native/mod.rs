//! Our own API, `/api/v1`: the kernel's words on the wire.

mod ask;
mod create;
mod identities;
mod keys;

pub use ask::{AskView, CommentView, EventView, ResultView, Viewer};
pub use create::{CreateAsk, OnSilence};
pub use identities::{AgentBody, PersonBody, ProjectBody};
pub use keys::{IssueKey, IssuedKey, KeyView};

//! The JSON of HXP Execution 0.1, field for field and in the order the specification lists them.
//!
//! What the specification leaves open is filled in by extension members, each marked as ours.

mod body;
mod names;
mod request;

pub use body::{
    Cancelled, Created, Endpoints, ErrorBody, Frame, Inbox, InboxItem, Info, List, Resolve,
    Resolved, Rule, Rules, Stats, Verified,
};
pub use names::{Action, Fallback, InputType, Role, Status};
pub use request::{Approve, Decide, Payload, Provide, Receipt, Request, Validation};

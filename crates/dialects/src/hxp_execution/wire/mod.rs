//! The JSON of HXP Execution 0.1, field for field and in the order the specification lists them.
//!
//! Where the specification lacks a member, a Countersign extension adds it and is marked as such.

mod body;
mod names;
mod request;

pub use body::{
    Cancelled, Created, Endpoints, ErrorBody, Frame, Inbox, InboxItem, Info, List, Resolve,
    Resolved, Rule, Rules, Stats, Verified,
};
pub use names::{Action, Fallback, InputType, Role, Status};
pub use request::{Approve, Decide, Payload, Provide, Receipt, Request, Validation};

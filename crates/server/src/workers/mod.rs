//! Background work that notifies no one: deadlines, retention, housekeeping, key changes. The
//! followers of the event feed and the outbox are in the crate `notify`.

pub mod housekeeping;
pub mod keys;
pub mod retention;
pub mod timers;

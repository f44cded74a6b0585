//! What happens without being asked: deadlines, deliveries, housekeeping.

pub mod housekeeping;
pub mod outbox;
pub mod timers;

//! What happens without being asked: deadlines, deliveries, blocks, counts, retention, housekeeping.

pub mod anchor;
mod behind;
mod contracts;
pub mod counter;
pub mod devices;
pub mod housekeeping;
pub mod indexer;
pub mod keys;
pub mod lanes;
pub mod outbox;
pub mod retention;
pub mod sealer;
mod tell;
pub mod timers;

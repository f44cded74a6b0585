//! The answer in words: how a request ended, and the person's changes to the agent's proposal.

pub mod changes;
pub mod outcome;

//! The answer in words: how a request ended, and what a person changed in the agent's proposal.

pub mod changes;
pub mod outcome;

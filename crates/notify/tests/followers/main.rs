//! The follower that writes deliveries: each event becomes work exactly once, whatever crashes.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod replaced_followers;
mod simulation;
mod steps;

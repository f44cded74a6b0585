//! HXP eXperience 1.0 as its callers meet it: messages in, verdicts out, no server between.
//! `published.schema.json` is the protocol's own, `https://hxp.dev/schema/hxp.schema.json`.
#![expect(clippy::unwrap_used, reason = "tests")]

mod asks;
mod bindings;
mod edges;
mod fields;
mod fixtures;
mod levels;
mod mutations;
mod properties;
mod same_verdict;
mod strict;
mod views;

//! The protocols agents speak, as pure translations to and from the [`kernel`].
//!
//! A dialect turns bytes into a kernel command or a named error, and an [`Ask`](kernel::Ask) back
//! into the bytes its protocol promises. Nothing here reads a clock, a socket or a file, and no
//! HTTP type appears: a status is a number, a route is a line of documentation.
//!
//! # Layout
//!
//! | module | protocol |
//! |---|---|
//! | [`hxp_execution`] | HXP Human Execution Protocol 0.1, `/hxp/v1/…` |
//! | [`hitl`] | HITL Protocol 0.7 and 0.8, `/hitl/v1/…` |
//! | [`a2h`] | A2H v1alpha1 and HumanLayer 0.7.9, `/a2h/v1/…`, `/humanlayer/v1/…` |
//! | [`hacp`] | HACP 0.1 and HLP 0.2: tasks, `/hacp/v1/…`, `/hacp/ws` |
//! | [`hxp_experience`] | HXP Human eXperience Protocol 1.0: envelopes, `/envelope/v1/…` |
//! | [`native`] | our own API, `/api/v1/…` |
//! | [`proof`] | none: signed receipts that anyone can verify |
//! | [`webhooks`] | none: webhook bodies for asks of every dialect |
//! | [`conversation_origin`] | none: the email or Slack message with which a person began a conversation |
//! | [`nesting`] | none: the nesting limit of every body |
//! | [`strict_json`] | none: rejects bodies with duplicate member names |
//!
//! Every protocol with a specification has the same modules: `wire` mirrors the specification field
//! for field, the parsers turn bytes into commands, the views turn asks into wire types, and
//! `errors` maps every [`Refusal`](kernel::Refusal) to the protocol's own codes. An ask created in
//! one dialect can be shown and answered in every other.

pub mod a2h;
mod codes;
pub mod conversation_origin;
pub mod duration;
pub mod hacp;
mod hacp_decision;
pub mod hitl;
pub mod hxp_execution;
pub mod hxp_experience;
mod members;
pub mod native;
pub mod nesting;
pub mod proof;
pub mod strict_json;
pub mod webhooks;

//! The pure rules of Countersign.
//!
//! An agent asks, a person answers, a proof comes back. Everything that decides whether that may
//! happen, and what it means when it did, lives in this crate; nothing here reads a clock, draws a
//! random number, opens a file or waits. The manifest has no crate that could.
//!
//! ```text
//!            Envelope { actor, fresh id, salts, Command }
//!                              │
//!   World { now, directory, loaded } ─▶ decide ─▶ Decision { what happened, effects }
//!                              │                        │
//!                              │                     settle: number, chain, evolve
//!                              ▼                        ▼
//!                     Refusal (a value)      Changes { entities, records, effects }
//! ```
//!
//! # Layout
//!
//! | module | what it holds |
//! |---|---|
//! | [`decide`](mod@decide) | one `match` from a [`Command`] to the verb that judges it |
//! | [`ask`] | the [`Ask`] aggregate; one file per verb: rule, events, refusals, tests |
//! | [`task`] | the [`Task`] aggregate with its artifacts and ledgers; one file per verb |
//! | [`directory`] | projects, agents, people, keys, delegation rules, endpoints; one file per verb |
//! | [`question`] | what an agent may ask, what counts as an [`Answer`](question::Answer) to it |
//! | [`form`] | typed forms and their validation |
//! | [`routing`] | who is asked |
//! | [`reach`] | how a notice gets through to them |
//! | [`event`], [`evolve`](mod@evolve) | what happened, and what the world looks like afterwards |
//! | [`insight`] | what of it is counted, and what the counts say |
//! | [`topic`] | what of it endpoints may hear of |
//! | [`audit`] | hash chains, and values that can be erased without breaking them |
//! | [`seal`] | blocks over the record: Merkle roots, their proofs, the chain of blocks |
//! | [`retention`] | how long words are kept |
//! | [`spelling`] | which spellings of a name are accepted |
//! | [`receipt`] | the claims a proof makes |
//! | [`passkey_evidence`] | what a passkey signs when it confirms an answer, and the evidence of it |
//! | [`verification`] | proofs that a person is there: what an ask wants of them, and what counts |
//! | [`world`], [`command`], [`refusal`], [`effect`] | the vocabulary of a decision |
//! | [`actor`], [`ids`], [`time`], [`text`] | who, which, when, and words made safe to show |

#![warn(missing_docs, clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

pub mod actor;
pub mod ask;
pub mod audit;
mod canonical;
pub mod command;
pub mod decide;
pub mod directory;
pub mod duration;
pub mod effect;
pub mod event;
pub mod evolve;
pub mod form;
pub mod ids;
pub mod insight;
#[cfg(feature = "openapi")]
mod openapi;
pub mod passkey_evidence;
pub mod question;
pub mod quota;
pub mod reach;
pub mod receipt;
pub mod refusal;
pub mod retention;
pub mod routing;
pub mod seal;
pub mod spelling;
pub mod strict;
pub mod task;
#[cfg(any(test, feature = "testing"))]
#[expect(
    missing_docs,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "only tests use it"
)]
pub mod testing;
pub mod text;
pub mod time;
pub mod topic;
pub mod verification;
pub mod world;

pub use actor::{Actor, Assurance, By, SenderVerification, Via};
pub use ask::{Ask, AskState, Ending, Phase};
pub use command::{AskCommand, Command, DirectoryCommand, Envelope};
pub use decide::decide;
pub use effect::Effect;
pub use event::{Event, Happened};
pub use evolve::{Changes, Entity, evolve, settle};
pub use ids::{
    AgentId, ArtifactId, AskId, EntryId, HumanId, KeyId, LedgerId, ProjectId, ReviewId, RuleId,
    RunId, Subject, TaskId, UploadId, WebhookId,
};
pub use refusal::Refusal;
pub use task::Task;
pub use time::Time;
pub use topic::Topic;
pub use world::{Decision, Loaded, Verdict, World};

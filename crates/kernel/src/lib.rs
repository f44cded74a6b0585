//! The pure rules of Countersign.
//!
//! An agent asks, a person answers, and the agent receives a signed proof. This crate contains
//! every rule that decides whether that may happen and what follows from it. Nothing here reads a
//! clock, draws a random number, opens a file or waits. The manifest has no crate that could.
//!
//! ```text
//!            Envelope { actor, fresh id, salts, Command }
//!                              │
//!   World { now, directory, loaded } ─▶ decide ─▶ Decision { events }
//!                              │                        │
//!                              │                     settle: number, chain, evolve
//!                              ▼                        ▼
//!                     Refusal (a value)      Changes { entities, records, follow-ups }
//! ```
//!
//! # Layout
//!
//! | module | contents |
//! |---|---|
//! | [`decide`](mod@decide) | one `match` from a [`Command`] to the function that decides it |
//! | [`ask`] | the [`Ask`] aggregate; one file per command: rule, events, refusals, tests |
//! | [`task`] | the [`Task`] aggregate with its artifacts and ledgers; one file per command |
//! | [`directory`] | projects, agents, people, keys, rules, endpoints; one file per command |
//! | [`question`] | the questions of an agent, and the [`Answer`](question::Answer)s to them |
//! | [`form`] | typed forms and their validation |
//! | [`routing`] | who is asked |
//! | [`notification_steps`] | the steps in which a person is notified |
//! | [`event`], [`evolve`](mod@evolve) | the events, and the state after them |
//! | [`follow_up`] | the effects of an event outside the database |
//! | [`insight`] | statistics over the events |
//! | [`topic`] | the topics that webhook endpoints receive |
//! | [`audit`] | hash chains, and values that can be erased without breaking them |
//! | [`seal`] | blocks over the audit log: Merkle roots, their proofs, the chain of blocks |
//! | [`retention`] | how long text is kept |
//! | [`spelling`] | which spellings of a name are accepted |
//! | [`receipt`] | the claims of a signed proof |
//! | [`passkey_evidence`] | the statement a passkey signs for an answer, and its evidence |
//! | [`verification`] | proofs that a person is present: the demands of an ask, and their check |
//! | [`world`], [`command`], [`refusal`] | the vocabulary of a decision |
//! | [`actor`], [`ids`], [`time`], [`text`] | actors, ids, time, and text made safe to show |

#![warn(missing_docs, clippy::indexing_slicing, clippy::wildcard_enum_match_arm)]

pub mod actor;
pub mod ask;
pub mod audit;
mod canonical;
pub mod command;
pub mod decide;
pub mod directory;
pub mod duration;
pub mod event;
pub mod evolve;
pub mod follow_up;
pub mod form;
pub mod ids;
pub mod insight;
pub mod notification_steps;
#[cfg(feature = "openapi")]
mod openapi;
pub mod passkey_evidence;
pub mod question;
pub mod quota;
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

pub use actor::{Actor, ActorRef, AnswerInterface, Assurance, SenderVerification};
pub use ask::{Ask, AskState, Ending, Phase};
pub use command::{AskCommand, Command, DirectoryCommand, Envelope};
pub use decide::decide;
pub use event::{AskEvent, DirectoryEvent, DomainEvent, Event};
pub use evolve::{Changes, Entity, apply_decision, evolve};
pub use follow_up::{FollowUp, follow_ups};
pub use ids::{
    AgentId, ArtifactId, AskId, EntryId, HumanId, KeyId, LedgerId, ProjectId, ReviewId, RuleId,
    RunId, Subject, TaskId, UploadId, WebhookId,
};
pub use refusal::Refusal;
pub use task::Task;
pub use time::Time;
pub use topic::Topic;
pub use world::{DecideOutcome, Decision, Loaded, SecretAnswer, World};

//! HITL Protocol 0.7, with 0.8 on request: `/hitl/v1/…`, `/.well-known/hitl.json`.
//! Specification: `hitl-0.7`, sections 6 to 10 and 13, appendices C and D.
//!
//! | file | route | section |
//! |---|---|---|
//! | `create` | `POST /hitl/v1/cases` | 6, 10 |
//! | `question` | `type` and `context` of a case | 10 |
//! | `timeout` | `timeout` | 6 |
//! | `accepted` | the 202 with its `hitl` object | 6 |
//! | `poll` | `GET …/status`, and the result of every answer | 8, 10 |
//! | `respond` | `POST …/respond`, `…/submit`, `…/cancel` | 7, 7.5 |
//! | `events` | `GET …/events` and the callback | 8.5, 9 |
//! | `policy`, `evidence` | `verification_policy` of a case, `verification_evidence` of an answer | 7.6 of 0.8 |
//! | `discovery` | `/.well-known/hitl.json` | appendix D |
//! | `wire`, [`errors`] | types and codes | appendix C, 16 |
//!
//! The protocol has five review types and the kernel six kinds of question. [`CaseType`] holds the
//! only table between them, with the actions of each. Parsing an answer and rendering a result both
//! use it, so the server accepts and returns exactly the actions it offers.

pub mod accepted;
pub mod create;
pub mod discovery;
pub mod errors;
pub mod events;
mod evidence;
mod parse;
mod policy;
pub mod poll;
pub mod question;
pub mod respond;
pub mod timeout;
mod types;
pub mod wire;

pub use accepted::{CaseLinks, accepted};
pub use create::{NewHitlCase, parse_create};
pub use errors::{CODES, HitlWireError};
pub use events::{HitlEvent, callback, client_event};
pub use evidence::SubmittedEvidence;
pub use poll::{poll, result, submitted};
pub use respond::{HitlResponse, parse_cancel, read_respond};
pub use types::{CaseType, HitlAction};

use kernel::{Ask, AskId};

/// The prefix of every case id.
pub const PREFIX: &str = "review_";

/// The recommended polling interval, in seconds.
pub const POLL_EVERY: u64 = 30;

/// The protocol versions of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HitlVersion {
    #[default]
    V07,
    /// The version that adds proofs of a person.
    V08,
}

impl HitlVersion {
    /// The version as written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V07 => "0.7",
            Self::V08 => "0.8",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::V07, Self::V08].into_iter().find(|version| version.as_str() == name)
    }

    /// The version with which a case was created; the baseline if it came from another dialect.
    pub fn of(ask: &Ask) -> Self {
        let kept = create::stored_members(ask).and_then(|kept| kept.get("spec_version")?.as_str());
        kept.and_then(Self::named).unwrap_or_default()
    }
}

pub fn case_id(ask: AskId) -> String {
    ask.with_prefix(PREFIX)
}

/// The ask that a case id names.
pub fn ask_id(case_id: &str) -> Option<AskId> {
    AskId::parse_with_prefix(PREFIX, case_id)
}

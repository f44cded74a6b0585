//! Why something may not happen. Each dialect maps these to its own codes.

use crate::actor::{Assurance, By};
use crate::ids::HumanId;
use crate::question::AnswerError;
use crate::quota::Exceeded;
use crate::time::Time;

/// A refused command. Nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It does not exist, or the actor may not know that it does.
    #[error("there is no such {what}")]
    NotFound {
        /// What was looked for.
        what: &'static str,
    },
    /// The actor may not do this.
    #[error("{why}")]
    NotAllowed {
        /// What would have been needed.
        why: &'static str,
    },
    /// It is still open.
    #[error("{why}")]
    NotOver {
        /// What has to come first.
        why: &'static str,
    },
    /// Somebody answered first.
    #[error("already answered by {by} at {at}")]
    AlreadyAnswered {
        /// Who.
        by: By,
        /// When.
        at: Time,
    },
    /// It was withdrawn.
    #[error("cancelled by {by} at {at}")]
    AlreadyCancelled {
        /// Who.
        by: By,
        /// When.
        at: Time,
    },
    /// Its time is up.
    #[error("timed out at {at}")]
    TimedOut {
        /// The deadline.
        at: Time,
    },
    /// Somebody else holds it.
    #[error("{by} has taken this on")]
    TakenBy {
        /// Who.
        by: HumanId,
    },
    /// Somebody else has answered it and can still undo that.
    #[error("{by} has just answered this")]
    BeingAnswered {
        /// Who.
        by: HumanId,
    },
    /// The answer does not answer the question.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The actor did not prove well enough who they are.
    #[error(
        "this request needs an answer with the assurance {need}, and this one came with {have}"
    )]
    AssuranceTooLow {
        /// What they had.
        have: Assurance,
        /// What is needed.
        need: Assurance,
    },
    /// Approving what is irreversible or critical needs a better proof of who does it.
    #[error(
        "approving an irreversible or critical request needs the assurance {need} here, and this answer \
         came with {have}: sign in to approve it; rejecting it needs no more"
    )]
    ApprovalTooWeak {
        /// What they had.
        have: Assurance,
        /// What is needed.
        need: Assurance,
    },
    /// Silence would answer what needs more assurance than silence has.
    #[error(
        "silence cannot answer this request: an answer to it needs the assurance {need}, and silence \
         proves nothing"
    )]
    SilenceTooWeak {
        /// What an answer needs.
        need: Assurance,
    },
    /// An agent may not pass on such an answer; a person gives it on the page.
    #[error("this answer cannot be passed on; the person gives it on the review page")]
    NotInline,
    /// The ask wants proofs that a person is there, and some are missing.
    #[error("this answer needs a proof that a person gives it: {wants}")]
    VerificationRequired {
        /// What would do.
        wants: String,
        /// Whether the review page is the way to give it.
        page: bool,
    },
    /// A proof that a person is there does not count.
    #[error("{why}")]
    VerificationFailed {
        /// Which and why.
        why: String,
        /// Whether the review page is the way to give another.
        page: bool,
    },
    /// A field of the command is not acceptable.
    #[error("{field}: expected {expected}")]
    Invalid {
        /// Which.
        field: &'static str,
        /// What would have been accepted.
        expected: &'static str,
    },
    /// A quota is used up.
    #[error(transparent)]
    Quota(#[from] Exceeded),
    /// A question costs more memory or time than it may.
    #[error("{field}: {why}")]
    TooComplex {
        /// The member of the question.
        field: &'static str,
        /// Which part of it, and what is allowed.
        why: String,
    },
    /// The same where the place or what is accepted depends on what was given.
    #[error("{field}: expected {expected}")]
    InvalidAt {
        /// Which, with its place, such as `grants[0].scope`.
        field: String,
        /// What would have been accepted.
        expected: String,
    },
    /// What an agent says of its message is not as its project wants it.
    #[error("{pointer}: {says}")]
    Claims {
        /// Which part of it, as a JSON Pointer that begins with `/hxp`.
        pointer: String,
        /// A sentence.
        says: String,
    },
    /// The name is taken.
    #[error("this {what} exists already")]
    Exists {
        /// What.
        what: &'static str,
    },
    /// There is no deadline to move.
    #[error("this request has no deadline, so there is none to move")]
    NoDeadline,
    /// The project allows no default on silence.
    #[error("this project allows no default on silence")]
    DefaultForbidden,
    /// It is not the version the actor has seen.
    #[error("this request has changed meanwhile: it is at version {version} now")]
    Changed {
        /// The version it is at.
        version: u64,
    },
    /// The same idempotency key came with another request.
    #[error("this idempotency key was used for a different request")]
    IdempotencyMismatch,
    /// The task does not stand where this can be done.
    #[error("{why}")]
    Precondition {
        /// What would have been needed.
        why: String,
    },
    /// What is written stays as it is.
    #[error("{why}")]
    Immutable {
        /// What was to be changed.
        why: String,
    },
    /// The time for this task is over.
    #[error("this task was to be done by {at}")]
    PastDeadline {
        /// By when.
        at: Time,
    },
    /// It is not the revision the actor has seen.
    #[error("this {what} has changed meanwhile: it is at revision {revision} now")]
    Stale {
        /// What.
        what: &'static str,
        /// The revision it is at.
        revision: u64,
    },
    /// Nothing is due: somebody else did it, or the clock says otherwise.
    #[error("nothing is due")]
    NotDue,
}

impl Refusal {
    /// A refused field, named with the place of the object it is in.
    pub(crate) fn below(self, place: &str) -> Self {
        let Self::Invalid { field, expected } = self else { return self };
        Self::InvalidAt { field: format!("{place}.{field}"), expected: expected.to_owned() }
    }

    /// Whether the person can do on the review page what was refused here.
    pub fn leads_to_page(&self) -> bool {
        match self {
            Self::NotInline => true,
            Self::VerificationRequired { page, .. } | Self::VerificationFailed { page, .. } => {
                *page
            }
            Self::NotFound { .. }
            | Self::NotAllowed { .. }
            | Self::NotOver { .. }
            | Self::AlreadyAnswered { .. }
            | Self::AlreadyCancelled { .. }
            | Self::TimedOut { .. }
            | Self::TakenBy { .. }
            | Self::BeingAnswered { .. }
            | Self::Answer(_)
            | Self::AssuranceTooLow { .. }
            | Self::ApprovalTooWeak { .. }
            | Self::SilenceTooWeak { .. }
            | Self::Invalid { .. }
            | Self::TooComplex { .. }
            | Self::Quota(_)
            | Self::InvalidAt { .. }
            | Self::Claims { .. }
            | Self::Exists { .. }
            | Self::NoDeadline
            | Self::DefaultForbidden
            | Self::Changed { .. }
            | Self::IdempotencyMismatch
            | Self::Precondition { .. }
            | Self::Immutable { .. }
            | Self::PastDeadline { .. }
            | Self::Stale { .. }
            | Self::NotDue => false,
        }
    }

    /// A stable code, also the name of its page under `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not-found",
            Self::NotAllowed { .. } => "not-allowed",
            Self::NotOver { .. } => "not-over",
            Self::AlreadyAnswered { .. } => "already-answered",
            Self::AlreadyCancelled { .. } => "already-cancelled",
            Self::TimedOut { .. } => "timed-out",
            Self::TakenBy { .. } | Self::BeingAnswered { .. } => "taken",
            Self::Answer(_) => "answer-mismatch",
            Self::AssuranceTooLow { .. } | Self::ApprovalTooWeak { .. } => "assurance-too-low",
            Self::NotInline => "not-inline",
            Self::VerificationRequired { .. } => "verification-required",
            Self::VerificationFailed { .. } => "verification-failed",
            Self::Invalid { .. } | Self::InvalidAt { .. } => "invalid-field",
            Self::TooComplex { .. } => "too-complex",
            Self::Quota(_) => "quota-exceeded",
            Self::Claims { .. } => "invalid-envelope",
            Self::Exists { .. } => "exists",
            Self::NoDeadline => "no-deadline",
            Self::DefaultForbidden | Self::SilenceTooWeak { .. } => "default-forbidden",
            Self::Changed { .. } => "changed",
            Self::IdempotencyMismatch => "idempotency-mismatch",
            Self::Precondition { .. } => "precondition-failed",
            Self::Immutable { .. } => "immutable",
            Self::PastDeadline { .. } => "past-deadline",
            Self::Stale { .. } => "stale",
            Self::NotDue => "not-due",
        }
    }
}

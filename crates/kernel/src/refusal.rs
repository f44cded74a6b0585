//! Why a command is refused. Each dialect maps these to its own codes.

use crate::actor::{ActorRef, Assurance};
use crate::ids::HumanId;
use crate::question::AnswerError;
use crate::quota::QuotaExceeded;
use crate::time::Time;

/// A refused command. Nothing changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The object does not exist, or the actor may not know that it does.
    #[error("{what} not found")]
    NotFound {
        /// The kind of object that was looked up.
        what: &'static str,
    },
    /// The actor may not do this.
    #[error("{why}")]
    NotAllowed {
        /// The missing permission or condition.
        why: &'static str,
    },
    /// The ask is still open.
    #[error("{why}")]
    NotOver {
        /// The condition that must be met first.
        why: &'static str,
    },
    /// Another answer came first.
    #[error("already answered by {by} at {at}")]
    AlreadyAnswered {
        /// Who gave that answer.
        by: ActorRef,
        /// When they answered.
        at: Time,
    },
    /// The ask was cancelled.
    #[error("cancelled by {by} at {at}")]
    AlreadyCancelled {
        /// Who cancelled it.
        by: ActorRef,
        /// When it was cancelled.
        at: Time,
    },
    /// The deadline passed.
    #[error("this request expired at {at}")]
    TimedOut {
        /// The deadline that passed.
        at: Time,
    },
    /// Another person has claimed it.
    #[error("{by} has claimed this request")]
    TakenBy {
        /// The person who claimed it.
        by: HumanId,
    },
    /// Another person has answered it and can still undo that.
    #[error("{by} has just answered this request")]
    BeingAnswered {
        /// The person whose answer is held.
        by: HumanId,
    },
    /// The answer does not answer the question.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The assurance of the answer is too low.
    #[error(
        "this request requires an answer with assurance {need}, but this answer has assurance \
         {have}"
    )]
    AssuranceTooLow {
        /// The assurance of the answer.
        have: Assurance,
        /// The required assurance.
        need: Assurance,
    },
    /// Approving an irreversible or critical ask needs a higher assurance.
    #[error(
        "approving an irreversible or critical request requires assurance {need} in this project, \
         but this answer has assurance {have}; sign in to approve it, or reject it without \
         signing in"
    )]
    ApprovalTooWeak {
        /// The assurance of the answer.
        have: Assurance,
        /// The required assurance.
        need: Assurance,
    },
    /// Silence would answer an ask that needs more assurance than silence has.
    #[error(
        "this request cannot have a default on silence, because an answer requires assurance \
         {need} and silence has none"
    )]
    SilenceTooWeak {
        /// The assurance that an answer needs.
        need: Assurance,
    },
    /// An agent may not pass on such an answer; a person must give it on the page.
    #[error("an agent cannot pass on this answer; the person must answer on the review page")]
    NotInline,
    /// The ask demands proofs of presence, and some are missing.
    #[error("this answer requires a proof that a person gives it: {wants}")]
    VerificationRequired {
        /// The proofs that would be accepted.
        wants: String,
        /// Whether the proof can be given on the review page.
        page: bool,
    },
    /// A proof of presence is not accepted.
    #[error("{why}")]
    VerificationFailed {
        /// The proof that failed, and why.
        why: String,
        /// Whether another proof can be given on the review page.
        page: bool,
    },
    /// A field of the command is not valid.
    #[error("{field}: expected {expected}")]
    Invalid {
        /// The field that is not valid.
        field: &'static str,
        /// The accepted values.
        expected: &'static str,
    },
    /// A quota is exceeded.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// A question exceeds the limits on memory or time.
    #[error("{field}: {why}")]
    TooComplex {
        /// The member of the question that is too complex.
        field: &'static str,
        /// The part that is too complex, and the limit.
        why: String,
    },
    /// A field of the command is not valid, where its path or the accepted values depend on the
    /// input.
    #[error("{field}: expected {expected}")]
    InvalidAt {
        /// The path of the field, such as `grants[0].scope`.
        field: String,
        /// The accepted values.
        expected: String,
    },
    /// The agent's HXP envelope does not meet the rules of its project.
    #[error("{pointer}: {says}")]
    Claims {
        /// The place of the error, as a JSON Pointer that begins with `/hxp`.
        pointer: String,
        /// The reason, as a sentence.
        says: String,
    },
    /// The id is already in use.
    #[error("this {what} already exists")]
    Exists {
        /// The kind of object that exists.
        what: &'static str,
    },
    /// There is no deadline to move.
    #[error("this request has no deadline, so it cannot be extended")]
    NoDeadline,
    /// The project allows no default on silence.
    #[error("this project does not allow a default on silence")]
    DefaultForbidden,
    /// The ask no longer has the version the actor has seen.
    #[error("this request has changed; its current version is {version}")]
    Changed {
        /// The current version.
        version: u64,
    },
    /// The same idempotency key was used with another request.
    #[error("this idempotency key was already used with a different request")]
    IdempotencyMismatch,
    /// The state of the task does not allow this.
    #[error("{why}")]
    Precondition {
        /// The condition that is not met.
        why: String,
    },
    /// The data is immutable.
    #[error("{why}")]
    Immutable {
        /// The data that cannot be changed.
        why: String,
    },
    /// The deadline of the task has passed.
    #[error("the deadline of this task passed at {at}")]
    PastDeadline {
        /// The deadline that passed.
        at: Time,
    },
    /// The object no longer has the revision the actor has seen.
    #[error("this {what} has changed; its current revision is {revision}")]
    Stale {
        /// The kind of object.
        what: &'static str,
        /// The current revision.
        revision: u64,
    },
    /// Nothing is due: it was already done, or its time has not come.
    #[error("nothing is due")]
    NotDue,
}

impl Refusal {
    /// The refusal with the path of the object in front of the field.
    pub(crate) fn within_field(self, place: &str) -> Self {
        let Self::Invalid { field, expected } = self else { return self };
        Self::InvalidAt { field: format!("{place}.{field}"), expected: expected.to_owned() }
    }

    /// Whether the person can do the refused action on the review page.
    pub fn is_possible_on_page(&self) -> bool {
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

    /// The stable code of the refusal, also the name of its page under `docs/errors`.
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

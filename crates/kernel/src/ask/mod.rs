//! The ask: a question of an agent to a person, and everything that may happen to it.
//!
//! ```text
//! Pending ─▶ Opened ─▶ InProgress ─▶ Over: Completed
//!    └─────────┴───────────┴───────▶ Over: Completed | Expired | Cancelled | Failed
//! ```
//!
//! A closed ask never changes its ending. A claim is a fact on the ask, not a state.

pub mod answer;
pub mod assign;
mod assurance;
pub mod bulk;
pub mod callback;
pub mod cancel;
pub mod claim;
pub mod command;
pub mod comment;
pub mod commit_held;
pub mod create;
mod due;
pub mod erase;
pub mod erase_personal_text;
pub mod escalate;
pub mod event;
pub mod experience_envelope;
pub mod expire;
pub mod extend;
pub mod grant_tokens;
pub mod hold;
pub mod irreversible;
pub mod nudge;
pub mod open;
pub mod pick;
mod posting_address;
pub mod progress;
pub mod remind;
pub mod reply;
pub mod revoke;
pub mod similarity;
mod terms;
pub mod undo;
pub mod write_message;

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::actor::{
    Actor, ActorRef, AnswerInterface, Assurance, AttestedIdentity, KeyScope, SenderVerification,
};
use crate::audit::{Erasable, Head};
use crate::directory::{Directory, Human};
use crate::event::Asked;
use crate::form::FormProgress;
use crate::ids::{AskId, HumanId};
use crate::passkey_evidence::PasskeyEvidence;
use crate::question::{Answer, QuestionKind, Reply};
use crate::refusal::Refusal;
use crate::task::ResolutionAction;
use crate::time::Time;
use crate::verification::Verification;

pub use due::DueAction;
pub use experience_envelope::{EnvelopePolicy, ExperienceEnvelope, NewExperienceEnvelope};
pub use hold::HeldAnswer;
pub use pick::PickedAction;
pub use posting_address::PostingAddress;
pub use similarity::SimilarityKey;
pub use terms::{
    AskToken, Assignee, Callback, CallbackAttempt, CallbackResult, Conversation, DefaultAction,
    Dialect, Labels, OnExpiry, Priority, Route, ScheduledEscalation, TokenPurpose,
};

/// A question of an agent to a person. This aggregate is created and changed only by events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ask {
    /// The unique id of the ask.
    pub id: AskId,
    /// The end of its chain; `head.seq` is the version of the row.
    pub head: Head,
    /// The last event that agents see, if it is not the last event: events of held answers are
    /// hidden from them. [`Ask::version`] is its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_head: Option<Head>,
    /// When the agent asked.
    pub created_at: Time,
    /// The ask as created, with its current assignees, deadline, reminders and escalation steps.
    pub asked: Asked,
    /// The first time a person opened it; `None` until then.
    pub look: Option<FirstOpened>,
    /// The person who claimed it or was assigned to it.
    pub claim: Option<Claim>,
    /// An answer that the person can still undo. It takes effect when the undo time has passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Box<HeldAnswer>>,
    /// The ask that continues this one.
    pub followed_by: Option<AskId>,
    /// The newest ask of the conversation that this one opened; `None` if no other ask followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<AskId>,
    /// The answers people gave, in order.
    pub votes: Vec<Vote>,
    /// The comments of agents and people, in order.
    pub comments: Vec<Comment>,
    /// The actions of the agent that people picked, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub picked: Vec<PickedAction>,
    /// Why the receipt no longer counts, if it was revoked.
    pub revoked: Option<Revocation>,
    /// When the last reminder was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminded_at: Option<Time>,
    /// The newest attempts to call the agent back about the closed ask, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callbacks: Vec<CallbackAttempt>,
    /// The erased people whose answers lost their comments. The answers themselves are still
    /// stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<HumanId>,
    /// People whose held answers had a comment. The audit log keeps the comment, even if the answer
    /// was undone, until the person or the ask is erased.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_comments: Vec<HumanId>,
    /// The state of the ask, as stored.
    pub state: AskState,
}

/// The state of an ask. Each state owns the data that exists in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum AskState {
    /// No person has opened it.
    Pending,
    /// A person opened it.
    Opened,
    /// A person began to answer.
    InProgress {
        /// How much of the form is filled in, if known.
        progress: Option<FormProgress>,
    },
    /// It is closed and never changes its ending.
    Over {
        /// The event that closed it: its position in the ask's chain, whatever is added later.
        place: Head,
        /// How the ask ended.
        ending: Box<Ending>,
    },
}

/// How an ask ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Ending {
    /// A person answered, or a default was taken on silence.
    Completed(RecordedAnswer),
    /// The deadline passed; the agent executes `report`.
    Expired {
        /// The deadline that passed.
        at: Time,
        /// The action that the agent takes.
        report: DefaultAction,
    },
    /// The ask was cancelled.
    Cancelled {
        /// When it was cancelled.
        at: Time,
        /// Who cancelled it.
        by: ActorRef,
        /// The reason, if one was given.
        reason: Option<Erasable<String>>,
        /// The person's decision over HACP, where the question does not take such an answer. Absent
        /// if the ask was withdrawn, and in asks that ended before this was recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided: Option<ResolutionAction>,
    },
    /// The deadline passed, and the agent defined that as a failure.
    Failed {
        /// The deadline that passed.
        at: Time,
    },
}

/// The one answer that decides an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The answer with its comment.
    pub reply: Erasable<Reply>,
    /// Who answered; [`ActorRef::System`] for a default taken on silence.
    pub by: ActorRef,
    /// The interface through which the answer came.
    pub via: AnswerInterface,
    /// How strongly it is proven that this person answered.
    pub assurance: Assurance,
    /// When the answer was given.
    pub at: Time,
    /// Who answered, according to the agent that passed the answer on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attested: Option<Box<Erasable<AttestedIdentity>>>,
    /// The result of judging the proofs of presence. Absent if none were demanded or presented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Box<Verification>>,
    /// The evidence that a passkey confirmed the answer. Absent if none did, and in answers from
    /// before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<Box<Erasable<PasskeyEvidence>>>,
    /// How much of the question the server displayed where it was answered. Absent in answers from
    /// before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<DisplayedContent>,
    /// How the server verified the sender of the email that carried the answer. Absent if the
    /// answer did not come by email or the sender was not verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Box<Erasable<SenderVerification>>>,
}

/// How much of a question the server displayed on the surface through which it was answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", schema(as = Shown))]
pub enum DisplayedContent {
    /// All of it: the request page or the review page.
    Question,
    /// A part of it: a row of the inbox, the summary of a bulk answer, the page of a task, a chat
    /// message, an email, a notification.
    Summary,
    /// Nothing that the server knows of: the API, the command line, an agent that passes an answer
    /// on, a script, a default on silence.
    #[default]
    Nothing,
}

impl RecordedAnswer {
    fn erase(&mut self) {
        self.reply.erase();
        if let Some(attested) = &mut self.attested {
            attested.erase();
        }
        self.erase_evidence();
    }

    /// Erases the evidence of a passkey and of the sender of an email. The remaining commitment
    /// proves only that it existed.
    pub(crate) fn erase_evidence(&mut self) {
        if let Some(evidence) = &mut self.passkey {
            evidence.erase();
        }
        if let Some(sender) = &mut self.sender {
            sender.erase();
        }
    }

    /// Whether the evidence of a passkey or of the sender of an email is still stored.
    pub(crate) fn has_evidence(&self) -> bool {
        self.passkey.as_ref().is_some_and(|evidence| evidence.value().is_some())
            || self.sender.as_ref().is_some_and(|sender| sender.value().is_some())
    }

    /// Whether there was evidence of a passkey or of the sender of an email, and it was erased.
    pub fn evidence_erased(&self) -> bool {
        self.passkey.as_ref().is_some_and(|evidence| evidence.value().is_none())
            || self.sender.as_ref().is_some_and(|sender| sender.value().is_none())
    }
}

/// The answer of one person. Today one vote decides; the list is ready for N of M.
pub type Vote = RecordedAnswer;

/// A comment on an ask, by the agent or a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comment {
    /// Who wrote the comment.
    pub by: ActorRef,
    /// When the comment was made.
    pub at: Time,
    /// The text of the comment.
    pub text: Erasable<String>,
}

/// The revocation of a receipt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revocation {
    /// Who revoked the receipt.
    pub by: ActorRef,
    /// When it was revoked.
    pub at: Time,
    /// The reason; published with the list of revocations.
    pub reason: Erasable<String>,
}

/// The first time an ask was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstOpened {
    /// Who opened it.
    pub by: ActorRef,
    /// When it was opened.
    pub at: Time,
}

/// The claim of a person on an ask, by their own action or by assignment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The person who holds the claim.
    pub human: HumanId,
    /// When the claim began.
    pub at: Time,
}

/// The state of an ask as lists show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Open, and neither opened nor claimed.
    Waiting,
    /// Open, and opened, claimed or assigned.
    Engaged,
    /// Answered, or decided by a default.
    Completed,
    /// The deadline passed without an answer.
    Expired,
    /// Withdrawn before it was answered.
    Cancelled,
    /// The deadline passed, and the agent defined that as a failure.
    Failed,
}

impl Phase {
    /// All phases, in the order of declaration.
    pub const ALL: [Self; 6] = [
        Self::Waiting,
        Self::Engaged,
        Self::Completed,
        Self::Expired,
        Self::Cancelled,
        Self::Failed,
    ];
    /// The phases in which an ask can be answered.
    pub const OPEN: [Self; 2] = [Self::Waiting, Self::Engaged];

    /// The phase as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Engaged => "engaged",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }
}

impl Deref for Ask {
    type Target = Asked;

    fn deref(&self) -> &Asked {
        &self.asked
    }
}

impl Ask {
    /// The phase as stored; [`Ask::due`] says whether a deadline has passed since.
    pub fn phase(&self) -> Phase {
        match &self.state {
            AskState::Pending if self.claim.is_none() => Phase::Waiting,
            AskState::Pending | AskState::Opened | AskState::InProgress { .. } => Phase::Engaged,
            AskState::Over { ending, .. } => match **ending {
                Ending::Completed(_) => Phase::Completed,
                Ending::Expired { .. } => Phase::Expired,
                Ending::Cancelled { .. } => Phase::Cancelled,
                Ending::Failed { .. } => Phase::Failed,
            },
        }
    }

    /// How it ended; `None` while it is open.
    pub fn ending(&self) -> Option<&Ending> {
        match &self.state {
            AskState::Over { ending, .. } => Some(ending),
            AskState::Pending | AskState::Opened | AskState::InProgress { .. } => None,
        }
    }

    /// The answer that decided it, by a person or by default; `None` if there is none.
    pub fn deciding_answer(&self) -> Option<&RecordedAnswer> {
        match self.ending() {
            Some(Ending::Completed(resolution)) => Some(resolution),
            Some(Ending::Expired { .. } | Ending::Cancelled { .. } | Ending::Failed { .. })
            | None => None,
        }
    }

    /// The request for changes with which a question other than an approval was answered. Such an
    /// answer is refused now; older records have it, and no dialect may show it as a result.
    pub fn changes_request(&self) -> Option<(&RecordedAnswer, &Reply)> {
        let resolution = self.deciding_answer()?;
        let reply = resolution.reply.value()?;
        let changes = matches!(reply.answer, Answer::ChangesRequested { .. });
        (changes && self.kind != QuestionKind::Approve).then_some((resolution, reply))
    }

    /// Whether it is open, regardless of its deadline.
    pub fn is_open(&self) -> bool {
        Phase::OPEN.contains(&self.phase())
    }

    /// Who works or worked on it and since when: the claim, or else the first time it was opened.
    pub fn engaged_by(&self) -> Option<(ActorRef, Time)> {
        let claimed =
            self.claim.as_ref().map(|claim| (ActorRef::Human(claim.human.clone()), claim.at));
        claimed.or_else(|| self.look.as_ref().map(|look| (look.by.clone(), look.at)))
    }

    /// Whether a person may see and answer it: its owner, an assignee, or a person who qualifies.
    pub fn may_be_answered_by(&self, human: &Human) -> bool {
        human.active && (self.owner == human.id || self.is_assigned_to(human))
    }

    /// Whether a person is an assignee: they were chosen, claimed it, or qualify.
    pub fn is_assigned_to(&self, human: &Human) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.human == human.id)
            || self.assignees.iter().any(|seat| self.assignee_admits(seat, human))
    }

    fn assignee_admits(&self, seat: &Assignee, human: &Human) -> bool {
        match seat {
            Assignee::Person { human: id } => *id == human.id,
            Assignee::Pool { group } => human.qualifies(&self.project, group.as_ref(), &self.tags),
        }
    }

    /// Whether an agent key may see it.
    pub fn is_visible_to_key(&self, actor: &Actor) -> bool {
        match actor {
            Actor::Agent { id, project, scope: reach, .. } => {
                self.project == *project && (*reach == KeyScope::Project || self.agent == *id)
            }
            Actor::Human { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. } => false,
            Actor::System => true,
        }
    }

    /// Whether an actor may read it: an agent whose key covers it, a person who may answer it, an
    /// administrator.
    pub fn is_visible_to(&self, actor: &Actor, directory: &Directory) -> bool {
        match actor {
            Actor::Human { id, .. } => directory.human(id).is_some_and(|human| {
                self.may_be_answered_by(human) || (human.admin && human.active)
            }),
            Actor::LinkHolder { ask, .. } => *ask == self.id,
            Actor::Guest { ask, attested, .. } => *ask == self.id && self.admits_guest(attested),
            Actor::Agent { .. } | Actor::Relay { .. } | Actor::System => {
                self.is_visible_to_key(actor)
            }
        }
    }

    /// Whether a person started a conversation with it.
    pub fn starts_conversation(&self) -> bool {
        self.conversation.as_ref().is_some_and(|conversation| conversation.opening == self.id)
    }

    /// Whether the ask went to a pool, so that agents see no name.
    pub fn is_pooled(&self) -> bool {
        matches!(self.route, Route::Pool { .. })
    }

    /// Erases every erasable value. The remaining commitments prove only that the values existed.
    pub(crate) fn erase(&mut self) {
        self.asked.question.erase();
        self.asked.metadata.erase();
        if let OnExpiry::Answer { reply } = &mut self.asked.on_expiry {
            reply.erase();
        }
        if let Some(callback) = &mut self.asked.callback {
            callback.url.erase();
        }
        if let Some(place) = &mut self.asked.posting_address {
            place.erase();
        }
        if let Some(checkpoint) = &mut self.asked.checkpoint {
            checkpoint.details.erase();
        }
        if let Some(claims) = &mut self.asked.claims {
            claims.content.erase();
        }
        for vote in &mut self.votes {
            vote.erase();
        }
        if let Some(held) = &mut self.held {
            held.vote.erase();
        }
        self.held_comments.clear();
        for comment in &mut self.comments {
            comment.text.erase();
        }
        if let Some(revoked) = &mut self.revoked {
            revoked.reason.erase();
        }
        let AskState::Over { ending, .. } = &mut self.state else { return };
        match &mut **ending {
            Ending::Completed(resolution) => resolution.erase(),
            Ending::Cancelled { reason: Some(reason), .. } => reason.erase(),
            Ending::Cancelled { reason: None, .. }
            | Ending::Expired { .. }
            | Ending::Failed { .. } => {}
        }
    }

    /// The person who acts on this ask, if they may see it. `None` for a link holder or a guest,
    /// who may act on their own ask only.
    fn acting_person<'a>(
        &self,
        actor: &Actor,
        directory: &'a Directory,
    ) -> Result<Option<&'a Human>, Refusal> {
        let admitted = match actor {
            Actor::LinkHolder { ask, .. } => (*ask == self.id).then_some(None),
            Actor::Guest { ask, attested, .. } => {
                (*ask == self.id && self.admits_guest(attested)).then_some(None)
            }
            // A relay can pass on an answer and do nothing else.
            Actor::Relay { .. } => None,
            Actor::Human { .. } | Actor::Agent { .. } | Actor::System => {
                let person = directory.person(actor)?;
                self.may_be_answered_by(person).then_some(Some(person))
            }
        };
        admitted.ok_or(Refusal::NotFound { what: "request" })
    }

    /// Refuses actors who may not work on this ask now: people without access, everyone once it is
    /// closed, and people while another person holds a claim or a held answer. A claim does not
    /// bind the holder of a link, because the agent itself gave them the question.
    fn check_may_work(
        &self,
        actor: &Actor,
        directory: &Directory,
        now: Time,
    ) -> Result<(), Refusal> {
        let person = self.acting_person(actor, directory)?;
        self.check_open(now)?;
        self.check_not_held(actor)?;
        // The deadline waits for the held answer, but no other answer is accepted in its place.
        if let Some(at) = self.expiry().filter(|at| *at <= self.event_time(now)) {
            return Err(Refusal::TimedOut { at });
        }
        person.map_or(Ok(()), |person| self.check_not_claimed(person))
    }

    /// Refuses to act on an ask that another person has claimed, except for the agent's owner.
    fn check_not_claimed(&self, person: &Human) -> Result<(), Refusal> {
        match self.claimed_by_other(person) {
            Some(by) if person.id != self.owner => Err(Refusal::TakenBy { by: by.clone() }),
            Some(_) | None => Ok(()),
        }
    }

    /// Who has claimed the ask, if that is another person than this one and the claim binds them.
    /// The agent's owner may still answer; pages warn them first.
    pub fn claimed_by_other(&self, person: &Human) -> Option<&HumanId> {
        // A claim does not apply to the review of a delivery: several people judge it, each for
        // themselves.
        let claim = self.claim.as_ref().filter(|_| self.review.is_none())?;
        Some(&claim.human).filter(|holder| **holder != person.id)
    }

    /// Refuses to act on a closed or expired ask.
    pub fn check_open(&self, now: Time) -> Result<(), Refusal> {
        match self.ending() {
            Some(Ending::Completed(resolution)) => {
                Err(Refusal::AlreadyAnswered { by: resolution.by.clone(), at: resolution.at })
            }
            Some(Ending::Cancelled { at, by, .. }) => {
                Err(Refusal::AlreadyCancelled { by: by.clone(), at: *at })
            }
            Some(Ending::Expired { at, .. } | Ending::Failed { at }) => {
                Err(Refusal::TimedOut { at: *at })
            }
            // The deadline waits for a held answer, which takes effect when it can no longer be
            // undone.
            None => match (&self.held, self.expiry().filter(|at| *at <= self.event_time(now))) {
                (Some(held), _) if held.until <= self.event_time(now) => {
                    Err(Refusal::AlreadyAnswered { by: held.vote.by.clone(), at: held.vote.at })
                }
                (None, Some(at)) => Err(Refusal::TimedOut { at }),
                (Some(_), _) | (None, None) => Ok(()),
            },
        }
    }
}

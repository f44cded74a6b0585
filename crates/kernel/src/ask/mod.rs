//! The ask: what an agent wants from a person, and everything that may happen to it.
//!
//! ```text
//! Pending ─▶ Opened ─▶ InProgress ─▶ Over: Completed
//!    └─────────┴───────────┴───────▶ Over: Completed | Expired | Cancelled | Failed
//! ```
//!
//! What is over never changes. Who holds it is a fact on the ask, not a state.

pub mod answer;
pub mod assign;
mod assurance;
pub mod bulk;
pub mod callback;
pub mod cancel;
pub mod claim;
pub mod claims;
pub mod command;
pub mod comment;
pub mod commit_held;
pub mod create;
mod due;
pub mod erase;
pub mod erase_words;
pub mod escalate;
pub mod expire;
pub mod extend;
pub mod fold;
pub mod grant;
pub mod hold;
pub mod irreversible;
pub mod open;
pub mod pick;
mod place;
pub mod progress;
pub mod remind;
pub mod reply;
pub mod revoke;
mod terms;
pub mod undo;
pub mod urge;
pub mod write;

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::actor::{Actor, Assurance, Attested, By, Reach, SenderVerification, Via};
use crate::audit::{Erasable, Head};
use crate::directory::{Directory, Human};
use crate::effect::Effect;
use crate::event::{Asked, Happened};
use crate::form::Progress;
use crate::ids::{AskId, HumanId};
use crate::passkey_evidence::PasskeyEvidence;
use crate::question::{Answer, Kind, Reply};
use crate::refusal::Refusal;
use crate::task::Action;
use crate::time::Time;
use crate::verification::Verification;
use crate::world::Decision;

pub use claims::{Claims, Envelopes, NewClaims};
pub use due::Due;
pub use fold::Fold;
pub use hold::Held;
pub use pick::Picked;
pub use place::Place;
pub use terms::{
    Callback, CallbackAttempt, CallbackResult, Conversation, DefaultAction, Dialect, Grant, Labels,
    OnExpiry, Priority, Purpose, Route, Rung, Seat,
};

/// What an agent wants from a person. The aggregate; made and changed only by events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ask {
    /// Its one name.
    pub id: AskId,
    /// Where its chain ends; `head.seq` is the version of the row.
    pub head: Head,
    /// The last event that agents see, while it is not the last of all: events of held answers are
    /// hidden from them. [`Ask::version`] is its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_head: Option<Head>,
    /// When it was asked.
    pub created_at: Time,
    /// What was asked; its people, deadline, reminders and ladder as they are now.
    pub asked: Asked,
    /// Who looked first.
    pub look: Option<Look>,
    /// Who took it or was handed it.
    pub claim: Option<Claim>,
    /// An answer that its person can still undo; it takes effect when its time comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Box<Held>>,
    /// The ask that continues this one.
    pub followed_by: Option<AskId>,
    /// The newest ask of the conversation this one opened, once it went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<AskId>,
    /// What people said, in order.
    pub votes: Vec<Vote>,
    /// What was remarked on the way, in order.
    pub comments: Vec<Comment>,
    /// Which of the agent's actions people picked, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub picked: Vec<Picked>,
    /// Why its receipt no longer counts, if it was called back.
    pub revoked: Option<Revocation>,
    /// When a reminder last went out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminded_at: Option<Time>,
    /// The newest attempts to tell the agent that it is over, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callbacks: Vec<CallbackAttempt>,
    /// The erased people whose answers lost their comments; the answers are still there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<HumanId>,
    /// People whose held answers had a comment. The record keeps it, also if the answer was undone,
    /// until the person or the ask is erased.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_comments: Vec<HumanId>,
    /// Where it stands.
    pub state: AskState,
}

/// Where an ask stands. Each state owns what is known in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum AskState {
    /// Nobody looked yet.
    Pending,
    /// Somebody looked.
    Opened,
    /// Somebody began to answer.
    InProgress {
        /// How far a form is filled.
        progress: Option<Progress>,
    },
    /// It ended, and never changes again.
    Over {
        /// The event that ended it: its place in the ask's chain, whatever is added later.
        place: Head,
        /// How.
        ending: Box<Ending>,
    },
}

/// How an ask ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Ending {
    /// Answered, or a default was taken on silence.
    Completed(Resolution),
    /// Ran out; the agent carries out `report`.
    Expired {
        /// The deadline that passed.
        at: Time,
        /// What the agent is to do.
        report: DefaultAction,
    },
    /// Withdrawn.
    Cancelled {
        /// When.
        at: Time,
        /// By whom.
        by: By,
        /// Why.
        reason: Option<Erasable<String>>,
        /// What a person decided over HACP, where the question takes no such answer. Absent where it was
        /// withdrawn, and in what ended before this was recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided: Option<Action>,
    },
    /// Ran out, and the agent wanted that to be a failure.
    Failed {
        /// The deadline that passed.
        at: Time,
    },
}

/// The one answer an ask ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// What was said.
    pub reply: Erasable<Reply>,
    /// Who said it; [`By::System`] when nobody did.
    pub by: By,
    /// Through which door.
    pub via: Via,
    /// How sure we are that it was them.
    pub assurance: Assurance,
    /// When.
    pub at: Time,
    /// Who it was, as the agent says that passed the answer on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attested: Option<Box<Erasable<Attested>>>,
    /// What came of the proofs that a person was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Box<Verification>>,
    /// The evidence that a passkey confirmed it. Absent where none did, and in answers of before this was
    /// kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<Box<Erasable<PasskeyEvidence>>>,
    /// What the server displayed of the question where it was answered. Absent in what was answered
    /// before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<Shown>,
    /// How the sender of the email was verified that it came with. Absent where it came by no email, and
    /// where the sender was not verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Box<Erasable<SenderVerification>>>,
}

/// How much of a question the server displayed on the surface through which it was answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// All of it: the request page or the review page.
    Question,
    /// A part of it: a row of the inbox, the summary of a bulk answer, the page of a task, a chat
    /// message, an email, a notification.
    Summary,
    /// Nothing that the server knows of: the API, the command line, an agent that passes an answer on,
    /// a script, a default on silence.
    #[default]
    Nothing,
}

impl Resolution {
    fn erase(&mut self) {
        self.reply.erase();
        if let Some(attested) = &mut self.attested {
            attested.erase();
        }
        self.erase_evidence();
    }

    /// Drops the evidence of a passkey and of the sender of an email; what remains proves only that there
    /// was some.
    pub(crate) fn erase_evidence(&mut self) {
        if let Some(evidence) = &mut self.passkey {
            evidence.erase();
        }
        if let Some(sender) = &mut self.sender {
            sender.erase();
        }
    }

    /// Whether it still has the evidence of a passkey or of the sender of an email.
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

/// What one person said. Today one vote decides; the list is ready for N of M.
pub type Vote = Resolution;

/// A remark on an ask, by the agent or a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comment {
    /// Who.
    pub by: By,
    /// When.
    pub at: Time,
    /// What they said.
    pub text: Erasable<String>,
}

/// A receipt that was called back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revocation {
    /// By whom.
    pub by: By,
    /// When.
    pub at: Time,
    /// Why; published with the list of revocations.
    pub reason: Erasable<String>,
}

/// The first look at an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Who looked.
    pub by: By,
    /// When.
    pub at: Time,
}

/// Who took an ask or was handed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Who holds it.
    pub human: HumanId,
    /// Since when.
    pub at: Time,
}

/// Where an ask stands as lists see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Open, and nobody took it up.
    Waiting,
    /// Open, and somebody opened it, took it or was handed it.
    Engaged,
    /// Answered.
    Completed,
    /// Ran out.
    Expired,
    /// Withdrawn.
    Cancelled,
    /// Ran out as a failure.
    Failed,
}

impl Phase {
    /// Every phase.
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
    /// Its phase as stored; ask [`Ask::due`] whether a deadline has passed meanwhile.
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

    /// How it ended, once it has.
    pub fn ending(&self) -> Option<&Ending> {
        match &self.state {
            AskState::Over { ending, .. } => Some(ending),
            AskState::Pending | AskState::Opened | AskState::InProgress { .. } => None,
        }
    }

    /// The answer it ended with, a person's or a default.
    pub fn resolution(&self) -> Option<&Resolution> {
        match self.ending() {
            Some(Ending::Completed(resolution)) => Some(resolution),
            Some(Ending::Expired { .. } | Ending::Cancelled { .. } | Ending::Failed { .. })
            | None => None,
        }
    }

    /// The request for changes a question other than an approval was answered with. Such an answer is
    /// refused now; records of before have it, and no dialect may show it as a result.
    pub fn sent_back(&self) -> Option<(&Resolution, &Reply)> {
        let resolution = self.resolution()?;
        let reply = resolution.reply.value()?;
        let changes = matches!(reply.answer, Answer::ChangesRequested { .. });
        (changes && self.kind != Kind::Approve).then_some((resolution, reply))
    }

    /// Whether it can still be answered, deadline aside.
    pub fn is_open(&self) -> bool {
        Phase::OPEN.contains(&self.phase())
    }

    /// Who works or worked on it and since when: the claim, else the first look.
    pub fn engaged(&self) -> Option<(By, Time)> {
        let claimed = self.claim.as_ref().map(|claim| (By::Human(claim.human.clone()), claim.at));
        claimed.or_else(|| self.look.as_ref().map(|look| (look.by.clone(), look.at)))
    }

    /// Whether a person may see and answer it: its owner, who was picked, or who qualifies.
    pub fn admits(&self, human: &Human) -> bool {
        human.active && (self.owner == human.id || self.is_put_to(human))
    }

    /// Whether it was put to a person: they were picked, took it, or qualify.
    pub fn is_put_to(&self, human: &Human) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.human == human.id)
            || self.seats.iter().any(|seat| self.seat_admits(seat, human))
    }

    fn seat_admits(&self, seat: &Seat, human: &Human) -> bool {
        match seat {
            Seat::Person { human: id } => *id == human.id,
            Seat::Pool { group } => human.qualifies(&self.project, group.as_ref(), &self.tags),
        }
    }

    /// Whether an agent key may see it.
    pub fn within_reach(&self, actor: &Actor) -> bool {
        match actor {
            Actor::Agent { id, project, reach, .. } => {
                self.project == *project && (*reach == Reach::Project || self.agent == *id)
            }
            Actor::Human { .. }
            | Actor::LinkHolder { .. }
            | Actor::Relay { .. }
            | Actor::Guest { .. } => false,
            Actor::System => true,
        }
    }

    /// Whether an actor may read it: an agent within reach, whoever may answer, an administrator.
    pub fn is_shown_to(&self, actor: &Actor, directory: &Directory) -> bool {
        match actor {
            Actor::Human { id, .. } => directory
                .human(id)
                .is_some_and(|human| self.admits(human) || (human.admin && human.active)),
            Actor::LinkHolder { ask, .. } => *ask == self.id,
            Actor::Guest { ask, attested, .. } => *ask == self.id && self.welcomes(attested),
            Actor::Agent { .. } | Actor::Relay { .. } | Actor::System => self.within_reach(actor),
        }
    }

    /// Whether a person began a conversation with it.
    pub fn is_opening(&self) -> bool {
        self.conversation.as_ref().is_some_and(|conversation| conversation.opening == self.id)
    }

    /// Whether the answer came from a pool, so that agents see no name.
    pub fn is_pooled(&self) -> bool {
        matches!(self.route, Route::Pool { .. })
    }

    /// Forgets every erasable value; what remains proves only that they were there.
    pub(crate) fn erase(&mut self) {
        self.asked.question.erase();
        self.asked.metadata.erase();
        if let OnExpiry::Answer { reply } = &mut self.asked.on_expiry {
            reply.erase();
        }
        if let Some(callback) = &mut self.asked.callback {
            callback.url.erase();
        }
        if let Some(place) = &mut self.asked.place {
            place.erase();
        }
        if let Some(checkpoint) = &mut self.asked.checkpoint {
            checkpoint.beside.erase();
        }
        if let Some(claims) = &mut self.asked.claims {
            claims.said.erase();
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

    /// What is decided when an ask ends: whoever was told of it learns that, and so does the agent,
    /// where it wants to be told.
    pub(crate) fn ends(&self, how: Happened) -> Decision {
        let decision = Decision::on(self, how).with(Effect::Settle { ask: self.id });
        match self.callback {
            Some(_) => decision.with(Effect::call_back(self)),
            None => decision,
        }
    }

    /// The person who acts on this ask, if they may know of it; nobody where the link does, or a
    /// guest, which are good for their own ask only.
    fn hand<'a>(
        &self,
        actor: &Actor,
        directory: &'a Directory,
    ) -> Result<Option<&'a Human>, Refusal> {
        let admitted = match actor {
            Actor::LinkHolder { ask, .. } => (*ask == self.id).then_some(None),
            Actor::Guest { ask, attested, .. } => {
                (*ask == self.id && self.welcomes(attested)).then_some(None)
            }
            // Nobody is there: what was said elsewhere can be passed on, and that is all.
            Actor::Relay { .. } => None,
            Actor::Human { .. } | Actor::Agent { .. } | Actor::System => {
                let person = directory.person(actor)?;
                self.admits(person).then_some(Some(person))
            }
        };
        admitted.ok_or(Refusal::NotFound { what: "request" })
    }

    /// The refusal for whoever may not work on this ask now: strangers, anybody once it is over, and
    /// people while somebody else has taken it on. A claim keeps people out of each other's way;
    /// whoever holds the link was given the question by the agent itself, so it does not bind them.
    fn worked_on_by(&self, actor: &Actor, directory: &Directory, now: Time) -> Result<(), Refusal> {
        let person = self.hand(actor, directory)?;
        self.still_open(now)?;
        self.not_held_from(actor)?;
        // The deadline waits for the held answer, but takes no other one in its place.
        if let Some(at) = self.expiry().filter(|at| *at <= self.moment(now)) {
            return Err(Refusal::TimedOut { at });
        }
        person.map_or(Ok(()), |person| self.not_taken_from(person))
    }

    /// The refusal for acting on what somebody else has taken on; its owner still may.
    fn not_taken_from(&self, person: &Human) -> Result<(), Refusal> {
        match self.claimed_by_other(person) {
            Some(by) if person.id != self.owner => Err(Refusal::TakenBy { by: by.clone() }),
            Some(_) | None => Ok(()),
        }
    }

    /// Who has claimed the ask, if that is another person than this one and the claim binds them. The
    /// agent's owner may still answer; pages warn them first.
    pub fn claimed_by_other(&self, person: &Human) -> Option<&HumanId> {
        // Several people judge what was delivered, each for themselves.
        let claim = self.claim.as_ref().filter(|_| self.review.is_none())?;
        Some(&claim.human).filter(|holder| **holder != person.id)
    }

    /// The refusal for acting on an ask that is over, or whose time is up.
    pub fn still_open(&self, now: Time) -> Result<(), Refusal> {
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
            // The deadline waits for a held answer, which stands as soon as it can no longer be undone.
            None => match (&self.held, self.expiry().filter(|at| *at <= self.moment(now))) {
                (Some(held), _) if held.until <= self.moment(now) => {
                    Err(Refusal::AlreadyAnswered { by: held.vote.by.clone(), at: held.vote.at })
                }
                (None, Some(at)) => Err(Refusal::TimedOut { at }),
                (Some(_), _) | (None, None) => Ok(()),
            },
        }
    }
}

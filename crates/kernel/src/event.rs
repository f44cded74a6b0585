//! What happened. Past tense, never changed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::actor::{Assurance, By};
use crate::ask::{
    Callback, CallbackResult, Claims, Conversation, DefaultAction, Dialect, Grant, Labels,
    OnExpiry, Place, Priority, Resolution, Route, Rung, Seat,
};
use crate::audit::{Digest, Erasable, Slot};
use crate::directory::{Agent, Human, Key, Project, Rule, Webhook};
use crate::form::Progress;
use crate::ids::{AgentId, AskId, HumanId, KeyId, ProjectId, ReviewId, Subject};
use crate::question::{Kind, Question, Reply, Stance};
use crate::task::{Action, ArtifactEvent, Checkpoint, EntryWritten, ForReview, TaskEvent};
use crate::time::Time;
use crate::verification::Policy;

/// The names of events about an answer that can still be undone. They are between its person and the
/// server: streams leave them out, and agents are not told what they hold.
pub const HELD_ANSWER: [&str; 2] = ["answer_held", "answer_withdrawn"];

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(counter: &u32) -> bool {
    *counter == 0
}

/// One thing that happened to one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// To what.
    pub subject: Subject,
    /// Its place in the subject's chain, from 1.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// Who did it.
    pub by: By,
    /// What.
    pub what: Happened,
}

/// Everything that can happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Happened {
    /// An agent asked, or a person wrote to it.
    Asked(Box<Asked>),
    /// A later ask continues this one, or the conversation it opened.
    Followed {
        /// Which.
        next: AskId,
    },
    /// A person looked for the first time.
    Opened,
    /// A person began, or went on, to answer.
    Progressed {
        /// How far.
        progress: Option<Progress>,
    },
    /// A person took it.
    Claimed,
    /// It was handed to someone.
    Assigned {
        /// To whom.
        to: HumanId,
    },
    /// Somebody remarked something.
    Commented {
        /// What.
        text: Erasable<String>,
    },
    /// A person picked something the agent says could be done next.
    ActionPicked {
        /// Which, by its place among those the agent offers.
        action: usize,
    },
    /// A person answered.
    Answered {
        /// What they said.
        vote: Box<Resolution>,
        /// Whether that decided it.
        decisive: bool,
    },
    /// A person answered and can still undo it; nothing is decided yet.
    AnswerHeld {
        /// What they said.
        vote: Box<Resolution>,
        /// When it takes effect.
        until: Time,
    },
    /// A held answer was undone by its person, or dropped because they may no longer answer.
    AnswerWithdrawn,
    /// Nobody answered; the agent's default was taken.
    Defaulted {
        /// Signed as nobody's.
        resolution: Box<Resolution>,
    },
    /// It was withdrawn, or settled by a decision that is no answer to its question.
    Cancelled {
        /// Why.
        reason: Option<Erasable<String>>,
        /// What a person decided over HACP, where the question takes no such answer. Absent where it was
        /// withdrawn, and in events of before this was recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided: Option<Action>,
    },
    /// It ran out.
    Expired {
        /// The deadline.
        deadline: Time,
        /// What the agent is to do.
        report: DefaultAction,
    },
    /// It ran out as a failure.
    Failed {
        /// The deadline.
        deadline: Time,
    },
    /// A reminder went out.
    Reminded,
    /// The next rung of the ladder was reached.
    Escalated {
        /// Who is asked as well, where somebody stands in for whom the rungs name; else empty, and
        /// it is whom they name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seats: Vec<Seat>,
    },
    /// More people are asked, because the agent wants that.
    Joined {
        /// Who.
        seats: Vec<Seat>,
    },
    /// Its deadline was moved.
    Extended {
        /// To when.
        until: Time,
    },
    /// More tokens were drawn for it.
    Granted {
        /// Which.
        grants: Vec<Grant>,
    },
    /// The agent was told, or could not be told, that it is over.
    CalledBack {
        /// What came of it.
        outcome: CallbackResult,
    },
    /// Somebody wants the agent to be told once more.
    CallbackWanted,
    /// Its receipt was called back.
    Revoked {
        /// Why.
        reason: Erasable<String>,
    },
    /// Its words were forgotten; a store drops the contents of all its records.
    Erased,
    /// What one person wrote on it was erased, because that person was; a store drops the contents
    /// of the records it [erases](Happened::erases).
    WordsErased(Box<WordsErased>),
    /// A project was added or changed.
    ProjectSaved(Box<Project>),
    /// An agent was added or changed.
    AgentSaved(Box<Agent>),
    /// A person was added or changed.
    HumanSaved(Box<Human>),
    /// A person was erased. The id stays and can never be used again; a store drops the contents of
    /// all earlier records of the person.
    HumanErased,
    /// This person had the private half of a retired signing key destroyed: every receipt it signed
    /// has its signature stored by now.
    SigningKeyDestroyed {
        /// The name of the key.
        kid: String,
    },
    /// A credential was issued.
    KeyIssued(Box<Key>),
    /// A credential was revoked or used up.
    KeyRevoked,
    /// An agent's key was revoked, together with the review, submit and poll tokens of the asks that were
    /// made with it and are open.
    KeyRevokedWithTokens,
    /// A credential of an erased person was revoked, and its label and public key were dropped.
    KeyErased,
    /// A passkey was used, which changed it.
    PasskeyUsed {
        /// What it is checked with from now on.
        public: String,
        /// The challenge it signed. Absent in events of before challenges were remembered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        challenge: Option<Digest>,
        /// The signature counter; 0 if the authenticator does not count.
        #[serde(default, skip_serializing_if = "is_zero")]
        counter: u32,
    },
    /// An administrator confirmed a passkey that waited: it counts from now on.
    PasskeyConfirmed,
    /// A delegation rule was added.
    RuleAdded(Box<Rule>),
    /// A delegation rule was removed.
    RuleRemoved,
    /// An endpoint was added or changed.
    WebhookSaved(Box<Webhook>),
    /// The secret of an endpoint was replaced.
    WebhookRotated {
        /// Until when the one before signs as well.
        until: Option<Time>,
    },
    /// Something was sent to an endpoint to see whether it arrives.
    WebhookTested,
    /// An endpoint said that it is gone.
    WebhookGone,
    /// An endpoint was removed.
    WebhookRemoved,
    /// Something happened to a task.
    Task(Box<TaskEvent>),
    /// Something happened to an artifact.
    Artifact(Box<ArtifactEvent>),
    /// A key of a ledger was written.
    EntryWritten(Box<EntryWritten>),
}

/// What one person wrote on an ask was erased: comments, reasons, comments of their answers, and the
/// evidence of their passkey.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WordsErased {
    /// The person.
    pub human: HumanId,
    /// Their votes in order, without the comments. Empty if none of them had a comment or the evidence of
    /// a passkey: the votes then stay as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Erasable<Reply>>,
    /// Whether none of these votes had a comment: they are recorded anew only because the evidence of a
    /// passkey beside them was erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_comments: bool,
}

/// The part of an event that decides whether a later event of the same subject erased its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    pub(crate) what: &'static str,
    pub(crate) human: Option<HumanId>,
    pub(crate) checkpoint: Option<AskId>,
    pub(crate) review: Option<ReviewId>,
}

impl Event {
    /// Whether it holds free text that a person wrote and that goes when the person is erased:
    /// comments, reasons, amendments, reviews and the evidence of a passkey. The answer itself is not
    /// such a text.
    pub fn has_words_of(&self, human: &HumanId) -> bool {
        if !matches!(&self.by, By::Human(by) if by == human) {
            return false;
        }
        if let Happened::Task(event) = &self.what {
            return event.has_words();
        }
        if let Happened::Answered { vote, .. } | Happened::AnswerHeld { vote, .. } = &self.what {
            return vote.has_evidence()
                || vote.reply.value().is_some_and(|reply| reply.comment.is_some());
        }
        if let Happened::Commented { text }
        | Happened::Cancelled { reason: Some(text), .. }
        | Happened::Revoked { reason: text } = &self.what
        {
            return text.value().is_some();
        }
        false
    }

    /// What decides whether a later event erased its values.
    pub fn trace(&self) -> Trace {
        let (mut checkpoint, mut review) = (None, None);
        if let Happened::Task(event) = &self.what {
            if let TaskEvent::Resolved { checkpoint: id, .. } = &**event {
                checkpoint = Some(*id);
            } else if let TaskEvent::Reviewed { review: given } = &**event {
                review = Some(given.id);
            } else if let TaskEvent::Remarked { review: id, .. } = &**event {
                review = Some(*id);
            }
        }
        let human = match &self.by {
            By::Human(human) => Some(human.clone()),
            By::Agent(_) | By::LinkHolder | By::Relay | By::Guest | By::System => None,
        };
        Trace { what: self.what.name(), human, checkpoint, review }
    }
}

/// An ask as it was asked and routed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The project of the agent's key.
    pub project: ProjectId,
    /// The agent.
    pub agent: AgentId,
    /// The key it asked with; asks of before have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// Its owner.
    pub owner: HumanId,
    /// The protocol.
    pub dialect: Dialect,
    /// What is asked.
    pub question: Erasable<Question>,
    /// The kind of question.
    pub kind: Kind,
    /// Free data.
    pub metadata: Erasable<Map<String, Value>>,
    /// The agent's own names.
    pub labels: Labels,
    /// What it is about.
    pub tags: BTreeSet<String>,
    /// How urgent.
    pub priority: Priority,
    /// How people were to be picked.
    pub route: Route,
    /// Who was picked.
    pub seats: Vec<Seat>,
    /// When it runs out, if ever.
    pub expires_at: Option<Time>,
    /// What then.
    pub on_expiry: OnExpiry,
    /// When to remind.
    pub reminders: Vec<Time>,
    /// Whom to ask as well, and when.
    pub ladder: Vec<Rung>,
    /// The ask it continues.
    pub follows: Option<AskId>,
    /// How many equal votes decide.
    pub quorum: u32,
    /// The least assurance.
    pub floor: Assurance,
    /// The minimum assurance for approving it, if it is irreversible or critical. Absent where its
    /// project has no such rule, and in what was asked before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible_assurance: Option<Assurance>,
    /// The tokens that were drawn for it, by their hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// Which answers the agent may pass on with a submit token; `None` for none at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<BTreeSet<Stance>>,
    /// Where to tell the agent that it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
    /// Which proofs of a person it wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Box<Policy>>,
    /// Where the agent wants it put.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<Erasable<Place>>>,
    /// The conversation it belongs to, if a person began one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Conversation>,
    /// The task it holds up, if it is a checkpoint of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Box<Checkpoint>>,
    /// What was delivered for a task, if it is judged by this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Box<ForReview>>,
    /// What the agent says of its message, and what was found about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<Box<Claims>>,
}

impl Happened {
    /// Its name, as stored and shown.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Asked(_) => "asked",
            Self::Followed { .. } => "followed",
            Self::Opened => "opened",
            Self::Progressed { .. } => "progressed",
            Self::Claimed => "claimed",
            Self::Assigned { .. } => "assigned",
            Self::Commented { .. } => "commented",
            Self::ActionPicked { .. } => "action_picked",
            Self::Answered { .. } => "answered",
            Self::AnswerHeld { .. } => "answer_held",
            Self::AnswerWithdrawn => "answer_withdrawn",
            Self::Defaulted { .. } => "defaulted",
            Self::Cancelled { .. } => "cancelled",
            Self::Expired { .. } => "expired",
            Self::Failed { .. } => "failed",
            Self::Reminded => "reminded",
            Self::Escalated { .. } => "escalated",
            Self::Joined { .. } => "joined",
            Self::Extended { .. } => "extended",
            Self::Granted { .. } => "granted",
            Self::CalledBack { .. } => "called_back",
            Self::CallbackWanted => "callback_wanted",
            Self::Revoked { .. } => "revoked",
            Self::Erased => "erased",
            Self::WordsErased(_) => "words_erased",
            Self::ProjectSaved(_) => "project_saved",
            Self::AgentSaved(_) => "agent_saved",
            Self::HumanSaved(_) => "human_saved",
            Self::HumanErased => "human_erased",
            Self::KeyErased => "key_erased",
            Self::SigningKeyDestroyed { .. } => "signing_key_destroyed",
            Self::KeyIssued(_) => "key_issued",
            Self::KeyRevoked => "key_revoked",
            Self::KeyRevokedWithTokens => "key_revoked_with_tokens",
            Self::PasskeyUsed { .. } => "passkey_used",
            Self::PasskeyConfirmed => "passkey_confirmed",
            Self::RuleAdded(_) => "rule_added",
            Self::RuleRemoved => "rule_removed",
            Self::WebhookSaved(_) => "webhook_saved",
            Self::WebhookRotated { .. } => "webhook_rotated",
            Self::WebhookTested => "webhook_tested",
            Self::WebhookGone => "webhook_gone",
            Self::WebhookRemoved => "webhook_removed",
            Self::Task(event) => event.name(),
            Self::Artifact(event) => event.name(),
            Self::EntryWritten(_) => "entry_written",
        }
    }

    /// The names of the events that erase values of earlier events.
    pub const ERASING: [&'static str; 5] =
        ["erased", "words_erased", "human_erased", "checkpoint_erased", "task_words_erased"];

    /// Whether it erased the values of an earlier event of its subject. Every store drops them in the
    /// transaction that writes this event.
    pub fn erases(&self, earlier: &Trace) -> bool {
        if matches!(self, Self::Erased | Self::HumanErased) {
            return true;
        }
        if let Self::Task(event) = self {
            return event.erases(earlier);
        }
        let Self::WordsErased(erased) = self else { return false };
        let wrote = match earlier.what {
            "commented" | "cancelled" | "revoked" | "answer_held" => true,
            "answered" => !erased.replies.is_empty(),
            _ => false,
        };
        wrote && earlier.human.as_ref() == Some(&erased.human)
    }

    /// Visits every erasable value, always in the same order.
    pub fn slots(&mut self, visit: &mut dyn FnMut(&mut dyn Slot)) {
        match self {
            Self::Asked(asked) => {
                visit(&mut asked.question);
                visit(&mut asked.metadata);
                if let OnExpiry::Answer { reply } = &mut asked.on_expiry {
                    visit(reply);
                }
                if let Some(callback) = &mut asked.callback {
                    visit(&mut callback.url);
                }
                if let Some(place) = &mut asked.place {
                    visit(&mut **place);
                }
                if let Some(checkpoint) = &mut asked.checkpoint {
                    visit(&mut checkpoint.beside);
                }
                if let Some(claims) = &mut asked.claims {
                    visit(&mut claims.said);
                }
            }
            Self::Answered { vote: said, .. }
            | Self::AnswerHeld { vote: said, .. }
            | Self::Defaulted { resolution: said } => {
                visit(&mut said.reply);
                if let Some(attested) = &mut said.attested {
                    visit(&mut **attested);
                }
                if let Some(evidence) = &mut said.passkey {
                    visit(&mut **evidence);
                }
                if let Some(sender) = &mut said.sender {
                    visit(&mut **sender);
                }
            }
            Self::Cancelled { reason: Some(text), .. }
            | Self::Commented { text }
            | Self::Revoked { reason: text } => visit(text),
            Self::WordsErased(erased) => {
                erased.replies.iter_mut().for_each(|reply| visit(reply));
            }
            Self::HumanSaved(human) => visit(&mut human.profile),
            Self::Task(event) => event.slots(visit),
            Self::EntryWritten(written) => visit(&mut written.value),
            Self::Cancelled { reason: None, .. }
            | Self::Followed { .. }
            | Self::Opened
            | Self::Progressed { .. }
            | Self::Claimed
            | Self::Assigned { .. }
            | Self::ActionPicked { .. }
            | Self::AnswerWithdrawn
            | Self::Expired { .. }
            | Self::Failed { .. }
            | Self::Reminded
            | Self::Escalated { .. }
            | Self::Joined { .. }
            | Self::Extended { .. }
            | Self::Granted { .. }
            | Self::CalledBack { .. }
            | Self::CallbackWanted
            | Self::Erased
            | Self::HumanErased
            | Self::KeyErased
            | Self::SigningKeyDestroyed { .. }
            | Self::ProjectSaved(_)
            | Self::AgentSaved(_)
            | Self::KeyIssued(_)
            | Self::KeyRevoked
            | Self::KeyRevokedWithTokens
            | Self::PasskeyConfirmed
            | Self::PasskeyUsed { .. }
            | Self::RuleAdded(_)
            | Self::RuleRemoved
            | Self::WebhookSaved(_)
            | Self::WebhookRotated { .. }
            | Self::WebhookTested
            | Self::WebhookGone
            | Self::WebhookRemoved
            | Self::Artifact(_) => {}
        }
    }
}

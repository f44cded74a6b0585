//! The events of an ask.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    AskToken, Assignee, Callback, CallbackResult, Conversation, DefaultAction, Dialect,
    ExperienceEnvelope, Labels, OnExpiry, PostingAddress, Priority, RecordedAnswer, Route,
    ScheduledEscalation,
};
use crate::actor::Assurance;
use crate::audit::{Erasable, Salts, Slot};
use crate::directory::Agent;
use crate::event::ErasureTrace;
use crate::form::FormProgress;
use crate::ids::{AgentId, AskId, HumanId, KeyId, ProjectId};
use crate::question::{AnswerKind, Question, QuestionKind, Reply};
use crate::task::{Checkpoint, ForReview, ResolutionAction};
use crate::time::Time;
use crate::verification::VerificationPolicy;

/// The names of events about an answer that can still be undone. Only its person and the server
/// know them: streams leave them out, and agents do not see their contents.
pub const HELD_ANSWER: [&str; 2] = ["answer_held", "answer_withdrawn"];

/// An event of an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum AskEvent {
    /// An agent asked, or a person wrote to it.
    Asked(Box<Asked>),
    /// A later ask continues this one, or the conversation it opened.
    Followed {
        /// The later ask.
        next: AskId,
    },
    /// A person opened it for the first time.
    Opened,
    /// A person began to answer, or made progress.
    Progressed {
        /// How much of the form is filled in, if known.
        progress: Option<FormProgress>,
    },
    /// A person claimed it.
    Claimed,
    /// It was assigned to a person.
    Assigned {
        /// The new assignee.
        to: HumanId,
    },
    /// A person or the agent wrote a comment.
    Commented {
        /// The text of the comment.
        text: Erasable<String>,
        /// Whether the agent wrote it to notify all assignees again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        nudge: bool,
    },
    /// A person picked one of the next actions that the agent offers.
    ActionPicked {
        /// The index of the action in the agent's list.
        action: usize,
    },
    /// A person answered.
    Answered {
        /// The answer, as stored on the ask.
        vote: Box<RecordedAnswer>,
        /// Whether it decided the ask.
        decisive: bool,
    },
    /// A person answered and can still undo it; nothing is decided yet.
    AnswerHeld {
        /// The answer as the person sent it.
        vote: Box<RecordedAnswer>,
        /// When it takes effect.
        until: Time,
    },
    /// A held answer was undone by its person, or dropped because they may no longer answer.
    AnswerWithdrawn,
    /// There was no answer, and the agent's default was taken.
    Defaulted {
        /// The default answer, recorded as given by the system.
        resolution: Box<RecordedAnswer>,
    },
    /// It was withdrawn, or resolved by a decision that does not answer its question.
    Cancelled {
        /// The reason, if one was given.
        reason: Option<Erasable<String>>,
        /// The person's decision over HACP, where the question does not take such an answer. Absent
        /// if the ask was withdrawn, and in events from before this was recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided: Option<ResolutionAction>,
    },
    /// The deadline passed without an answer.
    Expired {
        /// The deadline that passed.
        deadline: Time,
        /// The action that the agent takes.
        report: DefaultAction,
    },
    /// The deadline passed, and the agent defined that as a failure.
    Failed {
        /// The deadline that passed.
        deadline: Time,
    },
    /// A reminder was sent.
    Reminded,
    /// The next escalation step was reached.
    Escalated {
        /// The new assignees. Empty in events from before this was always recorded: there the
        /// escalation policy names them.
        #[serde(rename = "seats", default, skip_serializing_if = "Vec::is_empty")]
        assignees: Vec<Assignee>,
    },
    /// More people are asked at the agent's request.
    Joined {
        /// The new assignees.
        #[serde(rename = "seats")]
        assignees: Vec<Assignee>,
    },
    /// Its deadline was moved.
    Extended {
        /// The new deadline.
        until: Time,
    },
    /// More tokens were created for it.
    Granted {
        /// The new tokens, by their hashes.
        grants: Vec<AskToken>,
    },
    /// The server called the agent back about the closed ask, or failed to.
    CalledBack {
        /// The result of the attempt.
        outcome: CallbackResult,
    },
    /// A repeated callback to the agent was requested.
    CallbackWanted,
    /// Its receipt was revoked.
    Revoked {
        /// The reason, which is published.
        reason: Erasable<String>,
    },
    /// Its text was erased. The store deletes the contents of all its records.
    Erased,
    /// The text that one erased person wrote on it was erased. The store deletes the contents of
    /// the records it [erases](crate::DomainEvent::erases).
    WordsErased(Box<AskTextErased>),
}

/// The text that one person wrote on an ask was erased: comments, reasons, comments of their
/// answers, and the evidence of their passkey.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskTextErased {
    /// The person whose text was erased.
    pub human: HumanId,
    /// Their votes in order, without the comments. Empty if none of them had a comment or passkey
    /// evidence: the votes then stay unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Erasable<Reply>>,
    /// Whether none of these votes had a comment: they are recorded again only because the passkey
    /// evidence beside them was erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_comments: bool,
}

/// An ask as created and routed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The project of the agent's key.
    pub project: ProjectId,
    /// The agent that asks.
    pub agent: AgentId,
    /// The key the agent asked with; absent in asks from before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// The owner of the agent when it asked.
    pub owner: HumanId,
    /// The protocol through which it came.
    pub dialect: Dialect,
    /// The question to the person.
    pub question: Erasable<Question>,
    /// The kind of question. It stays when the question is erased.
    pub kind: QuestionKind,
    /// Free data of the agent.
    pub metadata: Erasable<Map<String, Value>>,
    /// The agent's own names for itself and its work.
    pub labels: Labels,
    /// Topics by which people qualify and lists filter.
    pub tags: BTreeSet<String>,
    /// How urgent the ask is.
    pub priority: Priority,
    /// How the assignees were to be chosen.
    pub route: Route,
    /// The people and pools who were asked.
    #[serde(rename = "seats")]
    pub assignees: Vec<Assignee>,
    /// The deadline; `None` for never.
    pub expires_at: Option<Time>,
    /// What happens at the deadline if there is no answer.
    pub on_expiry: OnExpiry,
    /// When to send reminders.
    pub reminders: Vec<Time>,
    /// The escalation steps.
    #[serde(rename = "ladder")]
    pub escalation_steps: Vec<ScheduledEscalation>,
    /// The ask it continues, if any.
    pub follows: Option<AskId>,
    /// The number of equal votes that decide.
    pub quorum: u32,
    /// The minimum assurance of an answer.
    #[serde(rename = "floor")]
    pub minimum_assurance: Assurance,
    /// The minimum assurance for approving it, if it is irreversible or critical. Absent if its
    /// project has no such rule, and in asks from before the rule existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible_assurance: Option<Assurance>,
    /// The tokens that were created for it, by their hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<AskToken>,
    /// The stances of answers that the agent may pass on with a submit token; `None` for none at
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<BTreeSet<AnswerKind>>,
    /// Where to notify the agent that it is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
    /// The proofs of presence that it demands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Box<VerificationPolicy>>,
    /// The address where the agent wants it posted.
    #[serde(rename = "place", default, skip_serializing_if = "Option::is_none")]
    pub posting_address: Option<Box<Erasable<PostingAddress>>>,
    /// The conversation it belongs to, if a person started one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Conversation>,
    /// The checkpoint of a task that it decides, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Box<Checkpoint>>,
    /// The delivery of a task that it reviews, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Box<ForReview>>,
    /// What the agent says about its message, with the findings about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claims: Option<Box<ExperienceEnvelope>>,
}

impl Asked {
    /// A question of `agent` to its owner, with the default for everything that is optional.
    pub(crate) fn new(
        agent: &Agent,
        question: Question,
        metadata: Map<String, Value>,
        salts: &mut Salts,
    ) -> Self {
        Self {
            project: agent.project.clone(),
            agent: agent.id.clone(),
            key: None,
            owner: agent.owner.clone(),
            dialect: Dialect::Native,
            kind: question.kind(),
            question: Erasable::new(question, salts),
            metadata: Erasable::new(metadata, salts),
            labels: Labels::default(),
            tags: BTreeSet::new(),
            priority: Priority::Normal,
            route: Route::Owner,
            assignees: Vec::new(),
            expires_at: None,
            on_expiry: OnExpiry::StayOpen,
            reminders: Vec::new(),
            escalation_steps: Vec::new(),
            follows: None,
            quorum: 1,
            minimum_assurance: Assurance::None,
            irreversible_assurance: None,
            grants: Vec::new(),
            inline: None,
            callback: None,
            verification: None,
            posting_address: None,
            conversation: None,
            checkpoint: None,
            review: None,
            claims: None,
        }
    }
}

impl AskEvent {
    /// The event's name, as stored and shown.
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
        }
    }

    /// Whether it erases the values of an earlier event of the ask.
    pub(crate) fn erases(&self, earlier: &ErasureTrace) -> bool {
        if matches!(self, Self::Erased) {
            return true;
        }
        let Self::WordsErased(erased) = self else { return false };
        let wrote = match earlier.what {
            "commented" | "cancelled" | "revoked" | "answer_held" => true,
            "answered" => !erased.replies.is_empty(),
            _ => false,
        };
        wrote && earlier.human.as_ref() == Some(&erased.human)
    }

    /// Whether it holds free text of its author that is erased with the author.
    pub(crate) fn has_free_text(&self) -> bool {
        if let Self::Answered { vote, .. } | Self::AnswerHeld { vote, .. } = self {
            return vote.has_evidence()
                || vote.reply.value().is_some_and(|reply| reply.comment.is_some());
        }
        if let Self::Commented { text, .. }
        | Self::Cancelled { reason: Some(text), .. }
        | Self::Revoked { reason: text } = self
        {
            return text.value().is_some();
        }
        false
    }

    /// Visits every erasable value, always in the same order.
    pub(crate) fn slots(&mut self, visit: &mut dyn FnMut(&mut dyn Slot)) {
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
                if let Some(place) = &mut asked.posting_address {
                    visit(&mut **place);
                }
                if let Some(checkpoint) = &mut asked.checkpoint {
                    visit(&mut checkpoint.details);
                }
                if let Some(claims) = &mut asked.claims {
                    visit(&mut claims.content);
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
            | Self::Commented { text, .. }
            | Self::Revoked { reason: text } => visit(text),
            Self::WordsErased(erased) => {
                erased.replies.iter_mut().for_each(|reply| visit(reply));
            }
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
            | Self::Erased => {}
        }
    }
}

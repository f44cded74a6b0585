//! The topics of webhook deliveries, under stable names: some of the events of an ask, and the
//! contracts of agent runtimes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::actor::ActorRef;
use crate::ask::{Ask, Ending};
use crate::event::{AskEvent, DomainEvent};
use crate::question::{AnswerKind, Reply};
use crate::task::Duty;

/// A topic that a webhook endpoint can receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Topic {
    /// An ask was created.
    #[serde(rename = "ask.created")]
    Created,
    /// A person opened the ask for the first time.
    #[serde(rename = "ask.opened")]
    Opened,
    /// A person claimed the ask or was assigned to it.
    #[serde(rename = "ask.claimed")]
    Claimed,
    /// A person or the agent commented on the ask.
    #[serde(rename = "ask.commented")]
    Commented,
    /// A person picked one of the agent's actions.
    #[serde(rename = "ask.action_picked", alias = "ask.action-picked")]
    ActionPicked,
    /// An escalation step asked more people, because there was no answer.
    #[serde(rename = "ask.escalated")]
    Escalated,
    /// A person answered.
    #[serde(rename = "ask.answered")]
    Answered,
    /// A person requested changes before they approve.
    #[serde(rename = "ask.changes_requested", alias = "ask.changes-requested")]
    ChangesRequested,
    /// There was no answer, and the agent's default was taken.
    #[serde(rename = "ask.defaulted")]
    Defaulted,
    /// The ask expired.
    #[serde(rename = "ask.expired")]
    Expired,
    /// The ask was cancelled.
    #[serde(rename = "ask.cancelled")]
    Cancelled,
    /// The receipt was revoked.
    #[serde(rename = "receipt.revoked")]
    Revoked,
    /// A person wrote to the agent.
    #[serde(rename = "conversation.started")]
    Started,
    /// A runtime must start a run for a task.
    #[serde(rename = "task.delegate")]
    Delegate,
    /// A runtime must pause and wait.
    #[serde(rename = "task.block")]
    Block,
    /// A runtime must continue.
    #[serde(rename = "task.resume")]
    Resume,
    /// A runtime must take over from another.
    #[serde(rename = "task.handoff")]
    Handoff,
    /// A runtime must take an instruction into account.
    #[serde(rename = "task.steer")]
    Steer,
    /// A runtime must stop permanently.
    #[serde(rename = "task.cancel")]
    Stop,
}

impl Topic {
    /// All topics, in the order in which they may happen.
    pub const ALL: [Self; 19] = [
        Self::Created,
        Self::Opened,
        Self::Claimed,
        Self::Commented,
        Self::ActionPicked,
        Self::Escalated,
        Self::Answered,
        Self::ChangesRequested,
        Self::Defaulted,
        Self::Expired,
        Self::Cancelled,
        Self::Revoked,
        Self::Started,
        Self::Delegate,
        Self::Block,
        Self::Resume,
        Self::Handoff,
        Self::Steer,
        Self::Stop,
    ];

    /// The topics that an ask is closed, for which an agent waits.
    pub const ENDINGS: [Self; 5] =
        [Self::Answered, Self::ChangesRequested, Self::Defaulted, Self::Expired, Self::Cancelled];

    /// The default topics of an endpoint: the endings an agent waits for, requests to it in the
    /// meantime, and new conversations.
    pub const DEFAULT: [Self; 7] = [
        Self::Answered,
        Self::ChangesRequested,
        Self::Defaulted,
        Self::Expired,
        Self::Cancelled,
        Self::ActionPicked,
        Self::Started,
    ];

    /// The name of the topic on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "ask.created",
            Self::Opened => "ask.opened",
            Self::Claimed => "ask.claimed",
            Self::Commented => "ask.commented",
            Self::ActionPicked => "ask.action_picked",
            Self::Escalated => "ask.escalated",
            Self::Answered => "ask.answered",
            Self::ChangesRequested => "ask.changes_requested",
            Self::Defaulted => "ask.defaulted",
            Self::Expired => "ask.expired",
            Self::Cancelled => "ask.cancelled",
            Self::Revoked => "receipt.revoked",
            Self::Started => "conversation.started",
            Self::Delegate => "task.delegate",
            Self::Block => "task.block",
            Self::Resume => "task.resume",
            Self::Handoff => "task.handoff",
            Self::Steer => "task.steer",
            Self::Stop => "task.cancel",
        }
    }

    /// The topic of a contract.
    pub fn of_duty(duty: Duty) -> Self {
        match duty {
            Duty::Delegate => Self::Delegate,
            Duty::Block => Self::Block,
            Duty::Resume => Self::Resume,
            Duty::Handoff => Self::Handoff,
            Duty::Steer => Self::Steer,
            Duty::Cancel => Self::Stop,
        }
    }

    /// The topic of an event; `None` if only the server and people see the event.
    pub fn of(what: &DomainEvent) -> Option<Self> {
        let DomainEvent::Ask(what) = what else { return None };
        Some(match what {
            AskEvent::Asked(_) => Self::Created,
            AskEvent::Opened => Self::Opened,
            AskEvent::Claimed | AskEvent::Assigned { .. } => Self::Claimed,
            AskEvent::Commented { .. } => Self::Commented,
            AskEvent::ActionPicked { .. } => Self::ActionPicked,
            AskEvent::Escalated { .. } | AskEvent::Joined { .. } => Self::Escalated,
            AskEvent::Answered { vote, decisive: true } => Self::answered(vote.reply.value()),
            AskEvent::Defaulted { .. } => Self::Defaulted,
            AskEvent::Expired { .. } | AskEvent::Failed { .. } => Self::Expired,
            AskEvent::Cancelled { .. } => Self::Cancelled,
            AskEvent::Revoked { .. } => Self::Revoked,
            AskEvent::Answered { decisive: false, .. }
            | AskEvent::AnswerHeld { .. }
            | AskEvent::AnswerWithdrawn
            | AskEvent::Followed { .. }
            | AskEvent::Progressed { .. }
            | AskEvent::Reminded
            | AskEvent::Extended { .. }
            | AskEvent::Granted { .. }
            | AskEvent::CalledBack { .. }
            | AskEvent::CallbackWanted
            | AskEvent::Erased
            | AskEvent::WordsErased(_) => return None,
        })
    }

    /// The topic as it is delivered for an ask. A new conversation is one delivery, which is sent
    /// once it is complete.
    pub(crate) fn delivered_for(self, ask: &Ask) -> Option<Self> {
        match (self, ask.starts_conversation()) {
            (Self::Created, true) => None,
            (Self::Answered, true) => Some(Self::Started),
            (topic, _) => Some(topic),
        }
    }

    /// The topic of how an ask ended; `None` while it is open.
    pub fn ending(ask: &Ask) -> Option<Self> {
        Some(match ask.ending()? {
            Ending::Completed(resolution) if resolution.by == ActorRef::System => Self::Defaulted,
            Ending::Completed(resolution) => Self::answered(resolution.reply.value()),
            Ending::Expired { .. } | Ending::Failed { .. } => Self::Expired,
            Ending::Cancelled { .. } => Self::Cancelled,
        })
    }

    /// The topic of an answer: a request for changes approves nothing.
    fn answered(reply: Option<&Reply>) -> Self {
        match reply.map(|reply| reply.answer.stance()) {
            Some(AnswerKind::Change) => Self::ChangesRequested,
            Some(_) | None => Self::Answered,
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_they_are_read() {
        for topic in Topic::ALL {
            let text = serde_json::to_string(&topic).unwrap();
            assert_eq!(text, format!("\"{topic}\""));
            assert_eq!(serde_json::from_str::<Topic>(&text).unwrap(), topic);
        }
        assert!(Topic::ENDINGS.iter().all(|topic| Topic::DEFAULT.contains(topic)));
        assert!(Topic::DEFAULT.iter().all(|topic| Topic::ALL.contains(topic)));
        for duty in
            [Duty::Delegate, Duty::Block, Duty::Resume, Duty::Handoff, Duty::Steer, Duty::Cancel]
        {
            assert_eq!(Topic::of_duty(duty).as_str(), format!("task.{}", duty.as_str()));
        }
    }
}

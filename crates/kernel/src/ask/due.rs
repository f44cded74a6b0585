//! The effects of time on an ask: its deadline, its reminders, its escalation steps, and the
//! retention of its text.

use super::{Ask, AskState, DefaultAction, OnExpiry};
use crate::ids::TaskId;
use crate::time::Time;

/// A timed action that is due on an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueAction {
    /// A held answer takes effect.
    CommitHeld,
    /// The deadline passed.
    Expire,
    /// A reminder is to be sent.
    Remind,
    /// The next escalation step is due.
    Escalate,
}

impl Ask {
    /// The time of an event that is decided at `now`. It never precedes the last event, even if the
    /// clock was set back.
    pub(crate) fn event_time(&self, now: Time) -> Time {
        now.max(self.head.at)
    }

    /// The most final action that is due at `now`. Expiry is judged here, at every read and write.
    pub fn due(&self, now: Time) -> Option<DueAction> {
        if !self.is_open() {
            return None;
        }
        let now = self.event_time(now);
        // While an answer is held, no timed action happens: the deadline waits, and there are no
        // reminders or escalations.
        if let Some(held) = &self.held {
            return (held.until <= now).then_some(DueAction::CommitHeld);
        }
        if self.expiry().is_some_and(|at| at <= now) {
            return Some(DueAction::Expire);
        }
        if self.escalation_steps.first().is_some_and(|rung| rung.at <= now) {
            return Some(DueAction::Escalate);
        }
        self.reminders.first().is_some_and(|at| *at <= now).then_some(DueAction::Remind)
    }

    /// When the next action is due. The store keeps it as the row's wake-up time.
    pub fn wake_at(&self) -> Option<Time> {
        if !self.is_open() {
            return None;
        }
        if let Some(held) = &self.held {
            return Some(held.until);
        }
        let rung = self.escalation_steps.first().map(|rung| rung.at);
        let reminder = self.reminders.first().copied();
        self.expiry().into_iter().chain(rung).chain(reminder).min()
    }

    /// When the ask expires, while it is open and if expiry changes anything.
    pub fn deadline(&self) -> Option<Time> {
        self.expiry().filter(|_| self.is_open())
    }

    /// The deadline of an open ask, whether or not passing it changes anything.
    pub fn due_at(&self) -> Option<Time> {
        self.expires_at.filter(|_| self.is_open())
    }

    /// Whether it stays open when its deadline passes, so that it is due but does not expire.
    pub fn stays_open(&self) -> bool {
        matches!(self.on_expiry, OnExpiry::StayOpen)
    }

    /// The task it belongs to: that of the checkpoint it decides, or of the delivery it reviews.
    pub fn task(&self) -> Option<TaskId> {
        let held = self.checkpoint.as_ref().map(|checkpoint| checkpoint.task);
        held.or_else(|| self.review.as_ref().map(|review| review.task))
    }

    /// Whether the agent goes ahead at the deadline if no person answers.
    pub fn proceeds_on_silence(&self) -> bool {
        self.expires_at.is_some()
            && match &self.on_expiry {
                OnExpiry::Report { action } => *action == DefaultAction::Approve,
                OnExpiry::Answer { reply } => {
                    reply.value().is_some_and(|reply| reply.answer.lets_proceed())
                }
                OnExpiry::StayOpen | OnExpiry::Fail => false,
            }
    }

    /// Since when the ask is closed with its text still stored. Retention counts from here.
    pub fn retention_start(&self) -> Option<Time> {
        match &self.state {
            AskState::Over { place, .. } => self.question.value().map(|_| place.at),
            AskState::Pending | AskState::Opened | AskState::InProgress { .. } => None,
        }
    }

    /// The deadline, if passing it changes anything.
    pub(super) fn expiry(&self) -> Option<Time> {
        self.expires_at.filter(|_| !self.stays_open())
    }
}

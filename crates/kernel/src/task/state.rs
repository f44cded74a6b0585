//! Where a task stands, and the only ways on from there.

use serde::{Deserialize, Serialize};

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Written down; nobody works on it.
    Created,
    /// Given to an agent that has not begun.
    Assigned,
    /// Somebody works on it.
    InProgress,
    /// A person has to decide something first.
    Blocked,
    /// Something was delivered, and nobody has judged it.
    ReviewReady,
    /// Not everybody has judged it.
    UnderReview,
    /// What was delivered is good; passed through on the way to [`State::Completed`].
    Accepted,
    /// Over: done, or called off.
    Completed,
    /// Over: what was delivered is no good.
    Rejected,
}

impl State {
    /// Every state, in the order of the protocol's table.
    pub const ALL: [Self; 9] = [
        Self::Created,
        Self::Assigned,
        Self::InProgress,
        Self::Blocked,
        Self::ReviewReady,
        Self::UnderReview,
        Self::Accepted,
        Self::Completed,
        Self::Rejected,
    ];

    /// The state as it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Assigned => "assigned",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::ReviewReady => "review_ready",
            Self::UnderReview => "under_review",
            Self::Accepted => "accepted",
            Self::Completed => "completed",
            Self::Rejected => "rejected",
        }
    }

    /// Whether nothing comes after it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Rejected)
    }

    /// Whether one trigger leads from here to there: nothing else is legal.
    pub fn leads_to(self, to: Self, trigger: Trigger) -> bool {
        TRANSITIONS.contains(&(self, to, trigger))
    }
}

/// What moves a task from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// `task.assign`
    Assign,
    /// `task.start`
    Start,
    /// `checkpoint.raise`
    Raise,
    /// `task.interrupt`
    Interrupt,
    /// `checkpoint.resolve` with anything but a rejection.
    Resolve,
    /// `checkpoint.resolve` with a rejection.
    Refuse,
    /// `artifact.commit`
    Commit,
    /// `review.submit` begins a review.
    Begin,
    /// `review.submit`: changes are wanted.
    Rework,
    /// `review.submit`: the plan is good.
    PlanApproved,
    /// `review.submit`: what was delivered is good.
    Accept,
    /// `review.submit`: it is no good.
    Reject,
    /// `review.submit`: others have not judged it yet.
    Pend,
    /// By itself.
    Complete,
    /// `task.cancel`
    Cancel,
}

/// The whole table: from, to, by what.
pub const TRANSITIONS: [(State, State, Trigger); 18] = {
    use State::{
        Accepted, Assigned, Blocked, Completed, Created, InProgress, Rejected, ReviewReady,
        UnderReview,
    };
    [
        (Created, Assigned, Trigger::Assign),
        (Assigned, InProgress, Trigger::Start),
        (InProgress, Blocked, Trigger::Raise),
        (InProgress, Blocked, Trigger::Interrupt),
        (Blocked, InProgress, Trigger::Resolve),
        (Blocked, Completed, Trigger::Refuse),
        (InProgress, ReviewReady, Trigger::Commit),
        (ReviewReady, UnderReview, Trigger::Begin),
        (UnderReview, InProgress, Trigger::Rework),
        (UnderReview, InProgress, Trigger::PlanApproved),
        (UnderReview, Accepted, Trigger::Accept),
        (UnderReview, Rejected, Trigger::Reject),
        (UnderReview, UnderReview, Trigger::Pend),
        (Accepted, Completed, Trigger::Complete),
        (Created, Completed, Trigger::Cancel),
        (Assigned, Completed, Trigger::Cancel),
        (InProgress, Completed, Trigger::Cancel),
        (Blocked, Completed, Trigger::Cancel),
    ]
};

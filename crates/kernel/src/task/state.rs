//! The states of a task, and the transitions between them.

use serde::{Deserialize, Serialize};

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Created, and not assigned to an agent.
    Created,
    /// Assigned to an agent that has not started.
    Assigned,
    /// An agent or a person works on it.
    InProgress,
    /// A person must decide first.
    Blocked,
    /// A version was delivered and has no review yet.
    ReviewReady,
    /// Some reviews are still missing.
    UnderReview,
    /// The delivery is accepted; a transient state before [`TaskState::Completed`].
    Accepted,
    /// Closed: done or cancelled.
    Completed,
    /// Closed: the delivery was rejected.
    Rejected,
}

impl TaskState {
    /// All states, in the order of the protocol's table.
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

    /// Whether the task is closed: no state follows.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Completed | Self::Rejected)
    }

    /// Whether this trigger leads from this state to the other. All other transitions are illegal.
    pub fn leads_to(self, to: Self, trigger: Trigger) -> bool {
        TRANSITIONS.contains(&(self, to, trigger))
    }
}

/// The cause of a state transition.
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
    /// `checkpoint.resolve` with any action except a rejection.
    Resolve,
    /// `checkpoint.resolve` with a rejection.
    Refuse,
    /// `artifact.commit`
    Commit,
    /// `review.submit`: a review begins.
    Begin,
    /// `review.submit`: the reviewer requests changes.
    Rework,
    /// `review.submit`: the plan is approved.
    PlanApproved,
    /// `review.submit`: the delivery is accepted.
    Accept,
    /// `review.submit`: the delivery is rejected.
    Reject,
    /// `review.submit`: other reviews are missing.
    Pend,
    /// Follows an acceptance automatically.
    Complete,
    /// `task.cancel`
    Cancel,
}

/// The whole table: from, to, trigger.
pub const TRANSITIONS: [(TaskState, TaskState, Trigger); 18] = {
    use TaskState::{
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

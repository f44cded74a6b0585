//! The names of audit events. HACP-042; K-02, K-05.

use kernel::task::TaskEvent;

macro_rules! actions {
    ($count:literal; $($(#[$doc:meta])* $variant:ident = $name:literal, $stored:literal;)*) => {
        /// The action of an audit event, as this protocol names it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum AuditAction {
            $($(#[$doc])* $variant,)*
        }

        impl AuditAction {
            pub const ALL: [Self; $count] = [$(Self::$variant),*];

            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The name its events are stored under.
            pub fn stored(self) -> &'static str {
                match self {
                    $(Self::$variant => $stored,)*
                }
            }
        }
    };
}

actions! {
    22;
    /// `task.create`
    Created = "task.created", "task_created";
    /// `task.assign`
    Assigned = "task.assigned", "task_assigned";
    /// `task.start`
    Started = "task.started", "task_started";
    /// `task.cancel`
    Cancelled = "task.cancelled", "task_cancelled";
    /// `task.interrupt`; a checkpoint follows.
    Interrupted = "task.interrupted", "task_interrupted";
    /// `task.amend`
    Amended = "task.amended", "task_amended";
    /// `task.grant`. A Countersign extension.
    Granted = "task.granted", "task_granted";
    /// Follows `review.submit` automatically.
    Completed = "task.completed", "task_completed";
    /// The task's text was erased. A Countersign extension.
    Erased = "task.erased", "erased";
    /// The text of a checkpoint or of a review was erased. A Countersign extension.
    CheckpointErased = "task.checkpoint.erased", "checkpoint_erased";
    /// A person was erased, and with them their comments. A Countersign extension.
    WordsErased = "task.comments.erased", "task_words_erased";
    /// `checkpoint.raise`
    Raised = "task.checkpoint.raised", "checkpoint_raised";
    /// `checkpoint.resolve`
    Resolved = "task.checkpoint.resolved", "checkpoint_resolved";
    /// `checkpoint.expire`, or the checkpoint's time limit.
    Expired = "task.checkpoint.expired", "checkpoint_expired";
    /// `ownership.transfer`
    Transferred = "ownership.transferred", "ownership_transferred";
    /// `ownership.delegate`
    Delegated = "ownership.delegated", "ownership_delegated";
    /// `review.submit`
    Reviewed = "review.submitted", "review_submitted";
    /// `review.comment`
    Commented = "review.commented", "review_commented";
    /// `artifact.commit`
    Committed = "artifact.committed", "artifact_committed";
    /// `artifact.reference`
    Referenced = "artifact.referenced", "artifact_referenced";
    /// `artifact.share`. A Countersign extension.
    Shared = "artifact.shared", "delivery_shared";
    /// `ledger.write`
    Written = "ledger.written", "ledger_written";
}

impl AuditAction {
    /// The action of a task event.
    pub fn of(event: &TaskEvent) -> Self {
        match event {
            TaskEvent::Created(_) => Self::Created,
            TaskEvent::Assigned { .. } => Self::Assigned,
            TaskEvent::Started => Self::Started,
            TaskEvent::Cancelled { .. } => Self::Cancelled,
            TaskEvent::Interrupted => Self::Interrupted,
            TaskEvent::Raised { .. } => Self::Raised,
            TaskEvent::Resolved { .. } => Self::Resolved,
            TaskEvent::Lapsed { .. } => Self::Expired,
            TaskEvent::Amended { .. } => Self::Amended,
            TaskEvent::Granted { .. } => Self::Granted,
            TaskEvent::Transferred { .. } => Self::Transferred,
            TaskEvent::Delegated { .. } => Self::Delegated,
            TaskEvent::Committed { .. } => Self::Committed,
            TaskEvent::Reviewed { .. } => Self::Reviewed,
            TaskEvent::Remarked { .. } => Self::Commented,
            TaskEvent::Completed => Self::Completed,
            TaskEvent::Referenced { .. } => Self::Referenced,
            TaskEvent::Shared { .. } => Self::Shared,
            TaskEvent::Wrote { .. } => Self::Written,
            TaskEvent::Erased => Self::Erased,
            TaskEvent::CheckpointErased { .. } => Self::CheckpointErased,
            TaskEvent::WordsErased(_) => Self::WordsErased,
        }
    }
}

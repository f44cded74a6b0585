//! Tasks in plain words: their state, their decisions, and their parties.

use kernel::directory::Directory;
use kernel::task::{
    Autonomy, CheckpointKind, CheckpointOutcome, GrantDecision, GrantDuration, Handover, Intent,
    LapseReason, Party, PayloadKind, Permission, ResolutionAction, Review, ReviewKind, Severity,
    TaskState, Verdict,
};
use kernel::{Task, Time};

use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};

/// How many characters of a goal are shown in a heading or a list.
pub const BEGINNING: usize = 160;

/// The beginning of a task's goal.
pub fn goal(task: &Task) -> VisibleText {
    task.spec.value().map_or_else(wording::erased, |spec| {
        VisibleText::beginning(spec.goal.lines().next().unwrap_or_default(), BEGINNING)
    })
}

/// The state of a task in words.
pub fn state(task: &Task) -> String {
    match task.state {
        TaskState::Created => t!("task-state-created"),
        TaskState::Assigned => t!("task-state-assigned"),
        TaskState::InProgress => t!("task-state-in-progress"),
        TaskState::Blocked => t!("task-state-blocked"),
        TaskState::ReviewReady => t!("task-state-review-ready"),
        TaskState::UnderReview => t!("task-state-under-review"),
        TaskState::Accepted => t!("task-state-accepted"),
        TaskState::Completed if ended_well(task) => t!("task-state-done"),
        TaskState::Completed => t!("task-state-cancelled"),
        TaskState::Rejected => t!("task-state-rejected"),
    }
}

/// The style class for the state of a task.
pub fn tone(task: &Task) -> &'static str {
    match task.state {
        TaskState::Created | TaskState::Assigned | TaskState::InProgress => "",
        TaskState::Blocked | TaskState::ReviewReady | TaskState::UnderReview => "waits",
        TaskState::Accepted => "yes",
        TaskState::Completed if ended_well(task) => "yes",
        TaskState::Completed => "over",
        TaskState::Rejected => "no",
    }
}

/// Whether a closed task was completed: its last review approved a deliverable.
pub fn ended_well(task: &Task) -> bool {
    let good = |review: &Review| {
        review.kind == ReviewKind::Deliverable && review.verdict == Verdict::Approved
    };
    task.state == TaskState::Completed && task.reviews.last().is_some_and(good)
}

/// The name of a person or an agent.
pub fn party(directory: &Directory, party: &Party) -> String {
    match party {
        Party::Human(id) => wording::person_name(directory, id),
        Party::Agent(id) => t!("actor-agent", id = id.to_string()),
    }
}

/// How a task was handed over.
pub fn handover(via: Handover) -> String {
    match via {
        Handover::Assign => t!("handover-assign"),
        Handover::Checkpoint => t!("handover-checkpoint"),
        Handover::Approve => t!("handover-approve"),
        Handover::Reject => t!("handover-reject"),
        Handover::Handoff => t!("handover-handoff"),
    }
}

/// The kind of decision that a person has to make.
pub fn checkpoint(kind: CheckpointKind) -> String {
    match kind {
        CheckpointKind::Approval => t!("kind-approve"),
        CheckpointKind::Choice => t!("kind-choose"),
        CheckpointKind::Input => t!("checkpoint-input"),
        CheckpointKind::Escalation => t!("checkpoint-escalation"),
        CheckpointKind::Interrupt => t!("checkpoint-interrupt"),
    }
}

/// The outcome of a decision: a style class, a description, and its time.
pub fn outcome(
    outcome: &CheckpointOutcome,
    directory: &Directory,
    now: Time,
) -> (&'static str, String, Option<RelativeTime>) {
    match outcome {
        CheckpointOutcome::Pending => ("waits", t!("checkpoint-pending"), None),
        CheckpointOutcome::Resolved(resolution) => {
            let who = wording::actor_name(directory, &resolution.by);
            let (tone, did) = match resolution.action {
                ResolutionAction::Approve => ("yes", t!("checkpoint-approved", who = who)),
                ResolutionAction::Reject => ("no", t!("checkpoint-rejected", who = who)),
                ResolutionAction::Choose => ("yes", t!("checkpoint-chosen", who = who)),
                ResolutionAction::Provide => ("yes", t!("checkpoint-provided", who = who)),
                ResolutionAction::Reassign => match &resolution.reassign_to {
                    Some(agent) => {
                        let agent = agent.to_string();
                        ("yes", t!("checkpoint-reassigned", who = who, agent = agent))
                    }
                    None => ("yes", t!("checkpoint-reassigned-elsewhere", who = who)),
                },
            };
            (tone, did, Some(RelativeTime::new(resolution.at, now)))
        }
        CheckpointOutcome::Expired { at, why } => {
            ("over", ended_reason(*why), Some(RelativeTime::new(*at, now)))
        }
    }
}

/// Why no decision was made.
pub fn ended_reason(why: Option<LapseReason>) -> String {
    match why {
        Some(LapseReason::TimedOut) | None => t!("checkpoint-timed-out"),
        Some(LapseReason::Expired) => t!("checkpoint-expired"),
        Some(LapseReason::Withdrawn) => t!("checkpoint-withdrawn"),
        Some(LapseReason::Cancelled) => t!("checkpoint-cancelled"),
    }
}

/// A verdict, with the name of its style class.
pub fn verdict(verdict: Verdict, kind: ReviewKind) -> (&'static str, String) {
    match (verdict, kind) {
        (Verdict::Approved, ReviewKind::Deliverable) => ("yes", t!("verdict-accepted")),
        (Verdict::Approved, ReviewKind::Plan) => ("yes", t!("verdict-plan-approved")),
        (Verdict::ChangesRequested, _) => ("waits", t!("verdict-changes-requested")),
        (Verdict::Rejected, _) => ("no", t!("verdict-rejected")),
    }
}

/// The weight of a comment.
pub fn severity(severity: Severity) -> String {
    match severity {
        Severity::Blocker => t!("severity-blocker"),
        Severity::Major => t!("severity-major"),
        Severity::Minor => t!("severity-minor"),
        Severity::Nit => t!("severity-nit"),
    }
}

/// Every severity with its name on the wire, the usual one first.
pub const SEVERITIES: [(Severity, &str); 4] = [
    (Severity::Minor, "minor"),
    (Severity::Blocker, "blocker"),
    (Severity::Major, "major"),
    (Severity::Nit, "nit"),
];

/// The purpose of a message to the agent.
pub fn intent(intent: Intent) -> String {
    match intent {
        Intent::Clarify => t!("intent-clarify"),
        Intent::Redirect => t!("intent-redirect"),
        Intent::Constrain => t!("intent-constrain"),
        Intent::AbortHint => t!("intent-abort-hint"),
    }
}

/// Every intent with its name on the wire.
pub const INTENTS: [Intent; 4] =
    [Intent::Clarify, Intent::Redirect, Intent::Constrain, Intent::AbortHint];

/// Whether a permission allows or forbids.
pub fn permission_effect(leave: GrantDecision) -> String {
    match leave {
        GrantDecision::Allow => t!("permission-allow"),
        GrantDecision::Deny => t!("permission-deny"),
    }
}

/// How long a grant is valid.
pub fn grant_validity(permission: &Permission<'_>, now: Time) -> String {
    match permission.grant.until {
        GrantDuration::Session if !permission.counts => t!("grant-run-over"),
        GrantDuration::Session if permission.run.is_none() => t!("grant-next-run"),
        GrantDuration::Session => t!("grant-this-run"),
        GrantDuration::Task => t!("grant-task"),
        GrantDuration::At(at) => t!("grant-until", at = RelativeTime::new(at, now).exact),
    }
}

/// How much an agent may do on its own.
pub fn autonomy(autonomy: Autonomy) -> String {
    match autonomy {
        Autonomy::Autonomous => t!("autonomy-autonomous"),
        Autonomy::PlanThenImplement => t!("autonomy-plan-then-implement"),
        Autonomy::ConfirmEachAction => t!("autonomy-confirm-each-action"),
        Autonomy::ReadOnly => t!("autonomy-read-only"),
    }
}

/// Every autonomy level with its name on the wire, the usual one first.
pub const AUTONOMIES: [(Autonomy, &str); 4] = [
    (Autonomy::Autonomous, "autonomous"),
    (Autonomy::PlanThenImplement, "plan_then_implement"),
    (Autonomy::ConfirmEachAction, "confirm_each_action"),
    (Autonomy::ReadOnly, "read_only"),
];

/// The kind of a delivery.
pub fn payload(kind: PayloadKind) -> String {
    match kind {
        PayloadKind::Diff => t!("payload-diff"),
        PayloadKind::Blob => t!("payload-blob"),
        PayloadKind::Ref => t!("payload-ref"),
        PayloadKind::Inline => t!("payload-inline"),
    }
}

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
pub fn state(task: &Task) -> &'static str {
    match task.state {
        TaskState::Created => "Not given to anybody yet",
        TaskState::Assigned => "Given to an agent, not begun",
        TaskState::InProgress => "In progress",
        TaskState::Blocked => "Waits for a decision",
        TaskState::ReviewReady => "Delivered, to be judged",
        TaskState::UnderReview => "Being judged",
        TaskState::Accepted => "Accepted",
        TaskState::Completed if ended_well(task) => "Done",
        TaskState::Completed => "Called off",
        TaskState::Rejected => "Rejected",
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
        Party::Agent(id) => format!("the agent {id}"),
    }
}

/// How a task was handed over.
pub fn handover(via: Handover) -> &'static str {
    match via {
        Handover::Assign => "to work on it",
        Handover::Checkpoint => "to decide something",
        Handover::Approve => "to go on",
        Handover::Reject => "because of what was decided",
        Handover::Handoff => "handed over",
    }
}

/// The kind of decision that a person has to make.
pub fn checkpoint(kind: CheckpointKind) -> &'static str {
    match kind {
        CheckpointKind::Approval => "Approve or reject",
        CheckpointKind::Choice => "Choose",
        CheckpointKind::Input => "Say something",
        CheckpointKind::Escalation => "The agent cannot go on alone",
        CheckpointKind::Interrupt => "You stopped the agent",
    }
}

/// The outcome of a decision: a style class, a description, and its time.
pub fn outcome(
    outcome: &CheckpointOutcome,
    directory: &Directory,
    now: Time,
) -> (&'static str, String, Option<RelativeTime>) {
    match outcome {
        CheckpointOutcome::Pending => ("waits", "Waits for an answer".to_owned(), None),
        CheckpointOutcome::Resolved(resolution) => {
            let (tone, did) = match resolution.action {
                ResolutionAction::Approve => ("yes", "Approved".to_owned()),
                ResolutionAction::Reject => ("no", "Rejected, which ended the task".to_owned()),
                ResolutionAction::Choose => ("yes", "Decided".to_owned()),
                ResolutionAction::Provide => ("yes", "Answered".to_owned()),
                ResolutionAction::Reassign => match &resolution.reassign_to {
                    Some(agent) => ("yes", format!("Given to the agent {agent}")),
                    None => ("yes", "Given to somebody else".to_owned()),
                },
            };
            let who = wording::actor_name(directory, &resolution.by);
            (tone, format!("{did} by {who}"), Some(RelativeTime::new(resolution.at, now)))
        }
        CheckpointOutcome::Expired { at, why } => {
            ("over", ended_reason(*why).to_owned(), Some(RelativeTime::new(*at, now)))
        }
    }
}

/// Why no decision was made.
pub fn ended_reason(why: Option<LapseReason>) -> &'static str {
    match why {
        Some(LapseReason::TimedOut) | None => "Nobody answered in time",
        Some(LapseReason::Expired) => "Closed without an answer",
        Some(LapseReason::Withdrawn) => "Withdrawn",
        Some(LapseReason::Cancelled) => "The task was called off first",
    }
}

/// A verdict, with the name of its style class.
pub fn verdict(verdict: Verdict, kind: ReviewKind) -> (&'static str, &'static str) {
    match (verdict, kind) {
        (Verdict::Approved, ReviewKind::Deliverable) => ("yes", "Accepted"),
        (Verdict::Approved, ReviewKind::Plan) => ("yes", "Plan approved"),
        (Verdict::ChangesRequested, _) => ("waits", "Changes requested"),
        (Verdict::Rejected, _) => ("no", "Rejected"),
    }
}

/// The weight of a comment.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Blocker => "Must change",
        Severity::Major => "Should change",
        Severity::Minor => "Could be better",
        Severity::Nit => "A matter of taste",
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
pub fn intent(intent: Intent) -> &'static str {
    match intent {
        Intent::Clarify => "What was meant",
        Intent::Redirect => "Go another way",
        Intent::Constrain => "Keep within this",
        Intent::AbortHint => "Better stop",
    }
}

/// Every intent with its name on the wire.
pub const INTENTS: [Intent; 4] =
    [Intent::Clarify, Intent::Redirect, Intent::Constrain, Intent::AbortHint];

/// Whether a permission allows or forbids.
pub fn permission_effect(leave: GrantDecision) -> &'static str {
    match leave {
        GrantDecision::Allow => "May",
        GrantDecision::Deny => "May not",
    }
}

/// How long a grant is valid.
pub fn grant_validity(permission: &Permission<'_>, now: Time) -> String {
    match permission.grant.until {
        GrantDuration::Session if !permission.counts => {
            "while its run lasted, which is over".to_owned()
        }
        GrantDuration::Session if permission.run.is_none() => "while the next run lasts".to_owned(),
        GrantDuration::Session => "while this run lasts".to_owned(),
        GrantDuration::Task => "for the whole task".to_owned(),
        GrantDuration::At(at) => format!("until {}", RelativeTime::new(at, now).exact),
    }
}

/// How much an agent may do on its own.
pub fn autonomy(autonomy: Autonomy) -> &'static str {
    match autonomy {
        Autonomy::Autonomous => "Whatever the task needs",
        Autonomy::PlanThenImplement => "Nothing before its plan is approved",
        Autonomy::ConfirmEachAction => "Nothing that was not approved",
        Autonomy::ReadOnly => "Only look",
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
pub fn payload(kind: PayloadKind) -> &'static str {
    match kind {
        PayloadKind::Diff => "changes to something",
        PayloadKind::Blob => "a file",
        PayloadKind::Ref => "something kept elsewhere",
        PayloadKind::Inline => "words",
    }
}

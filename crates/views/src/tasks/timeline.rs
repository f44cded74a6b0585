//! The timeline of a task, from the audit log: who did what and when, with a link to the task's
//! state at that time.

use kernel::actor::ActorRef;
use kernel::directory::Directory;
use kernel::task::{GrantDecision, LapseReason, TaskEvent};
use kernel::{DomainEvent, Event, Task, Time};

use crate::components::relative_time::RelativeTime;
use crate::components::task_labels as words_of;
use crate::components::wording::{self, VisibleText};
use crate::request::timeline::TimelineEntry;
use crate::site::paths;

/// The maximum number of events on a page.
pub const MAX_EVENTS: usize = 60;

/// One event in words.
#[derive(Debug, Clone)]
pub struct TaskTimelineRow {
    /// Its sequence number.
    pub seq: u64,
    pub who: String,
    /// The action, as the rest of a sentence.
    pub what: String,
    /// The text that came with it.
    pub said: Option<VisibleText>,
    pub at: RelativeTime,
    /// The style class: `agent`, `yes`, `no`, `over` or empty.
    pub tone: &'static str,
    /// Its hash in the chain.
    pub hash: String,
    /// The path of the task's state at that time.
    pub href: String,
    /// Whether the page shows that state.
    pub here: bool,
}

impl TaskTimelineRow {
    /// Describes an event; `at` is the selected sequence number, if the page shows
    /// an earlier state.
    pub fn new(
        entry: &TimelineEntry,
        task: &Task,
        at: Option<u64>,
        directory: &Directory,
        now: Time,
    ) -> Self {
        let Event { seq, at: when, by, what, .. } = &entry.event;
        let (tone, what, said) = match what {
            DomainEvent::Task(event) => sentence(event, directory),
            _ => ("", t!("task-event-other"), None),
        };
        let tone = if tone.is_empty() && matches!(by, ActorRef::Agent(_)) { "agent" } else { tone };
        let mut who = wording::actor_name(directory, by);
        if !matches!(by, ActorRef::Human(_))
            && let Some(first) = who.get(..1).map(str::to_uppercase)
        {
            who.replace_range(..1, &first);
        }
        Self {
            seq: *seq,
            who,
            what,
            said: said.as_deref().map(VisibleText::of),
            at: RelativeTime::new(*when, now),
            tone,
            hash: entry.hash.to_string(),
            href: format!("{}?at={seq}", paths::task(task.id)),
            here: at == Some(*seq),
        }
    }
}

/// The description of an event: a style class, the rest of a sentence, and the text that
/// came with it.
fn sentence(event: &TaskEvent, directory: &Directory) -> (&'static str, String, Option<String>) {
    let plain = |text: String| ("", text, None);
    match event {
        TaskEvent::Created(_) => plain(t!("task-event-created")),
        TaskEvent::Assigned { agent, .. } => {
            ("", t!("task-event-assigned", agent = agent.as_str()), None)
        }
        TaskEvent::Started => plain(t!("task-event-started")),
        TaskEvent::Cancelled { reason } => {
            let why = reason.as_ref().and_then(|reason| reason.value().cloned());
            ("over", t!("task-event-cancelled"), why)
        }
        TaskEvent::Interrupted => plain(t!("task-event-interrupted")),
        TaskEvent::Raised { kind, .. } => {
            let what = match kind {
                kernel::task::CheckpointKind::Approval => t!("task-event-asked-approval"),
                kernel::task::CheckpointKind::Choice => t!("task-event-asked-choice"),
                kernel::task::CheckpointKind::Input => t!("task-event-asked-input"),
                kernel::task::CheckpointKind::Escalation => t!("task-event-asked-help"),
                kernel::task::CheckpointKind::Interrupt => t!("task-event-waits"),
            };
            plain(what)
        }
        TaskEvent::Resolved { resolution, .. } => {
            let said = resolution.details.value();
            let words = said.and_then(|said| said.comment.clone().or_else(|| said.input.clone()));
            match resolution.action {
                kernel::task::ResolutionAction::Approve => {
                    ("yes", t!("task-event-approved"), words)
                }
                kernel::task::ResolutionAction::Reject => ("no", t!("task-event-rejected"), words),
                kernel::task::ResolutionAction::Choose => {
                    let chosen = said.and_then(|said| said.choice.clone()).unwrap_or_default();
                    ("yes", t!("task-event-chose", choice = VisibleText::of(&chosen)), words)
                }
                kernel::task::ResolutionAction::Provide => {
                    ("yes", t!("task-event-answered"), words)
                }
                kernel::task::ResolutionAction::Reassign => {
                    let to = resolution.reassign_to.as_ref().map(ToString::to_string);
                    ("yes", t!("task-event-assigned", agent = to.unwrap_or_default()), words)
                }
            }
        }
        TaskEvent::Lapsed { why, message: said, .. } => {
            let what = match why {
                LapseReason::TimedOut => t!("task-event-timed-out"),
                LapseReason::Expired => t!("task-event-closed"),
                LapseReason::Withdrawn => t!("task-event-withdrew"),
                LapseReason::Cancelled => t!("task-event-closed-with-task"),
            };
            ("over", what, said.as_ref().and_then(|said| said.value().cloned()))
        }
        TaskEvent::Amended { amendment } => {
            let what = t!("task-event-message", intent = words_of::intent(amendment.intent));
            ("", what, amendment.text.value().cloned())
        }
        TaskEvent::Granted { grant } => {
            let scope = VisibleText::of(&grant.scope);
            let what = match grant.decision {
                GrantDecision::Allow => t!("task-event-allowed", scope = scope),
                GrantDecision::Deny => t!("task-event-forbade", scope = scope),
            };
            ("", what, None)
        }
        TaskEvent::Transferred { to, .. } => {
            ("", t!("task-event-transferred", to = words_of::party(directory, to)), None)
        }
        TaskEvent::Delegated { to, .. } => {
            ("", t!("task-event-delegated", agent = to.as_str()), None)
        }
        TaskEvent::Committed { artifact, .. } => {
            ("", t!("task-event-delivered", version = VisibleText::of(&artifact.version)), None)
        }
        TaskEvent::Reviewed { review } => {
            let (tone, verdict) = words_of::verdict(review.verdict, review.kind);
            let changes = review.text.value().map(|said| said.requested_changes.join("\n"));
            let version = VisibleText::of(&review.artifact.version);
            let what = t!("task-event-reviewed", version = version, verdict = verdict);
            (tone, what, changes.filter(|text| !text.is_empty()))
        }
        TaskEvent::Remarked { remark, .. } => {
            let body = remark.comment.value().map(|comment| comment.body.clone());
            ("", t!("task-event-remarked"), body)
        }
        TaskEvent::Completed => ("yes", t!("task-event-completed"), None),
        TaskEvent::Referenced { artifact, .. } => (
            "",
            t!(
                "task-event-referenced",
                artifact = artifact.id.to_string(),
                version = VisibleText::of(&artifact.version)
            ),
            None,
        ),
        TaskEvent::Shared { artifact, with } => (
            "",
            t!("task-event-shared", project = with.to_string(), artifact = artifact.to_string()),
            None,
        ),
        TaskEvent::Wrote { scope, key, .. } => {
            let (key, scope) = (VisibleText::of(key), scope.to_string());
            ("", t!("task-event-wrote", key = key, scope = scope), None)
        }
        TaskEvent::Erased => ("over", t!("task-event-erased"), None),
        TaskEvent::CheckpointErased { .. } => ("over", t!("task-event-request-erased"), None),
        TaskEvent::WordsErased(_) => ("over", t!("task-event-person-erased"), None),
    }
}

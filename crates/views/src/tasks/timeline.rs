//! The timeline of a task, from the audit log: who did what and when, with a link to the task's
//! state at that time.

use kernel::actor::ActorRef;
use kernel::directory::Directory;
use kernel::task::{LapseReason, TaskEvent};
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
            _ => ("", "changed something else".to_owned(), None),
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
    let plain = |text: &str| ("", text.to_owned(), None);
    match event {
        TaskEvent::Created(_) => plain("wrote the task down"),
        TaskEvent::Assigned { agent, .. } => ("", format!("gave it to the agent {agent}"), None),
        TaskEvent::Started => plain("began"),
        TaskEvent::Cancelled { reason } => {
            let why = reason.as_ref().and_then(|reason| reason.value().cloned());
            ("over", "called it off".to_owned(), why)
        }
        TaskEvent::Interrupted => plain("stopped the agent"),
        TaskEvent::Raised { kind, .. } => {
            let what = match kind {
                kernel::task::CheckpointKind::Approval => "asked for an approval",
                kernel::task::CheckpointKind::Choice => "asked for a choice",
                kernel::task::CheckpointKind::Input => "asked for an answer in words",
                kernel::task::CheckpointKind::Escalation => "asked for help",
                kernel::task::CheckpointKind::Interrupt => {
                    "waits until somebody lets the agent go on"
                }
            };
            plain(what)
        }
        TaskEvent::Resolved { resolution, .. } => {
            let said = resolution.details.value();
            let words = said.and_then(|said| said.comment.clone().or_else(|| said.input.clone()));
            match resolution.action {
                kernel::task::ResolutionAction::Approve => ("yes", "approved".to_owned(), words),
                kernel::task::ResolutionAction::Reject => {
                    ("no", "rejected, and ended it".to_owned(), words)
                }
                kernel::task::ResolutionAction::Choose => {
                    let chosen = said.and_then(|said| said.choice.clone()).unwrap_or_default();
                    ("yes", format!("chose {}", VisibleText::of(&chosen)), words)
                }
                kernel::task::ResolutionAction::Provide => ("yes", "answered".to_owned(), words),
                kernel::task::ResolutionAction::Reassign => {
                    let to = resolution.reassign_to.as_ref().map(ToString::to_string);
                    ("yes", format!("gave it to the agent {}", to.unwrap_or_default()), words)
                }
            }
        }
        TaskEvent::Lapsed { why, message: said, .. } => {
            let what = match why {
                LapseReason::TimedOut => "closed the question, because time ran out",
                LapseReason::Expired => "closed the question without an answer",
                LapseReason::Withdrawn => "withdrew the question",
                LapseReason::Cancelled => "closed the question with the task",
            };
            ("over", what.to_owned(), said.as_ref().and_then(|said| said.value().cloned()))
        }
        TaskEvent::Amended { amendment } => {
            let what =
                format!("told the agent: {}", words_of::intent(amendment.intent).to_lowercase());
            ("", what, amendment.text.value().cloned())
        }
        TaskEvent::Granted { grant } => {
            let may = words_of::permission_effect(grant.decision).to_lowercase();
            ("", format!("said that the agent {may}: {}", VisibleText::of(&grant.scope)), None)
        }
        TaskEvent::Transferred { to, .. } => {
            ("", format!("handed it to {}", words_of::party(directory, to)), None)
        }
        TaskEvent::Delegated { to, .. } => ("", format!("handed it down to the agent {to}"), None),
        TaskEvent::Committed { artifact, .. } => {
            ("", format!("delivered {}", VisibleText::of(&artifact.version)), None)
        }
        TaskEvent::Reviewed { review } => {
            let (tone, verdict) = words_of::verdict(review.verdict, review.kind);
            let changes = review.text.value().map(|said| said.requested_changes.join("\n"));
            let version = VisibleText::of(&review.artifact.version);
            let what = format!("judged {version}: {}", verdict.to_lowercase());
            (tone, what, changes.filter(|text| !text.is_empty()))
        }
        TaskEvent::Remarked { remark, .. } => {
            let body = remark.comment.value().map(|comment| comment.body.clone());
            ("", "added to a verdict".to_owned(), body)
        }
        TaskEvent::Completed => ("yes", "closed it: it is done".to_owned(), None),
        TaskEvent::Referenced { artifact, .. } => (
            "",
            format!("took {} {} to work with", artifact.id, VisibleText::of(&artifact.version)),
            None,
        ),
        TaskEvent::Shared { artifact, with } => {
            ("", format!("let tasks of {with} use {artifact}"), None)
        }
        TaskEvent::Wrote { scope, key, .. } => {
            ("", format!("wrote {} in the ledger of {scope}", VisibleText::of(key)), None)
        }
        TaskEvent::Erased => ("over", "erased the words; the chain stays whole".to_owned(), None),
        TaskEvent::CheckpointErased { .. } => {
            ("over", "erased the text of one request".to_owned(), None)
        }
        TaskEvent::WordsErased(_) => {
            ("over", "erased what an erased person wrote".to_owned(), None)
        }
    }
}

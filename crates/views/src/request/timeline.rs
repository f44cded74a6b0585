//! The timeline of a request, from the audit log: who did what, when, through which channel, and
//! its position in the hash chain.

use kernel::actor::ActorRef;
use kernel::ask::CallbackResult;
use kernel::audit::Digest;
use kernel::directory::Directory;
use kernel::question::Question;
use kernel::task::ResolutionAction;
use kernel::{AskEvent, DomainEvent, Event, Time};

use crate::answer::outcome;
use crate::components::relative_time::RelativeTime;
use crate::components::wording;

/// The first events of a request.
#[derive(Debug, Clone, Default)]
pub struct RequestEvents {
    /// The events, in order.
    pub entries: Vec<TimelineEntry>,
    /// Whether there are more events than are shown.
    pub more: bool,
}

/// One event of the audit log.
#[derive(Debug, Clone)]
pub struct TimelineEntry {
    pub event: Event,
    /// Its hash in the chain.
    pub hash: Digest,
    /// The sealed block that contains it, once there is one.
    pub block: Option<u64>,
}

impl RequestEvents {
    /// The maximum number of events on the page.
    pub const MAX_EVENTS: usize = 200;
}

/// One event in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTimelineRow {
    /// Its sequence number.
    pub seq: u64,
    pub who: String,
    /// The action, as the rest of a sentence.
    pub what: String,
    pub at: RelativeTime,
    /// The style class: `agent`, `yes`, `no`, `over` or empty.
    pub tone: &'static str,
    /// Its hash in the chain.
    pub hash: String,
    /// The sealed block that contains it, once there is one.
    pub block: Option<u64>,
}

impl RequestTimelineRow {
    /// Describes an event.
    pub fn new(
        entry: &TimelineEntry,
        question: Option<&Question>,
        directory: &Directory,
        now: Time,
    ) -> Self {
        let Event { seq, at, by, what, .. } = &entry.event;
        let (tone, what) = sentence(what, question, directory, now);
        let tone = if tone.is_empty() && matches!(by, ActorRef::Agent(_)) { "agent" } else { tone };
        let mut who = wording::actor_name(directory, by);
        // Names keep their spelling; "the agent" is capitalised at the start of the sentence.
        if !matches!(by, ActorRef::Human(_))
            && let Some(first) = who.get(..1).map(str::to_uppercase)
        {
            who.replace_range(..1, &first);
        }
        Self {
            seq: *seq,
            who,
            what,
            at: RelativeTime::new(*at, now),
            tone,
            hash: entry.hash.to_string(),
            block: entry.block,
        }
    }
}

fn sentence(
    what: &DomainEvent,
    question: Option<&Question>,
    directory: &Directory,
    now: Time,
) -> (&'static str, String) {
    let plain = |text: String| ("", text);
    let what = match what {
        DomainEvent::Ask(what) => what,
        DomainEvent::Directory(_) => return plain(t!("timeline-directory")),
        DomainEvent::Task(_) => return plain(t!("timeline-task")),
        DomainEvent::Artifact(_) => return plain(t!("timeline-artifact")),
        DomainEvent::EntryWritten(_) => return plain(t!("timeline-ledger")),
    };
    match what {
        // A person started the conversation; there is no question from the agent.
        AskEvent::Asked(asked) if asked.conversation.is_some() && asked.follows.is_none() => {
            plain(t!("timeline-conversation"))
        }
        AskEvent::Asked(_) => plain(t!("timeline-asked")),
        AskEvent::Followed { .. } => plain(t!("timeline-followed")),
        AskEvent::Opened => plain(t!("timeline-opened")),
        AskEvent::Progressed { .. } => plain(t!("timeline-progressed")),
        AskEvent::Claimed => plain(t!("timeline-claimed")),
        AskEvent::Assigned { to } => {
            plain(t!("timeline-assigned", name = wording::person_name(directory, to)))
        }
        AskEvent::Commented { .. } => plain(t!("timeline-commented")),
        AskEvent::ActionPicked { action } => plain(t!("timeline-picked", n = action + 1)),
        AskEvent::Answered { vote, .. } => {
            let reply = vote.reply.value();
            let said = reply.map_or_else(
                || t!("timeline-answer-erased"),
                |reply| outcome::brief(reply, question),
            );
            let tone = reply.map_or("over", |reply| outcome::tone(&reply.answer));
            let channel = wording::channel_name(vote.via);
            let assurance = wording::assurance_words(vote);
            let text =
                t!("timeline-answered", channel = channel, assurance = assurance, answer = said);
            (tone, text)
        }
        AskEvent::AnswerHeld { until, .. } => {
            let until = RelativeTime::new(*until, now);
            plain(t!("timeline-held", until = until.exact))
        }
        AskEvent::AnswerWithdrawn => plain(t!("timeline-undone")),
        AskEvent::Defaulted { resolution } => {
            let said = resolution.reply.value().map(|reply| outcome::brief(reply, question));
            let said = said.unwrap_or_else(|| t!("timeline-answer-erased"));
            ("over", t!("timeline-default", answer = said))
        }
        AskEvent::Cancelled { decided, .. } => {
            let what = match decided {
                None => t!("timeline-withdrawn"),
                Some(ResolutionAction::Reject) => t!("timeline-rejected"),
                Some(
                    ResolutionAction::Approve
                    | ResolutionAction::Choose
                    | ResolutionAction::Provide,
                ) => t!("timeline-reworded"),
                Some(ResolutionAction::Reassign) => t!("timeline-task-reassigned"),
            };
            ("over", what)
        }
        AskEvent::Expired { .. } | AskEvent::Failed { .. } => ("over", t!("timeline-expired")),
        AskEvent::Reminded => plain(t!("timeline-reminded")),
        AskEvent::Escalated { .. } => plain(t!("timeline-escalated")),
        AskEvent::Joined { .. } => plain(t!("timeline-joined")),
        AskEvent::Extended { until } => {
            let until = RelativeTime::new(*until, now);
            plain(t!("timeline-extended", until = until.exact))
        }
        AskEvent::Granted { .. } => plain(t!("timeline-granted")),
        AskEvent::CalledBack { outcome } => match outcome {
            CallbackResult::Taken { .. } => plain(t!("timeline-notified")),
            CallbackResult::Refused { .. } | CallbackResult::Unreached { .. } => {
                plain(t!("timeline-not-notified"))
            }
        },
        AskEvent::CallbackWanted => plain(t!("timeline-notification-wanted")),
        AskEvent::Revoked { .. } => ("no", t!("timeline-revoked")),
        AskEvent::Erased => ("over", t!("timeline-erased")),
        AskEvent::WordsErased(_) => ("over", t!("timeline-person-erased")),
    }
}

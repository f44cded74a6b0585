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
    let plain = |text: &str| ("", text.to_owned());
    let what = match what {
        DomainEvent::Ask(what) => what,
        DomainEvent::Directory(_) => return plain("changed the directory"),
        DomainEvent::Task(_) => return plain("moved its task"),
        DomainEvent::Artifact(_) => return plain("delivered something"),
        DomainEvent::EntryWritten(_) => return plain("wrote into a ledger"),
    };
    match what {
        // A person started the conversation; there is no question from the agent.
        AskEvent::Asked(asked) if asked.conversation.is_some() && asked.follows.is_none() => {
            plain("began a conversation")
        }
        AskEvent::Asked(_) => plain("asked"),
        AskEvent::Followed { .. } => plain("asked again, in a new round"),
        AskEvent::Opened => plain("looked at it first"),
        AskEvent::Progressed { .. } => plain("began to fill it in"),
        AskEvent::Claimed => plain("took it on"),
        AskEvent::Assigned { to } => {
            ("", format!("handed it to {}", wording::person_name(directory, to)))
        }
        AskEvent::Commented { .. } => plain("left a comment"),
        AskEvent::ActionPicked { action } => {
            ("", format!("asked the agent for what it offers in place {}", action + 1))
        }
        AskEvent::Answered { vote, .. } => {
            let reply = vote.reply.value();
            let said = reply.map_or_else(
                || "(the words were erased)".to_owned(),
                |reply| outcome::brief(reply, question),
            );
            let tone = reply.map_or("over", |reply| outcome::tone(&reply.answer));
            let (door, sure) = (wording::channel_name(vote.via), wording::assurance_words(vote));
            (tone, format!("answered {door} ({sure}): {said}"))
        }
        AskEvent::AnswerHeld { until, .. } => {
            let until = RelativeTime::new(*until, now);
            ("", format!("answered, and could undo it until {}", until.exact))
        }
        AskEvent::AnswerWithdrawn => plain("took the answer back; nothing was decided"),
        AskEvent::Defaulted { resolution } => {
            let said = resolution.reply.value().map(|reply| outcome::brief(reply, question));
            let said = said.unwrap_or_else(|| "(the words were erased)".to_owned());
            ("over", format!("took the default, because nobody answered in time: {said}"))
        }
        AskEvent::Cancelled { decided, .. } => {
            let what = match decided {
                None => "withdrew it",
                Some(ResolutionAction::Reject) => "rejected it, and ended the task",
                Some(
                    ResolutionAction::Approve
                    | ResolutionAction::Choose
                    | ResolutionAction::Provide,
                ) => "answered it in other words",
                Some(ResolutionAction::Reassign) => "gave the task to another agent",
            };
            ("over", what.to_owned())
        }
        AskEvent::Expired { .. } | AskEvent::Failed { .. } => {
            ("over", "closed it, because time ran out".to_owned())
        }
        AskEvent::Reminded => plain("reminded everybody who was asked"),
        AskEvent::Escalated { .. } => plain("asked more people, because nobody had answered"),
        AskEvent::Joined { .. } => plain("asked more people"),
        AskEvent::Extended { until } => {
            let until = RelativeTime::new(*until, now);
            ("", format!("moved the deadline to {}", until.exact))
        }
        AskEvent::Granted { .. } => plain("made links or tokens for it"),
        AskEvent::CalledBack { outcome } => match outcome {
            CallbackResult::Taken { .. } => plain("told the agent that it is over"),
            CallbackResult::Refused { .. } | CallbackResult::Unreached { .. } => {
                plain("could not tell the agent that it is over")
            }
        },
        AskEvent::CallbackWanted => plain("wanted the agent to be told again"),
        AskEvent::Revoked { .. } => ("no", "revoked the receipt".to_owned()),
        AskEvent::Erased => ("over", "erased the words; the chain stays whole".to_owned()),
        AskEvent::WordsErased(_) => ("over", "erased what an erased person wrote".to_owned()),
    }
}

//! The context of a request: how similar requests were answered, its earlier and later rounds, who
//! else was asked, its current viewers, and its comments.

use std::collections::BTreeMap;

use kernel::ask::{Assignee, Comment, Ending, RecordedAnswer};
use kernel::directory::{Directory, Human};
use kernel::question::AnswerKind;
use kernel::task::ResolutionAction;
use kernel::{ActorRef, Ask, HumanId, KeyId, Time};

use crate::answer::outcome::OutcomeView;
use crate::components::facts::TextBlock;
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::conversation::ConversationThread;
use crate::request::timeline::RequestEvents;
use crate::request::{NotificationRecord, NotificationRow, ReceiptView, RequestTask};
use crate::site::paths;

/// How many members of a pool are named; the rest are counted.
const MAX_NAMED_MEMBERS: usize = 12;

/// The context of a request, as the handler loads it.
#[derive(Debug, Clone, Default)]
pub struct RequestContext {
    /// How similar requests were answered.
    pub alike: SimilarOutcomes,
    /// The requests that it continues, oldest first.
    pub earlier: Vec<Ask>,
    /// The requests that continue it, oldest first.
    pub later: Vec<Ask>,
    /// The notifications about it, oldest first.
    pub messages: Vec<NotificationRecord>,
    /// The other people who view it now.
    pub lookers: Vec<HumanId>,
    /// Until when the person has snoozed it.
    pub hidden_until: Option<Time>,
    /// Its events from the audit log.
    pub trail: RequestEvents,
    /// Its receipt, once it is closed.
    pub proof: Option<ReceiptView>,
    /// The task it belongs to, if the reader may see that.
    pub task: Option<RequestTask>,
}

/// How similar requests were answered, as far as the reader may see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimilarOutcomes {
    same: OutcomeCounts,
    kind: OutcomeCounts,
}

/// Requests counted by outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OutcomeCounts {
    asked: usize,
    /// Whether older requests of the period were not counted.
    more: bool,
    ends: BTreeMap<End, usize>,
}

impl SimilarOutcomes {
    /// How many days back requests are counted.
    pub const DAYS: u64 = 30;
    /// How many requests are counted.
    pub const MOST: usize = 100;

    /// Counts other requests of the same agent and kind, newest first. `more` says that the period
    /// has older ones.
    pub fn of(ask: &Ask, others: &[Ask], more: bool) -> Self {
        let mut alike = Self::default();
        (alike.same.more, alike.kind.more) = (more, more);
        let fold = ask.similarity_key();
        for other in others.iter().filter(|other| other.id != ask.id && other.kind == ask.kind) {
            alike.kind.count(other);
            if fold.is_some() && other.similarity_key() == fold {
                alike.same.count(other);
            }
        }
        alike
    }

    /// The outcomes of requests that differ only in numbers and names.
    pub fn same(&self) -> Option<String> {
        let OutcomeCounts { asked, more, .. } = self.same;
        let ends = self.same.counts_line()?;
        let days = Self::DAYS;
        Some(if more {
            t!("request-similar-newest", count = asked, total = self.kind.asked, ends = ends)
        } else {
            t!("request-similar-times", count = asked, days = days, ends = ends)
        })
    }

    /// The outcomes of all requests of this kind by this agent.
    pub fn kind(&self) -> Option<String> {
        let OutcomeCounts { asked, more, .. } = self.kind;
        let ends = self.kind.counts_line()?;
        let days = Self::DAYS;
        Some(if more {
            t!("request-kind-newest", count = asked, days = days, ends = ends)
        } else {
            t!("request-kind-times", count = asked, days = days, ends = ends)
        })
    }
}

impl OutcomeCounts {
    fn count(&mut self, ask: &Ask) {
        self.asked += 1;
        *self.ends.entry(End::of(ask)).or_default() += 1;
    }

    /// "12 approved, 2 rejected"; `None` if no request was counted.
    fn counts_line(&self) -> Option<String> {
        let mut ends: Vec<_> = self.ends.iter().collect();
        ends.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let said: Vec<String> = ends.iter().map(|(end, n)| end.counted(**n)).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// How a request ended, to count requests that ended alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Aborted,
    Answered,
    Approved,
    /// Answered in a dialect's own words.
    Reworded,
    Confirmed,
    Declined,
    Reassigned,
    Default,
    Expired,
    Rejected,
    Retried,
    Changes,
    Skipped,
    Open,
    Withdrawn,
}

impl End {
    fn of(ask: &Ask) -> Self {
        match ask.ending() {
            None => Self::Open,
            Some(Ending::Cancelled { decided, .. }) => match decided {
                None => Self::Withdrawn,
                Some(ResolutionAction::Reject) => Self::Rejected,
                Some(
                    ResolutionAction::Approve
                    | ResolutionAction::Choose
                    | ResolutionAction::Provide,
                ) => Self::Reworded,
                Some(ResolutionAction::Reassign) => Self::Reassigned,
            },
            Some(Ending::Expired { .. } | Ending::Failed { .. }) => Self::Expired,
            Some(Ending::Completed(RecordedAnswer { by: ActorRef::System, .. })) => Self::Default,
            Some(Ending::Completed(RecordedAnswer { reply, .. })) => {
                match reply.value().map(|reply| reply.answer.stance()) {
                    Some(AnswerKind::Approve) => Self::Approved,
                    Some(AnswerKind::Reject) => Self::Rejected,
                    Some(AnswerKind::Change) => Self::Changes,
                    Some(AnswerKind::Confirm) => Self::Confirmed,
                    Some(AnswerKind::Decline) => Self::Declined,
                    Some(AnswerKind::Retry) => Self::Retried,
                    Some(AnswerKind::Skip) => Self::Skipped,
                    Some(AnswerKind::Abort) => Self::Aborted,
                    Some(AnswerKind::Choose | AnswerKind::Provide | AnswerKind::Reply) | None => {
                        Self::Answered
                    }
                }
            }
        }
    }

    /// "12 approved"
    fn counted(self, count: usize) -> String {
        match self {
            Self::Aborted => t!("end-aborted", count = count),
            Self::Answered => t!("end-answered", count = count),
            Self::Approved => t!("end-approved", count = count),
            Self::Reworded => t!("end-reworded", count = count),
            Self::Confirmed => t!("end-confirmed", count = count),
            Self::Declined => t!("end-declined", count = count),
            Self::Reassigned => t!("end-reassigned", count = count),
            Self::Default => t!("end-default", count = count),
            Self::Expired => t!("end-expired", count = count),
            Self::Rejected => t!("end-rejected", count = count),
            Self::Retried => t!("end-retried", count = count),
            Self::Changes => t!("end-changes", count = count),
            Self::Skipped => t!("end-skipped", count = count),
            Self::Open => t!("end-open", count = count),
            Self::Withdrawn => t!("end-withdrawn", count = count),
        }
    }
}

/// One round of a question that was asked several times.
#[derive(Debug, Clone)]
pub struct RequestRound {
    /// Its number, from 1 for the oldest shown.
    pub n: usize,
    /// Its page; `None` for the current one.
    pub href: Option<String>,
    /// The beginning of its question.
    pub prompt: VisibleText,
    pub headline: String,
    pub who: Option<String>,
    /// When it closed, or when it was asked.
    pub at: RelativeTime,
    /// The comment on the answer.
    pub comment: Option<VisibleText>,
}

impl RequestRound {
    fn new(n: usize, ask: &Ask, here: bool, directory: &Directory, now: Time) -> Self {
        let question = ask.question.value();
        let prompt = question
            .map_or_else(wording::erased, |question| VisibleText::beginning(question.prompt(), 90));
        let outcome = OutcomeView::of(ask, directory, now);
        let said = ask.deciding_answer().and_then(|resolution| resolution.reply.value());
        let comment = said.and_then(|reply| reply.comment.as_deref());
        Self {
            n,
            href: (!here).then(|| paths::request(ask.id)),
            prompt,
            at: outcome.as_ref().map_or_else(
                || RelativeTime::new(ask.created_at, now),
                |outcome| outcome.at.clone(),
            ),
            headline: outcome.as_ref().map_or_else(|| t!("revisions-open"), |o| o.headline.clone()),
            who: outcome.and_then(|outcome| outcome.who),
            comment: comment.map(VisibleText::of),
        }
    }
}

/// A person or a pool that was asked or will be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssigneeView {
    pub who: String,
    /// When they will be asked, if that is in the future.
    pub from: Option<RelativeTime>,
    /// The members of the pool, if the reader may see them.
    pub members: Option<String>,
}

impl AssigneeView {
    fn new(seat: &Assignee, ask: &Ask, me: &Human, directory: &Directory) -> Self {
        let (who, members) = match seat {
            Assignee::Person { human } => (wording::person_name(directory, human), None),
            Assignee::Pool { group } => {
                let who = match group {
                    None => t!("request-asked-pool"),
                    Some(group) => t!("request-asked-group", group = group.to_string()),
                };
                // Administrators and the owner of the agent may see the members. A member of the
                // pool sees only that the pool was asked.
                let may_know = me.admin || me.id == ask.owner;
                let group = group.as_ref();
                (who, may_know.then(|| members(ask, group, directory)))
            }
        };
        Self { who, from: None, members }
    }
}

fn members(ask: &Ask, group: Option<&kernel::ids::GroupId>, directory: &Directory) -> String {
    let mut names: Vec<String> = directory
        .humans()
        .filter(|human| human.active && human.qualifies(&ask.project, group, &ask.tags))
        .map(|human| wording::person_name(directory, &human.id))
        .collect();
    let rest = names.len().saturating_sub(MAX_NAMED_MEMBERS);
    names.truncate(MAX_NAMED_MEMBERS);
    match (names.is_empty(), rest) {
        (true, _) => t!("request-members-none"),
        (false, 0) => names.join(", "),
        (false, rest) => {
            t!("request-members-more", names = names.join(", "), count = rest)
        }
    }
}

/// A comment on a request.
#[derive(Debug, Clone)]
pub struct CommentRow {
    pub who: String,
    /// Whether the agent wrote it; the page marks agent text.
    pub agent: bool,
    pub at: RelativeTime,
    pub text: TextBlock,
}

impl CommentRow {
    fn new(n: usize, comment: &Comment, directory: &Directory, now: Time) -> Self {
        let text = comment.text.value().cloned().unwrap_or_else(|| t!("text-part-erased"));
        Self {
            who: wording::actor_name(directory, &comment.by),
            agent: matches!(comment.by, ActorRef::Agent(_)),
            at: RelativeTime::new(comment.at, now),
            text: TextBlock::new(format!("said-{n}"), &text),
        }
    }
}

/// The context of a request, as the page shows it.
#[derive(Debug, Clone)]
pub struct RequestContextView {
    /// The outcomes of requests that differ only in numbers and names; `None` if there are none.
    pub same: Option<String>,
    /// The outcomes of all requests of this kind by this agent; `None` if there are none.
    pub kind: Option<String>,
    /// The rounds; empty if it was asked once or is a conversation.
    pub rounds: Vec<RequestRound>,
    /// The API key that the agent used.
    pub key: Option<VisibleText>,
    /// The conversation it belongs to.
    pub talk: Option<ConversationThread>,
    /// Who was asked, and who will be asked.
    pub asked: Vec<AssigneeView>,
    /// The notifications about it, newest last.
    pub told: Vec<NotificationRow>,
    /// The other viewers, as a sentence; `None` if there are none.
    pub looking: Option<String>,
    /// Until when the reader has snoozed it.
    pub hidden: Option<RelativeTime>,
    pub said: Vec<CommentRow>,
}

impl RequestContextView {
    /// The context of an ask, for a reader who may see the ask.
    pub fn new(
        around: &RequestContext,
        ask: &Ask,
        me: &Human,
        directory: &Directory,
        now: Time,
    ) -> Self {
        let earlier = around.earlier.iter().map(|ask| (ask, false));
        let later = around.later.iter().map(|ask| (ask, false));
        let thread: Vec<_> = earlier.chain([(ask, true)]).chain(later).collect();
        let round = |(n, (ask, here)): (usize, &(&Ask, bool))| {
            RequestRound::new(n + 1, ask, *here, directory, now)
        };
        let talk = ConversationThread::of(&thread, directory, now);
        let now_asked =
            ask.assignees.iter().map(|seat| AssigneeView::new(seat, ask, me, directory));
        let to_come =
            ask.escalation_steps.iter().filter(|_| ask.is_open()).map(|rung| AssigneeView {
                from: Some(RelativeTime::new(rung.at, now)),
                ..AssigneeView::new(&rung.assignee, ask, me, directory)
            });
        let said = ask.comments.iter().enumerate();
        Self {
            told: (around.messages.iter())
                .map(|message| NotificationRow::new(message, directory, now))
                .collect(),
            same: around.alike.same(),
            kind: around.alike.kind(),
            rounds: match thread.len() {
                1 => Vec::new(),
                _ if talk.is_some() => Vec::new(),
                _ => thread.iter().enumerate().map(round).collect(),
            },
            key: ask.key.map(|key| key_name(key, directory)),
            talk,
            asked: now_asked.chain(to_come).collect(),
            looking: viewers_sentence(&around.lookers, directory),
            hidden: around.hidden_until.map(|until| RelativeTime::new(until, now)),
            said: said.map(|(n, comment)| CommentRow::new(n, comment, directory, now)).collect(),
        }
    }
}

/// The label of a key and its id, because several keys may have the same label.
fn key_name(id: KeyId, directory: &Directory) -> VisibleText {
    let key = directory.key(id);
    let label = key.map(|key| key.label.as_str()).filter(|label| !label.is_empty());
    let gone = key.is_some_and(|key| key.revoked_at.is_some());
    let name = label.map_or_else(|| id.to_string(), |label| format!("{label} ({id})"));
    VisibleText::of(&if gone { t!("request-key-revoked", name = name) } else { name })
}

/// The other viewers of a request, as a sentence; `None` if there are none.
pub fn viewers_sentence(lookers: &[HumanId], directory: &Directory) -> Option<String> {
    let names: Vec<String> = lookers.iter().map(|id| wording::person_name(directory, id)).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(t!("request-viewers-one", name = one)),
        [one, two] => Some(t!("request-viewers-two", first = one, second = two)),
        [one, rest @ ..] => Some(t!("request-viewers-more", name = one, count = rest.len())),
    }
}

//! One row of the inbox: a waiting request, or several similar requests.
//!
//! A row has its own template, because the server also sends it alone when it appears or changes
//! while the list is open. The version of a row depends on its content and on whether it is due
//! soon, never on relative times.

use askama::Template;
use kernel::ask::{Dialect, SimilarityKey};
use kernel::audit::Digest;
use kernel::directory::{Directory, Human};
use kernel::question::{PickMode, Question, QuestionBody};
use kernel::text::{is_hidden, reveal};
use kernel::{Ask, Assurance, HumanId, Time};

use crate::answer::outcome::OutcomeView;
use crate::components::amounts::Amount;
use crate::components::claims::{ClaimsView, wants_verification};
use crate::components::facts::{FactList, FactValue};
use crate::components::query::PageQuery;
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, Urgency, VisibleText};
use crate::question;
use crate::site::paths;
use crate::{PageContext, render};

/// The longest question that can be answered from the list, in characters.
const MAX_QUICK_CHARS: usize = 140;
/// How many characters of a longer question the list shows.
const BEGINNING: usize = 220;
/// A question with more options is answered on the request's page.
const OPTIONS: usize = 6;

/// Requests that are due within this many seconds come first in a list and are highlighted.
pub const EXPIRING_SOON: u64 = 15 * 60;

/// The content of a row.
#[derive(Debug, Clone, Default)]
pub struct InboxEntry {
    /// The request, or several similar ones, the first in front.
    pub asks: Vec<Ask>,
    /// Whether the list may contain more of them further down.
    pub open_ended: bool,
    /// The other people who view it now, without the reader.
    pub lookers: Vec<HumanId>,
    /// Until when the reader has snoozed it.
    pub aside_until: Option<Time>,
}

impl InboxEntry {
    /// A row with one request.
    pub fn one(ask: Ask) -> Self {
        Self { asks: vec![ask], ..Self::default() }
    }

    /// Identifies the row on the page.
    pub fn key(&self) -> String {
        self.asks.first().map(|ask| ask.id.to_string()).unwrap_or_default()
    }
}

/// The context that all rows of a list share.
#[derive(Debug, Clone, Copy)]
pub struct RowContext<'a> {
    pub frame: &'a PageContext,
    /// The person who views the list.
    pub me: &'a Human,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The filter of the list, to return to it.
    pub query: &'a PageQuery,
}

/// A rendered row.
#[derive(Template)]
#[template(path = "inbox/row.html")]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct InboxRow {
    /// Identifies the row on the page.
    pub key: String,
    /// Identifies this version of the row.
    pub version: String,
    pub urgency: Urgency,
    href: String,
    prompt: VisibleText,
    kind: String,
    /// Whether it belongs to a task.
    task: bool,
    agent: String,
    project: String,
    asked: RelativeTime,
    deadline: Option<RelativeTime>,
    /// Whether it is due within 15 minutes.
    pub expiring: bool,
    /// Whether it stays open after its deadline: it is then overdue and does not expire.
    stays_open: bool,
    /// Whether the agent proceeds at the deadline without an answer.
    goes_ahead: bool,
    held_by: Option<String>,
    /// The person whose answer can still be undone.
    answering: Option<String>,
    mine: bool,
    lookers: Option<String>,
    tick: Option<String>,
    alike: Option<SimilarRequests>,
    quick: Option<QuickAnswers>,
    aside: Option<SnoozeControl>,
    grave: bool,
    /// The agent's claims about it, in one line.
    says: Option<ClaimsLine>,
}

/// The agent's claims about its message.
struct ClaimsLine {
    line: String,
    verify: bool,
}

/// Several similar requests in one row.
struct SimilarRequests {
    words: String,
    members_href: String,
    answer_href: String,
}

/// The link to snooze it, or the form to end the snooze.
enum SnoozeControl {
    Later { href: String },
    Back { when: RelativeTime, id: String },
}

/// The answer buttons of a row. They exist only if the row shows the whole question.
struct QuickAnswers {
    facts: FactList,
    buttons: Vec<QuickButton>,
}

struct QuickButton {
    tone: &'static str,
    name: &'static str,
    value: String,
    verb: String,
    /// Text for screen readers; sighted people see it above the button.
    object: VisibleText,
    /// Whether the object is visible.
    shown: bool,
    /// Whether the agent suggests it.
    suggested: bool,
}

impl InboxRow {
    /// The row of an item; `None` if the item has no request.
    pub fn new(item: &InboxEntry, around: RowContext<'_>) -> Option<Self> {
        let RowContext { frame, me, directory, query } = around;
        let ask = item.asks.first()?;
        let question = ask.question.value();
        let prompt = question.map(|q| q.prompt().trim()).unwrap_or_default();
        let holder = ask.claim.as_ref().map(|claim| &claim.human);
        let mine = holder.is_some_and(|holder| *holder == me.id);
        let held_by = holder.filter(|_| !mine).map(|id| wording::person_name(directory, id));
        let over = OutcomeView::of(ask, directory, frame.now).is_some();
        let answering = ask.held_by().map(|id| wording::person_name(directory, id));
        let free = held_by.is_none() && answering.is_none();
        let answerable = !over && free && ask.may_be_answered_by(me) && question.is_some();
        let alike = (item.asks.len() > 1).then(|| SimilarRequests::new(item, ask, query));
        let single = alike.is_none() && item.aside_until.is_none();
        let quick = question.filter(|_| answerable && single).and_then(|q| quick_answers(q, ask));
        let shown = match question {
            Some(_) => VisibleText::beginning(prompt, BEGINNING),
            None => wording::erased(),
        };
        let ids = || item.asks.iter().map(|ask| ask.id.to_string()).collect::<Vec<_>>().join(" ");
        let aside = match item.aside_until {
            Some(until) => Some(SnoozeControl::Back {
                when: RelativeTime::new(until, frame.now),
                id: ask.id.to_string(),
            }),
            None => (single && !over && ask.may_be_answered_by(me))
                .then(|| SnoozeControl::Later { href: paths::snooze_form(ask.id, &query.text()) }),
        };
        let names: Vec<String> =
            item.lookers.iter().map(|id| wording::person_name(directory, id)).collect();
        let claims = ClaimsView::of(ask).filter(|_| alike.is_none());
        let soon = frame.now.plus_seconds(EXPIRING_SOON);
        let expiring = ask.due_at().is_some_and(|at| at > frame.now && at <= soon);
        Some(Self {
            key: item.key(),
            version: version(item, expiring),
            expiring,
            stays_open: ask.stays_open(),
            goes_ahead: ask.proceeds_on_silence(),
            urgency: ask.priority.into(),
            href: paths::request(ask.id),
            prompt: shown,
            kind: wording::kind(ask.kind),
            task: ask.task().is_some(),
            agent: ask.agent.to_string(),
            project: ask.project.to_string(),
            asked: RelativeTime::new(ask.created_at, frame.now),
            deadline: ask.expires_at.map(|at| RelativeTime::new(at, frame.now)),
            held_by,
            answering,
            mine,
            lookers: viewers_sentence(&names),
            tick: (answerable && item.aside_until.is_none()).then(ids),
            alike,
            grave: item.asks.iter().any(|ask| ask.is_irreversible()),
            says: claims.and_then(|claims| {
                Some(ClaimsLine { line: claims.line()?, verify: claims.verify })
            }),
            quick,
            aside,
        })
    }

    /// Renders the row as HTML.
    pub fn html(&self) -> String {
        render(self)
    }
}

/// The current viewers, as a sentence; `None` if there are none.
fn viewers_sentence(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [one] => Some(t!("viewers-one", name = one)),
        [one, other] => Some(t!("viewers-two", name = one, other = other)),
        [one, more @ ..] => Some(t!("viewers-many", name = one, others = more.len())),
    }
}

fn version(item: &InboxEntry, expiring: bool) -> String {
    let asks: Vec<_> = item.asks.iter().map(|ask| (ask.id, ask.head.seq)).collect();
    let InboxEntry { lookers, aside_until, open_ended, .. } = item;
    let about = format!("{asks:?}{lookers:?}{aside_until:?}{open_ended}{expiring}");
    let mut digest = Digest::of(about.as_bytes()).to_string();
    digest.truncate(8);
    digest
}

impl SimilarRequests {
    fn new(item: &InboxEntry, ask: &Ask, query: &PageQuery) -> Self {
        // A partial sum could be mistaken for the total.
        let total = Some(item).filter(|item| !item.open_ended);
        let total = total.and_then(|item| Amount::total(item.asks.iter().map(Amount::of)));
        let n = item.asks.len();
        let words = match total {
            _ if item.open_ended => t!("row-similar-or-more", n = n),
            Some(sum) => t!("row-similar-total", n = n, total = reveal(&sum.to_string())),
            None => t!("row-similar", n = n),
        };
        let fold = ask.similarity_key().as_ref().map(SimilarityKey::to_string).unwrap_or_default();
        let members = query.with("agent", ask.agent.to_string()).with("fold", fold);
        Self {
            words,
            members_href: members.href(paths::INBOX),
            answer_href: members.href(paths::BULK),
        }
    }
}

/// Whether a text fits on a line and contains no hidden characters.
fn short(text: &str, most: usize) -> bool {
    text.chars().count() <= most && !text.contains('\n') && !text.contains(is_hidden)
}

/// Whether a question consists only of its prompt, facts and options, and can be answered
/// directly. Requests that need a passkey, a verification or the review of a delivery are answered
/// on their page.
fn is_self_contained(question: &Question, ask: &Ask) -> bool {
    ask.approval_assurance() <= Assurance::Session
        && ask.review.is_none()
        && !wants_verification(ask)
        && !has_extra_metadata(ask)
        && question.context().is_none_or(|context| context.trim().is_empty())
        && short(question.prompt().trim(), MAX_QUICK_CHARS)
}

/// Whether the agent sent metadata that only the request's page shows. The metadata of a task comes
/// from the server.
fn has_extra_metadata(ask: &Ask) -> bool {
    let sent = ask.metadata.value().filter(|_| ask.dialect != Dialect::Hacp);
    sent.is_some_and(|sent| !question::extra_metadata(sent).is_empty())
}

/// The buttons of a question that fits into a row; `None` if it must be answered on its page.
fn quick_answers(question: &Question, ask: &Ask) -> Option<QuickAnswers> {
    if !is_self_contained(question, ask) {
        return None;
    }
    let id = ask.id;
    let button = |tone, name, verb| QuickButton {
        tone,
        name,
        value: id.to_string(),
        verb,
        object: wording::subject(question.prompt())
            .unwrap_or_else(|| VisibleText::of(&t!("row-this-request"))),
        shown: false,
        suggested: false,
    };
    let risky = ask.needs_confirmation() || wording::is_destructive(question.prompt());
    match question.body() {
        QuestionBody::Approve {
            details, reject_requires_reason: false, reject_options, ..
        } if reject_options.is_empty() => {
            let facts = FactList::of(details, "row");
            let go = if risky { "danger" } else { "yes" };
            let buttons = vec![
                button(go, "approve", t!("common-approve")),
                button("safe", "reject", t!("common-reject")),
            ];
            facts.is_short().then_some(QuickAnswers { facts, buttons })
        }
        QuestionBody::Choose { options, pick: PickMode::One, suggested }
            if options.choices().len() <= OPTIONS =>
        {
            let all = options.choices();
            let fits = all.iter().all(|c| short(&c.label, 24) && c.description.is_none());
            let buttons = all.iter().map(|choice| QuickButton {
                tone: if wording::is_destructive(&choice.label) { "danger" } else { "plain" },
                name: "choose",
                value: format!("{id}:{}", choice.id),
                verb: t!("common-choose"),
                object: VisibleText::of(&choice.label),
                shown: true,
                suggested: suggested.as_ref() == Some(&choice.id),
            });
            fits.then(|| QuickAnswers { facts: FactList::default(), buttons: buttons.collect() })
        }
        QuestionBody::Approve { .. }
        | QuestionBody::Choose { .. }
        | QuestionBody::Provide { .. }
        | QuestionBody::Confirm { .. }
        | QuestionBody::Escalate { .. }
        | QuestionBody::Converse => None,
    }
}

/// Whether one line of a summary shows the whole question: its prompt, and short facts as
/// defined by [`FactList::is_short`].
pub fn fits_in_summary(ask: &Ask) -> bool {
    let Some(question) = ask.question.value().filter(|question| is_self_contained(question, ask))
    else {
        return false;
    };
    match question.body() {
        QuestionBody::Approve { details, reject_options, .. } => {
            reject_options.is_empty() && FactList::of(details, "line").is_short()
        }
        QuestionBody::Choose { .. } => quick_answers(question, ask).is_some(),
        QuestionBody::Confirm { items, yes, no } => {
            items.is_empty() && wording::are_protocol_labels(yes, no)
        }
        QuestionBody::Escalate { error, params } => {
            params.is_empty() && FactList::of(error, "line").is_short()
        }
        QuestionBody::Provide { .. } | QuestionBody::Converse => true,
    }
}

/// Whether a request can be answered from the list: the row shows the whole question and a button.
pub fn is_answerable_in_list(ask: &Ask) -> bool {
    ask.question.value().is_some_and(|question| quick_answers(question, ask).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_looks_is_named() {
        let named = |names: &[&str]| {
            viewers_sentence(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
                .unwrap_or_default()
        };
        assert_eq!(named(&[]), "");
        assert_eq!(named(&["Ann"]), "Ann is looking at it");
        assert_eq!(named(&["Ann", "Bob"]), "Ann and Bob are looking at it");
        assert_eq!(named(&["Ann", "Bob", "Cid"]), "Ann and 2 others are looking at it");
    }
}

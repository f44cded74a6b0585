//! Notes on top of a page: the result of the last action, and the next steps.

use askama::Template;
use kernel::ask::Vote;
use kernel::directory::Directory;
use kernel::question::{Answer, Question, Reply};
use kernel::{Ask, Assurance, HumanId, Refusal, Time};

use crate::PageContext;
use crate::answer::changes::{self, ChangedValue};
use crate::answer::outcome::{OutcomeView, brief, tone};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::site::paths;

/// The result of the last action, shown on the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionOutcome {
    /// The person's answer was recorded.
    Sent,
    /// The same with details: the decision, and the next steps.
    Answered(Box<RecentAnswer>),
    /// The person undid this many answers; this many others were already sent.
    Undone(usize, usize),
    /// The person claimed the request.
    Taken,
    /// The person reassigned the request.
    Handed(HumanId),
    /// The person snoozed the request until this time.
    Aside(Time),
    /// The person ended the snooze.
    Back,
    /// The person's comment was added.
    Commented,
    /// The person picked one of the agent's actions.
    Picked,
    /// The person extended the deadline to this time.
    Extended(Time),
    /// The draft on a review page was saved.
    Saved,
    /// The person closed the request without an answer.
    TurnedDown,
    /// The person ended some of their sessions.
    SignedOut,
    /// The person added a passkey.
    PasskeyAdded,
    /// The person removed a passkey.
    PasskeyRemoved,
    /// Another person claimed the request before its owner answered, and the owner had not
    /// seen the claim.
    ClaimedMeanwhile(HumanId),
    /// Another person has just answered the request; the reader holds a link and does not
    /// see the name.
    JustAnswered,
    /// The action was refused, in most cases because another person was faster.
    Refused(Refusal),
    /// Adding, removing or using a passkey failed.
    Passkey(Refusal),
    /// The browser's passkey response could not be used. Says why, as a sentence.
    PasskeyUnusable(String),
    /// The person's comment could not be added. Contains its text.
    Unsaid(Refusal, String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Banner {
    /// The style class: `yes`, `no` or `over`.
    pub tone: &'static str,
    /// The ARIA role: `alert` interrupts, `status` does not.
    pub role: &'static str,
    pub title: String,
    /// The explanation below the title.
    pub text: String,
    /// The text that the person had written, returned to them.
    pub written: Option<String>,
    /// The decision, and the next steps.
    pub answered: Option<RecentAnswer>,
}

impl ActionOutcome {
    /// The note in words. `written` is the person's text if it could not be used.
    pub fn banner(&self, directory: &Directory, now: Time, written: Option<String>) -> Banner {
        let good = |title: String, text: String| Banner {
            tone: "yes",
            role: "status",
            title,
            text,
            written: None,
            answered: None,
        };
        let alert = |title: String, text: String, written: Option<String>| Banner {
            tone: "no",
            role: "alert",
            title,
            text,
            written,
            answered: None,
        };
        match self {
            Self::Sent => good(t!("banner-sent"), t!("banner-sent-text")),
            Self::Answered(answered) => Banner {
                tone: answered.tone,
                answered: Some((**answered).clone()),
                ..good(answered.what.clone(), t!("banner-sent-to", agent = answered.agent))
            },
            Self::Undone(undone, late) => undone_banner(*undone, *late, good),
            Self::Taken => good(t!("banner-claimed"), t!("banner-claimed-text")),
            Self::Handed(to) => {
                let name = wording::person_name(directory, to);
                good(t!("banner-reassigned", name = name), t!("banner-reassigned-text"))
            }
            Self::Aside(until) => {
                let until = RelativeTime::new(*until, now).words;
                good(t!("banner-snoozed", until = until), t!("banner-snoozed-text"))
            }
            Self::Back => good(t!("banner-woken"), t!("banner-woken-text")),
            Self::Commented => good(t!("banner-commented"), t!("banner-commented-text")),
            Self::Picked => good(t!("banner-picked"), t!("banner-picked-text")),
            Self::Extended(until) => {
                let until = RelativeTime::new(*until, now).words;
                good(t!("banner-extended", until = until), t!("banner-extended-text"))
            }
            Self::Saved => good(t!("banner-saved"), t!("banner-saved-text")),
            Self::TurnedDown => good(t!("banner-declined"), t!("banner-declined-text")),
            Self::SignedOut => good(t!("banner-signed-out"), t!("banner-signed-out-text")),
            Self::PasskeyAdded => good(t!("banner-passkey-added"), t!("banner-passkey-added-text")),
            Self::PasskeyRemoved => {
                good(t!("banner-passkey-removed"), t!("banner-passkey-removed-text"))
            }
            Self::ClaimedMeanwhile(by) => {
                let name = wording::person_name(directory, by);
                let title = t!("banner-claimed-meanwhile", name = name);
                alert(title, t!("banner-claimed-meanwhile-text"), written)
            }
            Self::JustAnswered => {
                alert(t!("banner-just-answered"), t!("banner-just-answered-text"), written)
            }
            Self::Refused(refusal) => {
                let (title, text) = refused(refusal, directory, now);
                alert(title, text, written)
            }
            Self::Passkey(refusal) => {
                let (title, text) = match refusal {
                    Refusal::NotAllowed { why } => {
                        (t!("banner-passkey-refused"), t!("refused-because", why = why))
                    }
                    _ => refused(refusal, directory, now),
                };
                alert(title, text, written)
            }
            Self::PasskeyUnusable(why) => alert(t!("banner-passkey-refused"), why.clone(), written),
            Self::Unsaid(refusal, words) => {
                let (_, text) = refused(refusal, directory, now);
                alert(t!("banner-comment-refused"), text, Some(words.clone()))
            }
        }
    }
}

fn undone_banner(undone: usize, late: usize, good: impl Fn(String, String) -> Banner) -> Banner {
    let alert =
        |title: String, text: String| Banner { tone: "no", role: "alert", ..good(title, text) };
    match (undone, late) {
        (0, 0 | 1) => alert(t!("undo-too-late"), t!("undo-too-late-text")),
        (0, _) => alert(t!("undo-too-late"), t!("undo-late-answers", n = late)),
        (n, 0) => good(t!("undo-done", n = n), t!("undo-done-text", n = n)),
        (n, _) => {
            alert(t!("undo-some", n = n, total = n + late), t!("undo-late-answers", n = late))
        }
    }
}

fn refused(refusal: &Refusal, directory: &Directory, now: Time) -> (String, String) {
    let ago = |at: &Time| RelativeTime::new(*at, now).words;
    let actor = |by| wording::actor_name(directory, by);
    let person = |by| wording::person_name(directory, by);
    match refusal {
        Refusal::Invalid { expected, .. } => {
            (t!("refused-invalid"), t!("refused-expected", expected = expected.to_string()))
        }
        Refusal::Quota(quota) => {
            (t!("refused-quota"), t!("refused-because", why = quota.to_string()))
        }
        Refusal::AlreadyAnswered { by, at } => {
            (t!("refused-answered", who = actor(by), ago = ago(at)), t!("refused-answered-text"))
        }
        Refusal::AlreadyCancelled { by, at } => {
            (t!("refused-withdrawn", who = actor(by), ago = ago(at)), t!("refused-withdrawn-text"))
        }
        Refusal::TimedOut { at } => {
            (t!("refused-expired", ago = ago(at)), t!("refused-expired-text"))
        }
        Refusal::TakenBy { by } => {
            (t!("banner-claimed-meanwhile", name = person(by)), t!("refused-claimed-text"))
        }
        Refusal::BeingAnswered { by } => {
            (t!("banner-being-answered", name = person(by)), t!("banner-being-answered-text"))
        }
        Refusal::AssuranceTooLow { need: Assurance::Passkey, .. } => {
            (t!("refused-needs-passkey"), t!("refused-needs-passkey-text"))
        }
        Refusal::AssuranceTooLow { .. } => {
            (t!("refused-needs-sign-in"), t!("refused-needs-sign-in-text"))
        }
        Refusal::ApprovalTooWeak { need: Assurance::Passkey, .. } => {
            (t!("refused-approval-needs-passkey"), t!("refused-approval-needs-passkey-text"))
        }
        Refusal::ApprovalTooWeak { .. } => {
            (t!("refused-approval-needs-sign-in"), t!("refused-approval-needs-sign-in-text"))
        }
        Refusal::NotAllowed { .. } => (t!("common-not-allowed"), t!("refused-not-allowed-text")),
        Refusal::Answer(_) | Refusal::InvalidAt { .. } => {
            (t!("refused-invalid"), t!("refused-nothing-changed"))
        }
        Refusal::VerificationRequired { .. } | Refusal::VerificationFailed { .. } => {
            (t!("refused-needs-proof"), t!("refused-not-sent"))
        }
        Refusal::Precondition { .. } | Refusal::Immutable { .. } => {
            (t!("refused-task-went-on"), t!("refused-task-went-on-text"))
        }
        Refusal::PastDeadline { at } => {
            (t!("refused-task-expired", ago = ago(at)), t!("refused-task-expired-text"))
        }
        Refusal::NotFound { .. }
        | Refusal::Stale { .. }
        | Refusal::TooComplex { .. }
        | Refusal::Claims { .. }
        | Refusal::NotOver { .. }
        | Refusal::NotInline
        | Refusal::Exists { .. }
        | Refusal::DefaultForbidden
        | Refusal::SilenceTooWeak { .. }
        | Refusal::Changed { .. }
        | Refusal::IdempotencyMismatch
        | Refusal::NoDeadline
        | Refusal::NotDue => (t!("common-did-not-work"), t!("refused-try-again")),
    }
}

// The message after an answer: the decision, how long it can be undone, the receipt, and the next
// request.

/// How many characters of the question are repeated.
const BEGINNING: usize = 120;

/// An answer that was just given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentAnswer {
    /// The style class: `yes`, `no` or `over`.
    pub tone: &'static str,
    /// The decision: "Approved: Refund order 7".
    pub what: String,
    /// The agent that receives it.
    pub agent: String,
    /// The form to undo it, while that is possible.
    pub undo: Option<UndoForm>,
    /// The path of the request.
    pub request: String,
    /// The path of the receipt, once the answer was sent.
    pub receipt: Option<String>,
    /// The next request in the inbox.
    pub next: Option<NextRequest>,
    /// Whether the page is the inbox itself.
    pub in_inbox: bool,
}

/// The form that undoes answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoForm {
    pub href: String,
    pub csrf: String,
    /// The requests, if the path does not name one.
    pub asks: Vec<String>,
    /// The query of the list to return to.
    pub back: String,
    /// The remaining time in milliseconds.
    pub millis: i64,
    /// The path that the page polls for the result after that time.
    pub check: String,
}

impl UndoForm {
    /// The form for several answers, while all of them can be undone.
    pub fn of<'a>(
        frame: &PageContext,
        asks: impl Iterator<Item = &'a Ask>,
        back: &str,
    ) -> Option<Self> {
        let held: Vec<&Ask> = asks.filter(|ask| ask.held.is_some()).collect();
        let until = held.iter().filter_map(|ask| ask.held.as_ref()).map(|held| held.until).min()?;
        let asks: Vec<String> = held.iter().map(|ask| ask.id.to_string()).collect();
        Some(Self {
            href: paths::INBOX_UNDO.to_owned(),
            csrf: frame.csrf.clone(),
            check: paths::sent(&asks, Some(back), true),
            asks,
            back: back.to_owned(),
            millis: remaining_millis(until, frame.now)?,
        })
    }

    /// The remaining time in seconds, rounded up.
    pub fn seconds(&self) -> i64 {
        self.millis.div_euclid(1000) + i64::from(self.millis.rem_euclid(1000) > 0)
    }
}

/// The next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextRequest {
    pub href: String,
    /// The beginning of its question.
    pub prompt: VisibleText,
}

impl NextRequest {
    pub fn of(ask: &Ask) -> Self {
        let prompt = ask.question.value().map(|question| question.prompt().trim());
        let prompt = prompt.map(|prompt| VisibleText::beginning(prompt, BEGINNING));
        Self { href: paths::request(ask.id), prompt: prompt.unwrap_or_else(wording::erased) }
    }
}

impl RecentAnswer {
    /// An answer to a request, for the page of the request or, with the query of a list,
    /// for the inbox.
    pub fn new(
        frame: &PageContext,
        ask: &Ask,
        vote: &Vote,
        next: Option<NextRequest>,
        list: Option<&str>,
    ) -> Self {
        let undo = UndoForm::of(frame, [ask].into_iter(), list.unwrap_or_default());
        let check = paths::sent(&[ask.id.to_string()], list, false);
        let undo = undo.map(|undo| match list {
            Some(_) => UndoForm { check, ..undo },
            None => UndoForm { href: paths::undo(ask.id), asks: Vec::new(), check, ..undo },
        });
        Self {
            tone: vote.reply.value().map_or("over", |reply| tone(&reply.answer)),
            what: answer_line(ask, vote),
            agent: ask.agent.to_string(),
            receipt: (!ask.is_open()).then(|| paths::receipt(ask.id)),
            undo,
            request: paths::request(ask.id),
            next,
            in_inbox: list.is_some(),
        }
    }
}

/// An answer and its question in one line. An approval with changes lists the changes, because the
/// question shows the old values.
pub fn answer_line(ask: &Ask, vote: &Vote) -> String {
    let question = ask.question.value();
    let reply = vote.reply.value();
    let said = reply.map(|reply| brief(reply, question));
    let said = said.unwrap_or_else(|| t!("banner-answered"));
    if matches!(reply, Some(Reply { answer: Answer::Approved { edits: Some(_) }, .. })) {
        let changed = changes::of_reply(question, reply);
        let lines: Vec<String> = changed.iter().map(ChangedValue::line).collect();
        if !lines.is_empty() {
            return format!("{said}: {}", lines.join(" · "));
        }
    }
    match question.map(Question::prompt) {
        Some(prompt) => {
            let about = wording::subject(prompt);
            format!(
                "{said}: {}",
                about.unwrap_or_else(|| VisibleText::beginning(prompt, BEGINNING))
            )
        }
        None => said,
    }
}

/// The result of answers that can no longer be undone; it replaces the earlier message.
#[derive(Template)]
#[template(path = "banner/answered.html")]
pub struct AnswersSent {
    /// The message about one answer that was sent or is still held.
    pub banner: Option<Banner>,
    /// The form to undo several held answers.
    pub undo: Option<UndoForm>,
    /// The number of answers.
    pub total: usize,
    /// The answers that were not sent.
    pub unsent: Vec<UnsentAnswer>,
}

/// An answer that was not sent.
pub struct UnsentAnswer {
    prompt: VisibleText,
    why: String,
    href: String,
}

impl UnsentAnswer {
    /// An answer without effect, with the reason.
    pub fn of(ask: &Ask, directory: &Directory, now: Time) -> Self {
        let NextRequest { href, prompt } = NextRequest::of(ask);
        let why = match OutcomeView::of(ask, directory, now) {
            Some(OutcomeView { headline, who: Some(who), .. }) => {
                t!("unsent-ended-by", headline = headline, who = who)
            }
            Some(OutcomeView { headline, .. }) => {
                t!("unsent-ended", headline = headline)
            }
            None => t!("unsent-undone"),
        };
        Self { prompt, why, href }
    }
}

fn remaining_millis(until: Time, now: Time) -> Option<i64> {
    Some(until.millis() - now.millis()).filter(|millis| *millis > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_that_has_begun_counts() {
        for (millis, seconds) in [(1, 1), (1000, 1), (1001, 2), (5000, 5)] {
            let undo = UndoForm {
                href: String::new(),
                csrf: String::new(),
                asks: Vec::new(),
                back: String::new(),
                millis,
                check: String::new(),
            };
            assert_eq!(undo.seconds(), seconds);
        }
        assert_eq!(remaining_millis(Time::from_millis(5), Time::from_millis(5)), None);
    }
}

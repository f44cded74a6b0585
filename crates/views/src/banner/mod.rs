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
        let good = |title: &str, text: &str| Banner {
            tone: "yes",
            role: "status",
            title: title.to_owned(),
            text: text.to_owned(),
            written: None,
            answered: None,
        };
        match self {
            Self::Sent => good("Your answer was sent", "The agent has it now."),
            Self::Answered(answered) => Banner {
                tone: answered.tone,
                answered: Some((**answered).clone()),
                ..good(&answered.what, &format!("Sent to {}.", answered.agent))
            },
            Self::Undone(undone, late) => undone_banner(*undone, *late, good),
            Self::Taken => {
                good("You have taken this on", "Only you are expected to answer it now.")
            }
            Self::Handed(to) => {
                let name = wording::person_name(directory, to);
                good(&format!("Handed to {name}"), "They have been asked to answer.")
            }
            Self::Aside(until) => good(
                &format!("Put aside, back {}", RelativeTime::new(*until, now).words),
                "It comes back by itself. Until then it is under “Put aside”; for others nothing changes.",
            ),
            Self::Back => good("It is back", "The request stands in your inbox again."),
            Self::Commented => good(
                "Your comment was added",
                "Whoever sees this request can read it, and so can the agent.",
            ),
            Self::Picked => good(
                "The agent was told what you want",
                "This is not an answer: the request still waits for one.",
            ),
            Self::Extended(until) => {
                let until = RelativeTime::new(*until, now);
                let title = format!("It now expires {}", until.words);
                good(&title, "The agent was told, and goes on waiting.")
            }
            Self::Saved => good(
                "Saved. Nothing was sent yet",
                "Open the same link again to go on, on any device. It is kept until the request ends.",
            ),
            Self::TurnedDown => {
                good("The request is closed", "The agent was told that nobody will answer it.")
            }
            Self::SignedOut => {
                good("Signed out", "What was signed in there opens nothing any more.")
            }
            Self::PasskeyAdded => good(
                "Passkey added",
                "You can sign in with it from now on. Your other contact methods were notified.",
            ),
            Self::PasskeyRemoved => good(
                "Passkey removed",
                "It opens nothing here any more. Your device may still list it.",
            ),
            Self::ClaimedMeanwhile(by) => Banner {
                tone: "no",
                role: "alert",
                title: format!("{} has claimed this request", wording::person_name(directory, by)),
                text: "Your answer was not sent; everything you entered is still here. To answer \
                       anyway, tick the box above your answer."
                    .to_owned(),
                written,
                answered: None,
            },
            Self::JustAnswered => Banner {
                tone: "no",
                role: "alert",
                title: "This request was just answered".to_owned(),
                text: "Your answer was not sent. The other answer takes effect in a moment, unless it \
                       is undone."
                    .to_owned(),
                written,
                answered: None,
            },
            Self::Refused(refusal) => {
                let (title, text) = refused(refusal, directory, now);
                Banner { tone: "no", role: "alert", title, text, written, answered: None }
            }
            Self::Passkey(refusal) => {
                let (mut title, mut text) = refused(refusal, directory, now);
                if let Refusal::NotAllowed { why } = refusal {
                    "Your passkey was not accepted".clone_into(&mut title);
                    text = format!("Nothing was changed: {why}.");
                }
                Banner { tone: "no", role: "alert", title, text, written, answered: None }
            }
            Self::Unsaid(refusal, words) => {
                let (_, text) = refused(refusal, directory, now);
                let title = "Your comment was not added".to_owned();
                let written = Some(words.clone());
                Banner { tone: "no", role: "alert", title, text, written, answered: None }
            }
        }
    }
}

fn undone_banner(undone: usize, late: usize, good: impl Fn(&str, &str) -> Banner) -> Banner {
    let sent = match late {
        1 => "1 answer was already sent and stands.".to_owned(),
        n => format!("{n} answers were already sent and stand."),
    };
    let alert = |title: &str, text: &str| Banner { tone: "no", role: "alert", ..good(title, text) };
    match (undone, late) {
        (0, 0 | 1) => {
            alert("Too late to undo", "Your answer was already sent to the agent, so it stands.")
        }
        (0, _) => alert("Too late to undo", &sent),
        (1, 0) => good("Your answer was undone", "Nothing was sent. The request is open again."),
        (n, 0) => good(
            &format!("{n} answers were undone"),
            "Nothing was sent. The requests are open again.",
        ),
        (n, _) => alert(&format!("{n} of {} answers were undone", n + late), &sent),
    }
}

fn refused(refusal: &Refusal, directory: &Directory, now: Time) -> (String, String) {
    if let Refusal::Invalid { expected, .. } = refusal {
        let text = format!("Nothing was changed. Expected: {expected}.");
        return ("Something needs to be corrected".to_owned(), text);
    }
    if let Refusal::Quota(quota) = refusal {
        return (
            "A limit of this server was reached".to_owned(),
            format!("Nothing was changed: {quota}."),
        );
    }
    let (title, text) = refusal_words(refusal, directory, now);
    (title, text.to_owned())
}

fn refusal_words(refusal: &Refusal, directory: &Directory, now: Time) -> (String, &'static str) {
    let ago = |at: &Time| RelativeTime::new(*at, now).words;
    match refusal {
        Refusal::AlreadyAnswered { by, at } => (
            format!("Already answered by {}, {}", wording::actor_name(directory, by), ago(at)),
            "Your answer was not sent. What they said stands below.",
        ),
        Refusal::AlreadyCancelled { by, at } => (
            format!("Withdrawn by {}, {}", wording::actor_name(directory, by), ago(at)),
            "Your answer was not sent: nobody waits for it any more.",
        ),
        Refusal::TimedOut { at } => (
            format!("Time ran out {}", ago(at)),
            "Your answer came too late and was not sent. What happens now stands below.",
        ),
        Refusal::TakenBy { by } => (
            format!("{} has taken this on", wording::person_name(directory, by)),
            "Your answer was not sent. They are expected to answer.",
        ),
        Refusal::BeingAnswered { by } => (
            format!("{} has just answered this request", wording::person_name(directory, by)),
            "Nothing was sent from this page. Their answer takes effect in a moment, unless they undo it.",
        ),
        Refusal::AssuranceTooLow { need: Assurance::Passkey, .. } => (
            "This request needs your passkey".to_owned(),
            "Your answer was not sent: it was not confirmed with a passkey of yours.",
        ),
        Refusal::AssuranceTooLow { .. } => (
            "This request needs a stronger sign-in".to_owned(),
            "Your answer was not sent. Sign in again, then answer.",
        ),
        Refusal::ApprovalTooWeak { need: Assurance::Passkey, .. } => (
            "Approving this request needs your passkey".to_owned(),
            "Your answer was not sent: the request is irreversible or critical. Open it and confirm \
             your approval with a passkey. Rejecting it needs none.",
        ),
        Refusal::ApprovalTooWeak { .. } => (
            "Approving this request needs somebody who is signed in".to_owned(),
            "Your answer was not sent: the request is irreversible or critical. Sign in to approve it. \
             Rejecting it needs no sign-in.",
        ),
        Refusal::NotAllowed { .. } => {
            ("You cannot do this".to_owned(), "Nothing was changed. Ask the owner of this agent.")
        }
        Refusal::Answer(_) | Refusal::Invalid { .. } | Refusal::InvalidAt { .. } => {
            ("Something needs to be corrected".to_owned(), "Nothing was changed.")
        }
        Refusal::VerificationRequired { .. } | Refusal::VerificationFailed { .. } => (
            "This request needs a proof that a person answers".to_owned(),
            "Your answer was not sent.",
        ),
        Refusal::Precondition { .. } | Refusal::Immutable { .. } => (
            "The task has gone on without this".to_owned(),
            "Your answer was not sent: its task does not wait for it any more.",
        ),
        Refusal::PastDeadline { at } => (
            format!("The time for this task was up {}", ago(at)),
            "Nothing was changed. The task shows what happens now.",
        ),
        Refusal::NotFound { .. }
        | Refusal::Stale { .. }
        | Refusal::TooComplex { .. }
        | Refusal::Quota(_)
        | Refusal::Claims { .. }
        | Refusal::NotOver { .. }
        | Refusal::NotInline
        | Refusal::Exists { .. }
        | Refusal::DefaultForbidden
        | Refusal::SilenceTooWeak { .. }
        | Refusal::Changed { .. }
        | Refusal::IdempotencyMismatch
        | Refusal::NoDeadline
        | Refusal::NotDue => {
            ("That did not work".to_owned(), "Nothing was changed. Load the page and try again.")
        }
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
    let said = said.unwrap_or_else(|| "Answered".to_owned());
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
                format!("{headline} by {who} before your answer took effect.")
            }
            Some(OutcomeView { headline, .. }) => {
                format!("{headline} before your answer took effect.")
            }
            None => "It was undone on another page, or you may no longer answer this request. The \
                     request is still open."
                .to_owned(),
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

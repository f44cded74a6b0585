//! Bulk answers: the summary to confirm first, and the result for each request. Also the
//! confirmation page for a single answer from the list.

use askama::Template;
use askama::filters::Safe;
use kernel::directory::Directory;
use kernel::question::{Answer, Choice, PickMode, QuestionBody};
use kernel::text::reveal;
use kernel::{Ask, Refusal, Time};
use serde_json::Map;

use crate::answer::changes::ValueChange;
use crate::answer::outcome::{OutcomeView, brief, tone};
use crate::answer_form::second_step::SecondStep;
use crate::banner::UndoForm;
use crate::components::amounts::Amount;
use crate::components::facts::{FactList, FactValue};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, VisibleText};
use crate::site::{assets, paths};
use crate::{PageContext, render};

pub use crate::inbox::row::fits_in_summary;

/// An answer that several requests may share.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedAnswer {
    /// The value of the button.
    pub value: String,
    pub answer: Answer,
    /// The label of the button as HTML, with a place for the number of requests.
    label: String,
    /// The style class.
    tone: &'static str,
}

impl SharedAnswer {
    fn new(
        value: impl Into<String>,
        Safe(label): Safe<String>,
        tone: &'static str,
        answer: Answer,
    ) -> Self {
        Self { value: value.into(), answer, label, tone }
    }

    /// The answers that this request accepts in a bulk action.
    pub fn of(ask: &Ask) -> Vec<Self> {
        let Some(question) = ask.question.value() else { return Vec::new() };
        let go = if wording::is_destructive(question.prompt()) { "danger" } else { "yes" };
        match question.body() {
            QuestionBody::Approve { .. } => vec![
                Self::new("approve", th!("bulk-approve"), go, Answer::Approved { edits: None }),
                Self::new("reject", th!("bulk-reject"), "safe", Answer::REJECTED),
            ],
            QuestionBody::Choose { options, pick: PickMode::One, suggested }
                if options.choices().len() <= BUTTONS =>
            {
                let choice = |choice| Self::choice(choice, suggested.as_deref());
                options.choices().iter().map(choice).collect()
            }
            QuestionBody::Confirm { yes, .. } => {
                let go = if wording::is_destructive(yes) { "danger" } else { go };
                vec![
                    Self::new(
                        "confirm",
                        th!("bulk-confirm"),
                        go,
                        Answer::Confirmed { items: vec![] },
                    ),
                    Self::new("decline", th!("bulk-decline"), "safe", Answer::Declined),
                ]
            }
            QuestionBody::Escalate { .. } => vec![
                Self::new(
                    "retry",
                    th!("bulk-retry"),
                    "plain",
                    Answer::Retry { params: Map::new() },
                ),
                Self::new("skip", th!("bulk-skip"), "plain", Answer::Skip),
                Self::new("abort", th!("bulk-abort"), "grave", Answer::Abort),
            ],
            QuestionBody::Choose { .. } | QuestionBody::Provide { .. } | QuestionBody::Converse => {
                Vec::new()
            }
        }
    }

    fn choice(choice: &Choice, suggested: Option<&str>) -> Self {
        let is_suggested = suggested == Some(choice.id.as_str());
        let option = reveal(&choice.label);
        let label = if is_suggested {
            th!("bulk-choose-suggested", option = option)
        } else {
            th!("bulk-choose", option = option)
        };
        let answer = Answer::Chosen { options: vec![choice.id.clone()] };
        let tone = if wording::is_destructive(&choice.label) { "danger" } else { "plain" };
        Self::new(format!("choose:{}", choice.id), label, tone, answer)
    }
}

/// A request in the summary.
#[derive(Debug, Clone)]
pub struct BulkRequest {
    pub ask: Ask,
    /// The answers it accepts, or why it accepts none.
    pub fits: Result<Vec<SharedAnswer>, Refusal>,
}

/// Why the summary leaves out a request that it cannot show in full.
pub const DOES_NOT_FIT: &str = "open it: it doesn’t fit in this list";

/// The maximum number of buttons. Requests with rarer answers are answered one by one.
const BUTTONS: usize = 8;

/// Renders the summary as HTML.
pub fn confirm(
    frame: &PageContext,
    considered: &[BulkRequest],
    directory: &Directory,
    back: &str,
) -> String {
    let mut choices: Vec<(SharedAnswer, usize)> = Vec::new();
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    let mut taken: Vec<&[SharedAnswer]> = Vec::new();
    let mut amounts: Vec<Option<Amount>> = Vec::new();
    for one in considered {
        let line = BulkRow::new(&one.ask);
        match &one.fits {
            Ok(fits) => {
                for word in fits {
                    match choices.iter_mut().find(|(known, _)| known.value == word.value) {
                        Some((known, n)) => {
                            *n += 1;
                            if word.tone == "danger" {
                                known.tone = word.tone;
                            }
                        }
                        None => choices.push((word.clone(), 1)),
                    }
                }
                taken.push(fits);
                amounts.push(Amount::of(&one.ask));
                together.push(line);
            }
            Err(refusal) => alone.push((line, refusal_reason(refusal, directory, frame.now))),
        }
    }
    // The most common answers come first; the sort is stable, so equally common ones
    // keep their order.
    choices.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    choices.truncate(BUTTONS);
    let all = together.len();
    let total = Amount::total(amounts.iter().cloned());
    let scale = total.as_ref().map(Amount::scale);
    for ((line, fits), amount) in together.iter_mut().zip(taken).zip(&amounts) {
        let takes = |(n, (word, _)): (usize, &(SharedAnswer, usize))| {
            fits.iter().any(|fit| fit.value == word.value).then(|| n.to_string())
        };
        let takes: Vec<String> = choices.iter().enumerate().filter_map(takes).collect();
        line.takes = takes.join(" ");
        let units = amount.as_ref().zip(scale).and_then(|(amount, scale)| amount.scaled(scale));
        line.units = units.map(|units| units.to_string());
    }
    let buttons = choices.into_iter().map(|(word, n)| BulkButton { rest: all - n, word });
    render(&BulkConfirmPage {
        frame,
        buttons: buttons.collect(),
        total: total.as_ref().map(BulkTotal::new),
        together,
        alone,
        here: back.to_owned(),
        back_href: list_path(back),
    })
}

#[derive(Template)]
#[template(path = "inbox/bulk_confirm.html")]
struct BulkConfirmPage<'a> {
    frame: &'a PageContext,
    together: Vec<BulkRow>,
    alone: Vec<(BulkRow, String)>,
    buttons: Vec<BulkButton>,
    total: Option<BulkTotal>,
    here: String,
    back_href: String,
}

struct BulkButton {
    word: SharedAnswer,
    /// How many of the listed requests need another answer.
    rest: usize,
}

/// The total of all requests, with the data that a script needs to add up the selected ones.
struct BulkTotal {
    words: VisibleText,
    scale: u32,
    currency: VisibleText,
}

impl BulkTotal {
    fn new(amount: &Amount) -> Self {
        Self {
            words: VisibleText::of(&amount.to_string()),
            scale: amount.scale(),
            currency: VisibleText::of(amount.currency()),
        }
    }
}

/// A request in one line.
struct BulkRow {
    id: String,
    href: String,
    receipt: Option<String>,
    prompt: VisibleText,
    agent: String,
    project: String,
    facts: String,
    /// The indexes of the summary's buttons that answer it.
    takes: String,
    /// Its amount in the smallest unit of the total, if there is one.
    units: Option<String>,
}

impl BulkRow {
    fn new(ask: &Ask) -> Self {
        let question = ask.question.value();
        let prompt = question.map(|question| VisibleText::beginning(question.prompt(), 220));
        let facts = match question.map(kernel::question::Question::body) {
            Some(QuestionBody::Approve { details, .. }) => FactList::of(details, "fact"),
            Some(QuestionBody::Escalate { error, .. }) => FactList::of(error, "fact"),
            _ => FactList::default(),
        };
        let line = |fact: &crate::components::facts::Fact| match &fact.value {
            FactValue::Line(words) | FactValue::Link(words) => {
                Some(format!("{}: {words}", fact.key))
            }
            FactValue::Block(_) => None,
        };
        let shown: Vec<String> =
            facts.headline.iter().chain(&facts.rows).filter_map(line).take(4).collect();
        Self {
            id: ask.id.to_string(),
            href: paths::request(ask.id),
            receipt: (!ask.is_open()).then(|| paths::receipt(ask.id)),
            prompt: prompt.unwrap_or_else(wording::erased),
            agent: ask.agent.to_string(),
            project: ask.project.to_string(),
            facts: shown.join(" · "),
            takes: String::new(),
            units: None,
        }
    }
}

/// Renders the result of a bulk answer as HTML.
pub fn result(
    frame: &PageContext,
    answered: &[Ask],
    refused: &[(Option<Ask>, Refusal)],
    directory: &Directory,
    back: &str,
) -> String {
    let done = |ask: &Ask| {
        let outcome = OutcomeView::of(ask, directory, frame.now);
        let held = ask.held.as_ref().and_then(|held| held.vote.reply.value());
        let held = held.map(|reply| (tone(&reply.answer), brief(reply, ask.question.value())));
        let said = outcome.map(|outcome| (outcome.tone, outcome.headline)).or(held);
        (BulkRow::new(ask), said.unwrap_or(("over", String::new())))
    };
    let not = |(ask, refusal): &(Option<Ask>, Refusal)| {
        (ask.as_ref().map(BulkRow::new), refusal_reason(refusal, directory, frame.now))
    };
    render(&BulkResultPage {
        frame,
        undo: UndoForm::of(frame, answered.iter(), back),
        answered: answered.iter().map(done).collect(),
        refused: refused.iter().map(not).collect(),
        back_href: list_path(back),
    })
}

#[derive(Template)]
#[template(path = "inbox/bulk_result.html")]
struct BulkResultPage<'a> {
    frame: &'a PageContext,
    undo: Option<UndoForm>,
    answered: Vec<(BulkRow, (&'static str, String))>,
    refused: Vec<(Option<BulkRow>, String)>,
    back_href: String,
}

/// Renders the second step for an answer from the list as HTML.
pub fn second_step_page(frame: &PageContext, ask: &Ask, step: &SecondStep) -> String {
    let prompt = ask.question.value().map(|question| question.prompt().trim());
    let details = match ask.question.value().map(kernel::question::Question::body) {
        Some(QuestionBody::Approve { details, .. }) => FactList::of(details, "fact"),
        _ => FactList::default(),
    };
    render(&BulkSecondStepPage {
        frame,
        prompt: prompt.map_or_else(wording::erased, VisibleText::of),
        facts: details,
        href: paths::request(ask.id),
        agent: ask.agent.to_string(),
        project: ask.project.to_string(),
        title: &step.title,
        second: Some(step),
    })
}

#[derive(Template)]
#[template(path = "inbox/bulk_second_step.html")]
struct BulkSecondStepPage<'a> {
    frame: &'a PageContext,
    prompt: VisibleText,
    facts: FactList,
    href: String,
    agent: String,
    project: String,
    title: &'a str,
    second: Option<&'a SecondStep>,
}

/// The path of the list that a form came from.
pub fn list_path(back: &str) -> String {
    if back.is_empty() { paths::INBOX.to_owned() } else { format!("{}?{back}", paths::INBOX) }
}

/// Why a request was not answered, in words.
pub fn refusal_reason(refusal: &Refusal, directory: &Directory, now: Time) -> String {
    let ago = |at: &Time| RelativeTime::new(*at, now).words;
    match refusal {
        Refusal::AlreadyAnswered { by, at } => {
            t!("refused-answered", who = wording::actor_name(directory, by), ago = ago(at))
        }
        Refusal::AlreadyCancelled { by, at } => {
            t!("refused-withdrawn", who = wording::actor_name(directory, by), ago = ago(at))
        }
        Refusal::TimedOut { at } => t!("refused-expired", ago = ago(at)),
        Refusal::TakenBy { by } => {
            t!("refused-claimed", who = wording::person_name(directory, by))
        }
        Refusal::BeingAnswered { by } => {
            t!("refused-being-answered", who = wording::person_name(directory, by))
        }
        Refusal::VerificationRequired { .. } | Refusal::VerificationFailed { .. } => {
            t!("bulk-needs-proof")
        }
        Refusal::AssuranceTooLow { .. } | Refusal::ApprovalTooWeak { .. } => {
            t!("bulk-needs-sign-in")
        }
        Refusal::NotAllowed { why } | Refusal::NotOver { why } => not_allowed_reason(why),
        Refusal::Answer(_) => t!("bulk-own-answer"),
        Refusal::Precondition { .. } | Refusal::Immutable { .. } => {
            t!("bulk-task-went-on")
        }
        Refusal::PastDeadline { at } => t!("bulk-task-expired", ago = ago(at)),
        Refusal::NotFound { .. } => t!("bulk-not-found"),
        Refusal::Changed { .. } | Refusal::Stale { .. } => {
            t!("bulk-changed")
        }
        Refusal::Invalid { .. }
        | Refusal::TooComplex { .. }
        | Refusal::Quota(_)
        | Refusal::InvalidAt { .. }
        | Refusal::Claims { .. }
        | Refusal::NotInline
        | Refusal::Exists { .. }
        | Refusal::DefaultForbidden
        | Refusal::SilenceTooWeak { .. }
        | Refusal::IdempotencyMismatch
        | Refusal::NoDeadline
        | Refusal::NotDue => t!("bulk-failed"),
    }
}

/// The kernel's reasons against a bulk answer, in the reader's language. Other reasons are shown as
/// the kernel words them.
fn not_allowed_reason(why: &str) -> String {
    match why {
        DOES_NOT_FIT => t!("bulk-does-not-fit"),
        "answering it requires a passkey confirmation" => t!("bulk-needs-passkey"),
        "it is marked as irreversible" => t!("bulk-irreversible"),
        "it is critical" => t!("bulk-critical"),
        "rejecting it requires a reason of its own" => t!("bulk-needs-reason"),
        "a reason chosen from a request's options applies to that request only"
        | "changed details apply to one request only"
        | "a provided value or reply applies to one request only" => t!("bulk-own-answer"),
        _ => {
            let mut letters = why.chars();
            let first = letters.next().map(|letter| letter.to_uppercase().to_string());
            format!("{}{}", first.unwrap_or_default(), letters.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::command::NewAsk;
    use kernel::question::{Options, Question};
    use kernel::testing::{Cast, new_ask};

    use super::*;

    #[test]
    fn an_option_that_destroys_is_red_in_a_summary_too() {
        let options = ["Keep it", "Delete it"].map(Choice::plain).to_vec();
        let options = Options::new(options).unwrap();
        let body = QuestionBody::Choose { options, pick: PickMode::One, suggested: None };
        let question = Question::new("Which?", None, body).unwrap();
        let mut cast = Cast::new();
        let id = cast.ask(NewAsk { question, ..new_ask() });
        let tones: Vec<&str> =
            SharedAnswer::of(cast.seen(id)).iter().map(|word| word.tone).collect();
        assert_eq!(tones, ["plain", "danger"]);
    }
}

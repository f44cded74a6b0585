//! Many requests answered at once: the summary that is confirmed first, and what became of each. And
//! one that cannot be undone, looked at once more.

use askama::Template;
use kernel::directory::Directory;
use kernel::question::{Answer, Body, Choice, Pick};
use kernel::text::reveal;
use kernel::{Ask, Refusal, Time};
use serde_json::Map;

use super::answered::Undo;
use super::facts::{Facts, Shown};
use super::inbox_row::is_quick;
use super::outcome::{Outcome, brief, tone};
use super::when::When;
use super::words::{self, Words};
use super::{Frame, assets, paths, render};

/// An answer many requests may have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    /// As a button sends it.
    pub value: String,
    /// What it means.
    pub answer: Answer,
    verb: String,
    /// The name of the style.
    tone: &'static str,
}

impl Word {
    fn new(value: impl Into<String>, verb: &str, tone: &'static str, answer: Answer) -> Self {
        Self { value: value.into(), answer, verb: verb.to_owned(), tone }
    }

    /// What a request can be answered with in one word.
    pub fn of(ask: &Ask) -> Vec<Self> {
        let Some(question) = ask.question.value() else { return Vec::new() };
        match question.body() {
            Body::Approve { .. } => vec![
                Self::new("approve", "Approve", "yes", Answer::Approved { edits: None }),
                Self::new("reject", "Reject", "no", Answer::REJECTED),
            ],
            Body::Choose { options, pick: Pick::One, .. } if options.choices().len() <= BUTTONS => {
                options.choices().iter().map(Self::choice).collect()
            }
            Body::Confirm { .. } => vec![
                Self::new("confirm", "Go ahead with", "yes", Answer::Confirmed { items: vec![] }),
                Self::new("decline", "Do not go ahead with", "no", Answer::Declined),
            ],
            Body::Escalate { .. } => vec![
                Self::new("retry", "Retry", "plain", Answer::Retry { params: Map::new() }),
                Self::new("skip", "Skip", "plain", Answer::Skip),
                Self::new("abort", "Abort", "grave", Answer::Abort),
            ],
            Body::Choose { .. } | Body::Provide { .. } | Body::Converse => Vec::new(),
        }
    }

    fn choice(choice: &Choice) -> Self {
        let verb = format!("Choose “{}” for", reveal(&choice.label));
        let answer = Answer::Chosen { options: vec![choice.id.clone()] };
        Self::new(format!("choose:{}", choice.id), &verb, "plain", answer)
    }
}

/// What the summary says of a request.
#[derive(Debug, Clone)]
pub struct Considered {
    /// The request.
    pub ask: Ask,
    /// The words that would be taken; or why none is.
    pub fits: Result<Vec<Word>, Refusal>,
}

/// More buttons than this are no choice any more; what is rarer is answered by itself.
const BUTTONS: usize = 8;

/// The summary as HTML.
pub fn confirm(
    frame: &Frame,
    considered: &[Considered],
    directory: &Directory,
    back: &str,
) -> String {
    let mut choices: Vec<(Word, usize)> = Vec::new();
    let (mut together, mut alone) = (Vec::new(), Vec::new());
    for one in considered {
        let line = Line::new(&one.ask);
        match &one.fits {
            Ok(fits) => {
                for word in fits {
                    match choices.iter_mut().find(|(known, _)| known.value == word.value) {
                        Some((_, n)) => *n += 1,
                        None => choices.push((word.clone(), 1)),
                    }
                }
                together.push(line);
            }
            Err(refusal) => alone.push((line, why(refusal, directory, frame.now))),
        }
    }
    // The words most of them take come first, those of one kind in their order.
    choices.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    choices.truncate(BUTTONS);
    let all = together.len();
    let buttons = choices.into_iter().map(|(word, n)| Button {
        what: match (n, all) {
            (1, 1) => together.first().map(|line| line.prompt.to_string()).unwrap_or_default(),
            (n, all) if n == all => format!("all {n} requests"),
            (1, all) => format!("1 of {all} requests"),
            (n, all) => format!("{n} of {all} requests"),
        },
        rest: all - n,
        word,
    });
    render(&ConfirmPage {
        frame,
        buttons: buttons.collect(),
        together,
        alone,
        here: back.to_owned(),
        back_href: back_to(back),
    })
}

#[derive(Template)]
#[template(path = "inbox_confirm.html")]
struct ConfirmPage<'a> {
    frame: &'a Frame,
    together: Vec<Line>,
    alone: Vec<(Line, String)>,
    buttons: Vec<Button>,
    here: String,
    back_href: String,
}

struct Button {
    word: Word,
    what: String,
    rest: usize,
}

/// A request in a few words.
struct Line {
    id: String,
    href: String,
    receipt: Option<String>,
    prompt: Words,
    agent: String,
    project: String,
    facts: String,
    /// Whether there is more to read than stands here.
    more: bool,
}

impl Line {
    fn new(ask: &Ask) -> Self {
        let question = ask.question.value();
        let prompt = question.map(|question| Words::beginning(question.prompt(), 220));
        let facts = match question.map(kernel::question::Question::body) {
            Some(Body::Approve { details, .. }) => Facts::of(details, "fact"),
            _ => Facts::default(),
        };
        let line = |fact: &super::facts::Fact| match &fact.value {
            Shown::Line(words) | Shown::Link(words) => Some(format!("{}: {words}", fact.key)),
            Shown::Block(_) => None,
        };
        let shown: Vec<String> =
            facts.headline.iter().chain(&facts.rows).filter_map(line).take(4).collect();
        Self {
            id: ask.id.to_string(),
            href: paths::request(ask.id),
            receipt: (!ask.is_open()).then(|| paths::receipt(ask.id)),
            prompt: prompt.unwrap_or_else(super::outcome::erased),
            agent: ask.agent.to_string(),
            project: ask.project.to_string(),
            facts: shown.join(" · "),
            more: !is_quick(ask),
        }
    }
}

/// What became of many, as HTML.
pub fn result(
    frame: &Frame,
    answered: &[Ask],
    refused: &[(Option<Ask>, Refusal)],
    directory: &Directory,
    back: &str,
) -> String {
    let done = |ask: &Ask| {
        let outcome = Outcome::of(ask, directory, frame.now);
        let held = ask.held.as_ref().and_then(|held| held.vote.reply.value());
        let held = held.map(|reply| (tone(&reply.answer), brief(reply, ask.question.value())));
        let said = outcome.map(|outcome| (outcome.tone, outcome.headline)).or(held);
        (Line::new(ask), said.unwrap_or(("over", String::new())))
    };
    let not = |(ask, refusal): &(Option<Ask>, Refusal)| {
        (ask.as_ref().map(Line::new), why(refusal, directory, frame.now))
    };
    render(&ResultPage {
        frame,
        undo: Undo::of(frame, answered.iter(), back),
        answered: answered.iter().map(done).collect(),
        refused: refused.iter().map(not).collect(),
        back_href: back_to(back),
    })
}

#[derive(Template)]
#[template(path = "inbox_result.html")]
struct ResultPage<'a> {
    frame: &'a Frame,
    undo: Option<Undo>,
    answered: Vec<(Line, (&'static str, String))>,
    refused: Vec<(Option<Line>, String)>,
    back_href: String,
}

/// One answer that cannot be undone, before it is given: HTML.
pub fn sure(frame: &Frame, ask: &Ask, word: &Word, name: &str, value: &str, back: &str) -> String {
    let prompt = ask.question.value().map(|question| question.prompt().trim());
    let details = match ask.question.value().map(kernel::question::Question::body) {
        Some(Body::Approve { details, .. }) => Facts::of(details, "fact"),
        _ => Facts::default(),
    };
    let choose = matches!(word.answer, Answer::Chosen { .. });
    render(&SurePage {
        frame,
        verb: if choose {
            word.verb.trim_end_matches(" for").to_owned()
        } else {
            word.verb.clone()
        },
        object: prompt.and_then(words::subject).filter(|_| !choose),
        prompt: prompt.map_or_else(super::outcome::erased, Words::of),
        facts: details,
        href: paths::request(ask.id),
        agent: ask.agent.to_string(),
        project: ask.project.to_string(),
        name: name.to_owned(),
        value: value.to_owned(),
        here: back.to_owned(),
        back_href: back_to(back),
    })
}

#[derive(Template)]
#[template(path = "inbox_sure.html")]
struct SurePage<'a> {
    frame: &'a Frame,
    prompt: Words,
    facts: Facts,
    verb: String,
    object: Option<Words>,
    href: String,
    agent: String,
    project: String,
    name: String,
    value: String,
    here: String,
    back_href: String,
}

fn back_to(back: &str) -> String {
    if back.is_empty() { paths::INBOX.to_owned() } else { format!("{}?{back}", paths::INBOX) }
}

/// Why one was not answered, in words.
pub fn why(refusal: &Refusal, directory: &Directory, now: Time) -> String {
    let ago = |at: &Time| When::new(*at, now).words;
    match refusal {
        Refusal::AlreadyAnswered { by, at } => {
            format!("Already answered by {}, {}", words::by(directory, by), ago(at))
        }
        Refusal::AlreadyCancelled { by, at } => {
            format!("Withdrawn by {}, {}", words::by(directory, by), ago(at))
        }
        Refusal::TimedOut { at } => format!("Time ran out {}", ago(at)),
        Refusal::TakenBy { by } => format!("{} has taken it on", words::person(directory, by)),
        Refusal::VerificationRequired { .. } | Refusal::VerificationFailed { .. } => {
            "It needs a proof that you are a person".to_owned()
        }
        Refusal::AssuranceTooLow { .. } => "It needs a stronger sign-in".to_owned(),
        Refusal::NotAllowed { why } | Refusal::NotOver { why } => {
            let mut letters = why.chars();
            let first = letters.next().map(|letter| letter.to_uppercase().to_string());
            format!("{}{}", first.unwrap_or_default(), letters.as_str())
        }
        Refusal::Answer(_) => "It takes another kind of answer".to_owned(),
        Refusal::Precondition { .. } | Refusal::Immutable { .. } => {
            "Its task has gone on without it".to_owned()
        }
        Refusal::PastDeadline { at } => format!("The time for its task was up {}", ago(at)),
        Refusal::NotFound { .. } => "It is not there, or it is not yours to see".to_owned(),
        Refusal::Changed { .. } | Refusal::Stale { .. } => {
            "It changed at this very moment; look at it again".to_owned()
        }
        Refusal::Invalid { .. }
        | Refusal::Claims { .. }
        | Refusal::NotInline
        | Refusal::Exists { .. }
        | Refusal::DefaultForbidden
        | Refusal::IdempotencyMismatch
        | Refusal::NoDeadline
        | Refusal::NotDue => "That did not work; look at it by itself".to_owned(),
    }
}

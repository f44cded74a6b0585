//! The message after an answer: the decision, how long it can be undone, the receipt, and the next
//! request.

use askama::Template;
use kernel::ask::Vote;
use kernel::directory::Directory;
use kernel::question::{Answer, Question, Reply};
use kernel::{Ask, Time};

use crate::Frame;
use crate::answer::changes::{self, Changed};
use crate::answer::outcome::{Outcome, brief, tone};
use crate::banner::Banner;
use crate::components::words::{self, Words};
use crate::site::paths;

/// How many characters of the question are repeated.
const BEGINNING: usize = 120;

/// An answer that was just given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The style class: `yes`, `no` or `over`.
    pub tone: &'static str,
    /// The decision: "Approved: Refund order 7".
    pub what: String,
    /// The agent that receives it.
    pub agent: String,
    /// The form to undo it, while that is possible.
    pub undo: Option<Undo>,
    /// The path of the request.
    pub request: String,
    /// The path of the receipt, once the answer was sent.
    pub receipt: Option<String>,
    /// The next request in the inbox.
    pub next: Option<Next>,
    /// Whether the page is the inbox itself.
    pub in_inbox: bool,
}

/// The form that undoes answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
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

impl Undo {
    /// The form for several answers, while all of them can be undone.
    pub fn of<'a>(frame: &Frame, asks: impl Iterator<Item = &'a Ask>, back: &str) -> Option<Self> {
        let held: Vec<&Ask> = asks.filter(|ask| ask.held.is_some()).collect();
        let until = held.iter().filter_map(|ask| ask.held.as_ref()).map(|held| held.until).min()?;
        let asks: Vec<String> = held.iter().map(|ask| ask.id.to_string()).collect();
        Some(Self {
            href: paths::INBOX_UNDO.to_owned(),
            csrf: frame.csrf.clone(),
            check: paths::sent(&asks, Some(back), true),
            asks,
            back: back.to_owned(),
            millis: left(until, frame.now)?,
        })
    }

    /// The remaining time in seconds, rounded up.
    pub fn seconds(&self) -> i64 {
        self.millis.div_euclid(1000) + i64::from(self.millis.rem_euclid(1000) > 0)
    }
}

/// The next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub href: String,
    /// The beginning of its question.
    pub prompt: Words,
}

impl Next {
    pub fn of(ask: &Ask) -> Self {
        let prompt = ask.question.value().map(|question| question.prompt().trim());
        let prompt = prompt.map(|prompt| Words::beginning(prompt, BEGINNING));
        Self { href: paths::request(ask.id), prompt: prompt.unwrap_or_else(words::erased) }
    }
}

impl Answered {
    /// An answer to a request, for the page of the request or, with the query of a list,
    /// for the inbox.
    pub fn new(
        frame: &Frame,
        ask: &Ask,
        vote: &Vote,
        next: Option<Next>,
        list: Option<&str>,
    ) -> Self {
        let undo = Undo::of(frame, [ask].into_iter(), list.unwrap_or_default());
        let check = paths::sent(&[ask.id.to_string()], list, false);
        let undo = undo.map(|undo| match list {
            Some(_) => Undo { check, ..undo },
            None => Undo { href: paths::undo(ask.id), asks: Vec::new(), check, ..undo },
        });
        Self {
            tone: vote.reply.value().map_or("over", |reply| tone(&reply.answer)),
            what: what(ask, vote),
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
pub fn what(ask: &Ask, vote: &Vote) -> String {
    let question = ask.question.value();
    let reply = vote.reply.value();
    let said = reply.map(|reply| brief(reply, question));
    let said = said.unwrap_or_else(|| "Answered".to_owned());
    if matches!(reply, Some(Reply { answer: Answer::Approved { edits: Some(_) }, .. })) {
        let changed = changes::of_reply(question, reply);
        let lines: Vec<String> = changed.iter().map(Changed::line).collect();
        if !lines.is_empty() {
            return format!("{said}: {}", lines.join(" · "));
        }
    }
    match question.map(Question::prompt) {
        Some(prompt) => {
            let about = words::subject(prompt);
            format!("{said}: {}", about.unwrap_or_else(|| Words::beginning(prompt, BEGINNING)))
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
    pub undo: Option<Undo>,
    /// The number of answers.
    pub total: usize,
    /// The answers that were not sent.
    pub unsent: Vec<Unsent>,
}

/// An answer that was not sent.
pub struct Unsent {
    prompt: Words,
    why: String,
    href: String,
}

impl Unsent {
    /// An answer without effect, with the reason.
    pub fn of(ask: &Ask, directory: &Directory, now: Time) -> Self {
        let Next { href, prompt } = Next::of(ask);
        let why = match Outcome::of(ask, directory, now) {
            Some(Outcome { headline, who: Some(who), .. }) => {
                format!("{headline} by {who} before your answer took effect.")
            }
            Some(Outcome { headline, .. }) => format!("{headline} before your answer took effect."),
            None => "It was undone on another page, or you may no longer answer this request. The \
                     request is still open."
                .to_owned(),
        };
        Self { prompt, why, href }
    }
}

fn left(until: Time, now: Time) -> Option<i64> {
    Some(until.millis() - now.millis()).filter(|millis| *millis > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_that_has_begun_counts() {
        for (millis, seconds) in [(1, 1), (1000, 1), (1001, 2), (5000, 5)] {
            let undo = Undo {
                href: String::new(),
                csrf: String::new(),
                asks: Vec::new(),
                back: String::new(),
                millis,
                check: String::new(),
            };
            assert_eq!(undo.seconds(), seconds);
        }
        assert_eq!(left(Time::from_millis(5), Time::from_millis(5)), None);
    }
}

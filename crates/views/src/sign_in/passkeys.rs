//! A person's passkeys, and confirming an answer with one.

use askama::Template;
use kernel::directory::{Directory, Key};
use kernel::question::Reply;
use kernel::{Ask, AskId, KeyId, Time};

use crate::answer::outcome;
use crate::answer_form::second_step;
use crate::banner::{Banner, Notice};
use crate::components::facts::{Fact, Shown};
use crate::components::when::When;
use crate::components::words::Words;
use crate::site::{assets, paths};
use crate::{Frame, render};

/// What a script asks the browser for, and what comes back with the answer.
#[derive(Debug, Clone)]
pub struct Question {
    /// For the browser, as JSON.
    pub options: String,
    /// What the server remembers by it.
    pub sealed: String,
}

/// A passkey as it is listed.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// The passkey.
    pub key: &'a Key,
    /// When it was last used.
    pub used: Option<Time>,
}

/// How a passkey can be added now.
#[derive(Debug, Clone)]
pub enum Adding {
    /// The browser makes one.
    Make {
        /// What it is asked for.
        question: Question,
        /// The assertion that vouches for it, sealed; empty for the first.
        vouched: String,
    },
    /// First, one that is there vouches for it.
    Vouch(Question),
    /// First, the person signs in again.
    SignInAgain,
}

/// The page of somebody's passkeys.
pub fn page(
    frame: &Frame,
    directory: &Directory,
    listed: &[Listed<'_>],
    adding: &Adding,
    notice: Option<&Notice>,
) -> String {
    let banner = notice.map(|notice| notice.banner(directory, frame.now, None));
    let row = |one: &Listed<'_>| Row {
        id: one.key.id.to_string(),
        name: Words::of(&one.key.label),
        added: When::new(one.key.issued_at, frame.now),
        used: one.used.map(|at| When::new(at, frame.now)),
        waits: one.key.counts_from(frame.now).map(|at| When::new(at, frame.now)),
    };
    render(&Page { frame, banner, rows: listed.iter().map(row).collect(), adding })
}

/// The page on which the removal of a passkey is confirmed with a passkey.
pub fn removal(frame: &Frame, id: KeyId, name: &str, question: Option<&Question>) -> String {
    render(&Removal { frame, id: id.to_string(), name: Words::of(name), question })
}

/// What an answer says, before it is sent.
pub struct Said {
    prompt: Words,
    headline: String,
    values: Vec<Fact>,
    comment: Option<Words>,
    irreversible: bool,
    tone: &'static str,
}

/// An answer in words.
pub fn answer_words(ask: &Ask, reply: &Reply) -> Said {
    let question = ask.question.value();
    Said {
        prompt: Words::of(question.map_or("", |question| question.prompt())),
        headline: outcome::brief(reply, question),
        values: outcome::said(&reply.answer, question),
        comment: reply.comment.as_deref().map(Words::of),
        irreversible: ask.is_irreversible(),
        tone: second_step::tone(ask, reply),
    }
}

/// The page on which an answer is confirmed.
pub fn confirm(frame: &Frame, ask: AskId, said: &Said, question: &Question) -> String {
    let (action, back) = (paths::confirm(ask), paths::request(ask));
    render(&Confirm { frame, said, question, action, back })
}

#[derive(Template)]
#[template(path = "sign_in/passkeys.html")]
struct Page<'a> {
    frame: &'a Frame,
    banner: Option<Banner>,
    rows: Vec<Row>,
    adding: &'a Adding,
}

#[derive(Template)]
#[template(path = "sign_in/passkey_removal.html")]
struct Removal<'a> {
    frame: &'a Frame,
    id: String,
    name: Words,
    question: Option<&'a Question>,
}

struct Row {
    id: String,
    name: Words,
    added: When,
    used: Option<When>,
    /// When it begins to count, if it does not yet.
    waits: Option<When>,
}

#[derive(Template)]
#[template(path = "sign_in/step_up.html")]
struct Confirm<'a> {
    frame: &'a Frame,
    said: &'a Said,
    question: &'a Question,
    action: String,
    back: String,
}

//! A person's passkeys, and the confirmation of an answer with a passkey.

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

/// A WebAuthn request for the browser, and the state that the form returns.
#[derive(Debug, Clone)]
pub struct Question {
    /// The WebAuthn options, as JSON.
    pub options: String,
    /// The server's sealed state.
    pub sealed: String,
}

/// A passkey in the list.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    pub key: &'a Key,
    pub used: Option<Time>,
}

/// How the person can add a passkey now.
#[derive(Debug, Clone)]
pub enum Adding {
    /// The browser creates one.
    Make {
        /// The WebAuthn request.
        question: Question,
        /// The sealed assertion that authorises it; empty for the first passkey.
        vouched: String,
    },
    /// An existing passkey must authorise it first.
    Vouch(Question),
    /// The person must sign in again first.
    SignInAgain,
}

/// The page of a person's passkeys.
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

/// The page where a person confirms the removal of a passkey with a passkey.
pub fn removal(frame: &Frame, id: KeyId, name: &str, question: Option<&Question>) -> String {
    render(&Removal { frame, id: id.to_string(), name: Words::of(name), question })
}

/// The content of an answer, before it is sent.
pub struct Said {
    prompt: Words,
    headline: String,
    values: Vec<Fact>,
    comment: Option<Words>,
    irreversible: bool,
    tone: &'static str,
}

/// Describes an answer.
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

/// The page where a person confirms an answer.
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
    /// When it becomes active, if it is still pending.
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

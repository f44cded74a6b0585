//! A person's passkeys, and the confirmation of an answer with a passkey.

use askama::Template;
use kernel::directory::{Directory, Key};
use kernel::question::Reply;
use kernel::{Ask, AskId, KeyId, Time};

use crate::answer::outcome;
use crate::answer_form::second_step;
use crate::banner::{ActionOutcome, Banner};
use crate::components::facts::{Fact, FactValue};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::VisibleText;
use crate::site::{assets, paths};
use crate::{PageContext, render};

/// A WebAuthn request for the browser, and the state that the form returns.
#[derive(Debug, Clone)]
pub struct PasskeyChallenge {
    /// The WebAuthn options, as JSON.
    pub options: String,
    /// The server's sealed state.
    pub sealed: String,
}

/// A passkey in the list.
#[derive(Debug, Clone, Copy)]
pub struct PasskeyEntry<'a> {
    pub key: &'a Key,
    pub used: Option<Time>,
}

/// How the person can add a passkey now.
#[derive(Debug, Clone)]
pub enum AddPasskey {
    /// The browser creates one.
    Make {
        /// The WebAuthn request.
        question: PasskeyChallenge,
        /// The sealed assertion that authorises it; empty for the first passkey.
        vouched: String,
    },
    /// An existing passkey must authorise it first.
    Vouch(PasskeyChallenge),
    /// The person must sign in again first.
    SignInAgain,
}

/// The page of a person's passkeys.
pub fn page(
    frame: &PageContext,
    directory: &Directory,
    listed: &[PasskeyEntry<'_>],
    adding: &AddPasskey,
    notice: Option<&ActionOutcome>,
) -> String {
    let banner = notice.map(|notice| notice.banner(directory, frame.now, None));
    let row = |one: &PasskeyEntry<'_>| PasskeyRow {
        id: one.key.id.to_string(),
        name: VisibleText::of(&one.key.label),
        added: RelativeTime::new(one.key.issued_at, frame.now),
        used: one.used.map(|at| RelativeTime::new(at, frame.now)),
        waits: one.key.counts_from(frame.now).map(|at| RelativeTime::new(at, frame.now)),
    };
    render(&PasskeysPage { frame, banner, rows: listed.iter().map(row).collect(), adding })
}

/// The page where a person confirms the removal of a passkey with a passkey.
pub fn removal(
    frame: &PageContext,
    id: KeyId,
    name: &str,
    question: Option<&PasskeyChallenge>,
) -> String {
    render(&PasskeyRemovalPage { frame, id: id.to_string(), name: VisibleText::of(name), question })
}

/// The content of an answer, before it is sent.
pub struct AnswerSummary {
    prompt: VisibleText,
    headline: String,
    values: Vec<Fact>,
    comment: Option<VisibleText>,
    irreversible: bool,
    tone: &'static str,
}

/// Describes an answer.
pub fn summarize_answer(ask: &Ask, reply: &Reply) -> AnswerSummary {
    let question = ask.question.value();
    AnswerSummary {
        prompt: VisibleText::of(question.map_or("", |question| question.prompt())),
        headline: outcome::brief(reply, question),
        values: outcome::answer_facts(&reply.answer, question),
        comment: reply.comment.as_deref().map(VisibleText::of),
        irreversible: ask.is_irreversible(),
        tone: second_step::tone(ask, reply),
    }
}

/// The page where a person confirms an answer.
pub fn confirm(
    frame: &PageContext,
    ask: AskId,
    said: &AnswerSummary,
    question: &PasskeyChallenge,
) -> String {
    let (action, back) = (paths::confirm(ask), paths::request(ask));
    render(&StepUpPage { frame, said, question, action, back })
}

#[derive(Template)]
#[template(path = "sign_in/passkeys.html")]
struct PasskeysPage<'a> {
    frame: &'a PageContext,
    banner: Option<Banner>,
    rows: Vec<PasskeyRow>,
    adding: &'a AddPasskey,
}

#[derive(Template)]
#[template(path = "sign_in/passkey_removal.html")]
struct PasskeyRemovalPage<'a> {
    frame: &'a PageContext,
    id: String,
    name: VisibleText,
    question: Option<&'a PasskeyChallenge>,
}

struct PasskeyRow {
    id: String,
    name: VisibleText,
    added: RelativeTime,
    used: Option<RelativeTime>,
    /// When it becomes active, if it is still pending.
    waits: Option<RelativeTime>,
}

#[derive(Template)]
#[template(path = "sign_in/step_up.html")]
struct StepUpPage<'a> {
    frame: &'a PageContext,
    said: &'a AnswerSummary,
    question: &'a PasskeyChallenge,
    action: String,
    back: String,
}

//! The page of one request, in every state.

pub mod answering;
pub mod claim;
pub mod notifications;
pub mod receipt;
pub mod related;
pub mod task;
pub mod timeline;

use askama::Template;
use kernel::ask::Route;
use kernel::directory::{Directory, Human};
use kernel::form::FileRef;
use kernel::question::Answer;
use kernel::{Ask, HumanId};

use crate::answer::changes::How;
use crate::answer::outcome::Outcome;
use crate::answer_form::fields::{Control, Mark};
use crate::answer_form::problem::{Draft, Problem};
use crate::answer_form::second_step::SecondStep;
use crate::answer_form::{Card, CardBody, Desk};
use crate::banner::{Banner, Notice};
use crate::components::claims::Offers;
use crate::components::facts::Shown;
use crate::components::words;
use crate::question::Paper;
use crate::request::answering::AnsweringNote;
use crate::request::claim::{ClaimNote, OVER};
use crate::request::receipt::Proof;
use crate::request::related::{Around, Surroundings};
use crate::request::task::Belongs;
use crate::site::{assets, paths};
use crate::{Frame, render};

/// The input of the page.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The request. The caller has checked that `me` may see it.
    pub ask: &'a Ask,
    /// The person who views the page.
    pub me: &'a Human,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The people it can be reassigned to; empty if there are none.
    pub people: &'a [HumanId],
    /// The result of the person's last action.
    pub notice: Option<&'a Notice>,
    /// The entered values of an answer that was refused.
    pub draft: Option<&'a Draft>,
    /// The related requests and activity.
    pub around: &'a Around,
    /// The second step, shown in place of the answer form.
    pub step: Option<&'a SecondStep>,
}

/// Renders the page as HTML.
pub fn page(frame: &Frame, request: &Request<'_>) -> String {
    render(&RequestPage::new(frame, request))
}

#[derive(Template)]
#[template(path = "request/request.html")]
struct RequestPage<'a> {
    frame: &'a Frame,
    id: String,
    paper: Paper,
    place: String,
    links: Links,
    around: Surroundings,
    task: Option<&'a Belongs>,
    trail: Vec<timeline::Step>,
    more_trail: bool,
    proof: Option<&'a Proof>,
    files: Vec<(String, String)>,
    step: Option<&'a SecondStep>,
    /// Whether the reader can extend the deadline.
    extendable: bool,
    open: bool,
    banner: Option<Banner>,
    problems: &'a [Problem],
    outcome: Option<Outcome>,
    /// The note if another person has claimed it.
    claim: Option<ClaimNote>,
    /// The note if a person has just answered it.
    answering: Option<AnsweringNote>,
    card: Option<Card>,
    /// The form to pick one of the agent's actions, while that is possible.
    offer: Option<Offers>,
    /// The path to answer the agent's questions.
    talk: Option<String>,
    claim_href: Option<String>,
    people: Vec<(String, String)>,
}

/// The paths of the page's forms and streams.
struct Links {
    assign: String,
    comment: String,
    extend: String,
    snooze: String,
    looking: String,
    end: String,
    receipt: String,
    here: String,
}

impl Links {
    fn of(ask: &Ask) -> Self {
        let id = ask.id;
        Self {
            assign: paths::assign(id),
            comment: paths::comment(id),
            extend: paths::extend(id),
            snooze: paths::snooze(id),
            looking: paths::looking(id),
            end: paths::request_end(id, ask.claim.as_ref().map(|claim| &claim.human)),
            receipt: paths::receipt(id),
            here: paths::request(id),
        }
    }
}

impl<'a> RequestPage<'a> {
    fn new(frame: &'a Frame, request: &Request<'a>) -> Self {
        let Request { ask, me, directory, people, notice, draft, around, step } = *request;
        let now = frame.now;
        let question = ask.question.value();
        let outcome = Outcome::of(ask, directory, now);
        let open = outcome.is_none() && question.is_some();
        // While a held answer can still be undone, nobody else can answer, not even the owner.
        let answering = ask.held_by().filter(|_| open);
        let mine = answering == Some(&me.id);
        let mine_said = ask.held.as_ref().filter(|_| mine).and_then(|held| held.vote.reply.value());
        let held = ask.claimed_by_other(me).filter(|_| me.id != ask.owner).or(answering);
        let desk = Desk::inbox(ask.id, frame);
        let card = question
            .filter(|_| open && held.is_none() && step.is_none() && ask.admits(me))
            .map(|question| Card::new(question, ask.needs_confirmation(), draft, desk));
        let name = |id: &HumanId| (id.to_string(), words::person(directory, id));
        let carried = |step: &SecondStep| {
            step.hidden.iter().find(|(name, _)| name == OVER).map(|(_, value)| value.clone())
        };
        let over = step.and_then(carried).or_else(|| draft?.value(OVER).map(str::to_owned));
        let over = over.as_deref();
        let lost = draft.filter(|_| !open).map(Draft::written).filter(|text| !text.is_empty());
        Self {
            frame,
            id: ask.id.to_string(),
            paper: Paper::new(ask, now, outcome.is_none()).answered_with(mine_said),
            place: place(ask, me, directory),
            links: Links::of(ask),
            around: Surroundings::new(around, ask, me, directory, now),
            task: around.task.as_ref(),
            trail: (around.trail.entries.iter())
                .map(|entry| timeline::Step::new(entry, question, directory, now))
                .collect(),
            more_trail: around.trail.more,
            proof: around.proof.as_ref(),
            files: files(ask),
            step: step.filter(|_| open && held.is_none()),
            extendable: open && held.is_none() && ask.expires_at.is_some(),
            open,
            banner: notice.map(|notice| notice.banner(directory, now, lost)),
            problems: draft.filter(|_| card.is_some()).map(Draft::problems).unwrap_or_default(),
            claim: ClaimNote::of(ask, me, directory, over, step.is_some()).filter(|_| open),
            answering: AnsweringNote::of(ask, Some(&me.id), directory).filter(|_| open),
            claim_href: (open && held.is_none() && ask.claim.is_none() && ask.is_pooled())
                .then(|| paths::claim(ask.id)),
            offer: card
                .is_some()
                .then(|| Offers { href: paths::pick(ask.id), proof: ("csrf", frame.csrf.clone()) }),
            talk: card.is_some().then(|| paths::comment(ask.id)),
            people: if card.is_some() { people.iter().map(name).collect() } else { Vec::new() },
            card,
            outcome,
        }
    }

    /// Whether a person started it, so that there is no question from the agent.
    fn begun(&self) -> bool {
        self.around.talk.as_ref().is_some_and(|talk| talk.begun)
    }

    /// Whether the reader has answered it and can still undo that.
    fn mine(&self) -> bool {
        self.answering.as_ref().is_some_and(AnsweringNote::is_mine)
    }

    /// The number of waiting requests, before the title of the browser tab.
    fn count(&self) -> String {
        self.frame.waiting.filter(|n| *n > 0).map(|n| format!("({n}) ")).unwrap_or_default()
    }
}

/// The uploaded files of an answer, with their paths.
fn files(ask: &Ask) -> Vec<(String, String)> {
    let reply = ask.resolution().and_then(|resolution| resolution.reply.value());
    let Some(Answer::Provided { values }) = reply.map(|reply| &reply.answer) else {
        return Vec::new();
    };
    let file = |(_, value): (&str, &serde_json::Value)| {
        let file: FileRef = serde_json::from_value(value.clone()).ok()?;
        let shown = format!("{} ({} bytes)", words::Words::of(file.name()), file.size());
        Some((shown, paths::file(ask.id, file.sha256())))
    };
    values.iter().filter_map(file).collect()
}

/// Why this person sees the request.
fn place(ask: &Ask, me: &Human, directory: &Directory) -> String {
    if ask.is_opening() {
        return "The agent does, in this conversation".to_owned();
    }
    match &ask.claim {
        Some(claim) if claim.human == me.id => return "You have taken this on".to_owned(),
        Some(claim) => {
            return format!("{} has taken this on", words::person(directory, &claim.human));
        }
        None => {}
    }
    match &ask.route {
        Route::Pool { group: None } => "Anyone qualified in the project can answer".to_owned(),
        Route::Pool { group: Some(group) } => format!("Anyone in the group {group} can answer"),
        Route::Owner | Route::Delegate | Route::Person { .. } if ask.owner == me.id => {
            "You answer for this agent".to_owned()
        }
        Route::Owner | Route::Delegate | Route::Person { .. } => {
            format!(
                "You were picked; {} answers for this agent",
                words::person(directory, &ask.owner)
            )
        }
    }
}

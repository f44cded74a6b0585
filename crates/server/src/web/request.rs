//! The page of one request, in every state it can be in.

use askama::Template;
use kernel::ask::Route;
use kernel::directory::{Directory, Human};
use kernel::{Ask, HumanId};

use super::card::{Card, CardBody, Desk};
use super::facts::Shown;
use super::fields::{Control, Mark};
use super::notices::{Banner, Notice};
use super::outcome::Outcome;
use super::paper::Paper;
use super::problem::{Draft, Problem};
use super::{Frame, assets, paths, render, words};

/// What the page of a request is made from.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The request. The caller made sure that `me` may see it.
    pub ask: &'a Ask,
    /// Who looks at it.
    pub me: &'a Human,
    /// For names.
    pub directory: &'a Directory,
    /// To whom it can be handed; empty for nobody.
    pub people: &'a [HumanId],
    /// What just happened, or was refused.
    pub notice: Option<&'a Notice>,
    /// What the person had entered when their answer was refused.
    pub draft: Option<&'a Draft>,
}

/// The page as HTML.
pub fn page(frame: &Frame, request: &Request<'_>) -> String {
    render(&RequestPage::new(frame, request))
}

#[derive(Template)]
#[template(path = "request.html")]
struct RequestPage<'a> {
    frame: &'a Frame,
    id: String,
    paper: Paper,
    place: String,
    earlier: Option<String>,
    later: Option<String>,
    banner: Option<Banner>,
    problems: &'a [Problem],
    outcome: Option<Outcome>,
    held_by: Option<String>,
    card: Option<Card>,
    claim_href: Option<String>,
    assign_href: String,
    people: Vec<(String, String)>,
}

impl<'a> RequestPage<'a> {
    fn new(frame: &'a Frame, request: &Request<'a>) -> Self {
        let Request { ask, me, directory, people, notice, draft } = *request;
        let now = frame.now;
        let question = ask.question.value();
        let outcome = Outcome::of(ask, directory, now);
        let open = outcome.is_none() && question.is_some();
        let holder =
            ask.claim.as_ref().map(|claim| &claim.human).filter(|holder| **holder != me.id);
        let held = holder.filter(|_| me.id != ask.owner);
        let desk = Desk::inbox(ask.id, frame);
        let card = question
            .filter(|_| open && held.is_none() && ask.admits(me))
            .map(|question| Card::new(question, draft, desk));
        let name = |id: &HumanId| (id.to_string(), words::person(directory, id));
        let lost = draft.filter(|_| !open).map(Draft::written).filter(|text| !text.is_empty());
        Self {
            frame,
            id: ask.id.to_string(),
            paper: Paper::new(ask, now, outcome.is_none()),
            place: place(ask, me, directory),
            earlier: ask.follows.map(paths::request),
            later: ask.followed_by.map(paths::request),
            banner: notice.map(|notice| notice.banner(directory, now, lost)),
            problems: draft.filter(|_| card.is_some()).map(Draft::problems).unwrap_or_default(),
            held_by: holder.filter(|_| open).map(|holder| words::person(directory, holder)),
            claim_href: (open && ask.claim.is_none() && ask.is_pooled())
                .then(|| paths::claim(ask.id)),
            assign_href: paths::assign(ask.id),
            people: if card.is_some() { people.iter().map(name).collect() } else { Vec::new() },
            card,
            outcome,
        }
    }

    /// What waits, in front of the title, so that a tab says it.
    fn count(&self) -> String {
        self.frame.waiting.filter(|n| *n > 0).map(|n| format!("({n}) ")).unwrap_or_default()
    }
}

/// Why this person sees the request.
fn place(ask: &Ask, me: &Human, directory: &Directory) -> String {
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

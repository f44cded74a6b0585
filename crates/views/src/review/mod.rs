//! The page of one request for whoever holds its link, in every state it can be in.

pub mod draft;

use askama::Template;
use kernel::directory::Directory;
use kernel::{Actor, Ask, Assurance, Time};
use serde::Serialize;

use crate::answer::changes::How;
use crate::answer::outcome::Outcome;
use crate::answer_form::confirm::Confirm;
use crate::answer_form::fields::{Control, Mark};
use crate::answer_form::problem::{Draft, Problem};
use crate::answer_form::second_step::SecondStep;
use crate::answer_form::{Card, CardBody, Desk};
use crate::banner::{Banner, Notice};
use crate::components::claims::Offers;
use crate::components::facts::Shown;
use crate::question::Paper;
use crate::request::answering::AnsweringNote;
use crate::site::{assets, paths};
use crate::{Frame, render};

/// What the page is made from.
#[derive(Debug, Clone, Copy)]
pub struct Review<'a> {
    /// The request. The caller made sure that the token is one of its own.
    pub ask: &'a Ask,
    /// What the request is called in its address.
    pub case_id: &'a str,
    /// What the page's forms show to be taken.
    pub token: &'a str,
    /// Who holds that token.
    pub holder: &'a Actor,
    /// For names.
    pub directory: &'a Directory,
    /// The step of a form to show, from 0.
    pub step: usize,
    /// What just happened, or was refused.
    pub notice: Option<&'a Notice>,
    /// What was entered before.
    pub draft: Option<&'a Draft>,
    /// The step in place of the answer card, where an answer waits for a proof.
    pub confirm: Option<&'a Confirm>,
    /// The second step in place of the answer card.
    pub second: Option<&'a SecondStep>,
}

/// The page as HTML.
pub fn page(frame: &Frame, review: &Review<'_>) -> String {
    render(&ReviewPage::new(frame, review))
}

/// What a page that is still open says when its request ends elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// What was decided.
    pub title: String,
    /// By whom, and what that means for whoever reads it.
    pub text: Vec<String>,
}

/// How a request ended; `None` while it can be answered.
pub fn ended(ask: &Ask, directory: &Directory, now: Time) -> Option<Ended> {
    const YOURS: &str = "Nothing was sent from this page. What you entered stays here to be read, \
                         until you leave it.";
    let outcome = Outcome::of(ask, directory, now)?;
    let title = format!("{}: this request is over", outcome.headline);
    let text = [Some(outcome.sentence), outcome.next, Some(YOURS.to_owned())];
    Some(Ended { title, text: text.into_iter().flatten().collect() })
}

/// What an answer with a link of this assurance proves, in plain words.
fn proves(assurance: Assurance) -> &'static str {
    if assurance >= Assurance::Link {
        "Countersign sent it to a verified address, and gave it to nobody else. The receipt says so."
    } else {
        "Nothing about who you are: the agent was given this link too. The receipt says that only the \
         agent vouches for the answer."
    }
}

#[derive(Template)]
#[template(path = "review/review.html")]
struct ReviewPage<'a> {
    frame: &'a Frame,
    case_id: &'a str,
    token: &'a str,
    href: String,
    /// Where the page hears of the end, while it can be answered here.
    watch: Option<String>,
    paper: Paper,
    place: &'static str,
    banner: Option<Banner>,
    problems: &'a [Problem],
    outcome: Option<Outcome>,
    /// What answering with this link proves.
    proves: &'static str,
    /// That somebody has just answered it.
    answering: Option<AnsweringNote>,
    /// Where somebody who is signed in answers, if the link alone is not enough.
    sign_in_href: Option<String>,
    card: Option<Card>,
    /// Where the agent's actions are picked, while they can be.
    offer: Option<Offers>,
    /// Whoever holds a link does not comment.
    talk: Option<String>,
    confirm: Option<&'a Confirm>,
    second: Option<&'a SecondStep>,
}

impl<'a> ReviewPage<'a> {
    fn new(frame: &'a Frame, review: &Review<'a>) -> Self {
        let Review { ask, case_id, token, holder, directory, .. } = *review;
        let Review { step, notice, draft, confirm, second, .. } = *review;
        let now = frame.now;
        let outcome = Outcome::of(ask, directory, now);
        let open = outcome.is_none();
        let proven = ask.proven_by(holder, directory);
        let have = proven.map_or(Assurance::None, |(_, assurance)| assurance);
        let barred = open && ask.floor > have;
        // Nobody answers what somebody has just answered.
        let answering = AnsweringNote::of(ask, None, directory).filter(|_| open);
        let taken = barred || answering.is_some();
        let guarded = open && !taken && ask.approval_assurance() > have;
        let confirm = confirm.filter(|_| open && !taken);
        let second = second.filter(|_| open && !taken);
        let asked = open && !taken && confirm.is_none() && second.is_none();
        let card = ask.question.value().filter(|_| asked).map(|question| {
            let desk = Desk::link(case_id, token, step);
            let card = Card::new(question, ask.needs_confirmation(), draft, desk);
            if !guarded {
                return card;
            }
            let because = if ask.is_irreversible() {
                "This can't be undone"
            } else {
                "This request is critical"
            };
            card.signing_in(question, paths::request(ask.id), because)
        });
        let lost = draft.filter(|_| !open).map(Draft::written).filter(|text| !text.is_empty());
        Self {
            frame,
            case_id,
            token,
            href: paths::review(case_id),
            watch: (card.is_some() || second.is_some() || answering.is_some())
                .then(|| paths::review_end(case_id)),
            paper: Paper::new(ask, now, open),
            place: if barred {
                "Only somebody who is signed in"
            } else {
                "Whoever holds this link, once"
            },
            banner: notice.map(|notice| notice.banner(directory, now, lost)),
            problems: match confirm {
                Some(confirm) => &confirm.problem.problems,
                None => draft.filter(|_| card.is_some()).map(Draft::problems).unwrap_or_default(),
            },
            offer: card.is_some().then(|| Offers {
                href: paths::review(case_id),
                proof: ("token", token.to_owned()),
            }),
            talk: None,
            proves: proves(have),
            answering,
            sign_in_href: barred.then(|| paths::request(ask.id)),
            card,
            confirm,
            second,
            outcome,
        }
    }
}

//! The page of one request for the holder of its review link, in every state.

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

/// The input of the page.
#[derive(Debug, Clone, Copy)]
pub struct Review<'a> {
    /// The request. The caller has checked that the token belongs to it.
    pub ask: &'a Ask,
    /// The id of the request in its URL.
    pub case_id: &'a str,
    /// The token that authorises the page's forms.
    pub token: &'a str,
    /// The actor that holds the token.
    pub holder: &'a Actor,
    /// Looks up display names.
    pub directory: &'a Directory,
    /// The step of a form to show, from 0.
    pub step: usize,
    /// The result of the person's last action.
    pub notice: Option<&'a Notice>,
    /// The values that were entered before.
    pub draft: Option<&'a Draft>,
    /// The confirmation in place of the answer form, if an answer is waiting for a proof.
    pub confirm: Option<&'a Confirm>,
    /// The second step in place of the answer form.
    pub second: Option<&'a SecondStep>,
}

/// Renders the page as HTML.
pub fn page(frame: &Frame, review: &Review<'_>) -> String {
    render(&ReviewPage::new(frame, review))
}

/// The message on an open page when its request closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ended {
    /// The decision, as a heading.
    pub title: String,
    /// Who decided, and the consequences for the reader.
    pub text: Vec<String>,
}

/// How a request closed; `None` while it can be answered.
pub fn ended(ask: &Ask, directory: &Directory, now: Time) -> Option<Ended> {
    const YOURS: &str = "Nothing was sent from this page. What you entered stays here to be read, \
                         until you leave it.";
    let outcome = Outcome::of(ask, directory, now)?;
    let title = format!("{}: this request is over", outcome.headline);
    let text = [Some(outcome.sentence), outcome.next, Some(YOURS.to_owned())];
    Some(Ended { title, text: text.into_iter().flatten().collect() })
}

/// The evidence that an answer through a link of this assurance gives, in plain words.
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
    /// The path of the event stream that reports the end, while the request can be answered here.
    watch: Option<String>,
    paper: Paper,
    place: &'static str,
    banner: Option<Banner>,
    problems: &'a [Problem],
    outcome: Option<Outcome>,
    /// The evidence that an answer through this link gives.
    proves: &'static str,
    /// The note if a person has just answered it.
    answering: Option<AnsweringNote>,
    /// The path to answer as a signed-in person, if the link alone is not enough.
    sign_in_href: Option<String>,
    card: Option<Card>,
    /// The form to pick one of the agent's actions, while that is possible.
    offer: Option<Offers>,
    /// Always `None`: holders of a link cannot comment.
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
        // While a held answer can still be undone, nobody else can answer.
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

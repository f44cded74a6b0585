//! The page of one request, in every state it can be in.

use askama::Template;
use kernel::ask::Route;
use kernel::directory::{Directory, Human};
use kernel::question::{Body, Choice, Question};
use kernel::{Ask, HumanId};
use serde_json::{Map, Value};

use super::card::{Card, CardBody};
use super::facts::{Block, Facts, Shown};
use super::fields::Control;
use super::notices::{Banner, Notice};
use super::outcome::{self, Outcome};
use super::problem::{Draft, Problem};
use super::when::When;
use super::words::{self, Urgency, Words};
use super::{Frame, assets, paths, render};

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
    title: String,
    id: String,
    kind: &'static str,
    urgency: Urgency,
    agent: String,
    project: String,
    claims: Vec<(&'static str, Words)>,
    asked: When,
    deadline: Option<When>,
    silence: Option<String>,
    place: String,
    earlier: Option<String>,
    later: Option<String>,
    prompt: Block,
    short: bool,
    long: bool,
    context: Option<Block>,
    facts: Facts,
    details_heading: &'static str,
    failure: Facts,
    extra: Facts,
    banner: Option<Banner>,
    problems: &'a [Problem],
    outcome: Option<Outcome>,
    held_by: Option<String>,
    card: Option<Card>,
    answer_href: String,
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
        let card =
            question.filter(|_| open && held.is_none()).map(|question| Card::new(question, draft));
        let prompt = question.map_or_else(outcome::erased, |question| Words::of(question.prompt()));
        let (facts, failure) = (details(question, open), failure(question));
        let context_lines =
            question.and_then(Question::context).map_or(0, |c| Words::of(c).lines());
        let short = prompt.as_str().chars().count() <= 180;
        let labels =
            [("calls itself", &ask.labels.agent), ("names its project", &ask.labels.project)];
        let name = |id: &HumanId| (id.to_string(), words::person(directory, id));
        let lost = draft.filter(|_| !open).map(Draft::written).filter(|text| !text.is_empty());
        let deadline = ask.expires_at.filter(|_| outcome.is_none());
        Self {
            frame,
            title: Words::beginning(prompt.as_str(), 60).to_string(),
            id: ask.id.to_string(),
            kind: words::kind(ask.kind),
            urgency: ask.priority.into(),
            agent: ask.agent.to_string(),
            project: ask.project.to_string(),
            claims: labels
                .into_iter()
                .filter_map(|(what, label)| Some((what, Words::of(label.as_deref()?))))
                .collect(),
            asked: When::new(ask.created_at, now),
            deadline: deadline.map(|at| When::new(at, now)),
            silence: deadline.map(|_| outcome::on_silence(&ask.on_expiry, question)),
            place: place(ask, me, directory),
            earlier: ask.follows.map(paths::request),
            later: ask.followed_by.map(paths::request),
            prompt: Block::new(
                "prompt".to_owned(),
                question.map_or(prompt.as_str(), Question::prompt),
            ),
            short,
            long: facts.height() + failure.height() + prompt.lines() + context_lines > 9,
            context: question
                .and_then(Question::context)
                .filter(|context| !context.trim().is_empty())
                .map(|context| Block::new("context".to_owned(), context)),
            facts,
            details_heading: if failure.is_empty() { "Details" } else { "Parameters of the step" },
            failure,
            extra: ask.metadata.value().map(|map| Facts::of(map, "extra")).unwrap_or_default(),
            banner: notice.map(|notice| notice.banner(directory, now, lost)),
            problems: draft.filter(|_| card.is_some()).map(Draft::problems).unwrap_or_default(),
            held_by: holder.filter(|_| open).map(|holder| words::person(directory, holder)),
            answer_href: paths::answer(ask.id),
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

/// The facts of the question. What the answer card lists while it is open is listed here afterwards:
/// whoever looks back sees what there was to choose.
fn details(question: Option<&Question>, open: bool) -> Facts {
    match question.map(Question::body) {
        Some(Body::Approve { details, .. }) => Facts::of(details, "detail"),
        Some(Body::Escalate { params, .. }) => Facts::of(params, "param-now"),
        Some(Body::Choose { options, .. }) if !open => listed("options", options.choices()),
        Some(Body::Confirm { items, .. }) if !open && !items.is_empty() => listed("items", items),
        Some(
            Body::Choose { .. } | Body::Provide { .. } | Body::Confirm { .. } | Body::Converse,
        )
        | None => Facts::default(),
    }
}

fn listed(name: &str, choices: &[Choice]) -> Facts {
    let labels = choices.iter().map(|choice| Value::from(choice.label.as_str())).collect();
    Facts::of(&Map::from_iter([(name.to_owned(), Value::Array(labels))]), "detail")
}

fn failure(question: Option<&Question>) -> Facts {
    match question.map(Question::body) {
        Some(Body::Escalate { error, .. }) => Facts::of(error, "failure"),
        Some(
            Body::Approve { .. }
            | Body::Choose { .. }
            | Body::Provide { .. }
            | Body::Confirm { .. }
            | Body::Converse,
        )
        | None => Facts::default(),
    }
}

//! What is said of an ask to somebody, before any platform's markup.

use ::channels::Card;
use ::channels::card::{self, Stage, Ways};
use jiff::tz::TimeZone;
use kernel::ask::Priority;
use kernel::effect::Occasion;
use kernel::question::{Body, Question};
use kernel::text::reveal;
use kernel::{Ask, Time};

use crate::http::App;
use crate::mail::notice::{because, title};
use crate::reach::letters::on_their_clock;
use crate::web::claims::Claims;
use crate::web::facts::{Fact, Facts, Shown};
use crate::web::outcome::Outcome;
use crate::web::request_changes::{Changed, How, Line};
use crate::web::when::When;

/// What a card is about besides the ask.
pub(crate) struct Around<'a> {
    /// Why they are told; nothing, if it is over.
    pub(crate) why: Option<Occasion>,
    /// Where they can read and answer all of it.
    pub(crate) link: String,
    /// Where their clock is read.
    pub(crate) zone: &'a TimeZone,
    /// How they can answer where they are.
    pub(crate) ways: Ways,
}

impl App {
    /// The card of an ask.
    pub(crate) fn card(&self, ask: &Ask, around: Around<'_>) -> Card {
        let (directory, now) = (self.gateway.directory(), self.gateway.now());
        let Around { why, link, zone, ways } = around;
        let question = ask.question.value();
        let over = Outcome::of(ask, &directory, now);
        // What was approved is no longer what was asked.
        let edited = over.as_ref().filter(|over| over.edited);
        let changed: Vec<card::Fact> =
            edited.map(|over| changes(&over.changed)).unwrap_or_default();
        let asked = question
            .map_or_else(|| "(erased)".to_owned(), |question| reveal(question.prompt().trim()));
        let words = if changed.is_empty() { asked } else { format!("Asked: {asked}") };
        let facts =
            if changed.is_empty() { question.map(facts).unwrap_or_default() } else { changed };
        let stage = match over {
            None => Stage::Open(ways),
            Some(over) => Stage::Over {
                headline: match &over.who {
                    Some(who) => format!("{} by {who}", over.headline),
                    None => over.headline.clone(),
                },
                at: on_their_clock(ended_at(ask, now), zone),
                comment: over.comment.map(|comment| comment.text.to_string()),
            },
        };
        let until = ask.deadline().filter(|_| matches!(stage, Stage::Open(_)));
        Card {
            title: title(ask),
            note: why.and_then(because).map(ToOwned::to_owned),
            words,
            context: question
                .and_then(Question::context)
                .filter(|context| !context.trim().is_empty())
                .map(reveal),
            facts: claimed(ask).into_iter().chain(facts).collect(),
            until: until
                .map(|at| format!("{} ({})", When::new(at, now).words, on_their_clock(at, zone))),
            link,
            urgent: ask.priority == Priority::Critical,
            stage,
        }
    }
}

fn ended_at(ask: &Ask, now: Time) -> Time {
    use kernel::ask::Ending;
    match ask.ending() {
        Some(Ending::Completed(resolution)) => resolution.at,
        Some(Ending::Expired { at, .. } | Ending::Failed { at } | Ending::Cancelled { at, .. }) => {
            *at
        }
        None => ask.expires_at.unwrap_or(now),
    }
}

/// A name: in several lines the agent's words could pass for ours.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(['\n', '\t'], " ")
}

/// What the agent says of its message, in a line; nothing where it says nothing.
fn claimed(ask: &Ask) -> Option<card::Fact> {
    let value = Claims::of(ask)?.line()?;
    Some(card::Fact { name: "The agent says of it".to_owned(), value })
}

/// What an approval changed, old and new.
fn changes(changed: &[Changed]) -> Vec<card::Fact> {
    let lines = |lines: &[Line]| {
        let line = |line: &Line| format!("{}{}", line.sign, line.text);
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let fact = |changed: &Changed| card::Fact {
        name: one_line(&format!("Changed: {}", changed.label)),
        value: match &changed.how {
            How::Line { was, now } => format!("{was} → {now}"),
            How::Lines(all) => lines(all),
        },
    };
    changed.iter().map(fact).collect()
}

/// What there is to know besides the prompt, whole.
fn facts(question: &Question) -> Vec<card::Fact> {
    let fact = |Fact { key, value }: &Fact| card::Fact {
        name: one_line(&key.to_string()),
        value: match value {
            Shown::Line(words) | Shown::Link(words) => words.to_string(),
            Shown::Block(block) => block.text.to_string(),
        },
    };
    let of = |map| {
        let facts = Facts::of(map, "card");
        facts.headline.iter().chain(&facts.rows).map(fact).collect::<Vec<_>>()
    };
    let listed = |choices: &[kernel::question::Choice]| {
        let choice = |choice: &kernel::question::Choice| card::Fact {
            name: one_line(&reveal(&choice.label)),
            value: choice.description.as_deref().map(reveal).unwrap_or_default(),
        };
        choices.iter().map(choice).collect()
    };
    match question.body() {
        Body::Approve { details, .. } => of(details),
        Body::Escalate { error, params } => {
            let mut facts = of(error);
            facts.extend(of(params));
            facts
        }
        Body::Confirm { items, .. } => listed(items),
        Body::Choose { options, suggested, .. } => {
            let choices = options.choices();
            // What stands on a button alone need not be said twice; what says more must be.
            let says_more = choices.iter().any(|one| one.description.is_some());
            let mut facts: Vec<card::Fact> = if says_more { listed(choices) } else { Vec::new() };
            let suggested = suggested.as_ref().and_then(|id| choices.iter().find(|c| c.id == *id));
            facts.extend(suggested.map(|choice| card::Fact {
                name: "Agent suggests".to_owned(),
                value: reveal(&choice.label),
            }));
            facts
        }
        Body::Provide { .. } | Body::Converse => Vec::new(),
    }
}

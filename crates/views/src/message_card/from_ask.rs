//! Creates the card of a request.

use kernel::ask::Priority;
use kernel::directory::Directory;
use kernel::follow_up::NotificationReason;
use kernel::question::{Question, QuestionBody};
use kernel::text::reveal;
use kernel::{Ask, Time};

use super::{AnswerOptions, CardFact, CardStage, MessageCard, notification_reason, title};
use crate::answer::changes::{ChangedLine, ChangedValue, ValueChange};
use crate::answer::outcome::OutcomeView;
use crate::components::claims::ClaimsView;
use crate::components::facts::{Fact, FactList, FactValue};
use crate::components::relative_time::RelativeTime;
use crate::locale;

/// The input of a card besides the request.
pub struct CardContext {
    /// Why the person is notified; absent if the request is closed.
    pub why: Option<NotificationReason>,
    /// The page where the whole request can be read and answered.
    pub link: String,
    /// How the reader can answer where the card is shown.
    pub options: AnswerOptions,
}

impl MessageCard {
    /// The card of a request.
    pub fn of(ask: &Ask, directory: &Directory, now: Time, context: CardContext) -> Self {
        let CardContext { why, link, options } = context;
        let question = ask.question.value();
        let over = OutcomeView::of(ask, directory, now);
        // An approval with changes differs from the original question.
        let edited = over.as_ref().filter(|over| over.edited);
        let changed: Vec<CardFact> = edited.map(|over| changes(&over.changed)).unwrap_or_default();
        let asked =
            question.map_or_else(|| t!("card-erased"), |question| reveal(question.prompt().trim()));
        let words = if changed.is_empty() { asked } else { t!("card-asked", prompt = asked) };
        let facts =
            if changed.is_empty() { question.map(facts).unwrap_or_default() } else { changed };
        let stage = match over {
            None => CardStage::Open(options),
            Some(over) => CardStage::Closed {
                headline: match &over.who {
                    Some(who) => t!("card-outcome-by", outcome = over.headline, who = who),
                    None => over.headline.clone(),
                },
                at: locale::date_time(ended_at(ask, now)),
                comment: over.comment.map(|comment| comment.text.to_string()),
            },
        };
        let until = ask.deadline().filter(|_| matches!(stage, CardStage::Open(_)));
        Self {
            title: title(ask),
            note: why.and_then(notification_reason),
            words,
            context: question
                .and_then(Question::context)
                .filter(|context| !context.trim().is_empty())
                .map(reveal),
            facts: claims_fact(ask).into_iter().chain(facts).collect(),
            until: until.map(|at| {
                let (relative, exact) = (RelativeTime::new(at, now).words, locale::date_time(at));
                t!("card-until", relative = relative, exact = exact)
            }),
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

/// A name on one line. On several lines, agent text could be mistaken for the server's.
pub fn one_line(text: &str) -> String {
    text.replace(['\n', '\t'], " ")
}

/// The agent's claims about its message, in one line; `None` if it makes none.
fn claims_fact(ask: &Ask) -> Option<CardFact> {
    let value = ClaimsView::of(ask)?.line()?;
    Some(CardFact { name: t!("card-claims"), value })
}

/// The changes of an approval, old and new.
fn changes(changed: &[ChangedValue]) -> Vec<CardFact> {
    let lines = |lines: &[ChangedLine]| {
        let line = |line: &ChangedLine| format!("{}{}", line.sign, line.text);
        lines.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let fact = |changed: &ChangedValue| CardFact {
        name: one_line(&t!("card-changed", label = changed.label)),
        value: match &changed.how {
            ValueChange::Line { was, now } => format!("{was} → {now}"),
            ValueChange::Lines(all) => lines(all),
        },
    };
    changed.iter().map(fact).collect()
}

/// The facts of a question besides its prompt, in full.
fn facts(question: &Question) -> Vec<CardFact> {
    let fact = |Fact { key, value }: &Fact| CardFact {
        name: one_line(key.as_ref()),
        value: match value {
            FactValue::Line(words) | FactValue::Link(words) => words.to_string(),
            FactValue::Block(block) => block.text.to_string(),
        },
    };
    let of = |map| {
        let facts = FactList::of(map, "card");
        facts.headline.iter().chain(&facts.rows).map(fact).collect::<Vec<_>>()
    };
    let listed = |choices: &[kernel::question::Choice]| {
        let choice = |choice: &kernel::question::Choice| CardFact {
            name: one_line(&reveal(&choice.label)),
            value: choice.description.as_deref().map(reveal).unwrap_or_default(),
        };
        choices.iter().map(choice).collect()
    };
    match question.body() {
        QuestionBody::Approve { details, .. } => of(details),
        QuestionBody::Escalate { error, params } => {
            let mut facts = of(error);
            facts.extend(of(params));
            facts
        }
        QuestionBody::Confirm { items, .. } => listed(items),
        QuestionBody::Choose { options, suggested, .. } => {
            let choices = options.choices();
            // A button shows the label of its option. Options with a description are also listed.
            let says_more = choices.iter().any(|one| one.description.is_some());
            let mut facts: Vec<CardFact> = if says_more { listed(choices) } else { Vec::new() };
            let suggested = suggested.as_ref().and_then(|id| choices.iter().find(|c| c.id == *id));
            facts.extend(suggested.map(|choice| CardFact {
                name: t!("card-suggested"),
                value: reveal(&choice.label),
            }));
            facts
        }
        QuestionBody::Provide { .. } | QuestionBody::Converse => Vec::new(),
    }
}

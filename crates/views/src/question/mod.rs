//! A question as every reader sees it: the agent's text in full, and the server's facts beside it.
//! The inbox and the review page show the same view.

use kernel::question::{Answer, Body, Choice, Question, Reply};
use kernel::{Ask, Time};
use serde_json::{Map, Value};

use crate::answer::outcome;
use crate::components::claims::Claims;
use crate::components::facts::{Block, Facts, fact};
use crate::components::when::When;
use crate::components::words::{self, Urgency, Words};

/// The metadata keys for data of a dialect that the kernel has no type for. It is not text of the
/// agent; the question itself contains everything that a person should see.
const OWN: [&str; 2] = ["hitl", "a2h"];

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Paper {
    /// The beginning of the question, for the title of the page.
    pub title: String,
    /// The kind of answer, as a label for the person.
    pub kind: &'static str,
    pub urgency: Urgency,
    /// The agent that asks.
    pub agent: String,
    pub project: String,
    /// The agent's claims about itself.
    pub claims: Vec<(&'static str, Words)>,
    /// When it was asked.
    pub asked: When,
    /// The deadline, while it can be answered.
    pub deadline: Option<When>,
    /// Whether it stays open after its deadline: it is then overdue and does not expire.
    pub stays_open: bool,
    /// What happens without an answer, while it can be answered.
    pub silence: Option<String>,
    /// The text of the question.
    pub prompt: Block,
    /// Whether the answer form is far below on a phone.
    pub long: bool,
    /// Whether it is so long that the answer would not fit on the first printed page.
    pub fills_page: bool,
    /// The agent's reason for asking.
    pub context: Option<Block>,
    /// The facts of the question.
    pub facts: Facts,
    /// The heading of the facts.
    pub details_heading: &'static str,
    /// The facts of a failure.
    pub failure: Facts,
    /// Further data from the agent.
    pub extra: Facts,
    /// The agent's claims about its message.
    pub said: Option<Claims>,
    /// Whether the agent says that the action cannot be undone.
    pub irreversible: bool,
    /// Whether the agent proceeds without an answer, although the request is
    /// irreversible or critical.
    pub goes_ahead: bool,
    /// Whether it was approved with changes, so that the question shows the old values.
    pub edited: bool,
}

impl Paper {
    /// The view of an ask that can (`open`) or can no longer be answered.
    pub fn new(ask: &Ask, now: Time, open: bool) -> Self {
        let question = ask.question.value();
        let prompt = question.map_or_else(words::erased, |question| Words::of(question.prompt()));
        let (facts, failure) = (details(question, open), failure(question));
        let context_lines =
            question.and_then(Question::context).map_or(0, |c| Words::of(c).lines());
        let labels =
            [("calls itself", &ask.labels.agent), ("names its project", &ask.labels.project)];
        let deadline = ask.expires_at.filter(|_| open);
        let reply = ask.resolution().and_then(|resolution| resolution.reply.value());
        let lines = facts.height() + failure.height() + prompt.lines() + context_lines;
        let paper = Self {
            title: Words::beginning(prompt.as_str(), 60).to_string(),
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
            stays_open: ask.stays_open(),
            silence: deadline.map(|_| outcome::on_silence(&ask.on_expiry, question)),
            long: lines > 9,
            fills_page: lines > 20,
            prompt: Block::new(
                "prompt".to_owned(),
                question.map_or(prompt.as_str(), Question::prompt),
            ),
            context: question
                .and_then(Question::context)
                .filter(|context| !context.trim().is_empty())
                .map(|context| Block::new("context".to_owned(), context)),
            facts,
            details_heading: if failure.is_empty() { "Details" } else { "Parameters of the step" },
            failure,
            extra: ask.metadata.value().map(extra).unwrap_or_default(),
            said: Claims::of(ask),
            irreversible: ask.is_irreversible(),
            goes_ahead: ask.is_open() && ask.proceeds_on_silence(),
            edited: false,
        };
        paper.answered_with(reply)
    }

    /// The view after this answer. If the answer changed the proposal, the question and the title
    /// are marked as the original question, because they differ from the approved values.
    #[must_use]
    pub fn answered_with(mut self, reply: Option<&Reply>) -> Self {
        let changed =
            reply.is_some_and(|reply| matches!(reply.answer, Answer::Approved { edits: Some(_) }));
        if changed && !self.edited {
            self.edited = true;
            self.title = format!("Asked: {}", self.title);
        }
        self
    }

    /// Whether the question is short enough for a heading.
    pub fn short(&self) -> bool {
        self.prompt.text.as_str().chars().count() <= 180
    }

    /// The language of the agent's text, if the agent states it.
    pub fn lang(&self) -> Option<&str> {
        self.said.as_ref()?.lang.as_deref()
    }

    /// Whether the agent asks a person to verify the message.
    pub fn wants_verification(&self) -> bool {
        self.said.as_ref().is_some_and(|said| said.verify)
    }
}

/// The agent's metadata that is not part of the question. The reversibility flags are shown as
/// a warning instead.
pub fn extra(metadata: &Map<String, Value>) -> Facts {
    let sent = metadata.iter().filter(|(key, _)| {
        !OWN.contains(&key.as_str()) && !["irreversible", "reversible"].contains(&key.as_str())
    });
    Facts::of(&sent.map(|(key, value)| (key.clone(), value.clone())).collect(), "extra")
}

/// The facts of the question. Once the request is closed, they include the options that the answer
/// form listed, so that readers see the available choices.
fn details(question: Option<&Question>, open: bool) -> Facts {
    match question.map(Question::body) {
        Some(Body::Approve { details, .. }) => Facts::of(details, "detail"),
        Some(Body::Escalate { params, .. }) => Facts::of(params, "param-now"),
        Some(Body::Choose { options, suggested, .. }) if !open => {
            let choices = options.choices();
            let mut shown = listed("options", choices);
            let suggested = suggested.as_ref().and_then(|id| choices.iter().find(|c| c.id == *id));
            if let Some(Choice { label, .. }) = suggested {
                shown.rows.push(fact("Agent suggests", &Value::from(label.as_str()), "suggested"));
            }
            shown
        }
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

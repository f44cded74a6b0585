//! A question as every reader sees it: the agent's text in full, and the server's facts beside it.
//! The inbox and the review page show the same view.

use kernel::question::{Answer, Choice, Question, QuestionBody, Reply};
use kernel::{Ask, Time};
use serde_json::{Map, Value};

use crate::answer::outcome;
use crate::components::claims::ClaimsView;
use crate::components::facts::{FactList, TextBlock, fact};
use crate::components::relative_time::RelativeTime;
use crate::components::wording::{self, Urgency, VisibleText};
use crate::locale;

/// The metadata keys for data of a dialect that the kernel has no type for. It is not text of the
/// agent; the question itself contains everything that a person should see.
const DIALECT_METADATA_KEYS: [&str; 2] = ["hitl", "a2h"];

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct QuestionView {
    /// The beginning of the question, for the title of the page.
    pub title: String,
    /// The kind of answer, as a label for the person.
    pub kind: String,
    pub urgency: Urgency,
    /// The agent that asks.
    pub agent: String,
    pub project: String,
    /// The agent's claims about itself, as HTML.
    pub claims: Vec<String>,
    /// When it was asked.
    pub asked: RelativeTime,
    /// The deadline, while it can be answered.
    pub deadline: Option<RelativeTime>,
    /// Whether it stays open after its deadline: it is then overdue and does not expire.
    pub stays_open: bool,
    /// What happens without an answer, while it can be answered.
    pub silence: Option<String>,
    /// The text of the question.
    pub prompt: TextBlock,
    /// Whether the answer form is far below on a phone.
    pub long: bool,
    /// Whether it is so long that the answer would not fit on the first printed page.
    pub fills_page: bool,
    /// The agent's reason for asking.
    pub context: Option<TextBlock>,
    /// The facts of the question.
    pub facts: FactList,
    /// The heading of the facts.
    pub details_heading: String,
    /// The facts of a failure.
    pub failure: FactList,
    /// Further data from the agent.
    pub extra: FactList,
    /// The agent's claims about its message.
    pub said: Option<ClaimsView>,
    /// Whether the agent says that the action cannot be undone.
    pub irreversible: bool,
    /// Whether the agent proceeds without an answer, although the request is
    /// irreversible or critical.
    pub goes_ahead: bool,
    /// Whether it was approved with changes, so that the question shows the old values.
    pub edited: bool,
}

impl QuestionView {
    /// The view of an ask that can (`open`) or can no longer be answered.
    pub fn new(ask: &Ask, now: Time, open: bool) -> Self {
        let question = ask.question.value();
        let prompt =
            question.map_or_else(wording::erased, |question| VisibleText::of(question.prompt()));
        let (facts, failure) = (details(question, open), failure(question));
        let context_lines =
            question.and_then(Question::context).map_or(0, |c| VisibleText::of(c).lines());
        let label = |label: &Option<String>| label.as_deref().map(VisibleText::of);
        let name = label(&ask.labels.agent).map(|name| th!("question-claims-name", name = name));
        let project =
            label(&ask.labels.project).map(|name| th!("question-claims-project", name = name));
        let deadline = ask.expires_at.filter(|_| open);
        let reply = ask.deciding_answer().and_then(|resolution| resolution.reply.value());
        let lines = facts.height() + failure.height() + prompt.lines() + context_lines;
        let paper = Self {
            title: VisibleText::beginning(prompt.as_str(), 60).to_string(),
            kind: wording::kind(ask.kind),
            urgency: ask.priority.into(),
            agent: ask.agent.to_string(),
            project: ask.project.to_string(),
            claims: [name, project].into_iter().flatten().map(|claim| claim.0).collect(),
            asked: RelativeTime::new(ask.created_at, now),
            deadline: deadline.map(|at| RelativeTime::new(at, now)),
            stays_open: ask.stays_open(),
            silence: deadline.map(|_| outcome::on_silence(&ask.on_expiry, question)),
            long: lines > 9,
            fills_page: lines > 20,
            prompt: TextBlock::new(
                "prompt".to_owned(),
                question.map_or(prompt.as_str(), Question::prompt),
            ),
            context: question
                .and_then(Question::context)
                .filter(|context| !context.trim().is_empty())
                .map(|context| TextBlock::new("context".to_owned(), context)),
            facts,
            details_heading: if failure.is_empty() {
                t!("question-details")
            } else {
                t!("question-parameters")
            },
            failure,
            extra: ask.metadata.value().map(extra_metadata).unwrap_or_default(),
            said: ClaimsView::of(ask),
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
            self.title = t!("question-edited-title", title = self.title);
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

    /// The language of the server's text, inside of an agent's text in another one.
    pub fn reader_lang(&self) -> &'static str {
        locale::current().language.tag()
    }

    /// Whether the agent asks a person to verify the message.
    pub fn wants_verification(&self) -> bool {
        self.said.as_ref().is_some_and(|said| said.verify)
    }
}

/// The agent's metadata that is not part of the question. The reversibility flags are shown as
/// a warning instead.
pub fn extra_metadata(metadata: &Map<String, Value>) -> FactList {
    let sent = metadata.iter().filter(|(key, _)| {
        !DIALECT_METADATA_KEYS.contains(&key.as_str())
            && !["irreversible", "reversible"].contains(&key.as_str())
    });
    FactList::of(&sent.map(|(key, value)| (key.clone(), value.clone())).collect(), "extra")
}

/// The facts of the question. Once the request is closed, they include the options that the answer
/// form listed, so that readers see the available choices.
fn details(question: Option<&Question>, open: bool) -> FactList {
    match question.map(Question::body) {
        Some(QuestionBody::Approve { details, .. }) => FactList::of(details, "detail"),
        Some(QuestionBody::Escalate { params, .. }) => FactList::of(params, "param-now"),
        Some(QuestionBody::Choose { options, suggested, .. }) if !open => {
            let choices = options.choices();
            let mut shown = choice_facts(&t!("question-options"), choices);
            let suggested = suggested.as_ref().and_then(|id| choices.iter().find(|c| c.id == *id));
            if let Some(Choice { label, .. }) = suggested {
                let value = Value::from(label.as_str());
                shown.rows.push(fact(&t!("button-suggested"), &value, "suggested"));
            }
            shown
        }
        Some(QuestionBody::Confirm { items, .. }) if !open && !items.is_empty() => {
            choice_facts(&t!("question-items"), items)
        }
        Some(
            QuestionBody::Choose { .. }
            | QuestionBody::Provide { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Converse,
        )
        | None => FactList::default(),
    }
}

fn choice_facts(name: &str, choices: &[Choice]) -> FactList {
    let labels = choices.iter().map(|choice| Value::from(choice.label.as_str())).collect();
    FactList::of(&Map::from_iter([(name.to_owned(), Value::Array(labels))]), "detail")
}

fn failure(question: Option<&Question>) -> FactList {
    match question.map(Question::body) {
        Some(QuestionBody::Escalate { error, .. }) => FactList::of(error, "failure"),
        Some(
            QuestionBody::Approve { .. }
            | QuestionBody::Choose { .. }
            | QuestionBody::Provide { .. }
            | QuestionBody::Confirm { .. }
            | QuestionBody::Converse,
        )
        | None => FactList::default(),
    }
}

//! Maps an event to its counts. The result does not depend on later events of the ask, so it is the
//! same whenever it is computed; only text that was erased in the meantime is not counted.

use serde_json::{Map, Value};

use super::Measure;
use super::bins::{load, tenth, wait};
use crate::actor::ActorRef;
use crate::ask::experience_envelope::EnvelopeLevel;
use crate::ask::{Ask, Dialect, RecordedAnswer};
use crate::event::{AskEvent, DomainEvent, Event};
use crate::question::{Answer, Question, QuestionBody};
use crate::time::Time;

/// Intents that HXP eXperience recommends; agents may use others.
pub const INTENTS: [&str; 11] = [
    "explain",
    "plan",
    "debug",
    "brainstorm",
    "draft",
    "summarize",
    "evaluate",
    "decide",
    "teach",
    "refuse",
    "reflect",
];

/// Action types that HXP eXperience recommends; agents may use others.
pub const ACTIONS: [&str; 10] = [
    "ask_followup",
    "refine_request",
    "simplify",
    "expand",
    "generate_variant",
    "compare_options",
    "verify_sources",
    "create_plan",
    "export_schema",
    "show_examples",
];

/// The reasons for which an agent refuses; the last one is for agents that give none.
pub const REFUSALS: [&str; 6] = ["safety", "legal", "capability", "policy", "unknown", "unsaid"];

/// The severities of a refusal; the last one is for agents that give none.
pub const SEVERITIES: [&str; 3] = ["soft", "hard", "unsaid"];

/// Each reason with each severity, in the order of both. These are the bins of refusals.
pub(super) const REFUSED: [[&str; 3]; 6] = [
    ["safety/soft", "safety/hard", "safety/unsaid"],
    ["legal/soft", "legal/hard", "legal/unsaid"],
    ["capability/soft", "capability/hard", "capability/unsaid"],
    ["policy/soft", "policy/hard", "policy/unsaid"],
    ["unknown/soft", "unknown/hard", "unknown/unsaid"],
    ["unsaid/soft", "unsaid/hard", "unsaid/unsaid"],
];

/// The protocols through which asks come.
pub(super) const DIALECTS: [&str; 5] = ["hxp_execution", "hitl", "a2h", "hacp", "native"];
/// The completeness levels of envelopes.
pub(super) const ENVELOPE_LEVELS: [&str; 5] = ["none", "invalid", "core", "standard", "full"];
/// How asks end.
pub(super) const ENDS: [&str; 5] = ["answered", "defaulted", "expired", "failed", "cancelled"];
/// How people decide on recommendations.
pub(super) const VERDICTS: [&str; 4] = [FOLLOWED, EDITED, OVERRULED, OPEN];
/// Whether the person who decided had time to read.
pub(super) const READINGS: [&str; 3] = ["read", "hasty", "unopened"];

/// The bin for all names that agents invent, so that the number of bins stays bounded.
pub(super) const OTHER: &str = "other";

/// Reading time per word: 240 words a minute.
const MILLIS_PER_WORD: u64 = 250;

/// The names of events that are counted; no other is.
pub const COUNTED_EVENTS: [&str; 8] =
    ["asked", "opened", "action_picked", "answered", "defaulted", "expired", "failed", "cancelled"];

/// One count: its measure and its bin.
pub type MeasureBin = (Measure, &'static str);

/// The counts of an event. A message that a person wrote first is not an ask of the agent, so it
/// counts nothing.
pub fn counts_for(event: &Event, ask: &Ask) -> Vec<MeasureBin> {
    if ask.starts_conversation() {
        return Vec::new();
    }
    let DomainEvent::Ask(what) = &event.what else { return Vec::new() };
    match what {
        AskEvent::Asked(_) => asked(ask),
        AskEvent::Opened => opened(event.at, ask),
        AskEvent::ActionPicked { action } => picked(event, ask, *action).into_iter().collect(),
        AskEvent::Answered { vote, decisive: true } => answered(vote, ask),
        AskEvent::Defaulted { .. } => vec![(Measure::Ended, "defaulted")],
        AskEvent::Expired { .. } => vec![(Measure::Ended, "expired")],
        AskEvent::Failed { .. } => vec![(Measure::Ended, "failed")],
        AskEvent::Cancelled { .. } => vec![(Measure::Ended, "cancelled")],
        AskEvent::Answered { decisive: false, .. }
        | AskEvent::AnswerHeld { .. }
        | AskEvent::AnswerWithdrawn
        | AskEvent::Followed { .. }
        | AskEvent::Progressed { .. }
        | AskEvent::Claimed
        | AskEvent::Assigned { .. }
        | AskEvent::Commented { .. }
        | AskEvent::Reminded
        | AskEvent::Escalated { .. }
        | AskEvent::Joined { .. }
        | AskEvent::Extended { .. }
        | AskEvent::Granted { .. }
        | AskEvent::CalledBack { .. }
        | AskEvent::CallbackWanted
        | AskEvent::Revoked { .. }
        | AskEvent::Erased
        | AskEvent::WordsErased(_) => Vec::new(),
    }
}

fn asked(ask: &Ask) -> Vec<MeasureBin> {
    let dialect = match ask.dialect {
        Dialect::HxpExecution => "hxp_execution",
        Dialect::Hitl => "hitl",
        Dialect::A2h => "a2h",
        Dialect::Hacp => "hacp",
        Dialect::Native => "native",
    };
    let told = match &ask.claims {
        None => "none",
        Some(claims) => match claims.finding.level {
            None => "invalid",
            Some(EnvelopeLevel::Core) => "core",
            Some(EnvelopeLevel::Standard) => "standard",
            Some(EnvelopeLevel::Full) => "full",
        },
    };
    let mut counts = vec![(Measure::Asked, dialect), (Measure::Envelope, told)];
    let Some(said) = ask.envelope() else { return counts };
    // Each field is counted separately: an envelope that is invalid elsewhere still has it.
    let intent = said.get("intent").and_then(Value::as_str).filter(|intent| !intent.is_empty());
    counts.extend(intent.map(|intent| (Measure::Intent, known(&INTENTS, intent))));
    counts.extend(confidence(said).map(|bin| (Measure::Confidence, bin)));
    let hard = said.get("cognition").and_then(|of| of.get("load")).and_then(Value::as_f64);
    counts.extend(hard.and_then(load).map(|bin| (Measure::Load, bin)));
    let refusal = said.get("refusal").and_then(Value::as_object);
    if refusal.is_some() || intent == Some("refuse") {
        counts.push((Measure::Refusal, refused(refusal)));
    }
    counts
}

fn confidence(said: &Map<String, Value>) -> Option<&'static str> {
    tenth(said.get("transparency")?.get("confidence")?.as_f64()?)
}

fn refused(refusal: Option<&Map<String, Value>>) -> &'static str {
    let place = |name: &str, known: &[&str]| {
        let said = refusal.and_then(|refusal| refusal.get(name)).and_then(Value::as_str);
        let found = said.and_then(|said| known.iter().position(|known| *known == said));
        found.unwrap_or(known.len() - 1)
    };
    let (why, how) = (place("type", &REFUSALS), place("severity", &SEVERITIES));
    REFUSED.get(why).and_then(|row| row.get(how)).copied().unwrap_or("unsaid/unsaid")
}

fn known(names: &[&'static str], name: &str) -> &'static str {
    names.iter().find(|known| **known == name).copied().unwrap_or(OTHER)
}

/// The type of an action that the agent offers.
fn action_type(action: &Map<String, Value>) -> &'static str {
    known(&ACTIONS, action.get("type").and_then(Value::as_str).unwrap_or_default())
}

fn opened(at: Time, ask: &Ask) -> Vec<MeasureBin> {
    let mut counts = vec![(Measure::FirstView, wait(at.millis() - ask.created_at.millis()))];
    let offered = ask.envelope().and_then(|said| said.get("actions")).and_then(Value::as_array);
    let places = 0..offered.map_or(0, Vec::len);
    let shown = places.filter_map(|place| ask.action(place)).map(action_type);
    counts.extend(shown.map(|kind| (Measure::Shown, kind)));
    counts
}

/// Only the first pick of an action counts: it was shown once, no matter how many people pick it.
fn picked(event: &Event, ask: &Ask, action: usize) -> Option<MeasureBin> {
    let first = ask.picked.iter().find(|picked| picked.action == action)?;
    (first.by == event.by).then_some(())?;
    Some((Measure::Picked, action_type(ask.action(action)?)))
}

fn answered(resolution: &RecordedAnswer, ask: &Ask) -> Vec<MeasureBin> {
    let mut counts = vec![
        (Measure::Ended, "answered"),
        (Measure::Decision, wait(resolution.at.millis() - ask.created_at.millis())),
    ];
    counts.extend(reading(resolution, ask).map(|bin| (Measure::Reading, bin)));
    let (question, reply) = (ask.question.value(), resolution.reply.value());
    let (Some(question), Some(reply)) = (question, reply) else { return counts };
    let verdict = verdict(question, &reply.answer);
    counts.push((Measure::Verdict, verdict));
    if let Some(bin) = ask.envelope().and_then(confidence)
        && verdict != OPEN
    {
        counts.push((Measure::Claimed, bin));
        if verdict == OVERRULED {
            counts.push((Measure::Overruled, bin));
        }
    }
    counts
}

/// The agent recommended nothing that a person could follow or overrule.
const OPEN: &str = "open";
const FOLLOWED: &str = "followed";
const EDITED: &str = "edited";
const OVERRULED: &str = "overruled";

/// How the person decided on the agent's recommendation. An agent that asks whether to do something
/// recommends doing it.
fn verdict(question: &Question, answer: &Answer) -> &'static str {
    match (question.body(), answer) {
        (QuestionBody::Approve { .. }, Answer::Approved { edits: None }) => FOLLOWED,
        (QuestionBody::Approve { details, .. }, Answer::Approved { edits: Some(edits) }) => {
            if edits == details { FOLLOWED } else { EDITED }
        }
        (QuestionBody::Choose { suggested: Some(suggested), .. }, Answer::Chosen { options }) => {
            match options.as_slice() {
                [chosen] if chosen == suggested => FOLLOWED,
                chosen if chosen.contains(suggested) => EDITED,
                _ => OVERRULED,
            }
        }
        (QuestionBody::Confirm { items, .. }, Answer::Confirmed { items: confirmed }) => {
            if confirmed.len() < items.len() {
                EDITED
            } else {
                FOLLOWED
            }
        }
        (_, Answer::Rejected { .. } | Answer::ChangesRequested { .. } | Answer::Declined) => {
            OVERRULED
        }
        (
            _,
            Answer::Approved { .. }
            | Answer::Chosen { .. }
            | Answer::Provided { .. }
            | Answer::Confirmed { .. }
            | Answer::Retry { .. }
            | Answer::Skip
            | Answer::Abort
            | Answer::Replied { .. },
        ) => OPEN,
    }
}

/// Whether the person who decided had time to read, counted from when the ask was first opened. An
/// answer that an agent passed on was read elsewhere, so it is not counted; an unopened ask may
/// have been read in a message.
fn reading(resolution: &RecordedAnswer, ask: &Ask) -> Option<&'static str> {
    if !matches!(resolution.by, ActorRef::Human(_) | ActorRef::LinkHolder | ActorRef::Guest) {
        return None;
    }
    // A held answer may have been given before another person opened the ask.
    let look = ask.look.as_ref().filter(|look| look.at <= resolution.at);
    let Some(look) = look else { return Some("unopened") };
    let had = u64::try_from(resolution.at.millis() - look.at.millis()).unwrap_or(0);
    let needed = reading_millis(ask.question.value()?);
    Some(if had < needed { "hasty" } else { "read" })
}

/// The time it takes to read a question. It is computed, not taken from the agent's claim, so that
/// the claim can neither excuse nor accuse a person.
pub fn reading_millis(question: &Question) -> u64 {
    let mut words = WordCounter::default();
    words.text(question.prompt());
    words.text(question.context().unwrap_or_default());
    match question.body() {
        QuestionBody::Approve { details, .. } => words.object(details),
        QuestionBody::Choose { options, .. } => {
            for choice in options.choices() {
                words.text(&choice.label);
                words.text(choice.description.as_deref().unwrap_or_default());
            }
        }
        QuestionBody::Confirm { items, .. } => {
            for item in items {
                words.text(&item.label);
            }
        }
        QuestionBody::Escalate { error, params } => {
            words.object(error);
            words.object(params);
        }
        QuestionBody::Provide { form } => form.fields().for_each(|field| words.text(field.label())),
        QuestionBody::Converse => {}
    }
    words.total() * MILLIS_PER_WORD
}

/// Counts words as people read them. In scripts without spaces, two characters count as one word.
#[derive(Default)]
struct WordCounter {
    spaced: u64,
    characters: u64,
}

impl WordCounter {
    fn text(&mut self, text: &str) {
        let unspaced = |c: char| matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}');
        self.characters += text.chars().filter(|c| unspaced(*c)).count() as u64;
        let parts = text.split(|c: char| c.is_whitespace() || unspaced(c));
        let word = |part: &&str| part.chars().any(char::is_alphanumeric);
        self.spaced += parts.filter(word).count() as u64;
    }

    fn object(&mut self, map: &Map<String, Value>) {
        for (name, value) in map {
            self.text(name);
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter().for_each(|value| self.value(value)),
            Value::Object(map) => self.object(map),
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spaced += 1,
        }
    }

    fn total(&self) -> u64 {
        self.spaced + self.characters.div_ceil(2)
    }
}

#[cfg(test)]
mod tests;

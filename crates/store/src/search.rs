//! Full-text search: which words an ask is found by, and what a query wants of them.
//!
//! Every backend keeps the same tokens: the words of the ask in small letters, and marks for the
//! lists it stands in, so that a search looks only where the one who searches may. A mark begins
//! with a character no word has, so no text can pass for one.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::Ask;
use kernel::audit::Digest;
use kernel::question::{Answer, Body, Question};
use serde_json::{Map, Value};

use crate::Result;
use crate::listing::{Filter, Scope, standing};

/// Found are at most the newest so many.
pub const FOUND: usize = 200;
/// What is longer is no word anybody types.
const LONGEST: usize = 64;
/// More words of one ask are not kept; those of its question come first.
const MOST: usize = 1_000;
/// More words of a query are not looked for.
const WANTED: usize = 16;
/// What a mark begins with: no letter, no digit, nothing a word can have.
const MARK: char = '\u{E000}';

/// The index of words.
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// The newest asks that have these words, newest first, as far as [`SearchIndex::index`] has come.
    async fn search(&self, wanted: Search) -> Result<Vec<Ask>>;

    /// Brings the index of words up to date with at most `limit` changes; how many it was behind by,
    /// of those. It is kept behind the commits, so that nobody who asks waits for it; of several nodes
    /// one does it. What was erased leaves the index here.
    async fn index(&self, limit: usize) -> Result<usize>;
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// As somebody typed it: every word must be there, the last one as the beginning of one.
    pub words: String,
    /// In which lists; `None` for everywhere.
    pub scopes: Option<Vec<Scope>>,
    /// What else must hold.
    pub filter: Filter,
    /// Only open asks, only those that are over, or both.
    pub open: Option<bool>,
    /// At most this many, and never more than [`FOUND`].
    pub limit: usize,
}

/// A search as backends carry it out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Tokens that must all be there: words and marks.
    pub(crate) all: Vec<String>,
    /// Of each of these, one must be there.
    pub(crate) any: Vec<Vec<String>>,
    /// One must begin so.
    pub(crate) last: String,
}

impl Search {
    /// What it wants; none if there is no word in it, or nowhere to look.
    pub(crate) fn terms(&self) -> Option<Terms> {
        let mut all: Vec<String> = words(&self.words).take(WANTED).collect();
        let last = all.pop()?;
        let union = |scopes: &[Scope]| scopes.iter().map(mark).collect::<Vec<_>>();
        let any: Vec<Vec<String>> = (self.scopes.as_deref().into_iter().map(union))
            .chain(self.filter.meeting().iter().map(|scopes| union(scopes)))
            .collect();
        if any.iter().any(Vec::is_empty) {
            return None;
        }
        all.extend(self.open.map(phase));
        all.sort_unstable();
        all.dedup();
        Some(Terms { all, any, last })
    }

    /// How many are wanted.
    pub(crate) fn limit(&self) -> usize {
        self.limit.min(FOUND)
    }
}

impl Terms {
    /// The words among what must be there; the last one stands apart.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(String::as_str).filter(|token| !token.starts_with(MARK))
    }

    /// Whether an ask is found.
    pub(crate) fn admit(&self, ask: &Ask) -> bool {
        let tokens = tokens(ask);
        self.all.iter().all(|word| tokens.contains(word))
            && self.any.iter().all(|union| union.iter().any(|mark| tokens.contains(mark)))
            && tokens.range(self.last.clone()..).next().is_some_and(|t| t.starts_with(&self.last))
    }
}

/// Whether an event changes what an ask is found by.
pub(crate) fn concerns(what: &str) -> bool {
    !matches!(
        what,
        "opened"
            | "progressed"
            | "answer_held"
            | "answer_withdrawn"
            | "reminded"
            | "extended"
            | "granted"
            | "called_back"
            | "callback_wanted"
            | "followed"
    )
}

/// Everything an ask is found by; nothing once its words were erased.
pub(crate) fn tokens(ask: &Ask) -> BTreeSet<String> {
    let Some(question) = ask.question.value() else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    let mut add = |text: &str| {
        for word in words(text) {
            if found.len() < MOST {
                found.insert(word);
            }
        }
    };
    add(question.prompt());
    add(question.context().unwrap_or_default());
    for name in [ask.agent.as_str(), ask.project.as_str(), &ask.id.to_string()] {
        add(name);
    }
    for label in [&ask.labels.agent, &ask.labels.project].into_iter().flatten() {
        add(label);
    }
    ask.tags.iter().for_each(|tag| add(tag));
    ask.comments.iter().filter_map(|said| said.text.value()).for_each(|text| add(text));
    // What was provided is not looked into: it may be a secret.
    let reply = ask.resolution().and_then(|resolution| resolution.reply.value());
    add(reply.and_then(|reply| reply.comment.as_deref()).unwrap_or_default());
    // What a person began with is what it is about.
    if let Some(Answer::Replied { text }) = reply.map(|reply| &reply.answer)
        && ask.is_opening()
    {
        add(text);
    }
    in_question(question, &mut add);
    if let Some(data) = ask.metadata.value() {
        in_object(data, &mut add);
    }
    found.insert(phase(ask.is_open()));
    found.extend(standing(ask).iter().map(mark));
    found
}

fn in_question(question: &Question, add: &mut impl FnMut(&str)) {
    match question.body() {
        Body::Approve { details, .. } => in_object(details, add),
        Body::Escalate { error, params } => {
            in_object(error, add);
            in_object(params, add);
        }
        Body::Choose { options, .. } => {
            for choice in options.choices() {
                add(&choice.label);
                add(choice.description.as_deref().unwrap_or_default());
            }
        }
        Body::Confirm { items, .. } => items.iter().for_each(|item| add(&item.label)),
        Body::Provide { form } => form.fields().for_each(|field| add(field.label())),
        Body::Converse => {}
    }
}

fn in_object(map: &Map<String, Value>, add: &mut impl FnMut(&str)) {
    map.values().for_each(|value| in_value(value, add));
}

fn in_value(value: &Value, add: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => add(text),
        Value::Number(number) => add(&number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| in_value(value, add)),
        Value::Object(map) => in_object(map, add),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The mark of a list.
fn mark(scope: &Scope) -> String {
    let digest = Digest::of(scope.key().as_bytes()).to_string();
    let end = digest.len().min(16);
    format!("{MARK}{}", digest.get(..end).unwrap_or_default())
}

fn phase(open: bool) -> String {
    format!("{MARK}{}", if open { "open" } else { "over" })
}

/// The words of a text, in small letters. Where a script has no spaces every character is one.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    let mut all = Vec::new();
    let mut word = String::new();
    let end = |word: &mut String, all: &mut Vec<String>| {
        if !word.is_empty() {
            all.push(std::mem::take(word));
        }
    };
    for c in text.chars().flat_map(char::to_lowercase) {
        if is_alone(c) {
            end(&mut word, &mut all);
            all.push(c.to_string());
        } else if c.is_alphanumeric() {
            if word.len() + c.len_utf8() <= LONGEST {
                word.push(c);
            }
        } else {
            end(&mut word, &mut all);
        }
    }
    end(&mut word, &mut all);
    all.into_iter()
}

/// Han, kana: written without spaces.
fn is_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use kernel::testing::{Cast, new_ask};

    use super::*;

    #[test]
    fn words_are_what_people_type() {
        let long = "x".repeat(100);
        for (text, expected) in [
            ("Refund order-7 of ÉLODIE!", vec!["refund", "order", "7", "of", "élodie"]),
            ("ask_01J a.b@c.de", vec!["ask", "01j", "a", "b", "c", "de"]),
            ("退款 ok", vec!["退", "款", "ok"]),
            (" ,;\u{E000} ", vec![]),
            (&long, vec![&long[..64]]),
        ] {
            assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    fn search(words: &str) -> Search {
        let (words, filter) = (words.to_owned(), Filter::default());
        Search { words, scopes: None, filter, open: None, limit: 10 }
    }

    #[test]
    fn every_word_is_wanted_and_the_last_may_be_unfinished() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let ask = cast.seen(id);
        for (words, found) in [
            ("refund", true),
            ("ref", true),
            ("REFUND order 7", true),
            ("order ref", true),
            ("ref order", false),
            ("refund cat", false),
            ("bot", true),
            // Nobody types a mark.
            ("\u{E000}over refund", false),
        ] {
            let terms = search(words).terms().unwrap();
            assert_eq!(terms.admit(ask), found, "{words}");
        }
        assert_eq!(search(" ?").terms(), None);
        let elsewhere = Some(vec![Scope::Human("zoe".parse().unwrap())]);
        assert!(!Search { scopes: elsewhere, ..search("refund") }.terms().unwrap().admit(ask));
        let over = Search { open: Some(false), ..search("refund") };
        assert!(!over.terms().unwrap().admit(ask));
    }
}

//! Full-text search: the tokens of an ask, and how a query matches them.
//!
//! Every backend stores the same tokens: the words of the ask in lower case, and marker tokens for
//! its state and the lists it is in, so that a search covers only the lists its user may read. A
//! marker token begins with a character that no word contains, so text cannot forge one.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kernel::Ask;
use kernel::audit::Digest;
use kernel::question::{Answer, Question, QuestionBody};
use serde_json::{Map, Value};

use crate::Result;
use crate::listing::{Filter, ListScope, all_lists};

/// The most asks a search returns: the newest.
pub const MAX_RESULTS: usize = 200;
/// Longer words are not indexed, because people do not type them.
const MAX_WORD_LENGTH: usize = 64;
/// The most words indexed per ask; those of its question come first.
const MAX_INDEXED_WORDS: usize = 1_000;
/// The most words of a query; further ones are ignored.
const MAX_QUERY_WORDS: usize = 16;
/// The first character of a marker token. It is not alphanumeric, so no word contains it.
const MARKER: char = '\u{E000}';

/// The full-text index.
#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// The newest asks that match, newest first, as far as [`SearchIndex::index`] has progressed.
    async fn search(&self, wanted: SearchQuery) -> Result<Vec<Ask>>;

    /// Indexes at most `limit` changes and returns how many of these it indexed. The index follows
    /// the commits, so that no request waits for it. With several nodes, one of them does the work.
    /// This also removes erased text from the index.
    async fn index(&self, limit: usize) -> Result<usize>;
}

/// A search query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// The text as typed: every word must match, the last one as a prefix.
    pub words: String,
    /// The lists to search; `None` for all asks.
    pub scopes: Option<Vec<ListScope>>,
    /// Further conditions on the asks.
    pub filter: Filter,
    /// `true` for open asks only, `false` for closed ones only, `None` for both.
    pub open: Option<bool>,
    /// The maximum number of results, never more than [`MAX_RESULTS`].
    pub limit: usize,
}

/// A parsed query.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SearchTerms {
    /// Tokens that must all match: words and marker tokens.
    pub(crate) all: Vec<String>,
    /// One token of each group must match.
    pub(crate) any: Vec<Vec<String>>,
    /// One word must begin with this prefix.
    pub(crate) last: String,
}

impl SearchQuery {
    /// The parsed query; `None` if it has no word, or no list to search.
    pub(crate) fn terms(&self) -> Option<SearchTerms> {
        let mut all: Vec<String> = words(&self.words).take(MAX_QUERY_WORDS).collect();
        let last = all.pop()?;
        let union = |scopes: &[ListScope]| scopes.iter().map(marker_token).collect::<Vec<_>>();
        let any: Vec<Vec<String>> = (self.scopes.as_deref().into_iter().map(union))
            .chain(self.filter.intersections().iter().map(|scopes| union(scopes)))
            .collect();
        if any.iter().any(Vec::is_empty) {
            return None;
        }
        all.extend(self.open.map(phase_token));
        all.sort_unstable();
        all.dedup();
        Some(SearchTerms { all, any, last })
    }

    /// The number of results to return.
    pub(crate) fn limit(&self) -> usize {
        self.limit.min(MAX_RESULTS)
    }
}

impl SearchTerms {
    /// The words that must match, without the prefix.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(String::as_str).filter(|token| !token.starts_with(MARKER))
    }

    /// Whether an ask matches.
    pub(crate) fn admit(&self, ask: &Ask) -> bool {
        let tokens = tokens(ask);
        self.all.iter().all(|word| tokens.contains(word))
            && self.any.iter().all(|union| union.iter().any(|mark| tokens.contains(mark)))
            && tokens.range(self.last.clone()..).next().is_some_and(|t| t.starts_with(&self.last))
    }
}

/// Whether an event changes the tokens of an ask.
pub(crate) fn changes_tokens(what: &str) -> bool {
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

/// All tokens of an ask; none once its text was erased.
pub(crate) fn tokens(ask: &Ask) -> BTreeSet<String> {
    let Some(question) = ask.question.value() else { return BTreeSet::new() };
    let mut found = BTreeSet::new();
    let mut add = |text: &str| {
        for word in words(text) {
            if found.len() < MAX_INDEXED_WORDS {
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
    // Do not index a provided value: it may be a secret.
    let reply = ask.deciding_answer().and_then(|resolution| resolution.reply.value());
    add(reply.and_then(|reply| reply.comment.as_deref()).unwrap_or_default());
    // The first message of a conversation that a person began is its subject.
    if let Some(Answer::Replied { text }) = reply.map(|reply| &reply.answer)
        && ask.starts_conversation()
    {
        add(text);
    }
    in_question(question, &mut add);
    if let Some(data) = ask.metadata.value() {
        in_object(data, &mut add);
    }
    found.insert(phase_token(ask.is_open()));
    found.extend(all_lists(ask).iter().map(marker_token));
    found
}

fn in_question(question: &Question, add: &mut impl FnMut(&str)) {
    match question.body() {
        QuestionBody::Approve { details, .. } => in_object(details, add),
        QuestionBody::Escalate { error, params } => {
            in_object(error, add);
            in_object(params, add);
        }
        QuestionBody::Choose { options, .. } => {
            for choice in options.choices() {
                add(&choice.label);
                add(choice.description.as_deref().unwrap_or_default());
            }
        }
        QuestionBody::Confirm { items, .. } => items.iter().for_each(|item| add(&item.label)),
        QuestionBody::Provide { form } => form.fields().for_each(|field| add(field.label())),
        QuestionBody::Converse => {}
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

/// The marker token of a list.
fn marker_token(scope: &ListScope) -> String {
    let digest = Digest::of(scope.key().as_bytes()).to_string();
    let end = digest.len().min(16);
    format!("{MARKER}{}", digest.get(..end).unwrap_or_default())
}

fn phase_token(open: bool) -> String {
    format!("{MARKER}{}", if open { "open" } else { "over" })
}

/// The words of a text, in lower case. In scripts without spaces every character is a word.
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
            if word.len() + c.len_utf8() <= MAX_WORD_LENGTH {
                word.push(c);
            }
        } else {
            end(&mut word, &mut all);
        }
    }
    end(&mut word, &mut all);
    all.into_iter()
}

/// Whether the character belongs to a script written without spaces: Han and kana.
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

    fn search(words: &str) -> SearchQuery {
        let (words, filter) = (words.to_owned(), Filter::default());
        SearchQuery { words, scopes: None, filter, open: None, limit: 10 }
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
            // A typed marker token does not match.
            ("\u{E000}over refund", false),
        ] {
            let terms = search(words).terms().unwrap();
            assert_eq!(terms.admit(ask), found, "{words}");
        }
        assert_eq!(search(" ?").terms(), None);
        let elsewhere = Some(vec![ListScope::Human("zoe".parse().unwrap())]);
        assert!(!SearchQuery { scopes: elsewhere, ..search("refund") }.terms().unwrap().admit(ask));
        let over = SearchQuery { open: Some(false), ..search("refund") };
        assert!(!over.terms().unwrap().admit(ask));
    }
}

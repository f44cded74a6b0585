//! Similar asks: the same agent, the same kind, and the same text except for numbers and names. A
//! list may show them as one row.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Ask;
use crate::audit::Digest;
use crate::ids::AgentId;
use crate::question::Question;

/// Replaces the parts in which similar asks differ.
const MASK: char = '#';

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The similarity key: asks that differ only in numbers, ids, dates and addresses share it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimilarityKey(pub u64);

/// Cursors of lists contain a checksum of this text, so it must not change with the type's name.
impl fmt::Debug for SimilarityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fold").field(&self.0).finish()
    }
}

impl SimilarityKey {
    /// The similarity key of a question of this agent.
    pub fn of(agent: &AgentId, question: &Question) -> Self {
        let body = serde_json::to_string(question.body()).unwrap_or_default();
        let context = question.context().unwrap_or_default();
        let mut key = agent.to_string();
        for part in [question.prompt(), context, &body] {
            key.push('\0');
            key.push_str(&masked(part));
        }
        let digest = Digest::of(key.as_bytes()).0;
        let first = digest.first_chunk().copied().unwrap_or_default();
        Self(u64::from_be_bytes(first))
    }
}

impl Ask {
    /// The similarity key of this ask; `None` once its text was erased.
    pub fn similarity_key(&self) -> Option<SimilarityKey> {
        self.question.value().map(|question| SimilarityKey::of(&self.agent, question))
    }
}

impl fmt::Display for SimilarityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for SimilarityKey {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

#[cfg(feature = "openapi")]
crate::openapi::text!(SimilarityKey as Fold, "^[0-9a-f]{16}$");

impl Serialize for SimilarityKey {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SimilarityKey {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|_| serde::de::Error::custom("expected 16 hexadecimal digits"))
    }
}

/// The text in lower case, with everything masked that distinguishes one case from another:
/// numbers, ids, UUIDs, hexadecimal, dates, email addresses.
pub fn masked(text: &str) -> String {
    let text = text.to_lowercase();
    let mut out = String::with_capacity(text.len());
    for chunk in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        let core = chunk.trim_matches(|c: char| !c.is_alphanumeric());
        // An email address can contain several words; it is masked as one.
        if core.contains('@') {
            let at = chunk.find(core).unwrap_or_default();
            let (before, rest) = chunk.split_at(at);
            out.push_str(before);
            out.push(MASK);
            out.push_str(rest.get(core.len()..).unwrap_or_default());
        } else {
            mask_words(chunk, &mut out);
        }
    }
    collapsed(&out)
}

/// Masks the variable words of a text without spaces.
fn mask_words(chunk: &str, out: &mut String) {
    let mut rest = chunk;
    while let Some(first) = rest.chars().next() {
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        if length == 0 {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        let length = uuid(rest).unwrap_or(length);
        let (word, more) = rest.split_at(length);
        if is_variable(word) {
            out.push(MASK);
        } else {
            out.push_str(word);
        }
        rest = more;
    }
}

/// The length of the UUID at the start of a text.
fn uuid(text: &str) -> Option<usize> {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    let mut bytes = text.bytes();
    for (n, group) in GROUPS.into_iter().enumerate() {
        if n > 0 && bytes.next() != Some(b'-') {
            return None;
        }
        if !bytes.by_ref().take(group).all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
    }
    let length = 36;
    let ends = text.as_bytes().get(length).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (text.len() >= length && ends).then_some(length)
}

/// Whether a word contains a digit or a hyphen, or is long and has only hexadecimal digits.
fn is_variable(word: &str) -> bool {
    word.contains(char::is_numeric)
        || word.contains('-')
        || (word.len() >= 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether a word is the name of a month, or its first three letters.
fn is_month(word: &str) -> bool {
    let name = word.trim_matches(|c: char| !c.is_alphabetic());
    name.len() >= 3 && MONTHS.iter().any(|month| *month == name || month.get(..3) == Some(name))
}

/// Merges masks that are next to each other or next to the name of a month: a date is one value in
/// every notation.
fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let words: Vec<&str> = text.split(' ').collect();
    let is_bare = |word: &&str| word.contains(MASK) && !word.contains(char::is_alphabetic);
    let bare: Vec<bool> = words.iter().map(is_bare).collect();
    for (n, word) in words.iter().enumerate() {
        let mut beside = [n.checked_sub(1), n.checked_add(1)].into_iter().flatten();
        let dated = beside.any(|n| bare.get(n).is_some_and(|bare| *bare));
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(if dated && is_month(word) { "#" } else { word });
    }
    let mut folded = String::with_capacity(out.len());
    let mut joint = String::new();
    for c in out.chars() {
        match c {
            MASK if folded.ends_with(MASK) => joint.clear(),
            ' ' | ':' | '/' | ',' | '.' | '-' | '+' if folded.ends_with(MASK) => joint.push(c),
            _ => {
                folded.push_str(&joint);
                joint.clear();
                folded.push(c);
            }
        }
    }
    folded.push_str(&joint);
    folded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::NewAsk;
    use crate::question::{Question, QuestionBody};
    use crate::testing::{Cast, new_ask};

    #[test]
    fn what_differs_between_two_of_a_kind_is_masked() {
        for (text, expected) in [
            ("Refund €120.00 to Ada?", "refund €# to ada?"),
            ("Refund €1 042,50  to\nAda?", "refund €# to ada?"),
            ("Refund €1,042.50 to Ada?", "refund €# to ada?"),
            ("Delete file 550e8400-e29b-41d4-a716-446655440000.", "delete file #."),
            ("Delete file abcdabcd-abcd-abcd-abcd-abcdefabcdef", "delete file #"),
            ("Merge deadbeef into main", "merge # into main"),
            ("Merge decade into facade", "merge decade into facade"),
            ("Ship ask_01JZ3V5Q8N6M4K2H0G9F7E5D3C now", "ship # now"),
            ("order=1042 state=open", "order=# state=open"),
            ("orders/1042/refund", "orders/#/refund"),
            ("On 2026-03-01T10:00:00.000Z", "on #"),
            ("On 2026-03-01 10:00", "on #"),
            ("On 1 March 2026", "on #"),
            ("On Mar 1, 2026, at noon", "on #, at noon"),
            ("You may go; March on", "you may go; march on"),
            ("Mail <ada.l@example.com>, please", "mail <#>, please"),
            ("Mail bob@example.org, please", "mail #, please"),
            ("Version v2.1.0-rc1", "version #"),
            ("", ""),
            ("№ ٣ and ३", "№ # and #"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn near_identical_asks_have_one_key_and_others_do_not() {
        let mut cast = Cast::new();
        let mut ask = |agent: &str, prompt: &str, body: QuestionBody| {
            let question = Question::new(prompt, None, body).unwrap();
            let new = NewAsk { question, ..new_ask() };
            let id = cast.ask_as(agent, new);
            cast.seen(id).similarity_key().unwrap()
        };
        let approve = || new_ask().question.body().clone();
        let one = ask("bot", "Refund order 7 of Ada?", approve());
        assert_eq!(ask("bot", "Refund order 4711 of Ada?", approve()), one);
        assert_ne!(ask("bot", "Refund order 7 of Bob?", approve()), one);
        assert_ne!(ask("bot", "Refund order 7 of Ada?", QuestionBody::Converse), one);
        assert_ne!(ask("spy", "Refund order 7 of Ada?", approve()), one);
        assert_eq!(one.to_string().parse::<SimilarityKey>(), Ok(one));
        assert_eq!(one.to_string().len(), 16);
    }
}

//! A token stream over a message's bytes: one pass records a token per value and copies nothing.
//! The memory for the tokens is reused for the next message.
//!
//! A `serde_json` tree loses data that the validator must report: duplicate names, and numbers that
//! are too large. Building it also takes most of the time of a check. Apart from such numbers, this
//! reader accepts the same texts; a property test checks that. ADR 0038 explains why we read JSON
//! ourselves, and when to stop doing so.

mod names;
mod reader;
mod scan;

use std::borrow::Cow;

use thiserror::Error;

use crate::nesting::DEEPEST;

pub(super) use names::Name;
pub(super) use reader::{ReadStopped, Reader};
use scan::Scan;

/// Why bytes cannot be validated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// The bytes are not UTF-8.
    #[error("it is not valid UTF-8 at byte {at}")]
    NotText {
        /// The position of the first invalid byte.
        at: usize,
    },
    /// The text is not JSON.
    #[error("it is not valid JSON: line {line}, column {column}: expected {expected}")]
    NotJson {
        /// The line, starting at 1.
        line: usize,
        /// The character in the line, starting at 1.
        column: usize,
        /// The expected token.
        expected: &'static str,
    },
    /// The JSON exceeds the nesting limit.
    #[error("it exceeds the limit of {DEEPEST} nesting levels")]
    TooDeep,
    /// The text is longer than a token can address.
    #[error("it is larger than 4 GiB")]
    TooLong,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonKind {
    Null,
    False,
    True,
    Number,
    Text,
    List,
    Object,
}

impl JsonKind {
    /// The name of the type, for sentences.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::False | Self::True => "a boolean",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list",
            Self::Object => "an object",
        }
    }
}

/// The position of a value, without the quotes of a string, and of its name. A message can consist
/// of values almost entirely, so a token is small.
#[derive(Debug, Clone, Copy)]
struct Token {
    kind: JsonKind,
    escaped: bool,
    /// For an object: whether two of its names may be equal. The caller must then compare them.
    twice: bool,
    name: Name,
    /// The start of the name.
    named: u32,
    from: u32,
    to: u32,
    /// The index of the first token after this value.
    next: u32,
}

/// The name of a member, and where it starts; zero for a value without a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemberName {
    pub(super) name: Name,
    from: u32,
}

impl MemberName {
    const NONE: Self = Self { name: Name::Other, from: 0 };
}

/// The tokens of a message. The memory is reused for the next one.
#[derive(Debug, Default)]
pub(super) struct TokenStream {
    marks: Vec<Token>,
}

impl TokenStream {
    pub(super) fn read<'a>(&'a mut self, bytes: &'a [u8]) -> Result<MessageTokens<'a>, Unreadable> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Unreadable::NotText { at: error.valid_up_to() })?;
        if u32::try_from(bytes.len()).is_err() {
            return Err(Unreadable::TooLong);
        }
        self.marks.clear();
        Scan::read(text, &mut self.marks)?;
        Ok(MessageTokens { text, marks: &self.marks })
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct MessageTokens<'a> {
    text: &'a str,
    marks: &'a [Token],
}

impl<'a> MessageTokens<'a> {
    /// The outermost value.
    pub(super) fn root(&'a self) -> Node<'a> {
        self.node(0)
    }

    fn node(&'a self, at: u32) -> Node<'a> {
        // A node always has a token, so this default is never used.
        const NOTHING: &Token = &Token {
            kind: JsonKind::Null,
            escaped: false,
            twice: false,
            name: Name::Other,
            named: 0,
            from: 0,
            to: 0,
            next: 0,
        };
        Node { all: self, at, mark: self.marks.get(at as usize).unwrap_or(NOTHING) }
    }

    fn part(&self, from: u32, to: u32) -> &'a str {
        self.text.get(from as usize..to as usize).unwrap_or_default()
    }

    /// The name that starts here. Names are rarely read, so the token does not store their end.
    fn other_name(&self, from: u32) -> Cow<'a, str> {
        if from == 0 {
            return Cow::Borrowed("");
        }
        let (to, escaped) = reader::end_of_text(self.text.as_bytes(), from as usize);
        self.unescaped(escaped, from, to)
    }

    /// A string in decoded form. Its escapes were validated when it was marked.
    #[inline]
    fn unescaped(&self, escaped: bool, from: u32, to: u32) -> Cow<'a, str> {
        if !escaped {
            return Cow::Borrowed(self.part(from, to));
        }
        self.read_escaped(from, to)
    }

    #[cold]
    fn read_escaped(&self, from: u32, to: u32) -> Cow<'a, str> {
        let quoted = self.text.get(from as usize - 1..=to as usize).unwrap_or_default();
        Cow::Owned(serde_json::from_str(quoted).unwrap_or_default())
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    all: &'a MessageTokens<'a>,
    at: u32,
    mark: &'a Token,
}

impl<'a> Node<'a> {
    pub(super) fn kind(&self) -> JsonKind {
        self.mark.kind
    }

    /// The raw text of the value; a string without quotes and with its escapes.
    pub(super) fn raw(&self) -> &'a str {
        self.all.part(self.mark.from, self.mark.to)
    }

    /// Whether it is one of these words.
    #[inline]
    pub(super) fn is_among(&self, words: &[&str]) -> bool {
        let Token { kind, escaped, from, to, .. } = *self.mark;
        if escaped {
            return self.text().is_some_and(|text| words.contains(&&*text));
        }
        let text = self.all.text.as_bytes().get(from as usize..to as usize);
        kind == JsonKind::Text && is_among(text.unwrap_or_default(), words)
    }

    /// The decoded string, if it is one.
    #[inline]
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        let mark = self.mark;
        (mark.kind == JsonKind::Text).then(|| self.all.unescaped(mark.escaped, mark.from, mark.to))
    }

    /// The number, if it is one: the nearest double, as other JSON readers return it.
    pub(super) fn number(&self) -> Option<f64> {
        let read = || self.raw().parse().unwrap_or(f64::NAN);
        (self.kind() == JsonKind::Number)
            .then(|| small_number(self.raw().as_bytes()).unwrap_or_else(read))
    }

    /// The known name of a member.
    pub(super) fn known(&self) -> Name {
        self.mark.name
    }

    /// The decoded name of a member.
    pub(super) fn name(&self) -> Cow<'a, str> {
        let Token { name, named, .. } = *self.mark;
        if name == Name::Other { self.all.other_name(named) } else { Cow::Borrowed(name.text()) }
    }

    /// Whether two names of an object may be equal.
    pub(super) fn may_repeat(&self) -> bool {
        self.mark.twice
    }

    /// The values of a list or of an object, in order, with duplicates.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        let end = self.mark.next;
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let node = self.all.node(at);
            at = node.mark.next;
            Some(node)
        })
    }

    /// The members of an object by name; the last of duplicates.
    pub(super) fn fields<const N: usize>(self, names: [Name; N]) -> [Option<Self>; N] {
        // Index 0 is the outermost value, so no member has it.
        let mut found = [0_u32; Name::COUNT];
        for node in self.children() {
            if let Some(place) = found.get_mut(node.known() as usize) {
                *place = node.at;
            }
        }
        names.map(|name| {
            let at = found.get(name as usize).copied().unwrap_or_default();
            (at != 0).then(|| self.all.node(at))
        })
    }

    /// Every value below this one, at any depth.
    pub(super) fn descendants(self) -> impl Iterator<Item = Self> {
        (self.at + 1..self.mark.next).map(move |at| self.all.node(at))
    }
}

/// Whether a text is one of these words. Length and first byte are compared first.
#[inline]
pub(super) fn is_among(text: &[u8], words: &[&str]) -> bool {
    let is = |word: &[u8]| word.len() == text.len() && word.first() == text.first() && word == text;
    words.iter().any(|word| is(word.as_bytes()))
}

/// A number of up to fifteen digits, perhaps with a point. The number without the point and the
/// power of ten are exact doubles, so the division yields the nearest double.
pub(super) fn small_number(digits: &[u8]) -> Option<f64> {
    if digits.len() > 15 {
        return None;
    }
    let (mut whole, mut power) = (0.0, 1.0);
    let mut pointed = false;
    for digit in digits {
        match digit {
            b'0'..=b'9' => {
                whole = whole * 10.0 + f64::from(digit - b'0');
                power *= if pointed { 10.0 } else { 1.0 };
            }
            b'.' => pointed = true,
            _ => return None,
        }
    }
    Some(whole / power)
}

#[cfg(test)]
mod tests;

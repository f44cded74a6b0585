//! A message as it stands in its bytes: one pass over the text leaves a mark per value, nothing is
//! copied, and the marks are used again for the next message.
//!
//! A tree of `serde_json` forgets what we must tell: names that come twice, and numbers too large
//! for it. It also costs most of the time a check takes. What is JSON here is JSON there, but for
//! such numbers; a property holds it to that. Why we read JSON ourselves, and when not to any more,
//! is ADR 0038.

mod names;
mod reader;
mod scan;

use std::borrow::Cow;

use thiserror::Error;

use crate::nesting::DEEPEST;

pub(super) use names::Name;
pub(super) use reader::{Reader, Stopped};
use scan::Scan;

/// Why bytes are no message that could be judged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// Not text at all.
    #[error("it is not UTF-8 from byte {at} on")]
    NotText {
        /// The first byte that is none.
        at: usize,
    },
    /// Not JSON.
    #[error("it is not JSON: line {line}, column {column}: expected {expected}")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
        /// What could stand there.
        expected: &'static str,
    },
    /// JSON with more levels than anybody reads.
    #[error("it is nested deeper than {DEEPEST} levels")]
    TooDeep,
    /// Longer than marks can say.
    #[error("it is larger than 4 GiB")]
    TooLong,
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    False,
    True,
    Number,
    Text,
    List,
    Object,
}

impl Kind {
    /// Its name in sentences.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::False | Self::True => "a boolean",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Object => "an object",
        }
    }
}

/// Where a value stands, of a text without its quotes, and where its name does. There is one for every
/// value of a message that may be all values, so it is small.
#[derive(Debug, Clone, Copy)]
struct Mark {
    kind: Kind,
    escaped: bool,
    /// Of an object: whether two of its names might be one. Readers are asked to look closer.
    twice: bool,
    name: Name,
    /// Where the name begins.
    named: u32,
    from: u32,
    to: u32,
    /// The first mark that is not of this value.
    next: u32,
}

/// The name of a member, and where it begins; of what has none, zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub(super) name: Name,
    from: u32,
}

impl Named {
    const NOT: Self = Self { name: Name::Other, from: 0 };
}

/// The marks of one message after another.
#[derive(Debug, Default)]
pub(super) struct Tape {
    marks: Vec<Mark>,
}

impl Tape {
    /// Reads one text.
    pub(super) fn read<'a>(&'a mut self, bytes: &'a [u8]) -> Result<Marked<'a>, Unreadable> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Unreadable::NotText { at: error.valid_up_to() })?;
        if u32::try_from(bytes.len()).is_err() {
            return Err(Unreadable::TooLong);
        }
        self.marks.clear();
        Scan::read(text, &mut self.marks)?;
        Ok(Marked { text, marks: &self.marks })
    }
}

/// A text with its marks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marked<'a> {
    text: &'a str,
    marks: &'a [Mark],
}

impl<'a> Marked<'a> {
    /// The value that all others are in.
    pub(super) fn root(&'a self) -> Node<'a> {
        self.node(0)
    }

    fn node(&'a self, at: u32) -> Node<'a> {
        // A node is only made for a mark that is there.
        const NOTHING: &Mark = &Mark {
            kind: Kind::Null,
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

    /// The name that begins here. Few are ever asked for, so where it ends was not kept.
    fn other_name(&self, from: u32) -> Cow<'a, str> {
        if from == 0 {
            return Cow::Borrowed("");
        }
        let (to, escaped) = reader::end_of_text(self.text.as_bytes(), from as usize);
        self.unescaped(escaped, from, to)
    }

    /// A text as it reads. Its escapes were looked at when it was marked.
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

/// One value of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    all: &'a Marked<'a>,
    at: u32,
    mark: &'a Mark,
}

impl<'a> Node<'a> {
    pub(super) fn kind(&self) -> Kind {
        self.mark.kind
    }

    /// What stands there, of a text without quotes and as it was escaped.
    pub(super) fn raw(&self) -> &'a str {
        self.all.part(self.mark.from, self.mark.to)
    }

    /// Whether it is one of a few words.
    #[inline]
    pub(super) fn is_among(&self, words: &[&str]) -> bool {
        let Mark { kind, escaped, from, to, .. } = *self.mark;
        if escaped {
            return self.text().is_some_and(|text| words.contains(&&*text));
        }
        let text = self.all.text.as_bytes().get(from as usize..to as usize);
        kind == Kind::Text && is_among(text.unwrap_or_default(), words)
    }

    /// The text, if it is one.
    #[inline]
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        let mark = self.mark;
        (mark.kind == Kind::Text).then(|| self.all.unescaped(mark.escaped, mark.from, mark.to))
    }

    /// The number as every reader of JSON has it, if it is one: the nearest double.
    pub(super) fn number(&self) -> Option<f64> {
        let read = || self.raw().parse().unwrap_or(f64::NAN);
        (self.kind() == Kind::Number).then(|| small(self.raw().as_bytes()).unwrap_or_else(read))
    }

    /// Which of the names everybody knows a member has.
    pub(super) fn known(&self) -> Name {
        self.mark.name
    }

    /// The name of a member as it reads.
    pub(super) fn name(&self) -> Cow<'a, str> {
        let Mark { name, named, .. } = *self.mark;
        if name == Name::Other { self.all.other_name(named) } else { Cow::Borrowed(name.text()) }
    }

    /// Whether two names of an object might be one.
    pub(super) fn may_repeat(&self) -> bool {
        self.mark.twice
    }

    /// The values of a list or of an object, in order, those of names that come twice twice.
    pub(super) fn inner(self) -> impl Iterator<Item = Self> {
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

    /// The members of an object by name, the last of those given twice.
    pub(super) fn fields<const N: usize>(self, names: [Name; N]) -> [Option<Self>; N] {
        // No member is the first mark of all.
        let mut found = [0_u32; Name::COUNT];
        for node in self.inner() {
            if let Some(place) = found.get_mut(node.known() as usize) {
                *place = node.at;
            }
        }
        names.map(|name| {
            let at = found.get(name as usize).copied().unwrap_or_default();
            (at != 0).then(|| self.all.node(at))
        })
    }

    /// Every value below this one, at whatever depth.
    pub(super) fn all_below(self) -> impl Iterator<Item = Self> {
        (self.at + 1..self.mark.next).map(move |at| self.all.node(at))
    }
}

/// Whether a text is one of a few words. Where length and first letter differ, nothing is compared.
#[inline]
pub(super) fn is_among(text: &[u8], words: &[&str]) -> bool {
    let is = |word: &[u8]| word.len() == text.len() && word.first() == text.first() && word == text;
    words.iter().any(|word| is(word.as_bytes()))
}

/// A number of up to fifteen digits, perhaps with a point: both it without the point and the power of
/// ten it is divided by are doubles, so dividing gives the nearest one.
pub(super) fn small(digits: &[u8]) -> Option<f64> {
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

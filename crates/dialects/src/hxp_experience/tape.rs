//! A message as it stands in its bytes: one pass over the text leaves a mark per value, nothing is
//! copied, and the marks are used again for the next message.
//!
//! A tree of `serde_json` forgets what we must tell: names that come twice, and numbers too large
//! for it. It also costs most of the time a check takes. What is JSON here is JSON there, but for
//! such numbers; a property holds it to that.

use std::borrow::Cow;

use thiserror::Error;

use crate::nesting::DEEPEST;

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

/// Where a value stands. Of a text, without its quotes.
#[derive(Debug, Clone, Copy)]
struct Mark {
    kind: Kind,
    escaped: bool,
    from: u32,
    to: u32,
    /// The first mark that is not of this value.
    next: u32,
}

/// The marks of one message after another.
#[derive(Debug, Default)]
pub(super) struct Tape {
    marks: Vec<Mark>,
    open: Vec<u32>,
}

impl Tape {
    /// Reads one text.
    pub(super) fn read<'a>(&'a mut self, bytes: &'a [u8]) -> Result<Node<'a>, Unreadable> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Unreadable::NotText { at: error.valid_up_to() })?;
        if u32::try_from(bytes.len()).is_err() {
            return Err(Unreadable::TooLong);
        }
        self.marks.clear();
        self.open.clear();
        self.scan(bytes).map_err(|stop| match stop {
            Stop::TooDeep => Unreadable::TooDeep,
            Stop::At(at, expected) => {
                let (line, column) = place(text, at);
                Unreadable::NotJson { line, column, expected }
            }
        })?;
        Ok(Node { text, marks: &self.marks, at: 0 })
    }

    fn scan(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let mut at = blank(bytes, 0);
        loop {
            at = match bytes.get(at) {
                Some(b'{') => {
                    self.begin(Kind::Object, at)?;
                    let inside = blank(bytes, at + 1);
                    if bytes.get(inside) != Some(&b'}') {
                        at = self.name(bytes, inside)?;
                        continue;
                    }
                    self.end(inside + 1)
                }
                Some(b'[') => {
                    self.begin(Kind::List, at)?;
                    let inside = blank(bytes, at + 1);
                    if bytes.get(inside) != Some(&b']') {
                        at = inside;
                        continue;
                    }
                    self.end(inside + 1)
                }
                Some(b'"') => self.string(bytes, at)?,
                Some(b'-' | b'0'..=b'9') => {
                    let to = number(bytes, at)?;
                    self.leaf(Kind::Number, at, to)
                }
                Some(b'n') => self.word(bytes, at, b"null", Kind::Null)?,
                Some(b't') => self.word(bytes, at, b"true", Kind::True)?,
                Some(b'f') => self.word(bytes, at, b"false", Kind::False)?,
                _ => return Err(Stop::At(at, "a value")),
            };
            loop {
                at = blank(bytes, at);
                let Some(kind) = self.innermost() else {
                    let ends = at == bytes.len();
                    return if ends { Ok(()) } else { Err(Stop::At(at, "nothing more")) };
                };
                match (bytes.get(at), kind) {
                    (Some(b','), Kind::Object) => {
                        at = self.name(bytes, blank(bytes, at + 1))?;
                        break;
                    }
                    (Some(b','), _) => {
                        at = blank(bytes, at + 1);
                        break;
                    }
                    (Some(b'}'), Kind::Object) | (Some(b']'), Kind::List) => at = self.end(at + 1),
                    (_, Kind::Object) => return Err(Stop::At(at, "`,` or `}`")),
                    _ => return Err(Stop::At(at, "`,` or `]`")),
                }
            }
        }
    }

    fn innermost(&self) -> Option<Kind> {
        self.open.last().and_then(|&at| self.marks.get(at as usize)).map(|mark| mark.kind)
    }

    fn begin(&mut self, kind: Kind, at: usize) -> Result<(), Stop> {
        if self.open.len() >= DEEPEST {
            return Err(Stop::TooDeep);
        }
        self.open.push(short(self.marks.len()));
        self.mark(kind, false, at, at);
        Ok(())
    }

    fn end(&mut self, at: usize) -> usize {
        let next = short(self.marks.len());
        if let Some(mark) = self.open.pop().and_then(|open| self.marks.get_mut(open as usize)) {
            (mark.to, mark.next) = (short(at), next);
        }
        at
    }

    fn leaf(&mut self, kind: Kind, from: usize, to: usize) -> usize {
        self.mark(kind, false, from, to);
        to
    }

    fn mark(&mut self, kind: Kind, escaped: bool, from: usize, to: usize) {
        let next = short(self.marks.len() + 1);
        self.marks.push(Mark { kind, escaped, from: short(from), to: short(to), next });
    }

    fn word(&mut self, bytes: &[u8], at: usize, word: &[u8], kind: Kind) -> Result<usize, Stop> {
        let to = at + word.len();
        if bytes.get(at..to) == Some(word) {
            Ok(self.leaf(kind, at, to))
        } else {
            Err(Stop::At(at, "a value"))
        }
    }

    /// The name of a member, up to its value.
    fn name(&mut self, bytes: &[u8], at: usize) -> Result<usize, Stop> {
        if bytes.get(at) != Some(&b'"') {
            return Err(Stop::At(at, "a name in double quotes"));
        }
        let colon = blank(bytes, self.string(bytes, at)?);
        if bytes.get(colon) != Some(&b':') {
            return Err(Stop::At(colon, "`:`"));
        }
        Ok(blank(bytes, colon + 1))
    }

    fn string(&mut self, bytes: &[u8], quote: usize) -> Result<usize, Stop> {
        let mut escaped = false;
        let mut at = quote + 1;
        loop {
            at = plain(bytes, at);
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at = escape(bytes, at)?;
                }
                Some(_) => return Err(Stop::At(at, "no control character in a text")),
                None => return Err(Stop::At(at, "the end of the text, `\"`")),
            }
        }
        self.mark(Kind::Text, escaped, quote + 1, at);
        Ok(at + 1)
    }
}

/// Where reading stopped, and why.
enum Stop {
    At(usize, &'static str),
    TooDeep,
}

/// Lengths fit: longer texts were refused.
fn short(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The first byte from here that is no white space.
fn blank(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The first byte from here that means something in a text: a quote, a backslash, or a control
/// character, which may not be there. Eight at a time: the lowest marked byte is always a true one.
fn plain(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    let equal = |word: u64, byte: u64| {
        let rest = word ^ (ONES * byte);
        rest.wrapping_sub(ONES) & !rest
    };
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let found = (equal(word, 0x22) | equal(word, 0x5c) | control) & TOPS;
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        at += 1;
    }
    at
}

/// What stands behind a backslash. Half a surrogate pair is no character.
fn escape(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match unit(bytes, at)? {
            0xd800..=0xdbff => {
                let low = bytes.get(at + 6..at + 8) == Some(b"\\u");
                match if low { unit(bytes, at + 6)? } else { 0 } {
                    0xdc00..=0xdfff => Ok(at + 12),
                    _ => Err(Stop::At(at, "both halves of a surrogate pair")),
                }
            }
            0xdc00..=0xdfff => Err(Stop::At(at, "both halves of a surrogate pair")),
            _ => Ok(at + 6),
        },
        _ => Err(Stop::At(at, "an escape that JSON knows")),
    }
}

fn unit(bytes: &[u8], at: usize) -> Result<u32, Stop> {
    let digits = bytes.get(at + 2..at + 6).unwrap_or_default();
    let value = digits
        .iter()
        .try_fold(0, |sum, &digit| char::from(digit).to_digit(16).map(|digit| sum * 16 + digit));
    value.filter(|_| digits.len() == 4).ok_or(Stop::At(at, "four hexadecimal digits after `\\u`"))
}

fn number(bytes: &[u8], from: usize) -> Result<usize, Stop> {
    let mut at = from + usize::from(bytes.get(from) == Some(&b'-'));
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        _ => digits(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at = digits(bytes, at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-'))))?;
    }
    Ok(at)
}

fn digits(bytes: &[u8], from: usize) -> Result<usize, Stop> {
    let mut at = from;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at == from { Err(Stop::At(at, "a digit")) } else { Ok(at) }
}

/// Line and column, for whoever looks with an editor.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// One value of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    text: &'a str,
    marks: &'a [Mark],
    at: usize,
}

impl<'a> Node<'a> {
    fn mark(&self) -> Mark {
        // A node is only made for a mark that is there.
        let nothing = Mark { kind: Kind::Null, escaped: false, from: 0, to: 0, next: 0 };
        self.marks.get(self.at).copied().unwrap_or(nothing)
    }

    pub(super) fn kind(&self) -> Kind {
        self.mark().kind
    }

    /// What stands there, of a text without quotes and as it was escaped.
    pub(super) fn raw(&self) -> &'a str {
        let mark = self.mark();
        self.text.get(mark.from as usize..mark.to as usize).unwrap_or_default()
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        let mark = self.mark();
        if mark.kind != Kind::Text {
            return None;
        }
        if !mark.escaped {
            return Some(Cow::Borrowed(self.raw()));
        }
        // Its escapes were looked at when it was marked.
        let quoted = self.text.get(mark.from as usize - 1..=mark.to as usize)?;
        serde_json::from_str(quoted).ok().map(Cow::Owned)
    }

    /// The number as every reader of JSON has it, if it is one: the nearest double.
    pub(super) fn number(&self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| self.raw().parse().unwrap_or(f64::NAN))
    }

    /// The values of a list, the names and values of an object in turn.
    pub(super) fn inner(self) -> impl Iterator<Item = Self> {
        let end = self.mark().next as usize;
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            let node = Self { at, ..self };
            let is_there = at < end;
            at = node.mark().next as usize;
            is_there.then_some(node)
        })
    }

    /// Every member, in order, those that come twice twice.
    pub(super) fn members(self) -> impl Iterator<Item = (Cow<'a, str>, Self)> {
        let mut inner = self.inner();
        std::iter::from_fn(move || {
            let (name, value) = (inner.next()?, inner.next()?);
            Some((name.text().unwrap_or_default(), value))
        })
    }
}

#[cfg(test)]
mod tests;

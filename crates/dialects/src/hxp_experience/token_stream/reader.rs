//! Reads the tokens of JSON: where each starts and ends, and where reading stopped if the text is
//! not JSON.

use super::names::head;
use super::{MemberName, Name, Unreadable};
use crate::nesting::DEEPEST;

/// Reads tokens of a text and remembers where it stopped.
pub(in super::super) struct Reader<'s> {
    bytes: &'s [u8],
    stop: StopReason,
}

/// Reading stopped; the reader knows why.
pub(in super::super) struct ReadStopped;

/// Where reading stopped, and why.
#[derive(Clone, Copy)]
enum StopReason {
    At(usize, &'static str),
    TooDeep,
}

pub(super) const VALUE: &str = "a value";

impl<'s> Reader<'s> {
    pub(in super::super) fn new(text: &'s str) -> Self {
        Self { bytes: text.as_bytes(), stop: StopReason::At(0, VALUE) }
    }

    /// The error for this text.
    pub(super) fn to_error(&self, text: &str) -> Unreadable {
        match self.stop {
            StopReason::TooDeep => Unreadable::TooDeep,
            StopReason::At(at, expected) => {
                let (line, column) = line_and_column(text, at);
                Unreadable::NotJson { line, column, expected }
            }
        }
    }

    /// Whether this is the end of the text.
    pub(in super::super) fn is_end(&self, at: usize) -> bool {
        at == self.bytes.len()
    }

    /// The bytes between two positions.
    #[inline]
    pub(in super::super) fn part(&self, from: usize, to: usize) -> &'s [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Enters one level of nesting, if the limit allows it.
    #[inline]
    pub(in super::super) fn down(&mut self, depth: usize) -> Result<usize, ReadStopped> {
        if depth >= DEEPEST {
            self.stop = StopReason::TooDeep;
            return Err(ReadStopped);
        }
        Ok(depth + 1)
    }

    #[cold]
    pub(super) fn stop<T>(&mut self, at: usize, expected: &'static str) -> Result<T, ReadStopped> {
        self.stop = StopReason::At(at, expected);
        Err(ReadStopped)
    }

    /// The position and value of the next byte that is not white space. At the end the value is
    /// zero, which starts no token.
    #[inline]
    pub(in super::super) fn token(&self, mut at: usize) -> (usize, u8) {
        loop {
            match self.bytes.get(at) {
                Some(&byte) if byte > b' ' => return (at, byte),
                Some(b' ' | b'\n' | b'\r' | b'\t') => at += 1,
                _ => return (at, 0),
            }
        }
    }

    /// The name that starts here, its bit, and where it ends. An escape can hide that two names are
    /// equal, so a name with escapes has all bits.
    #[inline]
    pub(in super::super) fn name(
        &mut self,
        from: usize,
    ) -> Result<(MemberName, u64, usize), ReadStopped> {
        let (to, escaped) = self.string(from)?;
        let (name, bit) = if escaped {
            (self.unescaped(from, to), u64::MAX)
        } else {
            let text = self.bytes.get(from..to).unwrap_or_default();
            let head = match word(self.bytes, from) {
                Some(word) if text.len() >= 8 => word,
                Some(word) => word & ((1 << (8 * text.len())) - 1),
                None => head(text),
            };
            Name::of(text, head)
        };
        Ok((MemberName { name, from: to_u32(from) }, bit, to))
    }

    #[cold]
    fn unescaped(&self, from: usize, to: usize) -> Name {
        let quoted = self.bytes.get(from - 1..=to).unwrap_or_default();
        let read: String = serde_json::from_slice(quoted).unwrap_or_default();
        Name::of(read.as_bytes(), head(read.as_bytes())).0
    }

    /// `true`, `false` or `null`.
    #[inline]
    pub(in super::super) fn word(&mut self, at: usize, word: &[u8]) -> Result<usize, ReadStopped> {
        let to = at + word.len();
        if self.bytes.get(at..to) == Some(word) { Ok(to) } else { self.stop(at, VALUE) }
    }

    /// Where a string ends that starts here, and whether it has escapes. Most strings are short.
    #[inline]
    pub(in super::super) fn string(&mut self, from: usize) -> Result<(usize, bool), ReadStopped> {
        let mut at = from;
        while at < from + 32
            && let Some(word) = word(self.bytes, at)
        {
            let found = special(word);
            if found != 0 {
                let place = found.trailing_zeros() & !7;
                at += place as usize / 8;
                let quote = (word >> place) & 0xff == u64::from(b'"');
                return if quote { Ok((at, false)) } else { self.escaped(at) };
            }
            at += 8;
        }
        let at = plain(self.bytes, at);
        if self.bytes.get(at) == Some(&b'"') { Ok((at, false)) } else { self.escaped(at) }
    }

    #[cold]
    fn escaped(&mut self, mut at: usize) -> Result<(usize, bool), ReadStopped> {
        loop {
            match self.bytes.get(at) {
                Some(b'"') => return Ok((at, true)),
                Some(b'\\') => at = self.escape(at)?,
                Some(_) => return self.stop(at, "no control character in a string"),
                None => return self.stop(at, "the end of the string, `\"`"),
            }
            at = plain(self.bytes, at);
        }
    }

    /// Reads an escape. Half a surrogate pair is an error.
    fn escape(&mut self, at: usize) -> Result<usize, ReadStopped> {
        const PAIR: &str = "both halves of a surrogate pair";
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u') => match self.unit(at)? {
                0xd800..=0xdbff => {
                    let low = self.bytes.get(at + 6..at + 8) == Some(b"\\u");
                    match if low { self.unit(at + 6)? } else { 0 } {
                        0xdc00..=0xdfff => Ok(at + 12),
                        _ => self.stop(at, PAIR),
                    }
                }
                0xdc00..=0xdfff => self.stop(at, PAIR),
                _ => Ok(at + 6),
            },
            _ => self.stop(at, "an escape that JSON knows"),
        }
    }

    fn unit(&mut self, at: usize) -> Result<u32, ReadStopped> {
        let digits = self.bytes.get(at + 2..at + 6).unwrap_or_default();
        let value = digits.iter().try_fold(0, |sum, &digit| {
            char::from(digit).to_digit(16).map(|digit| sum * 16 + digit)
        });
        match value.filter(|_| digits.len() == 4) {
            Some(value) => Ok(value),
            None => self.stop(at, "four hexadecimal digits after `\\u`"),
        }
    }

    pub(in super::super) fn number(&mut self, from: usize) -> Result<usize, ReadStopped> {
        let mut at = from + usize::from(self.bytes.get(from) == Some(&b'-'));
        at = match self.bytes.get(at) {
            Some(b'0') => at + 1,
            _ => self.digits(at)?,
        };
        if self.bytes.get(at) == Some(&b'.') {
            at = self.digits(at + 1)?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(at) {
            let sign = matches!(self.bytes.get(at + 1), Some(b'+' | b'-'));
            at = self.digits(at + 1 + usize::from(sign))?;
        }
        Ok(at)
    }

    fn digits(&mut self, from: usize) -> Result<usize, ReadStopped> {
        let mut at = from;
        while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if at == from { self.stop(at, "a digit") } else { Ok(at) }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "lengths fit: longer texts were refused")]
#[inline]
pub(super) fn to_u32(length: usize) -> u32 {
    length as u32
}

/// The eight bytes from here as a number, if there are as many.
#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

/// Marks, in the highest bit of each of eight bytes, the bytes that are special in a string: a
/// quote, a backslash, or a control character, which is not allowed. Only the lowest mark is
/// reliable, because the subtraction borrows.
///
/// With one bit flipped, a quote becomes 0x20, right above the control characters, and a space does
/// not.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    let low = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
    (low | backslash) & !word & TOPS
}

/// The first special byte of a string from here. A long string is scanned in chunks until one has a
/// special byte.
fn plain(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let means = |byte: u8| byte ^ 0x02 < 0x21 || byte == b'\\';
    let (lines, _) = rest.as_chunks::<64>();
    let empty = |line: &&[u8; 64]| !line.iter().fold(false, |any, &byte| any | means(byte));
    let passed = lines.iter().take_while(empty).count() * 64;
    let (words, _) = rest.get(passed..).unwrap_or_default().as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return from + passed + n * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let last = passed + words.len() * 8;
    let behind = rest.get(last..).unwrap_or_default();
    from + last + behind.iter().position(|&byte| means(byte)).unwrap_or(behind.len())
}

/// Where a string ends that starts here and was read before, and whether it has escapes.
pub(super) fn end_of_text(bytes: &[u8], from: usize) -> (u32, bool) {
    let mut at = plain(bytes, from);
    let escaped = bytes.get(at) == Some(&b'\\');
    while bytes.get(at) == Some(&b'\\') {
        at = plain(bytes, at + 2);
    }
    (to_u32(at), escaped)
}

/// Line and column, as an editor shows them.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

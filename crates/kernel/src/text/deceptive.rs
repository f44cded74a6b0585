//! Text that looks like other text: characters of another script that look like Latin ones, digits
//! of two number systems in one number, marks stacked on one base character, and characters that
//! take space and show nothing.
//!
//! The lookalikes come from the confusables of Unicode's security mechanisms (UTS 39).

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};
use unicode_security::confusable_detection::skeleton;

/// The maximum number of marks on one base character. More hide the text around them (UTS 39,
/// section 5.4).
const MARKS: usize = 4;
const TEXT_STYLE: char = '\u{fe0e}';
const EMOJI_STYLE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
/// The maximum length of a host name, in bytes (RFC 1035, section 2.3.4). A host name may follow
/// every word of a text, so reading without a limit would take time quadratic in the length of the
/// text.
const LONGEST_HOST: usize = 253;

/// The characters of a text, each with whether a reader would mistake it for another or not see it.
pub(super) fn find_deceptive(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut words = Words::new(text);
    let (mut before, mut marks) = (None, 0);
    text.char_indices().map(move |(place, c)| {
        let after = text.get(place + c.len_utf8()..).and_then(|rest| rest.chars().next());
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        let deceives = marks > MARKS
            || is_blank(c)
            || is_stray_selector(before, c, after)
            || words.at(place).is_some_and(|word| word.deceives(before, c, after));
        before = Some(c);
        (c, deceives)
    })
}

/// Whether a character takes space and shows nothing, although it is not a space.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{2800}' | '\u{1d159}')
}

/// Whether a variation selector follows a character without such a variation. It would only make
/// two texts differ that look the same.
fn is_stray_selector(before: Option<char>, c: char, after: Option<char>) -> bool {
    match c {
        TEXT_STYLE | EMOJI_STYLE => !before.is_some_and(|base| match base {
            '#' | '*' | '0'..='9' => after == Some(KEYCAP),
            '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}' => true,
            _ => false,
        }),
        '\u{fe00}'..='\u{fe0d}' => true,
        _ => false,
    }
}

/// A sequence of alphanumeric characters and their marks.
#[derive(Clone)]
struct Word {
    range: Range<usize>,
    /// Whether it has a Latin character.
    latin: bool,
    /// Whether it has an ASCII digit.
    digits: bool,
    /// Whether all of it could be mistaken for Latin text, and it is part of a host name.
    disguised_host: bool,
}

impl Word {
    fn read(text: &str, range: Range<usize>) -> Self {
        let word = text.get(range.clone()).unwrap_or_default();
        let latin = word.chars().any(|c| c.script() == Script::Latin);
        let disguised = !latin && word.chars().any(is_lookalike) && word.chars().all(is_disguise);
        Self {
            latin,
            digits: word.bytes().any(|byte| byte.is_ascii_digit()),
            disguised_host: disguised && is_in_host(text, &range),
            range,
        }
    }

    fn deceives(&self, before: Option<char>, c: char, after: Option<char>) -> bool {
        if c.is_ascii() {
            return false;
        }
        if c.is_numeric() && c.to_digit(10).is_none() && is_decimal(c) {
            return self.digits;
        }
        let beside_digit =
            [before, after].into_iter().flatten().any(|beside| beside.is_ascii_digit());
        is_lookalike(c) && (self.latin || self.disguised_host || (beside_digit && is_like_digit(c)))
    }
}

/// The words of a text, in order.
struct Words<'t> {
    text: &'t str,
    word: Option<Word>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, word: None }
    }

    /// The word at a position. Positions must be requested in order.
    fn at(&mut self, place: usize) -> Option<&Word> {
        let known = self.word.as_ref().is_some_and(|word| word.range.contains(&place));
        if !known {
            let rest = self.text.get(place..)?;
            let length = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
            self.word = (length > 0).then(|| Word::read(self.text, place..place + length));
        }
        self.word.as_ref()
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Whether an alphabetic character of another script looks like an ASCII alphanumeric one.
fn is_lookalike(c: char) -> bool {
    let foreign = !c.is_ascii() && c.is_alphabetic() && c.script() != Script::Latin;
    foreign && alike(c).is_some()
}

/// Whether a character does not reveal that a word is disguised.
fn is_disguise(c: char) -> bool {
    c.is_ascii_digit() || is_lookalike(c)
}

/// The first ASCII character that a character looks like, if it looks like ASCII only.
fn alike(c: char) -> Option<char> {
    let mut bytes = [0; 4];
    let mut shape = skeleton(c.encode_utf8(&mut bytes));
    let first = shape.next().filter(char::is_ascii_alphanumeric)?;
    shape.all(|c| c.is_ascii_alphanumeric()).then_some(first)
}

/// Whether a character looks like a zero or a one.
fn is_like_digit(c: char) -> bool {
    alike(c).is_some_and(|like| matches!(like, 'O' | 'o' | '0' | 'l' | 'I' | 'i' | '1'))
}

/// Whether a character is a digit of another decimal system.
fn is_decimal(c: char) -> bool {
    !c.is_ascii() && c.is_numeric() && !c.is_alphabetic()
}

/// Whether a word is part of a name such as `example.com`: a dot follows, and then an ASCII label
/// that ends the name.
fn is_in_host(text: &str, word: &Range<usize>) -> bool {
    let rest = text.get(word.end..).unwrap_or_default();
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let within = rest.get(..rest.floor_char_boundary(LONGEST_HOST)).unwrap_or(rest);
    let end = within.find(|c| !of_name(c));
    let Some(end) = end.or_else(|| (within.len() == rest.len()).then_some(rest.len())) else {
        return false;
    };
    let name = within.get(..end).unwrap_or_default();
    let last = name.rsplit_once('.').map_or("", |(_, last)| last);
    last.len() >= 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic())
}

//! A fast path that computes the level of a plainly valid message in one pass over its bytes,
//! without allocating. Everything else (escapes in compared strings, duplicate names, errors) is
//! left to [`check`](super::check), which reports why. So this path only confirms that a message is
//! valid; a property test compares it with `check`.

use std::str;

use super::finding::Level;
use super::syntax::is_version;
use super::tape::{Name, Reader, Stopped, is_among, small};
use super::{CHUNKING, FORMAT, HARM_RISK, REFUSAL_TYPE, SEVERITY, TONE, VERBOSITY, VERSION};

/// The type of a field.
#[derive(Clone, Copy)]
enum Takes {
    /// Any JSON: the field is unknown.
    Anything,
    Version,
    Text,
    Filled,
    /// A string of two or more characters.
    Language,
    Texts,
    Words(&'static [&'static str]),
    Boolean,
    /// A number from 0 to 1.
    Unit,
    /// An integer between two bounds.
    Whole(f64, f64),
    Object,
    Content,
    Part(&'static Part),
    /// A list of objects with these fields.
    Parts(&'static Part),
}

/// An object with known fields: the type of each, the bits of all, and the bits of the required
/// ones.
struct Part {
    takes: [Takes; Name::COUNT],
    known: u64,
    required: u64,
}

/// An object without known fields.
static UNKNOWN: Part = part(&[], &[]);

const fn part(fields: &[(Name, Takes)], required: &[Name]) -> Part {
    let mut takes = [Takes::Anything; Name::COUNT];
    let (mut known, mut at) = (0, 0);
    while at < fields.len() {
        let (name, value) = fields[at];
        takes[name as usize] = value;
        known |= 1 << name as u32;
        at += 1;
    }
    Part { takes, known, required: bits(required) }
}

const fn bits(names: &[Name]) -> u64 {
    let (mut bits, mut at) = (0, 0);
    while at < names.len() {
        bits |= 1 << names[at] as u32;
        at += 1;
    }
    bits
}

static MESSAGE: Part = part(
    &[(Name::Hxp, Takes::Part(&ENVELOPE)), (Name::Content, Takes::Content)],
    &[Name::Hxp, Name::Content],
);

static ENVELOPE: Part = part(
    &[
        (Name::Version, Takes::Version),
        (Name::Intent, Takes::Filled),
        (Name::Delivery, Takes::Part(&DELIVERY)),
        (Name::Transparency, Takes::Part(&TRANSPARENCY)),
        (Name::Actions, Takes::Parts(&ACTION)),
        (Name::Cognition, Takes::Part(&COGNITION)),
        (Name::Negotiation, Takes::Part(&NEGOTIATION)),
        (Name::Refusal, Takes::Part(&REFUSAL)),
        (Name::Safety, Takes::Part(&SAFETY)),
        (Name::Extensions, Takes::Object),
    ],
    &[Name::Version, Name::Intent, Name::Delivery, Name::Transparency, Name::Actions],
);

static DELIVERY: Part = part(
    &[
        (Name::Verbosity, Takes::Words(VERBOSITY)),
        (Name::Format, Takes::Words(FORMAT)),
        (Name::Tone, Takes::Words(TONE)),
        (Name::Language, Takes::Language),
    ],
    &[Name::Verbosity],
);

static TRANSPARENCY: Part = part(
    &[
        (Name::Confidence, Takes::Unit),
        (Name::VerificationNeeded, Takes::Boolean),
        (Name::Assumptions, Takes::Texts),
        (Name::Limits, Takes::Texts),
    ],
    &[Name::Confidence],
);

static ACTION: Part = part(
    &[(Name::Type, Takes::Filled), (Name::Label, Takes::Text), (Name::Payload, Takes::Object)],
    &[Name::Type],
);

static COGNITION: Part = part(
    &[
        (Name::Load, Takes::Whole(1.0, 10.0)),
        (Name::EstimatedReadSeconds, Takes::Whole(0.0, f64::MAX)),
        (Name::Chunking, Takes::Words(CHUNKING)),
    ],
    &[],
);

static NEGOTIATION: Part = part(
    &[(Name::IntentConfirmed, Takes::Boolean), (Name::ClarifyingQuestions, Takes::Texts)],
    &[],
);

static REFUSAL: Part = part(
    &[
        (Name::Type, Takes::Words(REFUSAL_TYPE)),
        (Name::Severity, Takes::Words(SEVERITY)),
        (Name::RedirectAvailable, Takes::Boolean),
    ],
    &[],
);

static SAFETY: Part = part(
    &[
        (Name::AlignmentSource, Takes::Text),
        (Name::HarmRisk, Takes::Words(HARM_RISK)),
        (Name::SafetyFlag, Takes::Boolean),
    ],
    &[],
);

/// The fields that the level above Core needs. Each of these names belongs to only one part.
const STANDARD: u64 = bits(&[
    Name::Format,
    Name::Tone,
    Name::Language,
    Name::Load,
    Name::EstimatedReadSeconds,
    Name::Chunking,
    Name::VerificationNeeded,
    Name::Assumptions,
    Name::IntentConfirmed,
    Name::ClarifyingQuestions,
]);

/// The fields of which the highest level needs at least one.
const FULL: u64 = bits(&[Name::Refusal, Name::Safety, Name::Extensions]);

/// The level of a message, if it is plainly valid.
pub(super) fn level(message: &[u8]) -> Option<Level> {
    let text = str::from_utf8(message).ok()?;
    let mut glance = Glance { reader: Reader::new(text), has: 0 };
    let (at, first) = glance.reader.token(0);
    let end = glance.value(at, first, Takes::Part(&MESSAGE), 0).ok()?;
    let (end, _) = glance.reader.token(end);
    if !glance.reader.is_end(end) {
        return None;
    }
    Some(match (glance.has & STANDARD == STANDARD, glance.has & FULL != 0) {
        (false, _) => Level::Core,
        (true, false) => Level::Standard,
        (true, true) => Level::Full,
    })
}

struct Glance<'s> {
    reader: Reader<'s>,
    /// The known fields found so far, in any part.
    has: u64,
}

impl Glance<'_> {
    /// Skips a value, if it plainly has the type.
    #[inline]
    fn value(
        &mut self,
        at: usize,
        first: u8,
        takes: Takes,
        depth: usize,
    ) -> Result<usize, Stopped> {
        match (takes, first) {
            (Takes::Text | Takes::Content, b'"') => Ok(self.reader.string(at + 1)?.0 + 1),
            (Takes::Filled | Takes::Language | Takes::Version | Takes::Words(_), b'"') => {
                let (to, escaped) = self.reader.string(at + 1)?;
                let text = self.reader.part(at + 1, to);
                let fits = !escaped
                    && match takes {
                        Takes::Words(words) => is_among(text, words),
                        Takes::Version => {
                            text == VERSION.as_bytes() || str::from_utf8(text).is_ok_and(is_version)
                        }
                        Takes::Language => {
                            str::from_utf8(text).is_ok_and(|text| text.chars().nth(1).is_some())
                        }
                        _ => !text.is_empty(),
                    };
                if fits { Ok(to + 1) } else { Err(Stopped) }
            }
            (Takes::Unit, b'-' | b'0'..=b'9') => {
                self.number(at, |number| (0.0..=1.0).contains(&number))
            }
            (Takes::Whole(least, most), b'-' | b'0'..=b'9') => {
                self.number(at, |number| number.fract() == 0.0 && (least..=most).contains(&number))
            }
            (Takes::Boolean, b't') => self.reader.word(at, b"true"),
            (Takes::Boolean, b'f') => self.reader.word(at, b"false"),
            (Takes::Part(part), b'{') => self.object(at, part, depth),
            (Takes::Texts, b'[') => self.list(at, Takes::Text, depth),
            (Takes::Parts(part), b'[') => self.list(at, Takes::Part(part), depth),
            (Takes::Object | Takes::Content, b'{') | (Takes::Anything, _) => {
                self.skip(at, first, depth)
            }
            _ => Err(Stopped),
        }
    }

    fn object(&mut self, from: usize, part: &Part, depth: usize) -> Result<usize, Stopped> {
        let depth = self.reader.down(depth)?;
        let (mut at, mut byte) = self.reader.token(from + 1);
        let mut seen = 0;
        if byte != b'}' {
            loop {
                if byte != b'"' {
                    return Err(Stopped);
                }
                let (named, bit, to) = self.reader.name(at + 1)?;
                // The full check decides which of two duplicates counts.
                if seen & bit & part.known != 0 || bit == u64::MAX {
                    return Err(Stopped);
                }
                seen |= bit;
                (at, byte) = self.reader.token(to + 1);
                if byte != b':' {
                    return Err(Stopped);
                }
                (at, byte) = self.reader.token(at + 1);
                let takes = part.takes.get(named.name as usize).copied();
                let takes = takes.unwrap_or(Takes::Anything);
                at = self.value(at, byte, takes, depth)?;
                (at, byte) = self.reader.token(at);
                match byte {
                    b',' => (at, byte) = self.reader.token(at + 1),
                    b'}' => break,
                    _ => return Err(Stopped),
                }
            }
        }
        self.has |= seen & part.known;
        if seen & part.required == part.required { Ok(at + 1) } else { Err(Stopped) }
    }

    fn list(&mut self, from: usize, takes: Takes, depth: usize) -> Result<usize, Stopped> {
        let depth = self.reader.down(depth)?;
        let (mut at, mut byte) = self.reader.token(from + 1);
        if byte == b']' {
            return Ok(at + 1);
        }
        loop {
            at = self.value(at, byte, takes, depth)?;
            (at, byte) = self.reader.token(at);
            match byte {
                b',' => (at, byte) = self.reader.token(at + 1),
                b']' => return Ok(at + 1),
                _ => return Err(Stopped),
            }
        }
    }

    /// Skips any JSON value.
    fn skip(&mut self, at: usize, first: u8, depth: usize) -> Result<usize, Stopped> {
        match first {
            b'"' => Ok(self.reader.string(at + 1)?.0 + 1),
            b'-' | b'0'..=b'9' => self.reader.number(at),
            b't' => self.reader.word(at, b"true"),
            b'f' => self.reader.word(at, b"false"),
            b'n' => self.reader.word(at, b"null"),
            b'{' => self.object(at, &UNKNOWN, depth),
            b'[' => self.list(at, Takes::Anything, depth),
            _ => Err(Stopped),
        }
    }

    fn number(&mut self, at: usize, fits: impl Fn(f64) -> bool) -> Result<usize, Stopped> {
        let to = self.reader.number(at)?;
        let digits = self.reader.part(at, to);
        let number = small(digits).or_else(|| str::from_utf8(digits).ok()?.parse().ok());
        if number.is_some_and(fits) { Ok(to) } else { Err(Stopped) }
    }
}

//! A fast path that computes the level of a plainly valid message in one pass over its bytes,
//! without allocating. Everything else (escapes in compared strings, duplicate names, errors) is
//! left to [`check`](super::check), which reports why. So this path only confirms that a message is
//! valid; a property test compares it with `check`.

use std::str;

use super::finding::ConformanceLevel;
use super::syntax::is_version;
use super::token_stream::{Name, ReadStopped, Reader, is_among, small_number};
use super::{CHUNKING, FORMAT, HARM_RISK, REFUSAL_TYPE, SEVERITY, TONE, VERBOSITY, VERSION};

/// The type of a field.
#[derive(Clone, Copy)]
enum FieldType {
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
    Part(&'static ObjectSpec),
    /// A list of objects with these fields.
    Parts(&'static ObjectSpec),
}

/// An object with known fields: the type of each, the bits of all, and the bits of the required
/// ones.
struct ObjectSpec {
    takes: [FieldType; Name::COUNT],
    known: u64,
    required: u64,
}

/// An object without known fields.
static UNKNOWN: ObjectSpec = part(&[], &[]);

const fn part(fields: &[(Name, FieldType)], required: &[Name]) -> ObjectSpec {
    let mut takes = [FieldType::Anything; Name::COUNT];
    let (mut known, mut at) = (0, 0);
    while at < fields.len() {
        let (name, value) = fields[at];
        takes[name as usize] = value;
        known |= 1 << name as u32;
        at += 1;
    }
    ObjectSpec { takes, known, required: bits(required) }
}

const fn bits(names: &[Name]) -> u64 {
    let (mut bits, mut at) = (0, 0);
    while at < names.len() {
        bits |= 1 << names[at] as u32;
        at += 1;
    }
    bits
}

static MESSAGE: ObjectSpec = part(
    &[(Name::Hxp, FieldType::Part(&ENVELOPE)), (Name::Content, FieldType::Content)],
    &[Name::Hxp, Name::Content],
);

static ENVELOPE: ObjectSpec = part(
    &[
        (Name::Version, FieldType::Version),
        (Name::Intent, FieldType::Filled),
        (Name::Delivery, FieldType::Part(&DELIVERY)),
        (Name::Transparency, FieldType::Part(&TRANSPARENCY)),
        (Name::Actions, FieldType::Parts(&ACTION)),
        (Name::Cognition, FieldType::Part(&COGNITION)),
        (Name::Negotiation, FieldType::Part(&NEGOTIATION)),
        (Name::Refusal, FieldType::Part(&REFUSAL)),
        (Name::Safety, FieldType::Part(&SAFETY)),
        (Name::Extensions, FieldType::Object),
    ],
    &[Name::Version, Name::Intent, Name::Delivery, Name::Transparency, Name::Actions],
);

static DELIVERY: ObjectSpec = part(
    &[
        (Name::Verbosity, FieldType::Words(VERBOSITY)),
        (Name::Format, FieldType::Words(FORMAT)),
        (Name::Tone, FieldType::Words(TONE)),
        (Name::Language, FieldType::Language),
    ],
    &[Name::Verbosity],
);

static TRANSPARENCY: ObjectSpec = part(
    &[
        (Name::Confidence, FieldType::Unit),
        (Name::VerificationNeeded, FieldType::Boolean),
        (Name::Assumptions, FieldType::Texts),
        (Name::Limits, FieldType::Texts),
    ],
    &[Name::Confidence],
);

static ACTION: ObjectSpec = part(
    &[
        (Name::Type, FieldType::Filled),
        (Name::Label, FieldType::Text),
        (Name::Payload, FieldType::Object),
    ],
    &[Name::Type],
);

static COGNITION: ObjectSpec = part(
    &[
        (Name::Load, FieldType::Whole(1.0, 10.0)),
        (Name::EstimatedReadSeconds, FieldType::Whole(0.0, f64::MAX)),
        (Name::Chunking, FieldType::Words(CHUNKING)),
    ],
    &[],
);

static NEGOTIATION: ObjectSpec = part(
    &[(Name::IntentConfirmed, FieldType::Boolean), (Name::ClarifyingQuestions, FieldType::Texts)],
    &[],
);

static REFUSAL: ObjectSpec = part(
    &[
        (Name::Type, FieldType::Words(REFUSAL_TYPE)),
        (Name::Severity, FieldType::Words(SEVERITY)),
        (Name::RedirectAvailable, FieldType::Boolean),
    ],
    &[],
);

static SAFETY: ObjectSpec = part(
    &[
        (Name::AlignmentSource, FieldType::Text),
        (Name::HarmRisk, FieldType::Words(HARM_RISK)),
        (Name::SafetyFlag, FieldType::Boolean),
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
pub(super) fn fast_level(message: &[u8]) -> Option<ConformanceLevel> {
    let text = str::from_utf8(message).ok()?;
    let mut glance = FastCheck { reader: Reader::new(text), has: 0 };
    let (at, first) = glance.reader.token(0);
    let end = glance.value(at, first, FieldType::Part(&MESSAGE), 0).ok()?;
    let (end, _) = glance.reader.token(end);
    if !glance.reader.is_end(end) {
        return None;
    }
    Some(match (glance.has & STANDARD == STANDARD, glance.has & FULL != 0) {
        (false, _) => ConformanceLevel::Core,
        (true, false) => ConformanceLevel::Standard,
        (true, true) => ConformanceLevel::Full,
    })
}

struct FastCheck<'s> {
    reader: Reader<'s>,
    /// The known fields found so far, in any part.
    has: u64,
}

impl FastCheck<'_> {
    /// Skips a value, if it plainly has the type.
    #[inline]
    fn value(
        &mut self,
        at: usize,
        first: u8,
        takes: FieldType,
        depth: usize,
    ) -> Result<usize, ReadStopped> {
        match (takes, first) {
            (FieldType::Text | FieldType::Content, b'"') => Ok(self.reader.string(at + 1)?.0 + 1),
            (
                FieldType::Filled | FieldType::Language | FieldType::Version | FieldType::Words(_),
                b'"',
            ) => {
                let (to, escaped) = self.reader.string(at + 1)?;
                let text = self.reader.part(at + 1, to);
                let fits = !escaped
                    && match takes {
                        FieldType::Words(words) => is_among(text, words),
                        FieldType::Version => {
                            text == VERSION.as_bytes() || str::from_utf8(text).is_ok_and(is_version)
                        }
                        FieldType::Language => {
                            str::from_utf8(text).is_ok_and(|text| text.chars().nth(1).is_some())
                        }
                        _ => !text.is_empty(),
                    };
                if fits { Ok(to + 1) } else { Err(ReadStopped) }
            }
            (FieldType::Unit, b'-' | b'0'..=b'9') => {
                self.number(at, |number| (0.0..=1.0).contains(&number))
            }
            (FieldType::Whole(least, most), b'-' | b'0'..=b'9') => {
                self.number(at, |number| number.fract() == 0.0 && (least..=most).contains(&number))
            }
            (FieldType::Boolean, b't') => self.reader.word(at, b"true"),
            (FieldType::Boolean, b'f') => self.reader.word(at, b"false"),
            (FieldType::Part(part), b'{') => self.object(at, part, depth),
            (FieldType::Texts, b'[') => self.list(at, FieldType::Text, depth),
            (FieldType::Parts(part), b'[') => self.list(at, FieldType::Part(part), depth),
            (FieldType::Object | FieldType::Content, b'{') | (FieldType::Anything, _) => {
                self.skip(at, first, depth)
            }
            _ => Err(ReadStopped),
        }
    }

    fn object(
        &mut self,
        from: usize,
        part: &ObjectSpec,
        depth: usize,
    ) -> Result<usize, ReadStopped> {
        let depth = self.reader.down(depth)?;
        let (mut at, mut byte) = self.reader.token(from + 1);
        let mut seen = 0;
        if byte != b'}' {
            loop {
                if byte != b'"' {
                    return Err(ReadStopped);
                }
                let (named, bit, to) = self.reader.name(at + 1)?;
                // The full check decides which of two duplicates counts.
                if seen & bit & part.known != 0 || bit == u64::MAX {
                    return Err(ReadStopped);
                }
                seen |= bit;
                (at, byte) = self.reader.token(to + 1);
                if byte != b':' {
                    return Err(ReadStopped);
                }
                (at, byte) = self.reader.token(at + 1);
                let takes = part.takes.get(named.name as usize).copied();
                let takes = takes.unwrap_or(FieldType::Anything);
                at = self.value(at, byte, takes, depth)?;
                (at, byte) = self.reader.token(at);
                match byte {
                    b',' => (at, byte) = self.reader.token(at + 1),
                    b'}' => break,
                    _ => return Err(ReadStopped),
                }
            }
        }
        self.has |= seen & part.known;
        if seen & part.required == part.required { Ok(at + 1) } else { Err(ReadStopped) }
    }

    fn list(&mut self, from: usize, takes: FieldType, depth: usize) -> Result<usize, ReadStopped> {
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
                _ => return Err(ReadStopped),
            }
        }
    }

    /// Skips any JSON value.
    fn skip(&mut self, at: usize, first: u8, depth: usize) -> Result<usize, ReadStopped> {
        match first {
            b'"' => Ok(self.reader.string(at + 1)?.0 + 1),
            b'-' | b'0'..=b'9' => self.reader.number(at),
            b't' => self.reader.word(at, b"true"),
            b'f' => self.reader.word(at, b"false"),
            b'n' => self.reader.word(at, b"null"),
            b'{' => self.object(at, &UNKNOWN, depth),
            b'[' => self.list(at, FieldType::Anything, depth),
            _ => Err(ReadStopped),
        }
    }

    fn number(&mut self, at: usize, fits: impl Fn(f64) -> bool) -> Result<usize, ReadStopped> {
        let to = self.reader.number(at)?;
        let digits = self.reader.part(at, to);
        let number = small_number(digits).or_else(|| str::from_utf8(digits).ok()?.parse().ok());
        if number.is_some_and(fits) { Ok(to) } else { Err(ReadStopped) }
    }
}

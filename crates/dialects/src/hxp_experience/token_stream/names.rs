//! The known field names, recognized while reading. Finding a member then compares numbers, and
//! finding duplicates compares bits.

/// The name of a known field, or any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in super::super) enum Name {
    Other,
    Hxp,
    Content,
    Version,
    Intent,
    Delivery,
    Transparency,
    Actions,
    Cognition,
    Negotiation,
    Refusal,
    Safety,
    Extensions,
    Verbosity,
    Format,
    Tone,
    Language,
    Load,
    EstimatedReadSeconds,
    Chunking,
    Confidence,
    VerificationNeeded,
    Assumptions,
    Limits,
    Type,
    Label,
    Payload,
    IntentConfirmed,
    ClarifyingQuestions,
    Severity,
    RedirectAvailable,
    AlignmentSource,
    HarmRisk,
    SafetyFlag,
}

impl Name {
    /// The number of names.
    pub(in super::super) const COUNT: usize = Self::ALL.len();

    /// Every name at the index of its number.
    const ALL: [Self; 34] = [
        Self::Other,
        Self::Hxp,
        Self::Content,
        Self::Version,
        Self::Intent,
        Self::Delivery,
        Self::Transparency,
        Self::Actions,
        Self::Cognition,
        Self::Negotiation,
        Self::Refusal,
        Self::Safety,
        Self::Extensions,
        Self::Verbosity,
        Self::Format,
        Self::Tone,
        Self::Language,
        Self::Load,
        Self::EstimatedReadSeconds,
        Self::Chunking,
        Self::Confidence,
        Self::VerificationNeeded,
        Self::Assumptions,
        Self::Limits,
        Self::Type,
        Self::Label,
        Self::Payload,
        Self::IntentConfirmed,
        Self::ClarifyingQuestions,
        Self::Severity,
        Self::RedirectAvailable,
        Self::AlignmentSource,
        Self::HarmRisk,
        Self::SafetyFlag,
    ];

    /// The name of this text, and its bit within an object. A known name has its own bit; other
    /// names may share one.
    ///
    /// The first eight bytes, as a number, leave at most one candidate.
    #[inline]
    pub(super) fn of(text: &[u8], head: u64) -> (Self, u64) {
        let mixed = head.wrapping_mul(MIX);
        if let Some(could_be) = TABLE.get((mixed >> SHIFT) as usize)
            && could_be.head == head
            && could_be.length == text.len()
            && could_be.length > 0
            && could_be.ends(text)
        {
            return (could_be.name, 1 << could_be.name as u32);
        }
        let shared = 64 - Self::COUNT as u64;
        let place = ((mixed ^ text.len() as u64).wrapping_mul(MIX) >> 40) % shared;
        (Self::Other, 1 << (Self::COUNT as u64 + place))
    }

    /// The text of the name; empty for an unknown one.
    pub(in super::super) const fn text(self) -> &'static str {
        match self {
            Self::Other => "",
            Self::Hxp => "hxp",
            Self::Content => "content",
            Self::Version => "version",
            Self::Intent => "intent",
            Self::Delivery => "delivery",
            Self::Transparency => "transparency",
            Self::Actions => "actions",
            Self::Cognition => "cognition",
            Self::Negotiation => "negotiation",
            Self::Refusal => "refusal",
            Self::Safety => "safety",
            Self::Extensions => "extensions",
            Self::Verbosity => "verbosity",
            Self::Format => "format",
            Self::Tone => "tone",
            Self::Language => "language",
            Self::Load => "load",
            Self::EstimatedReadSeconds => "estimated_read_seconds",
            Self::Chunking => "chunking",
            Self::Confidence => "confidence",
            Self::VerificationNeeded => "verification_needed",
            Self::Assumptions => "assumptions",
            Self::Limits => "limits",
            Self::Type => "type",
            Self::Label => "label",
            Self::Payload => "payload",
            Self::IntentConfirmed => "intent_confirmed",
            Self::ClarifyingQuestions => "clarifying_questions",
            Self::Severity => "severity",
            Self::RedirectAvailable => "redirect_available",
            Self::AlignmentSource => "alignment_source",
            Self::HarmRisk => "harm_risk",
            Self::SafetyFlag => "safety_flag",
        }
    }
}

/// An odd multiplier that maps the first bytes of every name to a different slot of the table.
/// Building the table fails at compile time if it does not.
const MIX: u64 = 0x6068_06b8_2901_05c7;
const SHIFT: u32 = 64 - 6;

/// A name, split for comparison: its first eight bytes, its last eight if it is longer, and the
/// bytes between them.
#[derive(Clone, Copy)]
struct Entry {
    head: u64,
    tail: u64,
    between: &'static [u8],
    length: usize,
    name: Name,
}

impl Entry {
    const EMPTY: Self = Self { head: 0, tail: 0, between: b"", length: 0, name: Name::Other };

    const fn new(name: Name) -> Self {
        let text = name.text().as_bytes();
        let length = text.len();
        let (tail, between): (_, &[u8]) = match length {
            0..=8 => (0, b""),
            9..=16 => (head(text.split_at(length - 8).1), b""),
            _ => {
                let (before, tail) = text.split_at(length - 8);
                (head(tail), before.split_at(8).1)
            }
        };
        Self { head: head(text), tail, between, length, name }
    }

    /// Whether a text of the same length and start equals this name.
    #[inline]
    fn ends(&self, text: &[u8]) -> bool {
        let length = text.len();
        if length <= 8 {
            return true;
        }
        let tail = text.last_chunk().copied().map(u64::from_le_bytes);
        tail == Some(self.tail) && (length <= 16 || text.get(8..length - 8) == Some(self.between))
    }
}

static TABLE: [Entry; 64] = {
    let mut table = [Entry::EMPTY; 64];
    let mut at = 1;
    while at < Name::COUNT {
        assert!(Name::ALL[at] as usize == at);
        let entry = Entry::new(Name::ALL[at]);
        let place = (entry.head.wrapping_mul(MIX) >> SHIFT) as usize;
        assert!(table[place].length == 0, "two names have one place");
        table[place] = entry;
        at += 1;
    }
    table
};

/// The first eight bytes of a text as a number; a shorter text is padded with zeros.
pub(super) const fn head(text: &[u8]) -> u64 {
    let (mut head, mut at) = (0, 0);
    while at < text.len() && at < 8 {
        head |= (text[at] as u64) << (8 * at);
        at += 1;
    }
    head
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::SCHEMA;
    use super::*;

    /// HXPE-004: exactly the names of the schema are known.
    #[test]
    fn every_name_of_the_schema_is_known() {
        let mut names = BTreeSet::new();
        collect(&serde_json::from_str(SCHEMA).unwrap(), &mut names);
        assert_eq!(names.len() + 1, Name::COUNT, "{names:?}");
        for name in &names {
            assert_eq!(named(name).text(), name);
            assert_eq!(named(&name.to_uppercase()), Name::Other);
            for at in 0..name.len() {
                let almost = format!("{}!{}", &name[..at], &name[at + 1..]);
                assert_eq!(named(&almost), Name::Other);
                assert!(named(&name[..at]) != named(name));
            }
            assert_eq!(named(&format!("{name}s")), Name::Other);
        }
        assert_eq!(named(""), Name::Other);
        assert_eq!(named("\0"), Name::Other);
    }

    fn named(text: &str) -> Name {
        Name::of(text.as_bytes(), head(text.as_bytes())).0
    }

    fn collect(schema: &serde_json::Value, names: &mut BTreeSet<String>) {
        for (name, inner) in schema.as_object().into_iter().flatten() {
            if name == "properties" {
                names.extend(inner.as_object().unwrap().keys().cloned());
            }
            collect(inner, names);
            for inner in inner.as_array().into_iter().flatten() {
                collect(inner, names);
            }
        }
    }
}

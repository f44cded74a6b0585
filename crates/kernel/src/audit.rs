//! The audit log: hash chains, and values that can be erased without breaking them.
//!
//! Every event is linked in its subject's own chain, so no lock is global. Free text, answers and
//! personal data enter events as salted commitments. The values are stored beside them and may be
//! erased by retention or law while every hash stays valid.

mod verify;

use std::any::Any;
use std::collections::VecDeque;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use crate::event::{DomainEvent, Event};
use crate::ids::Subject;
use crate::time::Time;

pub use verify::{ChainError, ChainFault, Verifier};

/// A SHA-256 digest, shown as lower-case hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

#[cfg(feature = "openapi")]
crate::openapi::text!(Digest, "^[0-9a-f]{64}$");

impl Digest {
    /// The predecessor of the first event of a chain.
    pub const ZERO: Self = Self([0; 32]);

    /// Whether both digests are equal, compared in constant time.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a value's RFC 8785 canonical JSON.
    pub fn of_json<T: Serialize>(value: &T) -> Self {
        Self::of(&canonical(value))
    }
}

/// Canonical JSON, the form that is hashed: RFC 8785, except that integers beyond 2^53 keep all
/// their digits. The RFC rounds them to a double, and two questions that differ visibly would
/// commit to the same hash.
pub fn canonical<T: Serialize>(value: &T) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    // The kernel's types have string keys and finite numbers only, so serialising cannot fail. The
    // empty text stands for no valid value.
    if crate::canonical::write(value, &mut out).is_err() {
        out.clear();
    }
    out
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(text(&mut [0; 64], self))
    }
}

/// A digest as hex in a caller's buffer: each ask holds several, and they are written often, so
/// this avoids allocations.
fn text<'a>(out: &'a mut [u8; 64], digest: &Digest) -> &'a str {
    // The buffer has two digits per byte, and hex digits are UTF-8.
    let _ = hex::encode_to_slice(digest.0, out);
    str::from_utf8(out).unwrap_or_default()
}

impl std::str::FromStr for Digest {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(text(&mut [0; 64], self))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The end of a subject's chain: the number, hash and time of its last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of events in the chain; also the version of the subject's row.
    pub seq: u64,
    /// The hash of the last event.
    pub hash: Digest,
    /// When the last event happened. The next event is never dated before it.
    pub at: Time,
}

/// Randomness for commitments. The caller draws the seed, and each salt is used once.
#[derive(Debug, Clone)]
pub struct Salts {
    seed: [u8; 32],
    spent: u32,
}

impl Salts {
    /// Salts derived from 32 random bytes.
    pub const fn new(seed: [u8; 32]) -> Self {
        Self { seed, spent: 0 }
    }

    /// A separate sequence of salts for the events of another subject in the same decision. No salt
    /// is drawn twice.
    pub(crate) fn split(&self) -> Self {
        Self { seed: self.seed, spent: self.spent | 1 << 31 }
    }

    /// The salt that belongs to a name, independent of the salts drawn before.
    pub(crate) fn of(&self, name: &str) -> [u8; 16] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(b"confided");
        hash.update(name.as_bytes());
        let [salt @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _]: [u8; 32] =
            hash.finalize().into();
        salt
    }

    fn next(&mut self) -> [u8; 16] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(self.spent.to_be_bytes());
        self.spent += 1;
        let [salt @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _]: [u8; 32] =
            hash.finalize().into();
        salt
    }
}

/// A value that the chain commits to but does not contain. It can be erased; the remaining
/// commitment proves only that it existed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasable<T> {
    commitment: Digest,
    #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
    content: Option<Content<T>>,
}

fn nothing<T>() -> Option<Content<T>> {
    None
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content<T> {
    salt: String,
    value: T,
}

impl<T: Serialize> Erasable<T> {
    /// Commits to a value under a fresh salt.
    pub fn new(value: T, salts: &mut Salts) -> Self {
        let content = Content { salt: hex::encode(salts.next()), value };
        Self { commitment: content.commitment(), content: Some(content) }
    }

    /// Whether the value, if it is still stored, matches the commitment.
    pub fn is_intact(&self) -> bool {
        self.content.as_ref().is_none_or(|content| content.commitment() == self.commitment)
    }
}

impl<T> Erasable<T> {
    /// The value, unless it was erased.
    pub fn value(&self) -> Option<&T> {
        self.content.as_ref().map(|content| &content.value)
    }

    /// The value, to be changed for display. A changed value no longer matches the commitment.
    pub(crate) fn value_for_display(&mut self) -> Option<&mut T> {
        self.content.as_mut().map(|content| &mut content.value)
    }

    /// The salted hash, which stays permanently.
    pub fn commitment(&self) -> Digest {
        self.commitment
    }

    /// Erases the value and its salt; the commitment stays.
    pub fn erase(&mut self) {
        self.content = None;
    }
}

impl<T: Serialize> Content<T> {
    fn commitment(&self) -> Digest {
        let mut hash = Sha256::new();
        hash.update(&self.salt);
        hash.update(b".");
        hash.update(canonical(&self.value));
        Digest(hash.finalize().into())
    }
}

/// An erasable value without its type, so that the values of an event can be taken out and put back
/// in one pass.
pub trait Slot {
    /// The content as JSON; `None` if it was erased.
    fn content(&self) -> Option<Value>;
    /// Takes the content out and leaves the commitment. [`Slot::put_back`] reverts that.
    fn take_out(&mut self) -> Box<dyn Any>;
    /// Puts back the content that [`Slot::take_out`] returned.
    fn put_back(&mut self, content: Box<dyn Any>);
    /// Puts a content back; `false` if it does not match the commitment.
    fn put_content(&mut self, content: Value) -> bool;
}

impl<T: Serialize + DeserializeOwned + 'static> Slot for Erasable<T> {
    fn content(&self) -> Option<Value> {
        self.content.as_ref().and_then(|content| serde_json::to_value(content).ok())
    }

    fn take_out(&mut self) -> Box<dyn Any> {
        Box::new(self.content.take())
    }

    fn put_back(&mut self, content: Box<dyn Any>) {
        if let Ok(content) = content.downcast::<Option<Content<T>>>() {
            self.content = *content;
        }
    }

    fn put_content(&mut self, content: Value) -> bool {
        // The raw content is checked before it is read into a type that could ignore a member.
        let Ok(found) = serde_json::from_value::<Content<Value>>(content) else { return false };
        if found.commitment() != self.commitment {
            return false;
        }
        let Ok(value) = serde_json::from_value(found.value) else { return false };
        self.content = Some(Content { salt: found.salt, value });
        true
    }
}

/// One link of a chain, as stored: the hashed bytes, and the erasable values beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The subject of the chain.
    pub subject: Subject,
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// When it happened.
    pub at: Time,
    /// The name of the event.
    pub what: &'static str,
    /// The hash of the previous event, [`Digest::ZERO`] for the first.
    pub prev: Digest,
    /// The hash of this event.
    pub hash: Digest,
    /// Canonical JSON of the event with commitments only: exactly the bytes that are hashed.
    pub body: String,
    /// The erasable contents in the order of their commitments: `null` where erased, empty if all
    /// are erased.
    pub contents: Vec<Value>,
}

impl Record {
    /// Links an event after `prev`: its contents beside it, and the hash of the rest. The event
    /// itself is the same afterwards; it is mutable because its contents are not hashed, and a copy
    /// of all its texts would cost more than taking them out for a moment.
    pub fn link(prev: Digest, event: &mut Event) -> Self {
        let (mut contents, mut taken) = (Vec::new(), VecDeque::new());
        event.what.slots(&mut |slot| {
            contents.push(slot.content().unwrap_or(Value::Null));
            taken.push_back(slot.take_out());
        });
        let body = canonical(event);
        event.what.slots(&mut |slot| {
            if let Some(content) = taken.pop_front() {
                slot.put_back(content);
            }
        });
        let hash = link_hash(prev, &body);
        Self {
            subject: event.subject.clone(),
            seq: event.seq,
            at: event.at,
            what: event.what.name(),
            prev,
            hash,
            // Canonical JSON is UTF-8 by definition.
            body: String::from_utf8(body).unwrap_or_default(),
            contents,
        }
    }

    /// What this record erases of earlier records of its subject; `None` for most records.
    pub fn erasure(&self) -> Option<Erasure> {
        if !DomainEvent::ERASING.contains(&self.what) {
            return None;
        }
        let what = open(&self.body, &[])?.what;
        let whole = matches!(self.what, "erased" | "human_erased");
        Some(if whole { Erasure::Everything } else { Erasure::Some(Box::new(what)) })
    }

    /// The event with the values that are still stored.
    pub fn event(&self) -> Result<Event, ChainError> {
        open(&self.body, &self.contents).ok_or_else(|| ChainError {
            subject: self.subject.clone(),
            seq: self.seq,
            why: ChainFault::Content,
        })
    }
}

/// What a record erases of the earlier records of its subject.
#[derive(Debug, Clone, PartialEq)]
pub enum Erasure {
    /// The contents of all earlier records.
    Everything,
    /// The contents of the records that this event names.
    Some(Box<DomainEvent>),
}

impl Erasure {
    /// Whether the contents of an earlier record are erased, judged by its body.
    pub fn erases(&self, body: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Some(what) => {
                open(body, &[]).is_some_and(|event| what.erases(&event.erasure_trace()))
            }
        }
    }
}

/// Reads an event from its stored bytes and the contents beside them.
pub fn open(body: &str, contents: &[Value]) -> Option<Event> {
    open_with(body, contents.iter().cloned())
}

fn open_with(body: &str, mut contents: impl ExactSizeIterator<Item = Value>) -> Option<Event> {
    let mut event: Event = serde_json::from_str(body).ok()?;
    if contents.len() == 0 {
        return Some(event);
    }
    let mut intact = true;
    event.what.slots(&mut |slot| {
        intact &=
            contents.next().is_some_and(|content| content.is_null() || slot.put_content(content));
    });
    (intact && contents.next().is_none()).then_some(event)
}

/// A record as it is stored or exported, before anything in it is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordRow {
    /// Its position in the feed.
    pub position: u64,
    /// The subject of the chain, as text.
    pub subject: String,
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// When it happened.
    pub at: Time,
    /// The name of the event.
    pub what: String,
    /// The hash of the previous event.
    pub prev: Digest,
    /// The hash of this event.
    pub hash: Digest,
    /// The bytes that were hashed.
    pub body: String,
    /// The erasable contents as a JSON array; `None` if there are none or all are erased.
    pub contents: Option<String>,
}

impl RecordRow {
    /// The event, if the hash, the columns and the contents agree with its bytes.
    pub fn open(&self) -> Result<Event, ChainFault> {
        if link_hash(self.prev, self.body.as_bytes()) != self.hash {
            return Err(ChainFault::Hash);
        }
        let contents: Vec<Value> = match &self.contents {
            Some(text) => serde_json::from_str(text).map_err(|_| ChainFault::Content)?,
            None => Vec::new(),
        };
        let event = open_with(&self.body, contents.into_iter()).ok_or(ChainFault::Content)?;
        let columns = event.seq == self.seq
            && event.at == self.at
            && event.what.name() == self.what
            && event.subject.to_string() == self.subject;
        if columns { Ok(event) } else { Err(ChainFault::Columns) }
    }
}

fn link_hash(prev: Digest, body: &[u8]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(prev.0);
    hash.update(body);
    Digest(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::ActorRef;
    use crate::event::AskEvent;
    use crate::ids::AskId;
    use crate::testing::{Cast, new_ask};

    #[test]
    fn an_erased_value_leaves_its_commitment() {
        let mut salts = Salts::new([7; 32]);
        let mut secret = Erasable::new("sk_live".to_owned(), &mut salts);
        let before = secret.commitment();
        assert!(secret.is_intact());
        secret.erase();
        assert_eq!(secret.value(), None);
        assert_eq!(secret.commitment(), before);
        assert!(secret.is_intact());
    }

    #[test]
    fn equal_values_do_not_show_it() {
        let mut salts = Salts::new([7; 32]);
        let one = Erasable::new(1, &mut salts);
        let other = Erasable::new(1, &mut salts);
        assert_ne!(one.commitment(), other.commitment());
    }

    #[test]
    fn only_the_committed_content_opens_a_slot() {
        let mut salts = Salts::new([1; 32]);
        let mut slot = Erasable::new(5, &mut salts);
        let content = slot.content().unwrap();
        let taken = slot.take_out();
        assert_eq!((slot.value(), slot.content()), (None, None));
        slot.put_back(taken);
        assert_eq!(slot.value(), Some(&5));
        drop(slot.take_out());
        let mut forged = content.clone();
        forged["value"] = 6.into();
        assert!(!slot.put_content(forged));
        assert!(slot.put_content(content));
        assert_eq!(slot.value(), Some(&5));
    }

    /// Two amounts that differ visibly must not commit to the same hash.
    #[test]
    fn whole_numbers_keep_their_digits() {
        let canonical = |value: Value| String::from_utf8(canonical(&value)).unwrap();
        for digits in ["9007199254740993", "18446744073709551615", "-9223372036854775808"] {
            assert_eq!(canonical(serde_json::from_str(digits).unwrap()), digits);
        }
    }

    /// Everything else is RFC 8785 to the byte: key order by UTF-16, escapes, the shortest floats.
    #[test]
    fn canonical_json_is_rfc_8785() {
        let value = serde_json::json!({
            "\u{e000}": 1, "\u{1f600}": 2, "é": -0.0, "e": [1e21, 1e-7, 0.1, 1.0, 5e-324, 333_333_333.333_333_3],
            "": {"b": null, "a": [true, {}]}, "\u{1}\n\"\\/\u{7f}\u{2028}": 9_007_199_254_740_992_i64,
        });
        let ours = String::from_utf8(canonical(&value)).unwrap();
        assert_eq!(ours, serde_json_canonicalizer::to_string(&value).unwrap());
        assert!(ours.find('\u{1f600}') < ours.find('\u{e000}'));
    }

    /// Others read exports: a record must not carry anything that its hash does not cover.
    #[test]
    fn nothing_uncommitted_lies_beside_a_record() {
        let mut cast = Cast::new();
        cast.ask(new_ask());
        let asked = cast.records().last().unwrap();
        let harmed = |harm: fn(&mut Vec<Value>)| {
            let mut record = asked.clone();
            harm(&mut record.contents);
            Verifier::default().check(&record).map(|_| ()).map_err(|broken| broken.why)
        };
        assert_eq!(harmed(|contents| contents.fill(Value::Null)), Ok(()));
        assert_eq!(harmed(Vec::clear), Ok(()));
        assert_eq!(harmed(|contents| contents[0]["more"] = 1.into()), Err(ChainFault::Content));
        assert_eq!(
            harmed(|contents| contents[0]["value"]["more"] = 1.into()),
            Err(ChainFault::Content)
        );
        assert_eq!(harmed(|contents| contents.push(Value::Null)), Err(ChainFault::Content));
        assert_eq!(harmed(|contents| contents.truncate(1)), Err(ChainFault::Content));
    }

    #[test]
    fn a_chain_is_one_subjects_and_goes_forward() {
        let mut cast = Cast::new();
        let id = cast.ask(new_ask());
        let first = cast.records().last().unwrap().clone();
        let earlier = Time::from_millis(first.at.millis() - 1);
        let other = AskId::new(ulid::Ulid::from(1_u128));
        for (subject, at, why) in [
            (Subject::Ask(other), first.at, ChainFault::Link),
            (Subject::Ask(id), earlier, ChainFault::Link),
        ] {
            let mut event =
                Event { subject, seq: 2, at, by: ActorRef::System, what: AskEvent::Opened.into() };
            let mut verifier = Verifier::default();
            verifier.check(&first).unwrap();
            let forged = Record::link(first.hash, &mut event);
            assert_eq!(verifier.check(&forged).map_err(|broken| broken.why), Err(why));
        }
    }
}

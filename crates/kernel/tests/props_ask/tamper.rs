//! Ways to harm a chain that must all be found.

use kernel::audit::{Digest, Record, canonical};
use kernel::{Subject, Time};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct Harm {
    place: Index,
    detail: Index,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Body,
    Hash,
    Prev,
    Seq,
    At,
    What,
    Subject,
    /// Something inside a value beside the record.
    Content,
    /// A member the value never had.
    Member,
    /// One value too many, or one too few.
    Extra,
    Missing,
    Drop,
    Double,
    Swap,
}

pub(crate) fn any_harm() -> impl Strategy<Value = Harm> {
    let kinds = vec![
        Kind::Body,
        Kind::Hash,
        Kind::Prev,
        Kind::Seq,
        Kind::At,
        Kind::What,
        Kind::Subject,
        Kind::Content,
        Kind::Content,
        Kind::Content,
        Kind::Member,
        Kind::Extra,
        Kind::Missing,
        Kind::Drop,
        Kind::Double,
        Kind::Swap,
    ];
    (any::<Index>(), any::<Index>(), prop::sample::select(kinds))
        .prop_map(|(place, detail, kind)| Harm { place, detail, kind })
}

impl Harm {
    /// The chain with this harm, or `None` where there is nothing to harm in this way.
    pub(crate) fn inflict(&self, chain: &[Record]) -> Option<Vec<Record>> {
        let mut harmed = chain.to_vec();
        let n = self.place.index(chain.len());
        let record = &mut harmed[n];
        match self.kind {
            Kind::Body => {
                let mut bytes = record.body.clone().into_bytes();
                let byte = self.detail.index(bytes.len());
                bytes[byte] = if bytes[byte] == b'0' { b'1' } else { b'0' };
                record.body = String::from_utf8_lossy(&bytes).into_owned();
            }
            Kind::Hash => record.hash = self.flip(record.hash),
            Kind::Prev => record.prev = self.flip(record.prev),
            Kind::Seq => record.seq += 1,
            Kind::At => record.at = Time::from_millis(record.at.millis() + 1),
            Kind::What => record.what = if record.what == "opened" { "claimed" } else { "opened" },
            Kind::Subject => record.subject = Subject::Human("mallory".parse().unwrap()),
            Kind::Content => {
                let content = self.content(record)?;
                let before = canonical(content);
                let mut found = Vec::new();
                leaves(content, &mut found);
                scribble(found.swap_remove(self.detail.index(found.len())));
                if canonical(content) == before {
                    return None;
                }
            }
            Kind::Member => {
                let content = self.content(record)?.as_object_mut()?;
                let inside = self.detail.index(2) == 0;
                let map = if inside { content.get_mut("value")?.as_object_mut()? } else { content };
                map.insert("mallory".to_owned(), Value::from("was here"));
            }
            Kind::Extra => record.contents.push(Value::from("more")),
            Kind::Missing => {
                if record.contents.len() < 2 {
                    return None;
                }
                record.contents.pop();
            }
            Kind::Drop => {
                harmed.remove(n);
            }
            Kind::Double => harmed.insert(n, chain[n].clone()),
            Kind::Swap => {
                if chain.len() < 2 {
                    return None;
                }
                harmed.swap(n, (n + 1) % chain.len());
            }
        }
        Some(harmed)
    }

    fn flip(&self, digest: Digest) -> Digest {
        let mut bytes = digest.0;
        bytes[self.detail.index(32)] ^= 1 << (self.detail.index(256) / 32);
        Digest(bytes)
    }

    fn content<'r>(&self, record: &'r mut Record) -> Option<&'r mut Value> {
        let mut there: Vec<&mut Value> =
            record.contents.iter_mut().filter(|content| !content.is_null()).collect();
        let n = self.detail.index(there.len().max(1));
        (n < there.len()).then(|| there.swap_remove(n))
    }
}

/// All values inside that are neither lists nor objects.
fn leaves<'v>(value: &'v mut Value, found: &mut Vec<&'v mut Value>) {
    match value {
        Value::Object(map) => map.values_mut().for_each(|inner| leaves(inner, found)),
        Value::Array(items) => items.iter_mut().for_each(|inner| leaves(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => found.push(value),
    }
}

fn scribble(leaf: &mut Value) {
    *leaf = match &*leaf {
        Value::Bool(flag) => Value::from(!*flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::from(whole ^ 1),
            (None, Some(whole)) => Value::from(whole ^ 1),
            (None, None) => Value::from(number.as_f64().unwrap_or_default() / 2.0),
        },
        Value::String(text) => Value::from(format!("{text}.")),
        Value::Null | Value::Array(_) | Value::Object(_) => Value::from(0),
    };
}

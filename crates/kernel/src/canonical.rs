//! Writes canonical JSON directly from a value, without building a tree. Every event is written and
//! committed to in this form, so the speed is worth the code.
//!
//! Members are written in the order they arrive. An object whose members did not arrive sorted is
//! sorted when it ends.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde::Serialize;
use serde::ser::{self, Error as _, Serializer};
use serde_json::{Error, Number, Value};

/// Writes a value. RFC 8785, except that whole numbers beyond 2^53 keep all their digits.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut desk = Buffers { out: std::mem::take(out), members: Vec::new(), spare: Vec::new() };
    let written = value.serialize(Canonical(&mut desk));
    *out = desk.out;
    written
}

/// Buffers shared by all objects of a value, so that no object allocates its own.
struct Buffers {
    out: Vec<u8>,
    /// The members written so far of every open object, inner objects after outer ones.
    members: Vec<Member>,
    /// Scratch space for sorting members.
    spare: Vec<u8>,
}

/// The position of a member in the output. A comma follows each member, as if there were another.
struct Member {
    key: Cow<'static, str>,
    begin: usize,
    end: usize,
}

struct Canonical<'a>(&'a mut Buffers);

/// Writes a value with `serde_json`, whose output for these types is what the RFC requires.
fn plain<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    serde_json::to_writer(out, value)
}

/// Writes a string. Most need no escapes.
fn text(value: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    if value.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        return plain(value, out);
    }
    out.reserve(value.len() + 3);
    out.push(b'"');
    out.extend_from_slice(value.as_bytes());
    out.push(b'"');
    Ok(())
}

macro_rules! plain {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(self, value: $type) -> Result<(), Error> {
            plain(&value, &mut self.0.out)
        })*
    };
}

impl<'a> Serializer for Canonical<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

    plain! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_u64: u64, serialize_char: char
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        text(value, &mut self.0.out)
    }

    // JSON as the server reads it has no numbers beyond 64 bits.
    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        plain(&serde_json::to_value(value)?, &mut self.0.out)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        plain(&serde_json::to_value(value)?, &mut self.0.out)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        match Number::from_f64(value) {
            Some(number) => self.0.out.extend(serde_json_canonicalizer::to_vec(&number)?),
            None => self.0.out.extend_from_slice(b"null"),
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        plain(value, &mut self.0.out)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        open_variant(variant, &mut self.0.out)?;
        value.serialize(Canonical(self.0))?;
        self.0.out.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, Error> {
        Ok(Items::new(self.0, b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, Error> {
        Ok(Items::new(self.0, b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>, Error> {
        Ok(Items::new(self.0, b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, Error> {
        open_variant(variant, &mut self.0.out)?;
        Ok(Items::new(self.0, b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, Error> {
        Ok(Members::new(self.0, b"}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'a>, Error> {
        Ok(Members::new(self.0, b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, Error> {
        open_variant(variant, &mut self.0.out)?;
        Ok(Members::new(self.0, b"}}"))
    }
}

/// Opens the object around a variant with data, which has one member only.
fn open_variant(variant: &str, out: &mut Vec<u8>) -> Result<(), Error> {
    out.push(b'{');
    text(variant, out)?;
    out.push(b':');
    Ok(())
}

struct Items<'a> {
    desk: &'a mut Buffers,
    first: bool,
    end: &'static [u8],
}

impl<'a> Items<'a> {
    fn new(desk: &'a mut Buffers, end: &'static [u8]) -> Self {
        desk.out.push(b'[');
        Self { desk, first: true, end }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if !std::mem::take(&mut self.first) {
            self.desk.out.push(b',');
        }
        value.serialize(Canonical(self.desk))
    }

    fn close(self) {
        self.desk.out.extend_from_slice(self.end);
    }
}

macro_rules! items {
    ($($of:ident $item:ident),*) => {
        $(impl ser::$of for Items<'_> {
            type Ok = ();
            type Error = Error;

            fn $item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element, SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field
}

struct Members<'a> {
    desk: &'a mut Buffers,
    /// The offset of the first member.
    begin: usize,
    /// The number of members of outer objects before its own.
    outer: usize,
    in_order: bool,
    end: &'static [u8],
}

impl<'a> Members<'a> {
    fn new(desk: &'a mut Buffers, end: &'static [u8]) -> Self {
        desk.out.push(b'{');
        let (begin, outer) = (desk.out.len(), desk.members.len());
        Self { desk, begin, outer, in_order: true, end }
    }

    fn key(&mut self, key: Cow<'static, str>) -> Result<(), Error> {
        if let Some(last) = self.desk.members.get(self.outer..).and_then(<[Member]>::last) {
            self.in_order &= order(&last.key, &key) == Ordering::Less;
        }
        let begin = self.desk.out.len();
        text(&key, &mut self.desk.out)?;
        self.desk.out.push(b':');
        self.desk.members.push(Member { key, begin, end: begin });
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Canonical(self.desk))?;
        self.desk.out.push(b',');
        let end = self.desk.out.len();
        if let Some(member) = self.desk.members.last_mut() {
            member.end = end;
        }
        Ok(())
    }

    fn close(self) {
        if !self.in_order {
            self.desk.put_in_order(self.begin, self.outer);
        }
        if self.desk.members.len() > self.outer {
            self.desk.out.pop();
        }
        self.desk.members.truncate(self.outer);
        self.desk.out.extend_from_slice(self.end);
    }
}

impl Buffers {
    fn put_in_order(&mut self, begin: usize, outer: usize) {
        let members = self.members.get_mut(outer..).unwrap_or_default();
        // The sort is stable, so the last of equal keys comes last; only that one counts.
        members.sort_by(|a, b| order(&a.key, &b.key));
        self.spare.clear();
        for (n, member) in members.iter().enumerate() {
            if members.get(n + 1).is_none_or(|next| next.key != member.key) {
                let bytes = self.out.get(member.begin..member.end);
                self.spare.extend_from_slice(bytes.unwrap_or_default());
            }
        }
        self.out.truncate(begin);
        self.out.extend_from_slice(&self.spare);
    }
}

/// Orders by UTF-16 code units, which for ASCII is byte order.
fn order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        let key = match serde_json::to_value(key)? {
            Value::String(key) => key,
            Value::Number(key) => key.to_string(),
            Value::Bool(key) => key.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                return Err(Error::custom("key must be a string"));
            }
        };
        self.key(key.into())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.value(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

macro_rules! fields {
    ($($of:ident),*) => {
        $(impl ser::$of for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.key(Cow::Borrowed(key))?;
                self.value(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close();
                Ok(())
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant }

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn canonical<T: Serialize>(value: &T) -> String {
        let mut out = Vec::new();
        write(value, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Serializes through a tree with a library, to compare with the direct output.
    fn by_the_library<T: Serialize>(value: &T) -> String {
        serde_json_canonicalizer::to_string(&serde_json::to_value(value).unwrap()).unwrap()
    }

    #[derive(Serialize)]
    enum Shape {
        Unit,
        One(f32),
        Two(u8, &'static str),
        Named { z: Option<i8>, a: f64, é: char },
    }

    #[derive(Serialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Tagged {
        Held(Inner),
        Bare { zero: () },
    }

    #[derive(Serialize)]
    struct Inner {
        zeta: Vec<Shape>,
        alpha: BTreeMap<u16, bool>,
        #[serde(flatten)]
        more: serde_json::Map<String, Value>,
    }

    #[test]
    fn types_are_written_as_through_a_tree() {
        let inner = |more: Value| Inner {
            zeta: vec![
                Shape::Unit,
                Shape::One(0.1),
                Shape::Two(7, "\u{7f}\u{2028}\"\\\n\u{1}"),
                Shape::Named { z: None, a: f64::NAN, é: '\u{1f600}' },
                Shape::Named { z: Some(-1), a: 1e21, é: '"' },
            ],
            alpha: [(10, true), (9, false)].into(),
            more: more.as_object().unwrap().clone(),
        };
        for value in [
            Tagged::Held(inner(json!({}))),
            Tagged::Held(inner(json!({ "\u{e000}": 1, "\u{1f600}": [[], {}], "": null }))),
            // A key occurs twice: the last counts.
            Tagged::Held(inner(json!({ "alpha": 3, "b": 1 }))),
            Tagged::Bare { zero: () },
        ] {
            assert_eq!(canonical(&value), by_the_library(&value));
        }
        assert_eq!(canonical(&((), 5_u128, i128::from(i64::MIN))), "[null,5,-9223372036854775808]");
        assert_eq!(canonical(&u64::MAX), "18446744073709551615");
        assert!(write(&u128::MAX, &mut Vec::new()).is_err());
        assert!(write(&BTreeMap::from([(vec![1], 1)]), &mut Vec::new()).is_err());
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_json_is_written_as_the_rfc_says(value in any_json()) {
            prop_assert_eq!(canonical(&value), by_the_library(&value));
        }
    }
}

//! Reads JSON and rejects duplicate member names. Parsers disagree on which of two equal names
//! counts, and a person must approve exactly the request that the agent meant.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Reads a whole body. The error names the duplicate member.
pub fn read(bytes: &[u8]) -> serde_json::Result<Value> {
    let mut from = serde_json::Deserializer::from_slice(bytes);
    let value = UniqueMembers.deserialize(&mut from)?;
    from.end().map(|()| value)
}

struct UniqueMembers;

impl<'de> DeserializeSeed<'de> for UniqueMembers {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueMembers {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(Self)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            map.insert(key, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_member_given_twice_is_named() {
        for twice in [
            r#"{"a":1,"a":1}"#,
            r#"{"b":{"a":1,"c":[],"a":2}}"#,
            r#"[{"a":1,"a":2}]"#,
            r#"{"a":1,"\u0061":2}"#,
        ] {
            let error = read(twice.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("duplicate field `a`"), "{error}");
        }
    }

    #[test]
    fn everything_else_is_read_as_serde_json_reads_it() {
        let body = json!({ "a": [1, -2, 2.5, "x", null, true, {}], "b": { "a": u64::MAX } });
        assert_eq!(read(body.to_string().as_bytes()).unwrap(), body);
        for wrong in ["", "{", "{} {}", "nope", "{\"a\":}"] {
            assert!(read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}

//! Strict deserialization: no input is dropped silently, and errors name their path. Serde
//! guarantees neither inside an internally tagged enum.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// For a variant without members. Serde would accept any members there.
pub(crate) fn nothing_more<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    Nothing::deserialize(from).map(|Nothing {}| ())
}

/// For an enum that is flattened into an object: in the data serde buffers for it, the index of a
/// variant would be accepted as its name.
pub(crate) fn unbuffered<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    T::deserialize(Value::deserialize(from)?).map_err(D::Error::custom)
}

/// For a member that has members itself: its error begins with the path, as in ``options[0]:
/// missing field `label` ``.
pub(crate) fn with_path<'de, D, T>(name: &str, from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    serde_path_to_error::deserialize(Value::deserialize(from)?).map_err(|error| {
        let path = error.path().to_string();
        let joint = if path.starts_with('[') { "" } else { "." };
        let below = if path == "." { String::new() } else { format!("{joint}{path}") };
        D::Error::custom(format_args!("{name}{below}: {}", error.inner()))
    })
}

/// For an optional member that must be an object: serde would also accept a list of its members'
/// values.
pub fn object<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }

        fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<T>, D::Error> {
            from.deserialize_map(self)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }

    from.deserialize_option(Object(PhantomData))
}

//! Reading what others wrote: nothing is dropped silently, and what is wrong keeps its place. Serde
//! does neither inside an enum that a member tells apart.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// For a variant without members, which could have any otherwise.
pub(crate) fn nothing_more<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    Nothing::deserialize(from).map(|Nothing {}| ())
}

/// For an enum that shares its object with others: among what serde sets aside for it, the number of
/// a variant would do for its name.
pub(crate) fn unbuffered<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    T::deserialize(Value::deserialize(from)?).map_err(D::Error::custom)
}

/// For a member that has members itself: its error begins with the place, as in
/// ``options[0]: missing field `label` ``.
pub(crate) fn placed<'de, D, T>(name: &str, from: D) -> Result<T, D::Error>
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

/// For a member that is an object or not there: a list of its members' values would do otherwise.
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

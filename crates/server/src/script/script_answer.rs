//! The answer of a scripted person: `"yes"`, `"no"`, or an exact answer.

use std::borrow::Cow;

use kernel::question::Answer;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Type};
use utoipa::{PartialSchema, ToSchema};

/// What a scripted person says.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptAnswer {
    /// The answer that lets the agent go on, whatever the question is.
    Yes,
    /// The answer that does not.
    No,
    /// Exactly this.
    Exactly(Answer),
}

impl PartialSchema for ScriptAnswer {
    fn schema() -> RefOr<Schema> {
        let words = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["yes", "no"]));
        OneOfBuilder::new().item(words).item(Ref::from_schema_name(Answer::name())).into()
    }
}

impl ToSchema for ScriptAnswer {
    fn name() -> Cow<'static, str> {
        "ScriptAnswer".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Answer::name().into_owned(), Answer::schema()));
        Answer::schemas(schemas);
    }
}

impl<'de> Deserialize<'de> for ScriptAnswer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(word) if word == "yes" => Ok(Self::Yes),
            Value::String(word) if word == "no" => Ok(Self::No),
            table @ Value::Object(_) => {
                serde_json::from_value(table).map(Self::Exactly).map_err(D::Error::custom)
            }
            _ => Err(D::Error::custom(
                "expected \"yes\", \"no\" or an answer such as {verdict = \"approved\"}",
            )),
        }
    }
}

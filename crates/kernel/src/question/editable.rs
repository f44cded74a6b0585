//! The details an agent allows a person to edit, and the validation of such edits.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{AnswerError, QuestionError};
use crate::form::Form;
use crate::strict::with_path;
use crate::text::{is_storable, is_storable_json};

/// The details that the approver can change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Editable {
    /// Every detail, each within its type, or none at all.
    Flag(bool),
    /// The details of these keys, within what each field takes.
    Fields(Form),
}

impl Default for Editable {
    fn default() -> Self {
        Self::Flag(false)
    }
}

impl From<bool> for Editable {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'de> Deserialize<'de> for Editable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Declared;

        impl<'de> Visitor<'de> for Declared {
            type Value = Editable;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("true, false or an object with `fields`")
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Editable, E> {
                Ok(Editable::Flag(flag))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Editable, A::Error> {
                with_path("editable", MapAccessDeserializer::new(map)).map(Editable::Fields)
            }
        }

        from.deserialize_any(Declared)
    }
}

impl Editable {
    /// Whether any detail may be edited.
    pub fn is_any(&self) -> bool {
        *self != Self::Flag(false)
    }

    /// The editable fields with their limits, if the agent declared them.
    pub fn form(&self) -> Option<&Form> {
        if let Self::Fields(form) = self { Some(form) } else { None }
    }

    /// The details that may be edited.
    fn editable_part(&self, details: &Map<String, Value>) -> Map<String, Value> {
        match self {
            Self::Flag(true) => details.clone(),
            Self::Flag(false) => Map::new(),
            Self::Fields(form) => {
                let mut details = details.clone();
                details.retain(|key, _| form.field(key).is_some());
                details
            }
        }
    }

    /// The details to offer for editing. If no edit is accepted, all of them, for a request for
    /// changes.
    pub fn offered(&self, details: &Map<String, Value>) -> Map<String, Value> {
        if self.is_any() { self.editable_part(details) } else { details.clone() }
    }

    /// A declared field must be among the details the person is shown.
    pub(super) fn check_fields(&self, details: &Map<String, Value>) -> Result<(), QuestionError> {
        let Self::Fields(form) = self else { return Ok(()) };
        let field = "editable";
        if !form.fields().all(|one| details.contains_key(one.key())) {
            return Err(QuestionError { field, expected: "names of fields in `details`" });
        }
        // A form holds text in many places; checking its JSON covers all of them.
        if !serde_json::to_value(form).is_ok_and(|form| is_storable_json(&form)) {
            return Err(QuestionError { field, expected: "strings without NUL characters" });
        }
        Ok(())
    }

    /// All details after these edits; `None` if nothing is changed.
    pub(super) fn apply(
        &self,
        details: &Map<String, Value>,
        edits: &Map<String, Value>,
    ) -> Result<Option<Map<String, Value>>, AnswerError> {
        let mut edited = details.clone();
        match self {
            Self::Flag(false) => return Err(AnswerError::NotEditable),
            Self::Flag(true) => {
                for (key, value) in edits {
                    let Some(was) = edited.get_mut(key) else { return Err(unknown(key)) };
                    *was = typed(key, was, value)?;
                }
            }
            Self::Fields(form) => {
                // A value that was sent unchanged is no edit, whether it is editable or not.
                let mut values = self.editable_part(details);
                for (key, value) in edits.iter().filter(|(key, to)| details.get(*key) != Some(*to))
                {
                    let Some(was) = values.get_mut(key) else { return Err(unknown(key)) };
                    *was = value.clone();
                }
                let valid = form.validate(&values).map_err(AnswerError::Fields)?;
                // A form has no entry for an empty value; here the person emptied the field.
                edited.extend(values.into_iter().filter(|(_, value)| is_empty(value)));
                edited.extend(valid.iter().map(|(key, value)| (key.to_owned(), value.clone())));
            }
        }
        if !edited.iter().all(|(key, value)| is_storable(key) && is_storable_json(value)) {
            return Err(bad("edits", "strings without NUL characters"));
        }
        Ok((edited != *details).then_some(edited))
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// A value in place of another of the same type. An object keeps its members; `null` may become
/// anything.
fn typed(place: &str, was: &Value, to: &Value) -> Result<Value, AnswerError> {
    Ok(match (was, to) {
        (Value::Object(was), Value::Object(to)) => {
            let mut edited = was.clone();
            for (key, value) in to {
                let place = format!("{place}.{key}");
                let Some(was) = edited.get_mut(key) else { return Err(unknown(&place)) };
                *was = typed(&place, was, value)?;
            }
            Value::Object(edited)
        }
        (Value::Null, to)
        | (Value::String(_), to @ Value::String(_))
        | (Value::Number(_), to @ Value::Number(_))
        | (Value::Bool(_), to @ Value::Bool(_))
        | (Value::Array(_), to @ Value::Array(_)) => to.clone(),
        (Value::String(_), _) => return Err(bad(place, "a string, as in the request")),
        (Value::Number(_), _) => return Err(bad(place, "a number, as in the request")),
        (Value::Bool(_), _) => return Err(bad(place, "true or false, as in the request")),
        (Value::Array(_), _) => return Err(bad(place, "a list, as in the request")),
        (Value::Object(_), _) => return Err(bad(place, "an object, as in the request")),
    })
}

fn unknown(place: &str) -> AnswerError {
    bad(place, "one of the editable details")
}

fn bad(place: &str, expected: &'static str) -> AnswerError {
    AnswerError::BadEdit { place: place.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn details() -> Map<String, Value> {
        map(&json!({
            "amount": 40, "to": "Ada", "now": true, "items": [1], "note": null,
            "address": { "city": "Bonn", "zip": 53111 },
        }))
    }

    #[test]
    fn a_change_stays_within_its_type_and_comes_back_whole() {
        let any = Editable::Flag(true);
        for (edits, changed) in [
            (json!({}), None),
            (json!({ "amount": 40 }), None),
            (json!({ "amount": 30.5 }), Some(("amount", json!(30.5)))),
            (json!({ "items": [] }), Some(("items", json!([])))),
            (json!({ "note": "soon" }), Some(("note", json!("soon")))),
            (
                json!({ "address": { "city": "Kiel" } }),
                Some(("address", json!({ "city": "Kiel", "zip": 53111 }))),
            ),
        ] {
            let expected = changed.map(|(key, value)| {
                let mut whole = details();
                whole.insert(key.to_owned(), value);
                whole
            });
            assert_eq!(any.apply(&details(), &map(&edits)), Ok(expected), "{edits}");
        }
        for (edits, place) in [
            (json!({ "amount": "40" }), "amount"),
            (json!({ "amount": null }), "amount"),
            (json!({ "to": 7 }), "to"),
            (json!({ "now": "yes" }), "now"),
            (json!({ "items": {} }), "items"),
            (json!({ "address": "Kiel" }), "address"),
            (json!({ "address": { "zip": "24103" } }), "address.zip"),
            (json!({ "address": { "street": "x" } }), "address.street"),
            (json!({ "more": 1 }), "more"),
            (json!({ "to": "A\0" }), "edits"),
        ] {
            let refused = any.apply(&details(), &map(&edits));
            let Err(AnswerError::BadEdit { place: at, .. }) = &refused else {
                panic!("{edits}: {refused:?}")
            };
            assert_eq!(at, place, "{edits}");
        }
    }

    #[test]
    fn declared_fields_say_what_they_take() {
        let form = json!({ "fields": [
            { "key": "amount", "label": "Amount", "type": "number", "validation": { "max": 40 } },
        ] });
        let declared: Editable = serde_json::from_value(form.clone()).unwrap();
        assert_eq!(serde_json::to_value(&declared).unwrap(), form);
        assert!(declared.check_fields(&details()).is_ok());
        assert!(declared.check_fields(&Map::new()).is_err());
        assert_eq!(declared.editable_part(&details()), map(&json!({ "amount": 40 })));
        let edited = declared.apply(&details(), &map(&json!({ "amount": 30, "to": "Ada" })));
        assert_eq!(edited.unwrap().unwrap()["amount"], 30);
        assert_eq!(declared.apply(&details(), &details()), Ok(None));
        let dear = declared.apply(&details(), &map(&json!({ "amount": 41 })));
        assert!(matches!(dear, Err(AnswerError::Fields(_))), "{dear:?}");
        let closed = declared.apply(&details(), &map(&json!({ "to": "Eve" })));
        assert!(matches!(closed, Err(AnswerError::BadEdit { .. })), "{closed:?}");
    }

    /// A person may empty an optional field.
    #[test]
    fn what_is_emptied_is_empty() {
        let options = json!([{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }]);
        let details = map(&json!({ "note": "hello", "all": ["a", "b"], "sure": "yes" }));
        let declared: Editable = serde_json::from_value(json!({ "fields": [
            { "key": "note", "label": "Note", "type": "text" },
            { "key": "all", "label": "All", "type": "multiselect", "options": options },
            { "key": "sure", "label": "Sure", "type": "text", "required": true },
        ] }))
        .unwrap();
        let emptied = map(&json!({ "note": "", "all": [] }));
        let edited = declared.apply(&details, &emptied).unwrap().unwrap();
        assert_eq!(edited, map(&json!({ "note": "", "all": [], "sure": "yes" })));
        let refused = declared.apply(&details, &map(&json!({ "sure": "" })));
        assert!(matches!(refused, Err(AnswerError::Fields(_))), "{refused:?}");
    }

    #[test]
    fn what_was_not_declared_is_refused() {
        let none = Editable::default();
        assert!(!none.is_any());
        assert_eq!(none.apply(&details(), &Map::new()), Err(AnswerError::NotEditable));
        for declared in [json!("yes"), json!(1), json!(null), json!({ "fields": [{}] })] {
            assert!(serde_json::from_value::<Editable>(declared.clone()).is_err(), "{declared}");
        }
    }
}

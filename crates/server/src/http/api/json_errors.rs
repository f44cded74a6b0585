//! Translates serde's errors about a body into the field that is wrong and the value expected
//! there, without Rust's vocabulary.

use kernel::spelling::{suggestion, unknown_field};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::http::problem::ApiProblem;
use crate::name_spelling;

/// The name of the body itself, for errors that no single field causes.
const BODY_NAME: &str = "body";

/// The problem with a body that is JSON, but not a `T`. `error` is the error from parsing the text.
pub(super) fn explain<T: DeserializeOwned>(
    body: &Value,
    error: Option<&serde_json::Error>,
) -> ApiProblem {
    let (place, said) = match (locate_error::<T>(body), error) {
        (Some(fault), _) if body.is_object() => fault,
        // Only the text shows a duplicate field: a `Value` keeps one of them.
        (None, Some(error)) => {
            let error = error.to_string();
            let what = error.rsplit_once(" at line ").map_or(&*error, |(what, _)| what);
            (BodyPath::default(), parse_message(what))
        }
        (_, _) => (BodyPath::default(), SerdeMessage::expecting("an object")),
    };
    let (field, SerdeMessage { expected, rule, .. }) = (place.with(&said.below), &said);
    let detail = if *rule {
        format!("{field}: {expected}")
    } else {
        format!("{field}: expected {expected}")
    };
    ApiProblem::new(422, "invalid-field").detail(detail).field(&field, expected)
}

/// Where deserialization fails, and why.
fn locate_error<T: DeserializeOwned>(body: &Value) -> Option<(BodyPath, SerdeMessage)> {
    let error = serde_path_to_error::deserialize::<_, T>(body).err()?;
    let mut said = parse_message(&error.inner().to_string());
    let mut place = BodyPath::of(error.path());
    if said.unknown && place.0.last() == Some(&PathStep::Member(said.below.clone())) {
        said.below.clear();
    }
    // A path from the message itself is already exact.
    if said.below.is_empty()
        && let Some(seen) = &said.seen
    {
        match place.below(body, seen) {
            Some(exact) => place = exact,
            None => said.expected = format!("{} instead of {seen}", said.expected),
        }
    }
    // Serde lists the allowed words only if the value is a string, so try again with a string.
    if said.word
        && said.below.is_empty()
        && let mut other = body.clone()
        && let Some(value) = other.pointer_mut(&place.pointer())
    {
        *value = Value::String(String::new());
        if let Some((there, better)) = locate_error::<T>(&other)
            && there == place
            && !better.word
        {
            said = better;
        }
    }
    Some((place, said))
}

/// A parsed error message of serde's.
#[derive(Debug, Default, PartialEq)]
struct SerdeMessage {
    /// The field the message is about, relative to the path where deserialization stopped. Empty if
    /// it is that path itself.
    below: String,
    /// Whether the message reports an unknown field. The path may then already end with that field.
    unknown: bool,
    /// The accepted type or values.
    expected: String,
    /// Whether `expected` states a broken rule and is a sentence of its own.
    rule: bool,
    /// Whether one of several fixed words was expected.
    word: bool,
    /// The rejected value, as serde describes it.
    seen: Option<String>,
}

impl SerdeMessage {
    fn expecting(expected: impl Into<String>) -> Self {
        Self { expected: expected.into(), ..Self::default() }
    }
}

fn parse_message(message: &str) -> SerdeMessage {
    let quoted = |start: &str| message.strip_prefix(start)?.split_once('`');
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| expected);
    if let Some((name, _)) = quoted("missing field `") {
        return SerdeMessage {
            below: name.to_owned(),
            ..SerdeMessage::expecting("a value; it is missing")
        };
    }
    if let Some((name, _)) = quoted("duplicate field `") {
        return SerdeMessage {
            below: name.to_owned(),
            ..SerdeMessage::expecting("a single value; the field is duplicated")
        };
    }
    if let Some((name, _)) = quoted("unknown field `") {
        let allowed: Vec<&str> =
            expected.unwrap_or_default().split('`').skip(1).step_by(2).collect();
        let says = unknown_field(name, &allowed);
        return SerdeMessage {
            below: name.to_owned(),
            unknown: true,
            rule: true,
            ..SerdeMessage::expecting(says)
        };
    }
    if let (Some((word, _)), Some(words)) = (quoted("unknown variant `"), expected) {
        let seen = Some(format!("string {word:?}"));
        return SerdeMessage { seen, ..SerdeMessage::expecting(known_names(words, word)) };
    }
    if message.starts_with("invalid ")
        && let Some((_, seen)) = message.split_once(": ")
        && let Some((seen, expected)) = seen.rsplit_once(", expected ")
    {
        let word = matches!(expected, "string or map" | "variant identifier");
        let seen = Some(seen.to_owned());
        return SerdeMessage { word, seen, ..SerdeMessage::expecting(plain_type_name(expected)) };
    }
    if message.starts_with("invalid length ")
        && let Some(expected) = expected
    {
        return SerdeMessage::expecting(plain_type_name(expected));
    }
    if let Some((place, rest)) = message.split_once(": ")
        && place.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte))
    {
        let said = parse_message(rest);
        let reached = said.unknown && place.rsplit('.').next() == Some(&said.below);
        let below = if reached { place.to_owned() } else { join(place, &said.below) };
        return SerdeMessage { below, ..said };
    }
    match message.strip_prefix("expected ") {
        Some(expected) => SerdeMessage::expecting(expected),
        None => SerdeMessage { rule: true, ..SerdeMessage::expecting(message) },
    }
}

/// Rust's type names in general terms.
fn plain_type_name(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
            "a whole number"
        }
        "f32" | "f64" => "a number",
        "a string" | "string" | "a borrowed string" | "variant identifier" => "a string",
        "a boolean" => "true or false",
        "a map" | "map" => "an object",
        "a sequence" => "a list",
        "map with a single key" => "an object with one field",
        "string or map" => "a string or an object",
        named if named.starts_with("struct ") || named.starts_with("internally tagged ") => {
            "an object"
        }
        other => other,
    }
}

/// The accepted names in their canonical spellings, and the one that was probably meant.
fn known_names(names: &str, given: &str) -> String {
    let names = name_spelling::canonical(names);
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let all = match quoted.as_slice() {
        [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        few => few.concat(),
    };
    format!("{all}{}", suggestion(given, names.into_iter()))
}

/// A path to a value in a body.
#[derive(Debug, Clone, Default, PartialEq)]
struct BodyPath(Vec<PathStep>);

#[derive(Debug, Clone, PartialEq)]
enum PathStep {
    Member(String),
    Item(usize),
}

impl BodyPath {
    fn of(path: &Path) -> Self {
        let step = |segment: &Segment| match segment {
            Segment::Seq { index } => Some(PathStep::Item(*index)),
            Segment::Map { key } => Some(PathStep::Member(key.clone())),
            Segment::Enum { variant } => Some(PathStep::Member(variant.clone())),
            Segment::Unknown => None,
        };
        Self(path.iter().map_while(step).collect())
    }

    fn then(&self, step: PathStep) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// The path as a JSON pointer (RFC 6901).
    fn pointer(&self) -> String {
        let step = |step: &PathStep| match step {
            PathStep::Member(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
            PathStep::Item(index) => format!("/{index}"),
        };
        self.0.iter().map(step).collect()
    }

    /// The path in dotted form, or that of a field below it.
    fn with(&self, below: &str) -> String {
        let own = self.0.iter().fold(String::new(), |name, step| match step {
            PathStep::Member(member) => join(&name, member),
            PathStep::Item(index) => format!("{name}[{index}]"),
        });
        let name = join(&own, below);
        if name.is_empty() { BODY_NAME.to_owned() } else { name }
    }

    /// The only value at or below this path that looks like the rejected one. Serde reports no path
    /// inside an internally tagged enum, so this path may be that of the enum as a whole.
    fn below(&self, body: &Value, seen: &str) -> Option<Self> {
        let value = body.pointer(&self.pointer())?;
        if serde_description(value) == seen {
            return Some(self.clone());
        }
        let mut found = Vec::new();
        self.collect(value, seen, &mut found);
        found.pop().filter(|_| found.is_empty())
    }

    fn collect(&self, value: &Value, seen: &str, found: &mut Vec<Self>) {
        if serde_description(value) == seen {
            found.push(self.clone());
        }
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    self.then(PathStep::Member(name.clone())).collect(value, seen, found);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    self.then(PathStep::Item(index)).collect(value, seen, found);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// A value as serde's messages describe it.
fn serde_description(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(said) => format!("boolean `{said}`"),
        Value::Number(number) if number.is_f64() => format!("floating point `{number}`"),
        Value::Number(number) => format!("integer `{number}`"),
        Value::String(text) => format!("string {text:?}"),
        Value::Array(_) => "sequence".to_owned(),
        Value::Object(_) => "map".to_owned(),
    }
}

fn join(place: &str, below: &str) -> String {
    match (place, below) {
        ("", name) | (name, "") => name.to_owned(),
        (place, below) => format!("{place}.{below}"),
    }
}

#[cfg(test)]
mod tests;

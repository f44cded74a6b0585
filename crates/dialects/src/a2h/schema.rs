//! Turns a `response_schema` into a form, if it describes an object of plain values or one plain
//! value. Otherwise the person answers in JSON. The server validates the answer against the schema
//! in both cases (A2H-131).

use kernel::form::{Bound, Field, FieldSpec, Form, FormChoice, Validation};
use serde_json::{Map, Value};

/// The key of the only field of a single-value schema.
pub(super) const VALUE: &str = "response";

/// How a person enters an answer of this shape.
pub(super) enum Shape {
    /// A field for each property.
    Object(Form),
    /// One field for a schema that is not an object.
    Value(Form),
    /// As JSON in a text field.
    Free,
}

pub(super) fn shape(schema: &Value) -> Shape {
    let Some(map) = schema.as_object() else { return Shape::Free };
    if map.get("type").and_then(Value::as_str) == Some("object") {
        return object(map).map_or(Shape::Free, Shape::Object);
    }
    let form = field(VALUE, schema, true).and_then(|field| Form::single(field).ok());
    form.map_or(Shape::Free, Shape::Value)
}

const OF_OBJECTS: [&str; 9] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "title",
    "description",
    "$schema",
    "$id",
    "examples",
];

fn object(schema: &Map<String, Value>) -> Option<Form> {
    if !schema.keys().all(|key| OF_OBJECTS.contains(&key.as_str())) {
        return None;
    }
    let required: Vec<&str> = match schema.get("required") {
        None => Vec::new(),
        Some(list) => list.as_array()?.iter().filter_map(Value::as_str).collect(),
    };
    let properties = schema.get("properties")?.as_object()?;
    // A required property without a field could never be filled in.
    if !required.iter().all(|key| properties.contains_key(*key)) {
        return None;
    }
    let fields =
        properties.iter().map(|(key, of)| field(key, of, required.contains(&key.as_str())));
    Form::of_fields(fields.collect::<Option<_>>()?).ok()
}

const OF_VALUES: [&str; 14] = [
    "type",
    "title",
    "description",
    "enum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "items",
    "examples",
    "$schema",
    "$id",
];

fn field(key: &str, schema: &Value, required: bool) -> Option<Field> {
    let schema = schema.as_object()?;
    if !schema.keys().all(|key| OF_VALUES.contains(&key.as_str())) {
        return None;
    }
    let text = |name: &str| schema.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let number = |name: &str| schema.get(name).and_then(Value::as_u64);
    let kind = schema.get("type").and_then(Value::as_str);
    let (kind, options) = match (kind, schema.get("enum")) {
        (None | Some("string"), Some(values)) => ("select", choices(values)?),
        (Some("string"), None) => (of_text(schema)?, Vec::new()),
        (Some("number" | "integer"), None) => ("number", Vec::new()),
        (Some("boolean"), None) => ("boolean", Vec::new()),
        (Some("array"), None) => {
            ("multiselect", choices(schema.get("items")?.as_object()?.get("enum")?)?)
        }
        _ => return None,
    };
    let mut spec = FieldSpec::new(key, text("title").unwrap_or_else(|| key.to_owned()), kind);
    spec.required = required;
    spec.hint = text("description");
    spec.options = options;
    let bound =
        |name: &str| schema.get(name).and_then(Value::as_number).cloned().map(Bound::Number);
    let rules = match kind {
        "text" | "email" | "url" => Validation {
            min_length: number("minLength"),
            max_length: number("maxLength"),
            // A schema's pattern matches anywhere in the text; a form's pattern must match all of
            // it.
            pattern: text("pattern").map(|pattern| format!("(?s:.*)(?:{pattern})(?s:.*)")),
            ..Validation::default()
        },
        "number" => {
            Validation { min: bound("minimum"), max: bound("maximum"), ..Validation::default() }
        }
        _ => Validation::default(),
    };
    spec.validation = (rules != Validation::default()).then_some(rules);
    Field::try_from(spec).ok()
}

fn of_text(schema: &Map<String, Value>) -> Option<&'static str> {
    match schema.get("format").map(Value::as_str) {
        None => Some("text"),
        Some(Some("email")) => Some("email"),
        Some(Some("uri" | "url")) => Some("url"),
        Some(Some("date" | "date-time")) => Some("date"),
        Some(_) => None,
    }
}

fn choices(values: &Value) -> Option<Vec<FormChoice>> {
    let values = values.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
    let choice =
        |value: &&str| FormChoice { value: (*value).to_owned(), label: (*value).to_owned() };
    Some(values.iter().map(choice).collect())
}
